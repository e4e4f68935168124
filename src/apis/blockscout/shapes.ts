/**
 * Objects of Blockscout's API v2 (https://github.com/blockscout/blockscout-api-v2-swagger). What a node of its own cannot know, such
 * as prices and tags of a person, is null or empty, as it is there.
 */
import { ZERO_ADDRESS } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { contractAddress, type Transaction } from '../../chain/transaction.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogView } from '../../engine/model.ts'
import { heightOf } from '../../engine/queries/log-walk.ts'
import { receiptAt } from '../../engine/queries/lookup.ts'
import type { TokenTransfer, TokenType } from '../../engine/queries/token-transfers.ts'
import type { Token } from '../../engine/queries/tokens.ts'
import { assetChangesIn } from '../../execution/asset-changes.ts'
import { abiAt, namesAt } from '../../rpc/contract-abis.ts'
import { toRpcDecoded } from '../../rpc/wire/decoded.ts'

/** Names of the standards. */
export const STANDARDS: Readonly<Record<TokenType, string>> = {
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}
const LATEST = { tag: 'latest' } as const

/** Unix seconds as text of ISO 8601. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', '.000000Z')
}

/** `AddressParam`. */
export async function addressParam(engine: Engine, address: Hex) {
  const state = await engine.queries.state(LATEST)
  const isContract = state?.account(address)?.isContract === true
  const implementations = isContract ? await engine.queries.implementations(address) : []
  const named = await Promise.all(implementations.map((each) => abiAt(engine, each, LATEST)))
  const abi = isContract ? await abiAt(engine, address, LATEST) : undefined
  const found = isContract && state !== undefined ? await engine.sources.at(state, address) : undefined
  return {
    hash: address,
    name: abi?.name || null,
    is_contract: isContract,
    is_verified: found?.match !== undefined,
    is_scam: false,
    reputation: 'ok',
    implementation_name: named[0]?.name || null,
    implementations: implementations.map((each, i) => ({ address_hash: each, name: named[i]?.name || null })),
    proxy_type: null,
    ens_domain_name: null,
    metadata: null,
    private_tags: [],
    public_tags: [],
    watchlist_names: [],
  }
}

/** `TokenInfo`. The number of holders is that of the endpoint for them. */
export function tokenInfo({ address, type, name, symbol, decimals, supply }: Token) {
  return {
    address_hash: address,
    address,
    type: STANDARDS[type],
    name: name ?? null,
    symbol: symbol ?? null,
    decimals: decimals === undefined ? null : String(decimals),
    total_supply: supply === undefined ? null : String(supply),
    holders_count: null,
    holders: null,
    circulating_market_cap: null,
    exchange_rate: null,
    volume_24h: null,
    icon_url: null,
    reputation: 'ok',
  }
}

function totalOf({ type, amount = 0n, tokenId = 0n }: TokenTransfer, decimals: string | null) {
  if (type === 'erc20') return { decimals, value: String(amount) }
  const own = { token_id: String(tokenId), token_instance: null }
  return type === 'erc721' ? own : { ...own, decimals, value: String(amount) }
}

function transferType({ from, to }: TokenTransfer): string {
  if (from === ZERO_ADDRESS) return 'token_minting'
  return to === ZERO_ADDRESS ? 'token_burning' : 'token_transfer'
}

/** `TokenTransfer`. */
export async function transferObject(engine: Engine, transfer: TokenTransfer, token: Token) {
  const { view, type, from, to } = transfer
  const mined = engine.queries.receipt(view.transaction.hash)
  const info = tokenInfo(token)
  const block = mined?.block.block.header
  return {
    transaction_hash: view.transaction.hash,
    block_hash: view.block.hash,
    block_number: heightOf(view),
    log_index: view.logIndex,
    timestamp: block === undefined ? null : timeText(block.timestamp),
    method: mined === undefined ? null : (await decodedInput(engine, mined.transaction)).method,
    from: await addressParam(engine, from),
    to: await addressParam(engine, to),
    token: info,
    token_type: STANDARDS[type],
    total: totalOf(transfer, info.decimals),
    type: transferType(transfer),
  }
}

