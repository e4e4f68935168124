/** Etherscan's modules about the chain: `logs`, `transaction`, `block`, `stats`, `gastracker`. */

import type { Header } from '../../chain/header.ts'
import { toBigInt } from '../../encoding/bytes.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogView } from '../../engine/model.ts'
import { ApiError, hashIn, read } from '../request.ts'
import { callContract } from './account.ts'
import { pageOf } from './account-rows.ts'
import { type Action, listed, ok, type Page, type Parameters } from './parameters.ts'

/** Most logs of one answer. */
const MOST_LOGS = 1000
const GWEI = 10n ** 9n
const TOPICS = [0, 1, 2, 3] as const

type Topics = (readonly Hex[] | null)[]

function topicOf(parameters: Parameters, position: number): Hex | undefined {
  const text = parameters.text(`topic${position}`)
  if (text === undefined) return undefined
  const topic = hashIn(text)
  if (topic === undefined) throw new ApiError(`Error! Invalid topic${position} format`)
  return topic
}

/** The filters of a query: one for topics that must all be there, one a topic where `topicX_Y_opr` is `or`. */
function topicFilters(parameters: Parameters): Topics[] {
  const given = TOPICS.flatMap((position) => {
    const topic = topicOf(parameters, position)
    return topic === undefined ? [] : [{ position, topic }]
  })
  const isEither = TOPICS.some((a) =>
    TOPICS.some((b) => a < b && parameters.text(`topic${a}_${b}_opr`)?.toLowerCase() === 'or'),
  )
  const filter = (topics: typeof given): Topics => {
    const last = Math.max(-1, ...topics.map(({ position }) => position))
    return Array.from({ length: last + 1 }, (_, at) => {
      const topic = topics.find(({ position }) => position === at)?.topic
      return topic === undefined ? null : [topic]
    })
  }
  return isEither && given.length > 1 ? given.map((topic) => filter([topic])) : [filter(given)]
}

function logRow(engine: Engine, { log, block, transaction, transactionIndex, logIndex }: LogView): object {
  const mined = engine.queries.receipt(transaction.hash)
  return {
    address: log.address,
    topics: log.topics,
    data: toHex(log.data),
    blockNumber: toQuantity(block.block.header.number),
    blockHash: block.hash,
    timeStamp: toQuantity(mined?.block.block.header.timestamp ?? 0),
    gasPrice: toQuantity(mined?.transaction.gasPrice ?? 0),
    gasUsed: toQuantity(mined?.receipt.gasUsed ?? 0),
    logIndex: toQuantity(logIndex),
    transactionHash: transaction.hash,
    transactionIndex: toQuantity(transactionIndex),
  }
}

const getLogs: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const address = parameters.optionalAddress('address')
    const filters = topicFilters(parameters)
    const { from, to } = parameters.blocks('fromBlock', 'toBlock')
    const page: Page = { ...parameters.page(), count: Math.min(MOST_LOGS, parameters.page().count) }
    const addresses = address === undefined ? [] : [address]
    const views = engine.queries.walkLogs({ addresses, filters, from, to, isDescending: false })
    const rows = (await pageOf(views, page)).map((view) => logRow(engine, view))
    return listed(rows, 'No records found')
  })

const getstatus: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const view = engine.queries.receipt(parameters.hash('txhash'))
    const hasFailed = view?.receipt.succeeded === false
    if (view === undefined || !hasFailed) return ok({ isError: '0', errDescription: '' })
    const { root } = await engine.queries.trace(view.block, view.index)
    return ok({ isError: '1', errDescription: root.failure?.reason ?? 'execution reverted' })
  })

const gettxreceiptstatus: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const view = engine.queries.receipt(parameters.hash('txhash'))
    return ok({ status: view === undefined ? '' : view.receipt.succeeded ? '1' : '0' })
  })

