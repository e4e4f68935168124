/** What the engine knows of a parent chain that the node runs beside its own: when it changes together with it. */
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { asBytes, asList, decodeRlp, encodeRlp } from '../encoding/rlp.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Write } from '../store/table.ts'

/** A state of the parent chain, which its later changes leave as it is. */
export interface ParentState {
  /**
   * Goes to this state, back or forth, at once. The writes belong in the batch of this chain's own change. Throws a
   * RangeError where it was decoded from malformed bytes.
   */
  restore(): readonly Write[]
  /** For files and kept snapshots: the bytes of `encodeEntries`. */
  encode(): Uint8Array
}

/** A block of this chain, proven by one of the parent chain. */
export interface ProvenBlock {
  readonly hash: Hex
  readonly number: number
}

/** A block of the parent chain without its nonce. */
export interface ParentTemplate {
  /** 80 bytes, with the nonce 0. */
  readonly header: Uint8Array
  /** Without witness. */
  readonly coinbase: Uint8Array
  /** Siblings bottom up, display order, from the coinbase to the root. */
  readonly merkleBranch: Uint8Array
  /** The largest hash that the parent chain takes. */
  readonly target: bigint
  /** The header with its nonce was found and proves a block. */
  found(header: Uint8Array, block: Hex): void
}

/** A parent chain in the node. */
export interface ParentChain {
  /** The state now. */
  save(): ParentState
  /** The state with which it began. */
  initial(): ParentState
  /** The state of bytes of `encode`, which are read when it is restored. */
  decode(bytes: Uint8Array): ParentState
  /**
   * A block of the parent chain that commits to a hash of a block of this chain. `attempt` counts up until the block is
   * found; templates of other attempts differ. `undefined` where the parent chain does not answer.
   */
  template(hash: Uint8Array, attempt: number): MaybePromise<ParentTemplate | undefined>
  /** Takes in the blocks that prove these blocks of this chain, as far as they belong there. The writes are as in `restore`. */
  accept(blocks: readonly ProvenBlock[]): readonly Write[]
  /** Transactions about the parent chain for the next block on the head, in order. Nothing else may change the chain meanwhile. */
  transactions(): Promise<readonly Transaction[]>
  /** Takes over entries that another node of the cluster changed, and that are written. */
  follow(keys: readonly string[]): Promise<void>
  /** Goes to the state of the entries that are written, whatever this node has in memory. */
  reload(): Promise<void>
}

/** An entry of the database's table of the parent chain. */
export type ParentEntry = readonly [key: string, value: Uint8Array]

/** RLP of entries. */
export function encodeEntries(entries: Iterable<ParentEntry>): Uint8Array {
  const utf8 = new TextEncoder()
  return encodeRlp([...entries].map(([key, value]) => [utf8.encode(key), value]))
}

/** The entries of bytes of `encodeEntries`. Throws a RangeError for others. */
export function decodeEntries(bytes: Uint8Array): readonly ParentEntry[] {
  const text = new TextDecoder()
  return asList(decodeRlp(bytes), 'entries').map((item) => {
    const [key, value] = asList(item, 'entry')
    return [text.decode(asBytes(key, 'key')), asBytes(value, 'value')]
  })
}

/** Runs a change of this chain in whose batch the parent chain goes to a state; it stays where it is if the change fails. */
export async function withParentAt<T>(
  parentChain: ParentChain | undefined,
  state: ParentState | undefined,
  change: (writes: readonly Write[]) => Promise<T>,
): Promise<T> {
  if (parentChain === undefined || state === undefined) return change([])
  const before = parentChain.save()
  try {
    return await change(state.restore())
  } catch (error) {
    before.restore()
    throw error
  }
}
