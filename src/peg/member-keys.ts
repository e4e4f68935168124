/** Keys of federations' members that were given to the node, kept in its database beside the Bitcoin chain. */
import { digitsOf } from '../bitcoin/displayed-hash.ts'
import type { Store } from '../store/level.ts'
import type { Table } from '../store/table.ts'
import { parentChainTable } from '../store/tables.ts'

/** First digits of their keys, which no entry of the Bitcoin chain has. */
const MEMBER = '20'

/** The secrets by compressed public key. */
export class MemberKeys {
  readonly #store: Store
  readonly #table: Table<string, Uint8Array>

  constructor(store: Store) {
    this.#store = store
    this.#table = parentChainTable(store)
  }

  get(publicKey: Uint8Array): Uint8Array | undefined {
    return this.#table.get(MEMBER + digitsOf(publicKey))
  }

  /** Resolves when it is on disk. Throws `storage`. */
  put(publicKey: Uint8Array, secret: Uint8Array): Promise<void> {
    return this.#store.batch([this.#table.put(MEMBER + digitsOf(publicKey), secret)])
  }
}
