/** Transfers of tokens, found by the index of logs (`log-walk.ts`). */
import type { Hex } from '../../encoding/hex.ts'
import { type AssetType, assetChangesIn, TOKEN_EVENT } from '../../execution/asset-changes.ts'
import type { LogQuery, LogView } from '../model.ts'
import { type FindLogs, walkLogs } from './log-walk.ts'

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

/** The transfers of a query in its order; further blocks are searched when the consumer goes on. */
export async function* tokenTransfers(find: FindLogs, query: TransferQuery): AsyncGenerator<TokenTransfer> {
  const { token, from, to, isDescending, type } = query
  const addresses = token === undefined ? [] : [token]
  const walk = { addresses, filters: filtersOf(query), from, to, isDescending }
  for await (const view of walkLogs(find, walk)) {
    const found = transfersIn(view, type)
    yield* isDescending ? found.reverse() : found
  }
}
