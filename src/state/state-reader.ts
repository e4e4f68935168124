/** A state at one root as running code reads it, remembering what it has read: a root never changes. */
import { type Account, EMPTY_TRIE_ROOT } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import type { StateReader } from './model.ts'

/** Accounts and words remembered per reader, together; beyond it all are dropped and gathered anew. */
const REMEMBERED = 50_000

/** Reads that walk the tries. */
export interface StateLookups {
  account(address: Hex): Account | undefined
  word(storageRoot: Hex, slot: bigint): bigint
  code(codeHash: Hex): Uint8Array
}

interface Known {
  readonly account: Account | undefined
  /** Made with the first word: most accounts have none. */
  words: Map<bigint, bigint> | undefined
}

/** Puts a bounded memory in front of lookups at one root. */
export function createStateReader(lookups: StateLookups): StateReader {
  const known = new Map<Hex, Known>()
  let remembered = 0

  function makeRoom(): void {
    if (++remembered <= REMEMBERED) return
    known.clear()
    remembered = 1
  }

  function look(address: Hex): Known {
    let found = known.get(address)
    if (found === undefined) {
      found = { account: lookups.account(address), words: undefined }
      makeRoom()
      known.set(address, found)
    }
    return found
  }

  return {
    account: (address) => look(address).account,
    storage(address, slot) {
      const entry = look(address)
      const { account } = entry
      if (account === undefined || account.storageRoot === EMPTY_TRIE_ROOT) return 0n
      let word = entry.words?.get(slot)
      if (word === undefined) {
        word = lookups.word(account.storageRoot, slot)
        makeRoom()
        entry.words ??= new Map()
        entry.words.set(slot, word)
      }
      return word
    },
    code: lookups.code,
  }
}