const getblockreward: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const number = parameters.integer('blockno')
    const header = (await engine.queries.block({ number }))?.executed.block.header
    if (header === undefined) throw new ApiError('Error! Invalid block number')
    return ok({
      blockNumber: String(number),
      timeStamp: String(header.timestamp),
      blockMiner: header.coinbase,
      // There is no subsidy: miners earn fees, which REMASC pays out later.
      blockReward: String(header.paidFees),
      uncles: [],
      uncleInclusionReward: '0',
    })
  })

const getblockcountdown: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const wanted = parameters.integer('blockno')
    const { number, timestamp } = engine.queries.head().block.header
    if (wanted <= number) throw new ApiError('Error! Block number already pass')
    const parent = (await engine.queries.block({ number: number - 1 }))?.executed.block.header
    const interval = parent === undefined ? 0 : timestamp - parent.timestamp
    return ok({
      CurrentBlock: String(number),
      CountdownBlock: String(wanted),
      RemainingBlock: String(wanted - number),
      EstimateTimeInSec: String((wanted - number) * interval),
    })
  })

async function headerAt(engine: Engine, number: number): Promise<Header | undefined> {
  return (await engine.queries.block({ number }))?.executed.block.header
}

/** Binary search: timestamps do not descend. */
const getblocknobytime: Action = ({ node, parameters }) =>
  read(node, async (engine) => {
    const time = parameters.integer('timestamp')
    const closest = parameters.text('closest') ?? 'before'
    if (closest !== 'before' && closest !== 'after') throw new ApiError('Error! Invalid closest')
    const head = engine.queries.head().block.header.number
    let [low, high] = [0, head + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const timestamp = (await headerAt(engine, middle))?.timestamp ?? 0
      const isBelow = closest === 'before' ? timestamp <= time : timestamp < time
      if (isBelow) low = middle + 1
      else high = middle
    }
    const found = closest === 'before' ? low - 1 : low
    if (found < 0 || found > head) throw new ApiError('Error! No closest block found')
    return ok(String(found))
  })

const TOTAL_SUPPLY: Hex = '0x18160ddd'

const tokensupply: Action = async (context) => {
  const answer = await callContract(context, context.parameters.address('contractaddress'), TOTAL_SUPPLY)
  return ok(String(answer?.length === 32 ? toBigInt(answer) : 0n))
}

/** The coin is pegged to bitcoin; a local node knows no price in dollars. */
const ethprice: Action = ({ node }) =>
  read(node, async (engine) => {
    const time = String(engine.queries.head().block.header.timestamp)
    return ok({ ethbtc: '1', ethbtc_timestamp: time, ethusd: '0', ethusd_timestamp: time })
  })

/** Wei as Gwei with the decimals that it needs. */
function inGwei(wei: bigint): string {
  const rest = String(wei % GWEI)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return rest === '' ? String(wei / GWEI) : `${wei / GWEI}.${rest}`
}

const gasoracle: Action = ({ node }) =>
  read(node, async (engine) => {
    const { number, minimumGasPrice, gasUsed, gasLimit } = engine.queries.head().block.header
    const price = inGwei(engine.queries.gasPrice())
    return ok({
      LastBlock: String(number),
      SafeGasPrice: inGwei(minimumGasPrice),
      ProposeGasPrice: price,
      FastGasPrice: price,
      suggestBaseFee: inGwei(minimumGasPrice),
      gasUsedRatio: String(Number(gasUsed) / Number(gasLimit)),
    })
  })

/** Seconds until a transaction is in a block: the last interval. */
const gasestimate: Action = ({ node }) =>
  read(node, async (engine) => {
    const { number, timestamp } = engine.queries.head().block.header
    const parent = await headerAt(engine, number - 1)
    return ok(String(parent === undefined ? 0 : timestamp - parent.timestamp))
  })

/** The modules. */
export const CHAIN_MODULES = {
  logs: { getLogs },
  transaction: { getstatus, gettxreceiptstatus },
  block: { getblockreward, getblockcountdown, getblocknobytime },
  stats: { tokensupply, ethprice },
  gastracker: { gasoracle, gasestimate },
} as const
