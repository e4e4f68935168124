/** What differs between two snapshots: accounts by their trie nodes, blocks by their parents, the pool by hash. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { equal } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { AccountDifference } from '../../state/account-differences.ts'
import type { StateReader } from '../../state/model.ts'
import type { EngineParts } from '../parts.ts'
import type { Snapshot } from './snapshots.ts'

/** Values that were removed, and values that were added. */
export interface ListDiff {
  readonly removed: readonly Hex[]
  readonly added: readonly Hex[]
}

/** The code of an account on both sides, where it differs. */
export interface CodeDiff {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** An account that differs. */
export interface ComparedAccount extends AccountDifference {
  readonly code: CodeDiff | undefined
}

/** What differs between two snapshots. */
export interface SnapshotDiff {
  readonly accounts: Iterable<ComparedAccount>
  /** The two states. */
  readonly before: StateReader
  readonly after: StateReader
  /** Hashes of blocks: removed from the first head downwards, added up to the second. */
  readonly blocks: ListDiff
  /** Hashes of transactions. */
  readonly pool: ListDiff
}

type Parts = Pick<EngineParts, 'blocks' | 'trie'>

/** Makes the comparison. Throws `block-not-found` when blocks of a snapshot are gone. */
export function createSnapshotDiff({
  blocks,
  trie,
}: Parts): (before: Snapshot, after: Snapshot) => SnapshotDiff {
  function blockOf(hash: Hex): ExecutedBlock {
    const block = blocks.get(hash)
    if (block === undefined) throw new NodeError('block-not-found', `Block ${hash} of a snapshot is gone.`)
    return block
  }

  function blocksBetween(before: Hex, after: Hex): ListDiff {
    const removed: Hex[] = []
    const added: Hex[] = []
    let [a, b] = [blockOf(before), blockOf(after)]
    while (a.hash !== b.hash) {
      const [heightA, heightB] = [a.block.header.number, b.block.header.number]
      if (heightA >= heightB) {
        removed.push(a.hash)
        a = blockOf(a.block.header.parentHash)
      }
      if (heightB >= heightA) {
        added.push(b.hash)
        b = blockOf(b.block.header.parentHash)
      }
    }
    return { removed, added: added.reverse() }
  }

  function* accountsBetween(from: Hex, to: Hex): Generator<ComparedAccount, undefined> {
    const [old, now] = [trie.reader(from), trie.reader(to)]
    const codeIn = (reader: typeof old, account: AccountDifference['before']) =>
      account === undefined ? new Uint8Array(0) : reader.code(account.codeHash)
    for (const difference of trie.differences(from, to)) {
      const { before, after } = difference
      const code = { before: codeIn(old, before), after: codeIn(now, after) }
      // An account that was created or removed may have no code on either side.
      const isSame = before?.codeHash === after?.codeHash || equal(code.before, code.after)
      yield { ...difference, code: isSame ? undefined : code }
    }
  }

  return (before, after) => ({
    accounts: accountsBetween(before.postState, after.postState),
    before: trie.reader(before.postState),
    after: trie.reader(after.postState),
    blocks: blocksBetween(before.head, after.head),
    pool: {
      removed: [...before.pool.notIn(after.pool)],
      added: [...after.pool.notIn(before.pool)],
    },
  })
}
