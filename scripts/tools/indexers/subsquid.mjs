/**
 * A processor of Subsquid on the node of `NODE`: writes the rows that it has to stdout after each change, a JSON line
 * each. `TRACES` is `debug` or `trace`, the API that traces and state differences come from.
 */
import { EvmBatchProcessor } from '@subsquid/evm-processor'

const { NODE, TRACES } = process.env
const isTrace = TRACES === 'trace'

/** The latest block of each height, in memory, as a database for blocks that are not final. */
class Rows {
  supportsHotBlocks = true
  #final = { height: -1, hash: '0x' }
  #blocks = new Map()

  async connect() {
    return { ...this.#final, top: [] }
  }

  async transact({ prevHead, nextHead }, work) {
    this.#drop(prevHead.height)
    await work(this.#store())
    this.#final = nextHead
    this.#print()
  }

  async transactHot2({ baseHead, newBlocks }, work) {
    this.#drop(baseHead.height)
    await work(this.#store(), 0, newBlocks.length)
    this.#print()
  }

  #drop(above) {
    for (const height of this.#blocks.keys()) if (height > above) this.#blocks.delete(height)
  }

  #store() {
    return { put: (row) => this.#blocks.set(row.height, row) }
  }

  #print() {
    console.log(JSON.stringify([...this.#blocks.values()].sort((a, b) => a.height - b.height)))
  }
}

const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url: NODE, maxBatchCallSize: 20 })
  .setRpcDataIngestionSettings({
    headPollInterval: 200,
    preferTraceApi: isTrace,
    useDebugApiForStateDiffs: !isTrace,
  })
  .setFinalityConfirmation(5)
  .setFields({
    transaction: { gasUsed: true, status: true, value: true },
    trace: { callFrom: true, callTo: true, callValue: true, createResultAddress: true },
    stateDiff: { kind: true, next: true },
  })
  .setBlockRange({ from: 0 })
  .includeAllBlocks()
  .addLog({ transaction: true })
  .addTransaction({})
  .addTrace({ transaction: true })
  .addStateDiff({ transaction: true })

processor.run(new Rows(), async ({ blocks, store }) => {
  for (const { header, transactions, logs, traces, stateDiffs } of blocks) {
    store.put({
      height: header.height,
      hash: header.hash,
      transactions: transactions.map(({ hash, from, to, gasUsed, status }) => ({
        hash,
        from,
        to: to ?? null,
        gasUsed: String(gasUsed),
        status,
      })),
      logs: logs.map(({ logIndex, address, topics, data }) => ({ logIndex, address, topics, data })),
      created: traces.flatMap(({ type, result }) => (type === 'create' && result ? [result.address] : [])),
      calls: traces.filter(({ type }) => type === 'call').length,
      balances: stateDiffs.filter(({ key }) => key === 'balance').map(({ address }) => address),
    })
  }
})
