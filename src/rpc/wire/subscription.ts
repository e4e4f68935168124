/** What subscribers ask for (docs/internals/rpc-reference.md#78-subscriptions). */
import { z } from 'zod'
import { type Hex, isHex, toQuantity } from '../../encoding/hex.ts'
import type { ChainUpdate, TransactionNotes } from '../../engine/model.ts'
import { NodeError } from '../../errors.ts'
import { anyOf, integer, literals, text } from '../json-forms.ts'
import { expected, mapped, object, orNull, type Parameter, scalar } from '../parameter.ts'
import { CRITERIA, criteriaOf } from './log-filter.ts'

const KINDS = ['newHeads', 'logs', 'newPendingTransactions', 'syncing', 'chain', 'console'] as const

/** The kinds of events to subscribe to. */
export type SubscriptionKind = (typeof KINDS)[number]

/** Which logs; ignored by the other kinds. */
export interface SubscriptionOptions {
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}

/** Maximum number of hashes in a list of `toRpcChainUpdate`. */
const MOST_HASHES = 256

/**
 * A change of the canonical chain: its new head, the last block that it has in common with the previous chain, and the
 * hashes of the removed and added blocks, highest first and 256 at most. A revert to a snapshot adds no block.
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
  .refine(isHex)
  .describe('id of a subscription: 0x and 32 hex digits')

/** The name of a kind; any other is refused with the reference node's message. */
export const SubscriptionName: Parameter<SubscriptionKind> = scalar({
  form: literals(...KINDS),
  decode: (kind) => kind,
  refusal: () => new NodeError('method-not-found', 'method not found'),
})

const Ignored: Parameter<undefined> = { schema: () => z.unknown(), read: () => undefined }

/**
 * `address` and `topics` as in a filter. `fromBlock` and `toBlock` are accepted and ignored, since a subscription begins
 * now; any other member is refused. Null selects all logs.
 */
export const SubscriptionFilter: Parameter<SubscriptionOptions> = orNull(
  mapped(object({ ...CRITERIA, fromBlock: Ignored, toBlock: Ignored }, { closed: true }), criteriaOf),
  { addresses: [], topics: [] },
)

/** An id in hex or decimal, as text or number; one that no subscription has is unknown, not malformed. */
export const SubscriptionId: Parameter<Hex> = scalar({
  form: anyOf(text(/^(0x[0-9a-fA-F]{1,64}|[0-9]{1,77})$/), integer(0, Number.MAX_SAFE_INTEGER)),
  description: 'id of a subscription',
  decode: (value): Hex => `0x${BigInt(value).toString(16).padStart(32, '0')}`,
  refusal: (_, name) => expected(name, 'the id of a subscription, hex or decimal'),
})
