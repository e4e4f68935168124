/**
 * Token transfers in Etherscan's form, found by the index of logs: blocks without transfers of the address are not read, and
 * no block beyond the page.
 */
import { toBigInt } from '../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogView } from '../../engine/model.ts'
import type { TokenFacts } from '../../execution/token-facts.ts'
import type { Page } from './parameters.ts'

/** `Transfer(address,address,uint256)` of ERC-20 and ERC-721. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** `TransferSingle` and `TransferBatch` of ERC-1155. */
const SINGLE: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const BATCH: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

const WORD = 32
/** Blocks that the index is asked for at once: it reads one section for several thousand. */
const BLOCKS_AT_ONCE = 16_384

/** Standards by the names of their actions. */
export type TransferType = 'erc20' | 'erc721' | 'erc1155'

/** One transfer of one token. */
export interface Transfer {
  readonly view: LogView
  readonly token: Hex
  readonly from: Hex
  readonly to: Hex
  /** Amount; of ERC-721 the id of the token. */
  readonly value: bigint
  /** Of ERC-1155. */
  readonly tokenId?: bigint
}

/** Selects transfers. */
export interface TransferQuery {
  readonly type: TransferType
  /** Sender or receiver. */
  readonly account: Hex | undefined
  readonly token: Hex | undefined
  /** Both included. */
  readonly from: number
  readonly to: number
}

const wordOf = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`
const addressOf = (word: Hex | undefined): Hex => `0x${(word ?? '').slice(-40)}`

/** The words of a `uint256[]` whose place is in a word of data; none where it is malformed. */
function wordsOf(data: Uint8Array, at: number): bigint[] {
  const start = toBigInt(data.subarray(at, at + WORD))
  if (start + BigInt(WORD) > BigInt(data.length)) return []
  const first = Number(start) + WORD
  const count = toBigInt(data.subarray(first - WORD, first))
  if (count > BigInt(Math.floor((data.length - first) / WORD))) return []
  return Array.from({ length: Number(count) }, (_, i) =>
    toBigInt(data.subarray(first + i * WORD, first + (i + 1) * WORD)),
  )
}

/** The transfers of a log; none where it is of another standard. */
export function transfersIn(view: LogView, type: TransferType): Transfer[] {
  const { address: token, topics } = view.log
  const data = view.log.data
  const [topic, second, third, fourth] = topics
  const common = { view, token }
  if (type === 'erc1155') {
    if (topics.length !== 4 || data.length < 2 * WORD) return []
    const parties = { ...common, from: addressOf(third), to: addressOf(fourth) }
    if (topic === SINGLE) {
      const tokenId = toBigInt(data.subarray(0, WORD))
      return [{ ...parties, tokenId, value: toBigInt(data.subarray(WORD, 2 * WORD)) }]
    }
    const [ids, values] = [wordsOf(data, 0), wordsOf(data, WORD)]
    return ids.length === values.length
      ? ids.map((tokenId, i) => ({ ...parties, tokenId, value: values[i] ?? 0n }))
      : []
  }
  if (topic !== TRANSFER) return []
  const parties = { ...common, from: addressOf(second), to: addressOf(third) }
  if (type === 'erc721') {
    return topics.length === 4 ? [{ ...parties, value: toBigInt(fromHex(fourth ?? '0x')) }] : []
  }
  const isErc20 = topics.length === 3 && data.length === WORD
  return isErc20 ? [{ ...parties, value: toBigInt(data) }] : []
}

/** The topics of logs in which an account sends or receives. */
function filtersOf({ type, account }: TransferQuery): (readonly Hex[] | null)[][] {
  const signatures = type === 'erc1155' ? [SINGLE, BATCH] : [TRANSFER]
  if (account === undefined) return [[signatures]]
  const word = [wordOf(account)]
  return type === 'erc1155'
    ? [
        [signatures, null, word],
        [signatures, null, null, word],
      ]
    : [
        [signatures, word],
        [signatures, null, word],
      ]
}

const heightOf = ({ block }: LogView): number => block.block.header.number

/** The matching logs of a range, in order, each once. */
async function logsIn(engine: Engine, query: TransferQuery, from: number, to: number): Promise<LogView[]> {
  const found = new Map<string, LogView>()
  for (const topics of filtersOf(query)) {
    const addresses = query.token === undefined ? [] : [query.token]
    const views = await engine.queries.logs({
      range: { from, to },
      addresses,
      topics,
      maxBlocks: 0,
      maxLogs: 0,
    })
    for (const view of views) found.set(`${heightOf(view)} ${view.logIndex}`, view)
  }
  return [...found.values()].sort((a, b) => heightOf(a) - heightOf(b) || a.logIndex - b.logIndex)
}

/** The transfers of a query in order; the index is asked for further blocks when the consumer goes on. */
export async function* transfers(
  engine: Engine,
  query: TransferQuery,
  { isDescending }: Pick<Page, 'isDescending'>,
): AsyncGenerator<Transfer> {
  const head = engine.queries.head().block.header.number
  const [lowest, highest] = [query.from, Math.min(query.to, head)]
  for (let done = 0; lowest + done <= highest; done += BLOCKS_AT_ONCE) {
    const from = isDescending ? Math.max(lowest, highest - done - BLOCKS_AT_ONCE + 1) : lowest + done
    const to = isDescending ? highest - done : Math.min(highest, from + BLOCKS_AT_ONCE - 1)
    const views = await logsIn(engine, query, from, to)
    const found = views.flatMap((view) => transfersIn(view, query.type))
    yield* isDescending ? found.reverse() : found
  }
}

/** A row of `tokentx`, `tokennfttx` or `token1155tx`. */
export function transferRow(
  engine: Engine,
  type: TransferType,
  { view, token, from, to, value, tokenId }: Transfer,
  { name = '', symbol = '', decimals }: TokenFacts,
): object {
  const mined = engine.queries.receipt(view.transaction.hash)
  const head = engine.queries.head().block.header.number
  const height = heightOf(view)
  const data = mined?.transaction.data ?? new Uint8Array(0)
  return {
    blockNumber: String(height),
    timeStamp: String(mined?.block.block.header.timestamp ?? ''),
    hash: view.transaction.hash,
    nonce: String(mined?.transaction.nonce ?? ''),
    blockHash: view.block.hash,
    from,
    contractAddress: token,
    to,
    ...(type === 'erc20' && { value: String(value) }),
    ...(type === 'erc721' && { tokenID: String(value) }),
    ...(type === 'erc1155' && { tokenID: String(tokenId), tokenValue: String(value) }),
    tokenName: name,
    tokenSymbol: symbol,
    ...(type !== 'erc1155' && { tokenDecimal: String(decimals ?? 0) }),
    transactionIndex: String(view.transactionIndex),
    logIndex: String(view.logIndex),
    gas: String(mined?.transaction.gasLimit ?? ''),
    gasPrice: String(mined?.transaction.gasPrice ?? ''),
    gasUsed: String(mined?.receipt.gasUsed ?? ''),
    cumulativeGasUsed: String(mined?.receipt.cumulativeGasUsed ?? ''),
    input: 'deprecated',
    methodId: toHex(data.subarray(0, 4)),
    functionName: '',
    confirmations: String(head - height + 1),
  }
}