/** What a transaction calls: the name of the method or its selector, and `DecodedInput` where its ABI is known. */
async function decodedInput(engine: Engine, { to, data }: Transaction) {
  if (to === null || data.length < 4) return { method: null, decoded: null }
  const selector = toHex(data.subarray(0, 4))
  const registries = [engine.names, ...(await namesAt(engine, to))]
  for (const names of registries) {
    const call = names.call(data, to)
    if (call === undefined) continue
    const { name, arguments: parameters } = toRpcDecoded(call)
    const signature = parameters.map((each) => `${each.type} ${each.name}`.trim()).join(', ')
    return {
      method: name,
      decoded: { method_call: `${name}(${signature})`, method_id: selector.slice(2), parameters },
    }
  }
  return { method: selector, decoded: null }
}

/** `DecodedInputLog` of a log whose event is known. */
function decodedLog(engine: Engine, { address, topics, data }: LogView['log']) {
  const event = engine.names.event({ address, topics, data })
  if (event === undefined) return null
  const { name, arguments: parameters } = toRpcDecoded(event)
  const signature = parameters.map((each) => `${each.type} ${each.name}`.trim()).join(', ')
  return { method_call: `${name}(${signature})`, method_id: topics[0]?.slice(2, 10) ?? '', parameters }
}

/** `Log`. */
export async function logObject(engine: Engine, { log, block, transaction, logIndex }: LogView) {
  const contract = await addressParam(engine, log.address)
  return {
    address: contract,
    address_hash: contract,
    smart_contract: contract,
    block_hash: block.hash,
    block_number: block.block.header.number,
    transaction_hash: transaction.hash,
    index: logIndex,
    topics: [0, 1, 2, 3].map((position) => log.topics[position] ?? null),
    data: toHex(log.data),
    decoded: decodedLog(engine, log),
  }
}

function typesOf({ to, data, value }: Transaction, hasTransfers: boolean): string[] {
  return [
    ...(hasTransfers ? ['token_transfer'] : []),
    ...(to === null ? ['contract_creation'] : []),
    ...(to !== null && data.length > 0 ? ['contract_call'] : []),
    ...(value > 0n ? ['coin_transfer'] : []),
  ]
}

/** `Transaction`, of a block. */
export async function transactionObject(
  engine: Engine,
  { block, index }: { block: ExecutedBlock; index: number },
) {
  const view = receiptAt(block, index)
  if (view === undefined) throw new Error('the block has no such transaction')
  const { transaction, receipt } = view
  const { hash, from, to, nonce, value, gasLimit, gasPrice, data } = transaction
  const { number, timestamp } = block.block.header
  const { method, decoded } = await decodedInput(engine, transaction)
  const head = engine.queries.head().block.header.number
  const trace = receipt.succeeded ? undefined : await engine.queries.trace(block, index)
  const reason = trace?.root.failure?.reason ?? 'execution reverted'
  const hasTransfers = receipt.logs.some((log) =>
    assetChangesIn(log).some(({ change }) => change === 'transfer'),
  )
  const created = to === null && receipt.succeeded ? contractAddress(from, nonce) : undefined
  return {
    hash,
    block_number: number,
    timestamp: timeText(timestamp),
    confirmations: head - number + 1,
    status: receipt.succeeded ? 'ok' : 'error',
    result: receipt.succeeded ? 'success' : reason,
    revert_reason: receipt.succeeded ? null : reason,
    method,
    from: await addressParam(engine, from),
    to: to === null ? null : await addressParam(engine, to),
    created_contract: created === undefined ? null : await addressParam(engine, created),
    value: String(value),
    fee: { type: 'actual', value: String(receipt.gasUsed * gasPrice) },
    gas_limit: Number(gasLimit),
    gas_used: String(receipt.gasUsed),
    gas_price: String(gasPrice),
    nonce: Number(nonce),
    position: index,
    type: 0,
    raw_input: toHex(data),
    decoded_input: decoded,
    transaction_types: typesOf(transaction, hasTransfers),
    token_transfers: null,
    token_transfers_overflow: null,
    has_error_in_internal_transactions: false,
    is_pending_update: false,
    base_fee_per_gas: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    priority_fee: null,
    transaction_burnt_fee: null,
    transaction_tag: null,
    exchange_rate: null,
    confirmation_duration: [],
    actions: [],
  }
}
