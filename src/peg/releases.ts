/** The signed peg-outs of a chain on their way to Bitcoin. */
import { idOf } from '../bitcoin/chain/block.ts'
import { decodeTransaction, type Transaction } from '../bitcoin/transaction.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import type { Log } from '../chain/receipt.ts'
import { toBigInt } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Engine } from '../engine/engine.ts'
import type { ChainUpdate } from '../engine/model.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { firstBlock } from './bridge-state.ts'

/** Topic of `release_btc`, whose data is a fully signed transaction. */
const RELEASE_TOPIC = keccakHex(new TextEncoder().encode('release_btc(bytes32,bytes)'))
/** Blocks in which a new process looks for releases that were not broadcast. */
const RESUMED_BLOCKS = 1000

/** The transaction that a log of `release_btc` has; `undefined` for another log. */
export function releasedIn({ address, topics, data }: Log): Transaction | undefined {
  if (address !== PRECOMPILE_ADDRESS.bridge || topics[0] !== RELEASE_TOPIC) return undefined
  const length = Number(toBigInt(data.subarray(32, 64)))
  return decodeTransaction(data.subarray(64, 64 + length))
}

/** What releases are broadcast with. */
export interface ReleasesParts {
  readonly engine: Engine
  readonly side: Pick<BitcoinSide, 'node' | 'released'>
  readonly logger: Logger
}

/** Those that are complete and not broadcast. */
export class Releases {
  readonly #parts: ReleasesParts
  #waiting: Transaction[] = []
  /** Were the releases of an earlier process looked for? */
  #isResumed = false
  #broadcasting: Promise<void> = Promise.resolve()
  /** Broadcasts that were asked for and have not ended. */
  #asked = 0

  constructor(parts: ReleasesParts) {
    this.#parts = parts
  }

  /** Takes in those that a change of the chain completed; are there some that nothing broadcasts yet? */
  follow({ removed, added }: ChainUpdate): boolean {
    if (removed.length > 0 && added.length === 0) this.#waiting = []
    for (const { receipts } of added) {
      for (const log of receipts.flatMap(({ logs }) => logs)) {
        const released = releasedIn(log)
        if (released !== undefined) this.#waiting.push(released)
      }
    }
    return this.#waiting.length > 0 && this.#asked === 0
  }

  /** Leaves them to another node; they are looked for again at the next `resume`. */
  forget(): void {
    this.#waiting = []
    this.#isResumed = false
  }

  /** Broadcasts what an earlier process may have left: releases of the last blocks that Bitcoin does not know. */
  async resume(): Promise<void> {
    if (this.#isResumed) return
    const { engine, side } = this.#parts
    const to = engine.queries.head().block.header.number
    const from = Math.max(firstBlock(engine), to - RESUMED_BLOCKS)
    const query = {
      addresses: [PRECOMPILE_ADDRESS.bridge],
      topics: [[RELEASE_TOPIC]],
      maxBlocks: 0,
      maxLogs: 0,
    }
    const logs = from > to ? [] : await engine.queries.logs({ ...query, range: { from, to } })
    for (const transaction of logs.flatMap(({ log }) => releasedIn(log) ?? [])) {
      if ((await side.node.transaction(idOf(transaction))) === undefined) this.#waiting.push(transaction)
    }
    this.#isResumed = true
    if (this.#waiting.length > 0) await this.broadcast()
  }

  /** Broadcasts those that were completed since the last time. */
  broadcast(): Promise<void> {
    this.#asked++
    this.#broadcasting = this.#broadcasting.then(() => this.#broadcastWaiting()).finally(() => this.#asked--)
    return this.#broadcasting
  }

  /** Resolves when no broadcast runs. */
  idle(): Promise<void> {
    return this.#broadcasting
  }

  /** A node that does not answer gets them the next time. */
  async #broadcastWaiting(): Promise<void> {
    const { side, logger } = this.#parts
    while (this.#waiting.length > 0) {
      const [transaction] = this.#waiting
      if (transaction === undefined) return
      try {
        await side.node.broadcast(transaction)
        await side.released()
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        logger.warn(`a signed peg-out was not broadcast: ${error.message}`)
        if (error.kind === 'upstream') return
      }
      this.#waiting = this.#waiting.filter((one) => one !== transaction)
    }
  }
}
