/** The transactions of the Bitcoin chain that pay to federations, block by block. */
import type { BitcoinNode, WholeBlock } from '../bitcoin/node-interface.ts'
import type { Transaction } from '../bitcoin/transaction.ts'
import { toHex } from '../encoding/hex.ts'

/** A transaction that pays to a federation. */
export interface Payment {
  readonly transaction: Transaction
  readonly block: WholeBlock
}

interface Scanned {
  readonly hash: string
  readonly payments: readonly Payment[]
}

/** Looks through the best chain, each block once. */
export class Payments {
  readonly #node: BitcoinNode
  /** By height, from `#from` on. */
  #scanned: Scanned[] = []
  #from = 0
  #scripts = ''

  constructor(node: BitcoinNode) {
    this.#node = node
  }

  /** All transactions of the best chain from a height on with an output of one of these scripts, in order. */
  async to(scripts: readonly Uint8Array[], from: number): Promise<readonly Payment[]> {
    const wanted = new Set(scripts.map(toHex))
    const key = [...wanted].sort().join()
    if (key !== this.#scripts || from !== this.#from) this.#scanned = []
    this.#scripts = key
    this.#from = from
    await this.#dropRemoved()
    for (;;) {
      const hash = await this.#node.hashAt(from + this.#scanned.length)
      const block = hash === undefined ? undefined : await this.#node.block(hash)
      if (block === undefined) break
      this.#scanned.push({ hash: block.hash, payments: paymentsIn(block, wanted) })
    }
    return this.#scanned.flatMap(({ payments }) => payments)
  }

  async #dropRemoved(): Promise<void> {
    for (let last = this.#scanned.at(-1); last !== undefined; last = this.#scanned.at(-1)) {
      if ((await this.#node.hashAt(this.#from + this.#scanned.length - 1)) === last.hash) return
      this.#scanned.pop()
    }
  }
}

function paymentsIn(block: WholeBlock, scripts: ReadonlySet<string>): Payment[] {
  return block.transactions
    .filter(({ outputs }) => outputs.some(({ script }) => scripts.has(toHex(script))))
    .map((transaction) => ({ transaction, block }))
}
