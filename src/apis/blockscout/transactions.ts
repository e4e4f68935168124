/** A transaction in Blockscout's API v2, and lists of what happened in it. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogView, ReceiptView } from '../../engine/model.ts'
import { transfersIn } from '../../engine/queries/token-transfers.ts'
import { internalOf } from './internal-transactions.ts'
import { type List, pageAt, tokenReader } from './lists.ts'
import { logObject, transactionObject, transferObject } from './shapes.ts'

/** The logs of one transaction. */
async function logsOf(engine: Engine, { block, transaction }: ReceiptView): Promise<readonly LogView[]> {
  const range = { blockHash: block.hash }
  const found = await engine.queries.logs({ range, addresses: [], topics: [], maxBlocks: 0, maxLogs: 0 })
  return found.filter((view) => view.transaction.hash === transaction.hash)
}

async function transferPage(engine: Engine, view: ReceiptView): Promise<List> {
  const tokenOf = tokenReader(engine)
  const items: unknown[] = []
  for (const transfer of (await logsOf(engine, view)).flatMap((log) => transfersIn(log))) {
    items.push(await transferObject(engine, transfer, await tokenOf(transfer)))
  }
  return { items, next_page_params: null }
}

async function logPage(engine: Engine, view: ReceiptView, query: URLSearchParams): Promise<List> {
  const page = pageAt(await logsOf(engine, view), query)
  const items: object[] = []
  for (const log of page.items) items.push(await logObject(engine, log))
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
  if (part === 'token-transfers') return transferPage(engine, view)
  if (part === 'internal-transactions') return internalOf(engine, view, query)
  if (part === 'logs') return logPage(engine, view, query)
  return part === undefined ? transactionObject(engine, view) : undefined
}
