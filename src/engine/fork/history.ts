/** The blocks below a fork's first one: the upstream's, fetched on demand and kept as long as they are used. */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Demand } from '../../state/fork/demand.ts'
import type { RemoteStates } from '../../state/fork/remote-states.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'
import type { TransactionLocation } from '../../store/records.ts'

/** Cached headers, heights and locations, of each kind; those that upstream does not have are cached as well. */
const MOST_HEADERS = 20_000
/** Weight of a cached block, beside one for each of its transactions; and the most of all. */
const BLOCK_WEIGHT = 16
const MOST_BLOCK_WEIGHT = 24_576

/** An answer of upstream: `undefined` where it has nothing. */
interface Found<T> {
  readonly value: T | undefined
}

/** The history of a fork. */
export class ForkHistory implements BlockHistory {
  readonly above: number
  readonly #remote: RemoteChain
  readonly #states: RemoteStates
  readonly #demand: Demand
  readonly #hashes = new LRUCache<number, Found<Hex>>({ max: MOST_HEADERS })
  readonly #headers = new LRUCache<Hex, Found<Header>>({ max: MOST_HEADERS })
  readonly #locations = new LRUCache<Hex, Found<TransactionLocation>>({ max: MOST_HEADERS })
  readonly #blocks = new LRUCache<Hex, Found<ExecutedBlock>>({
    maxSize: MOST_BLOCK_WEIGHT,
    sizeCalculation: ({ value }) => BLOCK_WEIGHT + (value?.block.transactions.length ?? 0),
  })

  constructor(remote: RemoteChain, states: RemoteStates, demand: Demand) {
    this.above = remote.point.number
    this.#remote = remote
    this.#states = states
    this.#demand = demand
  }

  header(hash: Hex): Header | undefined {
    const found = this.#headers.get(hash)
    if (found !== undefined) return found.value
    const block = this.#blocks.get(hash)
    if (block !== undefined) return block.value?.block.header
    this.#demand.missLoad(`header ${hash}`, async () => {
      this.#headers.set(hash, { value: (await this.#remote.headerByHash(hash))?.header })
    })
    return undefined
  }

  block(hash: Hex): ExecutedBlock | undefined {
    const found = this.#blocks.get(hash)
    if (found === undefined) {
      this.#demand.missLoad(`block ${hash}`, async () =>
        this.#keepBlock(hash, await this.#remote.blockByHash(hash)),
      )
    }
    // Marks the state as used: a block that is read must have a readable state, however many others were read since.
    if (found?.value !== undefined) this.#stateRoot(found.value)
    return found?.value
  }

  hashAt(height: number): Hex | undefined {
    if (height < 0) return undefined
    const known = this.#remote.knownHash(height)
    if (known !== undefined) return known
    const found = this.#hashes.get(height)
    if (found === undefined) {
      this.#demand.missLoad(`block ${height}`, async () => {
        const header = await this.#remote.headerByNumber(height)
        this.#hashes.set(height, { value: header?.hash })
        if (header !== undefined) this.#headers.set(header.hash, { value: header.header })
      })
    }
    return found?.value
  }

  transactionLocation(hash: Hex): TransactionLocation | undefined {
    const found = this.#locations.get(hash)
    if (found === undefined) {
      this.#demand.missLoad(`transaction ${hash}`, async () => {
        const location = await this.#remote.transactionLocation(hash)
        const value = location && { blockHash: location.block.hash, index: location.index }
        this.#locations.set(hash, { value })
      })
    }
    return found?.value
  }

  #stateRoot({ hash, block: { header } }: ExecutedBlock): Hex {
    return this.#states.root({ number: header.number, hash })
  }

  #keepBlock(hash: Hex, block: ExecutedBlock | undefined): void {
    this.#blocks.set(hash, { value: block && { ...block, postState: this.#stateRoot(block) } })
    if (block === undefined) return
    this.#headers.set(hash, { value: block.block.header })
    this.#hashes.set(block.block.header.number, { value: hash })
  }
}
