/** A transaction in Blockscout's API v2, and lists of what happened in it. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { heightOf } from '../../engine/queries/token-transfers.ts'
import { internalOf } from './internal-transactions.ts'
import { type List, pageAt, tokenReader } from './lists.ts'
import { logObject, transactionObject, transferObject } from './shapes.ts'

/** Transfers in the logs of one transaction. */
async function transfersOf(engine: Engine, hash: Hex, height: number): Promise<List> {
  const tokenOf = tokenReader(engine)
  const items: unknown[] = []
  for await (const transfer of engine.queries.tokenTransfers({
    from: height,
    to: height,
    isDescending: false,
  })) {
    if (transfer.view.transaction.hash !== hash) continue
    items.push(await transferObject(engine, transfer, await tokenOf(transfer)))
  }
  return { items, next_page_params: null }
}

async function logsOf(engine: Engine, hash: Hex, height: number, query: URLSearchParams): Promise<List> {
  const range = { from: height, to: height }
  const found = await engine.queries.logs({ range, addresses: [], topics: [], maxBlocks: 0, maxLogs: 0 })
  const own = found.filter((view) => heightOf(view) === height && view.transaction.hash === hash)
  const page = pageAt(own, query)
  const items: object[] = []
  for (const view of page.items) items.push(await logObject(engine, view))
  return { ...page, items }
}

/** Answers a request for a transaction or a part of it; `undefined` for what there is not. */
export async function transactionAnswer(
  engine: Engine,
  hash: Hex,
  part: string | undefined,
  query: URLSearchParams,
): Promise<unknown> {
  const view = engine.queries.receipt(hash)
  if (view === undefined) return undefined
  const { number } = view.block.block.header
  if (part === 'token-transfers') return transfersOf(engine, hash, number)
  if (part === 'internal-transactions') return internalOf(engine, view, query)
  if (part === 'logs') return logsOf(engine, hash, number, query)
  return part === undefined ? transactionObject(engine, view) : undefined
}
