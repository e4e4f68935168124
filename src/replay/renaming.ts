/** Names that two nodes chose differently for the same thing: ids of filters and subscriptions, and hashes where they may differ. */

/** 32 bytes that are no number and no text: those begin or end with bytes that are all the same. */
const HASH = /^0x(?!(00){8}|(ff){8})[0-9a-f]{48}(?!(00){8})[0-9a-f]{16}$/
const ADDRESS = /^0x[0-9a-f]{40}$/

/** Methods whose result is a name that the node chose; later requests and events hold it. */
export const NAMING_METHODS: ReadonlySet<string> = new Set([
  'eth_subscribe',
  'eth_newFilter',
  'eth_newBlockFilter',
  'eth_newPendingTransactionFilter',
  'evm_snapshot',
  'anvil_snapshot',
  'personal_newAccount',
  'personal_newAccountWithSeed',
  'personal_importRawKey',
])

/** The names of a recording and those of the replay; one stands for one only. */
export class Renaming {
  readonly #replayed = new Map<string, string>()
  readonly #recorded = new Map<string, string>()
  readonly #renamesHashes: boolean

  /** @param renamesHashes hashes and addresses of contracts may differ throughout */
  constructor({ renamesHashes }: { readonly renamesHashes: boolean }) {
    this.#renamesHashes = renamesHashes
  }

  /** Notes two names for one thing; false where either is known for another. */
  add(recorded: string, replayed: string): boolean {
    if (recorded === replayed) return true
    const before = this.#replayed.get(recorded) ?? replayed
    if (before !== replayed || (this.#recorded.get(replayed) ?? recorded) !== recorded) return false
    this.#replayed.set(recorded, replayed)
    this.#recorded.set(replayed, recorded)
    return true
  }

  /** Do these two values stand for the same? */
  isSame(recorded: unknown, replayed: unknown, key: string): boolean {
    if (recorded === replayed) return true
    if (typeof recorded !== 'string' || typeof replayed !== 'string') return false
    if (this.#replayed.get(recorded) === replayed) return true
    if (!this.#renamesHashes) return false
    const isHash = HASH.test(recorded) && HASH.test(replayed)
    const isContract = key === 'contractAddress' && ADDRESS.test(recorded) && ADDRESS.test(replayed)
    return (isHash || isContract) && this.add(recorded, replayed)
  }

  /** A request with the names of the replay. */
  apply(value: unknown): unknown {
    if (this.#replayed.size === 0) return value
    if (typeof value === 'string') return this.#replayed.get(value) ?? value
    if (Array.isArray(value)) return value.map((item) => this.apply(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.apply(member)]))
  }
}
