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

/** Headers, heights and locations kept, of each kind; those that upstream does not have included. */
const MOST_HEADERS = 20_000
/** Blocks kept: a block weighs as much as its transactions. */
const BLOCK_WEIGHT = 16
const MOST_BLOCK_WEIGHT = 24_576

/** What upstream has, or that it has nothing. */
interface Found<T> {
  readonly value: T | undefined
}

/** Makes the history of a fork. */
export function createHistory(remote: RemoteChain, states: RemoteStates, demand: Demand): BlockHistory {
  const hashes = new LRUCache<number, Found<Hex>>({ max: MOST_HEADERS })
  const headers = new LRUCache<Hex, Found<Header>>({ max: MOST_HEADERS })
  const locations = new LRUCache<Hex, Found<TransactionLocation>>({ max: MOST_HEADERS })
  const blocks = new LRUCache<Hex, Found<ExecutedBlock>>({
    maxSize: MOST_BLOCK_WEIGHT,
    sizeCalculation: ({ value }) => BLOCK_WEIGHT + (value?.block.transactions.length ?? 0),
  })

  const stateRoot = ({ hash, block: { header } }: ExecutedBlock): Hex =>
    states.root({ number: header.number, hash })

  function keepBlock(hash: Hex, block: ExecutedBlock | undefined): void {
    blocks.set(hash, { value: block && { ...block, postState: stateRoot(block) } })
    if (block === undefined) return
    headers.set(hash, { value: block.block.header })
    hashes.set(block.block.header.number, { value: hash })
  }

  return {
    above: remote.point.number,
    header(hash) {
      const found = headers.get(hash) ?? blocks.get(hash)
      if (found === undefined) {
        demand.missLoad(`header ${hash}`, async () => {
          headers.set(hash, { value: (await remote.headerByHash(hash))?.header })
        })
        return undefined
      }
      return found.value && ('block' in found.value ? found.value.block.header : found.value)
    },
    block(hash) {
      const found = blocks.get(hash)
      if (found === undefined) {
        demand.missLoad(`block ${hash}`, async () => keepBlock(hash, await remote.blockByHash(hash)))
      }
      // A block that is used has a state that can be read, however many other blocks were read since.
      if (found?.value !== undefined) stateRoot(found.value)
      return found?.value
    },
    hashAt(height) {
      if (height < 0) return undefined
      const known = remote.knownHash(height)
      if (known !== undefined) return known
      const found = hashes.get(height)
      if (found === undefined) {
        demand.missLoad(`block ${height}`, async () => {
          const header = await remote.headerByNumber(height)
          hashes.set(height, { value: header?.hash })
          if (header !== undefined) headers.set(header.hash, { value: header.header })
        })
      }
      return found?.value
    },
    transactionLocation(hash) {
      const found = locations.get(hash)
      if (found === undefined) {
        demand.missLoad(`transaction ${hash}`, async () => {
          const location = await remote.transactionLocation(hash)
          locations.set(hash, {
            value: location && { blockHash: location.block.hash, index: location.index },
          })
        })
      }
      return found?.value
    },
  }
}
