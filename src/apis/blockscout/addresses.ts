/** Accounts in Blockscout's API v2: `Address`, and lists of what concerns one. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { receiptAt } from '../../engine/queries/lookup.ts'
import { questionTime } from '../../engine/queries/tokens.ts'
import { placesOf } from '../etherscan/account-rows.ts'
import { countOf, MOST_COUNTED } from './counting.ts'
import { internalList } from './internal-transactions.ts'
import { addressOf, logList, pageAt, tokenBalances, transactionList, transferList } from './lists.ts'
import { addressParam, tokenInfo } from './shapes.ts'

/** Does a sequence have an element? */
async function hasAny(values: AsyncGenerator<unknown>): Promise<boolean> {
  const { done } = await values.next()
  await values.return(undefined)
  return done !== true
}

/** `AddressCounters`: each counts 10,000 at most, within five seconds. */
async function counters(engine: Engine, account: Hex): Promise<object> {
  const isTime = questionTime()
  let transactions = 0
  let gas = 0n
  const range = { from: 0, to: engine.queries.head().block.header.number }
  for await (const { block, index } of placesOf(engine, account, range, {
    isDescending: true,
    hideRemasc: true,
  })) {
    const sender = block.block.transactions[index]?.from
    if (sender === account) gas += receiptAt(block, index)?.receipt.gasUsed ?? 0n
    if (++transactions === MOST_COUNTED || !(await isTime())) break
  }
  return {
    transactions_count: String(transactions),
    token_transfers_count: String(await countOf(engine.queries.tokenTransfers({ account }), isTime)),
    gas_usage_count: String(gas),
    validations_count: String(await countOf(engine.queries.minedBlocks(account), isTime)),
  }
}

/** Answers a request for an account, or for a part of what is known of it; `undefined` for what there is not. */
export async function addressAnswer(
  engine: Engine,
  account: Hex,
  part: string | undefined,
  query: URLSearchParams,
): Promise<unknown> {
  if (part === undefined) return addressObject(engine, account)
  if (part === 'transactions') return transactionList(engine, account, query)
  if (part === 'internal-transactions') return internalList(engine, account, query)
  if (part === 'counters') return counters(engine, account)
  if (part === 'logs') return logList(engine, account, query)
  if (part === 'token-transfers') {
    const token = query.get('token')
    return transferList(engine, { account, ...(token !== null && { token: addressOf(token) }) }, query)
  }
  if (part === 'token-balances') return tokenBalances(engine, account, query)
  return part === 'tokens' ? pageAt(await tokenBalances(engine, account, query), query) : undefined
}

/** The object. */
async function addressObject(engine: Engine, address: Hex): Promise<object> {
  const state = await engine.queries.state({ tag: 'latest' })
  const param = await addressParam(engine, address)
  const origin = param.is_contract ? await engine.queries.contractOrigin(address) : undefined
  const token = param.is_contract ? await engine.queries.token(address) : undefined
  const hasTransfers = await hasAny(engine.queries.tokenTransfers({ account: address }))
  const [implementation] = param.implementations
  return {
    ...param,
    coin_balance: String(state?.account(address)?.balance ?? 0n),
    block_number_balance_updated_at: engine.queries.head().block.header.number,
    creator_address_hash: origin?.creator ?? null,
    creation_transaction_hash: origin?.hash ?? null,
    creation_status: origin === undefined ? null : 'success',
    implementation_address: implementation?.address_hash ?? null,
    token: token === undefined ? null : tokenInfo(token),
    exchange_rate: null,
    has_beacon_chain_withdrawals: false,
    has_logs:
      param.is_contract && (await hasAny(engine.queries.walkLogs({ addresses: [address], filters: [[]] }))),
    has_token_transfers: hasTransfers,
    has_tokens: hasTransfers,
    has_validated_blocks: await hasAny(engine.queries.minedBlocks(address)),
  }
}
