/** What subscribers ask for (docs/rpc-reference.md#78-subscriptions). */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Parameter } from '../method.ts'
import { FilterObject, readLogCriteria } from './log-filter.ts'
import { refuse } from './scalars.ts'

const KINDS = ['newHeads', 'logs', 'newPendingTransactions', 'syncing'] as const

/** What one can subscribe to. */
export type SubscriptionKind = (typeof KINDS)[number]

/** Which logs; of no meaning to the other kinds. */
export interface SubscriptionOptions {
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Result: a new subscription's id. */
export const SubscriptionIdText = z
  .string()
  .regex(/^0x[0-9a-f]{32}$/)
  .describe('id of a subscription: 0x and 32 hex digits') as unknown as z.ZodType<Hex>

/** Its name; any other is refused in the chain's words. */
export const SubscriptionName: Parameter<SubscriptionKind> = {
  schema: z.enum(KINDS),
  read(value) {
    const kind = KINDS.find((one) => one === value)
    if (kind === undefined) throw new NodeError('method-not-found', 'method not found')
    return kind
  },
}

/** Bounds of a range are taken and mean nothing: a subscription begins now. */
const MEMBERS = ['address', 'topics', 'fromBlock', 'toBlock']

/** `address` and `topics` as in a filter; no other member is known but the bounds of one. Null is no condition. */
export const SubscriptionFilter: Parameter<SubscriptionOptions> = {
  schema: FilterObject.schema.nullable(),
  read(value, name) {
    if (value === null) return { addresses: [], topics: [] }
    if (typeof value !== 'object' || Array.isArray(value)) refuse(name, 'an object')
    const other = Object.keys(value as object).find((key) => !MEMBERS.includes(key))
    if (other !== undefined)
      refuse(`${name}.${other}`, `${MEMBERS.slice(0, -1).join(', ')} or ${MEMBERS.at(-1)} only`)
    return readLogCriteria(value as Record<string, unknown>, name)
  },
}

/** An id in hex or decimal, as text or number; one that no subscription has is unknown rather than wrong. */
export const SubscriptionId: Parameter<Hex> = {
  schema: z
    .union([z.string().regex(/^(0x[0-9a-fA-F]+|\d+)$/), z.int().nonnegative()])
    .describe('id of a subscription'),
  read(value, name) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
    if (typeof text !== 'string' || !/^(0x[0-9a-fA-F]{1,64}|\d{1,77})$/.test(text)) {
      refuse(name, 'the id of a subscription, hex or decimal')
    }
    return `0x${BigInt(text).toString(16).padStart(32, '0')}`
  },
}
