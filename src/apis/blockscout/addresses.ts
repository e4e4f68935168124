/** An account in Blockscout's API v2: `Address`. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { addressParam, tokenInfo } from './shapes.ts'

/** Does a sequence have an element? */
async function hasAny(values: AsyncGenerator<unknown>): Promise<boolean> {
  const { done } = await values.next()
  await values.return(undefined)
  return done !== true
}

/** The newest log of a contract, if there is one in the newest blocks. */
async function hasLogs(engine: Engine, address: Hex): Promise<boolean> {
  const to = engine.queries.head().block.header.number
  const range = { from: Math.max(0, to - 16_383), to }
  const query = { range, addresses: [address], topics: [], maxBlocks: 0, maxLogs: 0 }
  return (await engine.queries.logs(query)).length > 0
}

/** The object. */
export async function addressObject(engine: Engine, address: Hex): Promise<object> {
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
    has_logs: param.is_contract && (await hasLogs(engine, address)),
    has_token_transfers: hasTransfers,
    has_tokens: hasTransfers,
    has_validated_blocks: await hasAny(engine.queries.minedBlocks(address)),
  }
}
