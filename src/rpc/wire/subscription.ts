/** What subscribers ask for (docs/internals/rpc-reference.md#78-subscriptions). */
import { z } from 'zod'
import { type Hex, toQuantity } from '../../encoding/hex.ts'
import type { ChainUpdate, TransactionNotes } from '../../engine/model.ts'
import { NodeError } from '../../errors.ts'
import { anyOf, integer, literals, text } from '../json-forms.ts'
import { expected, mapped, object, orNull, type Parameter, scalar } from '../parameter.ts'
import { CRITERIA, criteriaOf } from './log-filter.ts'

const KINDS = ['newHeads', 'logs', 'newPendingTransactions', 'syncing', 'chain', 'console'] as const

/** What one can subscribe to. */
export type SubscriptionKind = (typeof KINDS)[number]

/** Which logs; of no meaning to the other kinds. */
export interface SubscriptionOptions {
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Most hashes of a list of `toRpcChainUpdate`. */
const MOST_HASHES = 256

/**
 * A change of the canonical chain: its new head, the last block that it has in common with the chain before, and the
 * hashes of the blocks that left and came, the highest first and 256 at most. No block comes with a revert to a snapshot.
 */
export function toRpcChainUpdate({ removed, added }: ChainUpdate): object {
  const left = [...removed].sort((a, b) => b.block.header.number - a.block.header.number)
  const came = [...added].reverse()
  const lowest = came.at(-1) ?? left.at(-1)
  const ancestor = (lowest?.block.header.number ?? 1) - 1
  return {
    number: toQuantity(came[0]?.block.header.number ?? ancestor),
    hash: came[0]?.hash ?? lowest?.block.header.parentHash,
    ancestor: toQuantity(ancestor),
    removed: left.slice(0, MOST_HASHES).map(({ hash }) => hash),
    added: came.slice(0, MOST_HASHES).map(({ hash }) => hash),
  }
}

/**
 * What a transaction, or a simulated call where `transactionHash` is null, wrote to the console, and why it failed. The
 * texts are unescaped: they may contain control characters.
 */
export function toRpcConsole(
  transactionHash: Hex | null,
  { console = [], failure }: Pick<TransactionNotes, 'console'> & { readonly failure?: string | undefined },
): object {
  return { transactionHash, console, failure: failure ?? null }
}

/** Result: a new subscription's id. */
export const SubscriptionIdText = z
  .string()
  .regex(/^0x[0-9a-f]{32}$/)
  .describe('id of a subscription: 0x and 32 hex digits') as unknown as z.ZodType<Hex>

/** Its name; any other is refused with the reference node's message. */
export const SubscriptionName: Parameter<SubscriptionKind> = scalar({
  form: literals(...KINDS),
  decode: (kind) => kind,
  refusal: () => new NodeError('method-not-found', 'method not found'),
})

const Ignored: Parameter<undefined> = { schema: () => z.unknown(), read: () => undefined }

/**
 * `address` and `topics` as in a filter; the bounds of a range are taken and mean nothing, since a subscription begins
 * now, and no other member is known. Null is no condition.
 */
export const SubscriptionFilter: Parameter<SubscriptionOptions> = orNull(
  mapped(object({ ...CRITERIA, fromBlock: Ignored, toBlock: Ignored }, { closed: true }), criteriaOf),
  { addresses: [], topics: [] },
)

/** An id in hex or decimal, as text or number; one that no subscription has is unknown rather than wrong. */
export const SubscriptionId: Parameter<Hex> = scalar({
  form: anyOf(text(/^(0x[0-9a-fA-F]{1,64}|[0-9]{1,77})$/), integer(0, Number.MAX_SAFE_INTEGER)),
  description: 'id of a subscription',
  decode: (value): Hex => `0x${BigInt(value).toString(16).padStart(32, '0')}`,
  refusal: (_, name) => expected(name, 'the id of a subscription, hex or decimal'),
})
