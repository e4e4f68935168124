/** Etherscan's module `account` (https://docs.etherscan.io/api-endpoints/accounts). */
import { z } from 'zod'
import { toBigInt } from '../../encoding/bytes.ts'
import { fromHex, type Hex, isHex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { TokenType } from '../../engine/queries/token-transfers.ts'
import { type TokenFacts, tokenFacts } from '../../execution/token-facts.ts'
import { ApiError, addressIn, read } from '../request.ts'
import {
  innerCallsOf,
  innerRow,
  type Place,
  pageOf,
  placesIn,
  placesOf,
  transactionRow,
} from './account-rows.ts'
import { type Action, type ActionContext, listed, ok, stateOf } from './parameters.ts'
import { transferRow } from './transfers.ts'

const NO_TRANSACTIONS = 'No transactions found'
/** Most accounts of `balancemulti`. */
const MOST_ACCOUNTS = 20
/** Most blocks whose inner calls are listed without an account. */
const MOST_BLOCKS = 10_000

const Called = z.looseObject({ result: z.string().optional() })

/** Calls a contract with the rights of the caller; `undefined` where that fails. */
export async function callContract(
  { call }: Pick<ActionContext, 'call'>,
  to: Hex,
  data: Hex,
  tag: string = 'latest',
): Promise<Uint8Array | undefined> {
  const { result } = Called.parse(await call('eth_call', [{ to, data }, tag]))
  return result !== undefined && isHex(result) ? fromHex(result) : undefined
}

const balance: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const address = parameters.address('address')
    return ok(String((await stateOf(engine, parameters)).account(address)?.balance ?? 0n))
  })

const balancemulti: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const given = parameters.required('address').split(',')
    if (given.length > MOST_ACCOUNTS) throw new ApiError('Error! Maximum of 20 addresses')
    const state = await stateOf(engine, parameters)
    return ok(
      given.map((text) => {
        const account = addressIn(text.trim())
        if (account === undefined) throw new ApiError('Error! Invalid address format')
        return { account, balance: String(state.account(account)?.balance ?? 0n) }
      }),
    )
  })

const BALANCE_OF = '0x70a08231'

const tokenbalance: Action = async (context) => {
  const { parameters } = context
  const [token, holder] = [parameters.address('contractaddress'), parameters.address('address')]
  const data: Hex = `${BALANCE_OF}${holder.slice(2).padStart(64, '0')}`
  const answer = await callContract(context, token, data, parameters.text('tag'))
  return ok(String(answer?.length === 32 ? toBigInt(answer) : 0n))
}

const txlist: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const account = parameters.address('address')
    const page = parameters.page()
    const head = engine.queries.head().block.header.number
    async function* rows() {
      const places = placesOf(engine, account, parameters.blocks(), { ...page, hideRemasc: true })
      for await (const place of places) {
        const row = transactionRow(engine, account, place, head)
        if (row !== undefined) yield row
      }
    }
    return listed(await pageOf(rows(), page), NO_TRANSACTIONS)
  })

/** The transactions whose inner calls are asked for. */
function tracedPlaces(
  engine: Engine,
  { parameters }: ActionContext,
  isDescending: boolean,
): AsyncIterable<Place> {
  const account = parameters.optionalAddress('address')
  const range = parameters.blocks()
  if (account !== undefined) return placesOf(engine, account, range, { isDescending, hideRemasc: false })
  const to = Math.min(range.to, engine.queries.head().block.header.number)
  if (to - range.from >= MOST_BLOCKS) {
    throw new ApiError(`Error! Block range is too large, maximum of ${MOST_BLOCKS} blocks`)
  }
  return placesIn(engine, { from: range.from, to }, isDescending)
}

async function* placeOf(engine: Engine, hash: Hex): AsyncGenerator<Place> {
  const view = engine.queries.receipt(hash)
  if (view !== undefined) yield { block: view.block, index: view.index }
}

const txlistinternal: Action = (context) =>
  read(context.node, async (engine) => {
    const { parameters } = context
    const page = parameters.page()
    const { isDescending } = page
    const hash = parameters.text('txhash') === undefined ? undefined : parameters.hash('txhash')
    const account = parameters.optionalAddress('address')
    const places = hash === undefined ? tracedPlaces(engine, context, isDescending) : placeOf(engine, hash)
    const calls = await pageOf(innerCallsOf(engine, places, { account, isDescending }), page)
    return listed(calls.map(innerRow), NO_TRANSACTIONS)
  })

/** Facts of tokens, each asked once. */
function factsReader(context: ActionContext, type: TokenType): (token: Hex) => Promise<TokenFacts> {
  const known = new Map<Hex, Promise<TokenFacts>>()
  return (token) => {
    const facts = known.get(token) ?? tokenFacts((data) => callContract(context, token, toHex(data)), type)
    known.set(token, facts)
    return facts
  }
}

function transferList(type: TokenType): Action {
  return (context) =>
    read(context.node, async (engine) => {
      const { parameters } = context
      const account = parameters.optionalAddress('address')
      const token = parameters.optionalAddress('contractaddress')
      if (account === undefined && token === undefined) throw new ApiError('Error! Missing address')
      const page = parameters.page()
      const { isDescending } = page
      const query = { type, account, token, ...parameters.blocks(), isDescending }
      const found = await pageOf(engine.queries.tokenTransfers(query), page)
      const factsOf = factsReader(context, type)
      const rows: object[] = []
      for (const transfer of found) {
        rows.push(transferRow(engine, transfer, await factsOf(transfer.token)))
      }
      return listed(rows, NO_TRANSACTIONS)
    })
}

const getminedblocks: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const found = await pageOf(engine.queries.minedBlocks(parameters.address('address')), parameters.page())
    const rows = found.map(({ number, timestamp, paidFees }) => ({
      blockNumber: String(number),
      timeStamp: String(timestamp),
      blockReward: String(paidFees),
    }))
    return listed(rows, 'No records found')
  })

/** The module. */
export const ACCOUNT_ACTIONS: Readonly<Record<string, Action>> = {
  balance,
  balancemulti,
  tokenbalance,
  txlist,
  txlistinternal,
  tokentx: transferList('erc20'),
  tokennfttx: transferList('erc721'),
  token1155tx: transferList('erc1155'),
  getminedblocks,
}
