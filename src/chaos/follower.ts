/** Answers as a node gives them that is some blocks behind: its head is an older block, and what came later is unknown to it. */
import { toQuantity } from '../encoding/hex.ts'
import { isObject } from '../encoding/json-object.ts'
import { NodeError } from '../errors.ts'

/** Where the block of a method stands among its parameters. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_feeHistory: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getCode: 1,
  eth_getProof: 2,
  eth_getStorageAt: 2,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getTransactionCount: 1,
  eth_getUncleByBlockNumberAndIndex: 0,
  eth_getUncleCountByBlockNumber: 0,
}
/** Those among them whose result is null for a block that is not known; the others are refused. */
const NULL_FOR_UNKNOWN = /^eth_get(Block|Uncle|TransactionBy)/
/** Methods whose result states its block. */
const PLACED: Readonly<Record<string, string>> = {
  eth_getBlockByHash: 'number',
  eth_getTransactionByHash: 'blockNumber',
  eth_getTransactionReceipt: 'blockNumber',
}

/** Does the method read the chain in a way that shows how far the node is? */
export function readsHead(method: string): boolean {
  return (
    method === 'eth_blockNumber' ||
    method === 'eth_getLogs' ||
    Object.hasOwn(BLOCK_PARAMETER, method) ||
    Object.hasOwn(PLACED, method)
  )
}

/** The height that a parameter names; the tags of the head and an absent one name `head`; `undefined` for what names none. */
function heightOf(value: unknown, head: number): number | undefined {
  if (value === undefined || value === null || value === 'latest' || value === 'pending') return head
  if (typeof value === 'string' && /^0x[0-9a-f]{1,12}$/i.test(value)) return Number(value)
  return undefined
}

/** What a follower with this head answers: changed parameters, or a result without a call. */
export type FollowerCall = { readonly params: unknown } | { readonly result: unknown }

/** The call as the follower makes it. Throws `block-not-found` for a state that it does not have. */
export function callOfFollower(method: string, params: unknown, head: number): FollowerCall {
  if (method === 'eth_blockNumber') return { result: toQuantity(head) }
  if (method === 'eth_getLogs') return logsOfFollower(params, head)
  const place = Object.hasOwn(BLOCK_PARAMETER, method) ? BLOCK_PARAMETER[method] : undefined
  const given = params ?? []
  if (place === undefined || !Array.isArray(given) || given.length < place) return { params }
  const height = heightOf(given[place], head)
  if (height === undefined) return { params }
  if (height <= head) return { params: put(given, place, toQuantity(height)) }
  if (NULL_FOR_UNKNOWN.test(method)) return { result: null }
  throw new NodeError('block-not-found', 'Block not found')
}

function put(params: readonly unknown[], place: number, value: unknown): readonly unknown[] {
  const changed = [...params]
  changed[place] = value
  return changed
}

function logsOfFollower(params: unknown, head: number): FollowerCall {
  const [filter, ...rest] = Array.isArray(params) ? params : []
  if (!isObject(filter) || filter.blockHash !== undefined) return { params }
  const from = heightOf(filter.fromBlock, head)
  const to = heightOf(filter.toBlock, head)
  if (from !== undefined && from > head) return { result: [] }
  const bound = { ...(from !== undefined && { fromBlock: toQuantity(from) }) }
  const until = { ...(to !== undefined && { toBlock: toQuantity(Math.min(to, head)) }) }
  return { params: [{ ...filter, ...bound, ...until }, ...rest] }
}

/** The result as the follower gives it: null for what stands in a block that it does not have. */
export function resultOfFollower(method: string, result: unknown, head: number): unknown {
  const member = Object.hasOwn(PLACED, method) ? PLACED[method] : undefined
  if (member === undefined || !isObject(result)) return result
  const height = result[member]
  return typeof height === 'string' && Number(height) > head ? null : result
}
