/** The data that two chains share when one was loaded from the other's file. */
import type { Node } from '../../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
export type Results = any

/** Calls a method of a node in process. */
export const ask = (node: Node, method: string, ...params: unknown[]): Promise<Results> =>
  node.request({ method, params })

/** Blocks with receipts and logs, the transactions of each account, the state root and the pool, as clients see them. */
export async function pictureOf(node: Node): Promise<object> {
  const head = Number(await ask(node, 'eth_blockNumber'))
  const blocks: object[] = []
  const accounts = new Set<string>()
  for (let height = 0; height <= head; height++) {
    const block = await ask(node, 'eth_getBlockByNumber', `0x${height.toString(16)}`, true)
    const receipts = []
    for (const { hash, from, to } of block.transactions) {
      receipts.push(await ask(node, 'eth_getTransactionReceipt', hash))
      for (const account of [from, to]) if (account !== null) accounts.add(account)
    }
    const executed = node.engine.queries.blocksAt(height).find(({ hash }) => hash === block.hash)
    blocks.push({ block, receipts, state: executed?.postState, difficulty: executed?.totalDifficulty })
  }
  const histories: object[] = []
  for (const account of accounts) {
    histories.push([
      account,
      await ask(node, 'ots_searchTransactionsAfter', account, 0, 100),
      await ask(node, 'ots_getContractCreator', account),
    ])
  }
  return {
    blocks,
    histories,
    logs: await ask(node, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }),
    pool: await ask(node, 'txpool_content'),
    root: node.engine.queries.head().postState,
  }
}
