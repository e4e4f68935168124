/** Queries on accounts beyond what a state reader answers: storage roots, code by hash, differences of states. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateTrie } from '../../state/state-trie.ts'

/** Reads of accounts. */
export interface AccountQueries {
  /** Hash of the trie node above an account's storage after a mined block; of an empty trie when there is none. */
  storageHash(block: ExecutedBlock, address: Hex): Hex
  /** Code that some account has or had, by its hash; `undefined` when there is none. */
  codeByHash(codeHash: Hex): Uint8Array | undefined
  /** Addresses of the accounts in which the states after two blocks differ, edits included. */
  changedAccounts(before: ExecutedBlock, after: ExecutedBlock): readonly Hex[]
}

/** Makes them for the states of a trie. */
export function createAccountQueries({ trie }: { readonly trie: StateTrie }): AccountQueries {
  return {
    storageHash: ({ postState }, address) => trie.storageHash(postState, address),
    codeByHash: (codeHash) => trie.codeByHash(codeHash),
    changedAccounts: (before, after) => trie.changedAccounts(before.postState, after.postState),
  }
}
