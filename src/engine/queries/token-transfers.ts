/**
 * Transfers of tokens, found by the index of logs: blocks without a transfer of the account or token are not read, and no
 * block beyond what the consumer takes.
 */
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { type AssetType, assetChangesIn, TOKEN_EVENT } from '../../execution/asset-changes.ts'
import type { LogQuery, LogView } from '../model.ts'

/** Blocks of the first range; each next range is twice as long, up to the most. */
const FIRST_BLOCKS = 1024
const MOST_BLOCKS = 16_384
/** Logs of one range; a range with more is halved. */
const MOST_LOGS = 20_000

/** The standards of tokens. */
export type TokenType = Exclude<AssetType, 'native'>

/** One transfer of one token. A mint comes from the zero address, a burn goes to it. */
export interface TokenTransfer {
  readonly type: TokenType
  readonly token: Hex
  readonly from: Hex
  readonly to: Hex
  /** Units of the token; absent for ERC-721. */
  readonly amount?: bigint
  /** Absent for ERC-20. */
  readonly tokenId?: bigint
  /** Where it happened. A log of ERC-1155 may hold several transfers. */
  readonly view: LogView
}

/** The place of a log. */
export interface LogPlace {
  readonly height: number
  readonly logIndex: number
}

/** Selects transfers: those that fit all that is given. */
export interface TransferQuery {
  readonly type?: TokenType | undefined
  /** Sender or receiver. */
  readonly account?: Hex | undefined
  readonly token?: Hex | undefined
  /** Heights, both included. */
  readonly from: number
  readonly to: number
  /** The newest first. */
  readonly isDescending: boolean
}

/** What finds logs. */
type FindLogs = (query: LogQuery) => Promise<readonly LogView[]>

/** The height of a log. */
export function heightOf({ block }: LogView): number {
  return block.block.header.number
}

/** The order of logs on the chain. */
export function compareLogs(a: LogView, b: LogView): number {
  return heightOf(a) - heightOf(b) || a.logIndex - b.logIndex
}

/** The transfers of a log, of one standard where it is given. */
export function transfersIn(view: LogView, type?: TokenType): TokenTransfer[] {
  return assetChangesIn(view.log).flatMap((change): TokenTransfer[] => {
    const { type: own, from, to, token, amount, tokenId } = change
    const isWanted = change.change === 'transfer' && own !== 'native' && (type === undefined || own === type)
    if (!isWanted || token === undefined) return []
    return [
      {
        type: own,
        token,
        from,
        to,
        ...(amount !== undefined && { amount }),
        ...(tokenId !== undefined && { tokenId }),
        view,
      },
    ]
  })
}

type Topics = LogQuery['topics']

/** The topics of the logs in which an account sends or receives. */
function filtersOf({ type, account }: TransferQuery): Topics[] {
  const single = type === 'erc1155' ? [] : [TOKEN_EVENT.transfer]
  const many =
    type === undefined || type === 'erc1155' ? [TOKEN_EVENT.transferSingle, TOKEN_EVENT.transferBatch] : []
  if (account === undefined) return [[[...single, ...many]]]
  const word: Hex[] = [`0x${account.slice(2).padStart(64, '0')}`]
  return [
    ...(single.length > 0
      ? [
          [single, word],
          [single, null, word],
        ]
      : []),
    ...(many.length > 0
      ? [
          [many, null, word],
          [many, null, null, word],
        ]
      : []),
  ]
}

/** The matching logs of a range, in order, each once. Throws `log-limit`. */
async function logsIn(find: FindLogs, query: TransferQuery, from: number, to: number): Promise<LogView[]> {
  const found = new Map<string, LogView>()
  const addresses = query.token === undefined ? [] : [query.token]
  for (const topics of filtersOf(query)) {
    const logs = {
      range: { from, to },
      addresses,
      topics,
      maxBlocks: 0,
      maxLogs: from === to ? 0 : MOST_LOGS,
    }
    for (const view of await find(logs)) found.set(`${heightOf(view)} ${view.logIndex}`, view)
  }
  return [...found.values()].sort(compareLogs)
}

/** The transfers of a query in its order; further blocks are searched when the consumer goes on. */
export async function* tokenTransfers(find: FindLogs, query: TransferQuery): AsyncGenerator<TokenTransfer> {
  const { isDescending } = query
  let [lowest, highest] = [query.from, query.to]
  let blocks = FIRST_BLOCKS
  while (lowest <= highest) {
    const from = isDescending ? Math.max(lowest, highest - blocks + 1) : lowest
    const to = isDescending ? highest : Math.min(highest, lowest + blocks - 1)
    let views: LogView[]
    try {
      views = await logsIn(find, query, from, to)
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'log-limit' || from === to) throw error
      blocks = Math.ceil((to - from + 1) / 2)
      continue
    }
    const found = views.flatMap((view) => transfersIn(view, query.type))
    yield* isDescending ? found.reverse() : found
    if (isDescending) highest = from - 1
    else lowest = to + 1
    blocks = Math.min(MOST_BLOCKS, blocks * 2)
  }
}
