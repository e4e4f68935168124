/**
 * Transfers and approvals of assets among the effects of a transaction: the native coin, and tokens by the events of ERC-20,
 * ERC-721 and ERC-1155. A mint comes from the zero address, a burn goes to it.
 */
import { ZERO_ADDRESS } from '../chain/account.ts'
import type { Log } from '../chain/receipt.ts'
import { toBigInt } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { FrameEffect, NativeTransfer } from '../evm/tracing/frame-effects.ts'

/** The first topics of the events. */
export const TOKEN_EVENT = {
  /** `Transfer(address,address,uint256)` of ERC-20, and of ERC-721, where the last value is a topic too. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** `Approval(address,address,uint256)`, with the same difference. */
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  /** `ApprovalForAll(address,address,bool)` of ERC-721 and ERC-1155. */
  approvalForAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  /** `TransferSingle(address,address,address,uint256,uint256)` of ERC-1155. */
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  /** `TransferBatch(address,address,address,uint256[],uint256[])` of ERC-1155. */
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
} as const satisfies Record<string, Hex>

/** What a transfer or an approval is of. */
export const ASSET_TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const

/** One of `ASSET_TYPES`. */
export type AssetType = (typeof ASSET_TYPES)[number]

/** A transfer from an account to another, or an approval by an owner (`from`) of a spender (`to`). */
export interface AssetChange {
  readonly type: AssetType
  readonly change: 'transfer' | 'approve'
  readonly from: Hex
  readonly to: Hex
  /** The contract; absent for the native coin. */
  readonly token?: Hex
  /** Wei, or units of the token; absent for ERC-721 and for an approval of all tokens. */
  readonly amount?: bigint
  /** Absent for fungible assets and for an approval of all tokens. */
  readonly tokenId?: bigint
  /** Of an approval of all tokens: given, or taken back. Its event does not show whether it is one of ERC-721 or ERC-1155. */
  readonly approved?: boolean
}

const WORD = 32
const ADDRESS_BITS = 160n

/** A word of the data, by its number; `undefined` beyond the end. */
function wordOf(data: Uint8Array, index: number): bigint | undefined {
  const end = (index + 1) * WORD
  return end > data.length ? undefined : toBigInt(data.subarray(end - WORD, end))
}

/** The address in a topic; `undefined` for a word that is none. */
function addressOf(topic: Hex | undefined): Hex | undefined {
  if (topic === undefined || BigInt(topic) >> ADDRESS_BITS !== 0n) return undefined
  return `0x${topic.slice(-40)}`
}

/** The elements of a `uint256[]` whose offset is a word of the data; `undefined` where it is malformed. */
function listAt(data: Uint8Array, index: number): bigint[] | undefined {
  const offset = wordOf(data, index)
  if (offset === undefined || offset > BigInt(data.length)) return undefined
  const list = data.subarray(Number(offset))
  const length = wordOf(list, 0)
  if (length === undefined || length > BigInt(list.length / WORD)) return undefined
  const elements = Array.from({ length: Number(length) }, (_, at) => wordOf(list, at + 1))
  return elements.every((element) => element !== undefined) ? elements : undefined
}

type Parties = Pick<AssetChange, 'from' | 'to' | 'token'>

/** `Transfer` and `Approval`: of ERC-20 with two indexed values, of ERC-721 with three. */
function ofToken(
  { topics, data }: Log,
  change: AssetChange['change'],
  parties: Parties,
): readonly AssetChange[] {
  const [, , , last] = topics
  if (last !== undefined) return [{ type: 'erc721', change, ...parties, tokenId: BigInt(last) }]
  const amount = wordOf(data, 0)
  return amount === undefined ? [] : [{ type: 'erc20', change, ...parties, amount }]
}

function ofMany({ data }: Log, parties: Parties, isBatch: boolean): readonly AssetChange[] {
  const ids = isBatch ? listAt(data, 0) : [wordOf(data, 0)]
  const amounts = isBatch ? listAt(data, 1) : [wordOf(data, 1)]
  if (ids === undefined || amounts === undefined || ids.length !== amounts.length) return []
  return ids.flatMap((tokenId, at): readonly AssetChange[] => {
    const amount = amounts[at]
    if (tokenId === undefined || amount === undefined) return []
    return [{ type: 'erc1155', change: 'transfer', ...parties, amount, tokenId }]
  })
}

/** The account and the other one, in two topics that follow each other; `undefined` where they are no addresses. */
function partiesOf({ address, topics }: Log, first: 1 | 2): Parties | undefined {
  const [from, to] = [addressOf(topics[first]), addressOf(topics[first + 1])]
  return from === undefined || to === undefined ? undefined : { from, to, token: address }
}

/** The changes of an event; none where it is another event, or does not fit its own. */
export function assetChangesIn(log: Log): readonly AssetChange[] {
  const [event] = log.topics
  const isMany = event === TOKEN_EVENT.transferSingle || event === TOKEN_EVENT.transferBatch
  // The operator is the first value of these.
  const parties = partiesOf(log, isMany ? 2 : 1)
  if (parties === undefined) return []
  if (isMany) return ofMany(log, parties, event === TOKEN_EVENT.transferBatch)
  if (event === TOKEN_EVENT.transfer) return ofToken(log, 'transfer', parties)
  if (event === TOKEN_EVENT.approval) return ofToken(log, 'approve', parties)
  const approved = event === TOKEN_EVENT.approvalForAll ? wordOf(log.data, 0) : undefined
  if (approved === undefined || approved > 1n) return []
  return [{ type: 'erc721', change: 'approve', ...parties, approved: approved === 1n }]
}

function ofTransfer({ from, to, value, isBurnt }: NativeTransfer): AssetChange {
  return { type: 'native', change: 'transfer', from, to: isBurnt ? ZERO_ADDRESS : to, amount: value }
}

/** The asset changes among the effects of a call tree, in order. Logs that do not fit their event are left out. */
export function assetChanges(effects: readonly FrameEffect[]): readonly AssetChange[] {
  return effects.flatMap((effect) =>
    'log' in effect ? assetChangesIn(effect.log) : [ofTransfer(effect.transfer)],
  )
}
