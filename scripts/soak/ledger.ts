/** The ledger of a run: the sent and the acknowledged transactions, and the state that follows from them. */

/** A transaction that was sent, and what it does when it succeeds, as all of these do. Amounts in wei. */
export interface Entry {
  readonly hash: string
  readonly raw: string
  readonly from: string
  /** The receiver of `value`; absent for a creation. */
  readonly to: string | undefined
  readonly value: bigint
  readonly gasPrice: bigint
  /** The token that it moves, in units of the token. */
  readonly token: { readonly to: string; readonly amount: bigint } | undefined
}

/** The state of an account: balance in wei, nonce, tokens. */
export interface Standing {
  balance: bigint
  nonce: number
  tokens: bigint
}

/** One set of books; all entries are of one node. */
export class Ledger {
  readonly #opening: ReadonlyMap<string, bigint>
  readonly #supply: { readonly owner: string; readonly tokens: bigint }
  readonly #acknowledged: Entry[] = []
  /** Hashes that are known to be in blocks. */
  readonly #mined: string[] = []
  #unanswered = 0

  /** Takes balances before the first entry, and who is given the whole supply of the token. */
  constructor(
    opening: ReadonlyMap<string, bigint>,
    supply: { readonly owner: string; readonly tokens: bigint },
  ) {
    this.#opening = opening
    this.#supply = supply
  }

  /** Notes that the node accepted it; `late` when it had done so before it went away, and was asked again. */
  acknowledge(entry: Entry, late = false): void {
    this.#acknowledged.push(entry)
    if (late) this.#unanswered++
  }

  mined(hash: string): void {
    this.#mined.push(hash)
  }

  get acknowledged(): readonly Entry[] {
    return this.#acknowledged
  }

  get minedHashes(): readonly string[] {
    return this.#mined
  }

  /** Whose coins are in the books. */
  get accounts(): readonly string[] {
    return [...this.#opening.keys()]
  }

  /** Who was given the supply of the token. */
  get holder(): string {
    return this.#supply.owner
  }

  /** How many were in the chain or the pool though the answer never came. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** What the node must report of each account, given the gas that each transaction used. */
  standings(gasUsed: (hash: string) => bigint): Map<string, Standing> {
    const standings = new Map<string, Standing>()
    const of = (address: string): Standing => {
      let standing = standings.get(address)
      if (standing === undefined) {
        standing = { balance: this.#opening.get(address) ?? 0n, nonce: 0, tokens: 0n }
        standings.set(address, standing)
      }
      return standing
    }
    for (const address of this.#opening.keys()) of(address)
    of(this.#supply.owner).tokens += this.#supply.tokens
    for (const { hash, from, to, value, gasPrice, token } of this.#acknowledged) {
      const sender = of(from)
      sender.nonce++
      sender.balance -= value + gasUsed(hash) * gasPrice
      if (token !== undefined) {
        sender.tokens -= token.amount
        of(token.to).tokens += token.amount
      } else if (to !== undefined) of(to).balance += value
    }
    return standings
  }
}
