/** How an upstream wants to be asked: the form in which it takes a block, and the methods that save requests. */
import { z } from 'zod'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toQuantity } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { RpcCall, RpcOutcome } from '../../upstream/replies.ts'
import type { RemoteBlockId } from './model.ts'
import { AccountInfo, Data, Quantity, StorageValues, Word } from './wire.ts'

/**
 * The block parameter that reads the state of a block by its hash: the bare hash, or an EIP-1898 object. Where neither is
 * honoured it is the height, and each batch has to check that the block is still at it.
 */
const Anchor = z.enum(['hash', 'object', 'number'])
export type Anchor = z.output<typeof Anchor>

/** What an upstream serves. JSON: the cache keeps it. */
export const Capabilities = z.object({
  /** Of balances, nonces and storage. */
  anchor: Anchor,
  /** Of code: the reference node answers null to a bare hash (docs/internals/rpc-reference.md#31-block-parameters). */
  codeAnchor: Anchor,
  /** Of calls: the reference node refuses a bare hash. */
  callAnchor: Anchor,
  accountInfo: z.boolean(),
  storageValues: z.boolean(),
  blockReceipts: z.boolean(),
})
export type Capabilities = z.output<typeof Capabilities>

/** The account of the probe: any would do. */
export const PROBED = PRECOMPILE_ADDRESS.bridge
const SLOT = '0x0'

/** The block parameter for a block. */
export function blockParameter({ number, hash }: RemoteBlockId, anchor: Anchor): unknown {
  if (anchor === 'number') return toQuantity(number)
  return anchor === 'hash' ? hash : { blockHash: hash }
}

/** Asks for a proof of an account that every state can prove, whether it exists or not. */
export function proofCall(at: unknown): RpcCall {
  return { method: 'eth_getProof', params: [PROBED, [], at] }
}

/** A block that does not exist: its hash is the hash of a hash. A node that answers for it ignores the hash. */
function noBlock({ number, hash }: RemoteBlockId): RemoteBlockId {
  return { number, hash: keccakHex(fromHex(hash)) }
}

/**
 * Does a read in this form have to check that the block is still at its height? Where the bare hash reads balances and not
 * this, an object is resolved to a height (docs/internals/rpc-reference.md#32-eip-1898).
 */
export function needsCheck(anchor: Anchor, { anchor: main }: Capabilities): boolean {
  return anchor === 'number' || (anchor === 'object' && main === 'hash')
}

/** The calls of the probe; `readProbe` reads their outcomes. */
export function probeCalls(block: RemoteBlockId): RpcCall[] {
  const none = noBlock(block)
  const number = toQuantity(block.number)
  const balance = (parameter: unknown): RpcCall => ({ method: 'eth_getBalance', params: [PROBED, parameter] })
  const code = (parameter: unknown): RpcCall => ({ method: 'eth_getCode', params: [PROBED, parameter] })
  const call = (parameter: unknown): RpcCall => ({
    method: 'eth_call',
    params: [{ to: PRECOMPILE_ADDRESS.identity, data: '0x' }, parameter],
  })
  return [
    balance(number),
    balance(blockParameter(block, 'hash')),
    balance(blockParameter(none, 'hash')),
    balance(blockParameter(block, 'object')),
    balance(blockParameter(none, 'object')),
    { method: 'eth_getStorageAt', params: [PROBED, SLOT, block.hash] },
    { method: 'eth_getAccountInfo', params: [PROBED, number] },
    { method: 'eth_getStorageValues', params: [{ [PROBED]: [SLOT] }, number] },
    { method: 'eth_getBlockReceipts', params: [number] },
    code(blockParameter(block, 'hash')),
    code(blockParameter(block, 'object')),
    call(blockParameter(block, 'hash')),
    call(blockParameter(block, 'object')),
  ]
}

function read<T>(schema: z.ZodType<T>, outcome: RpcOutcome | undefined): T | undefined {
  if (outcome === undefined || !('result' in outcome)) return undefined
  const parsed = schema.safeParse(outcome.result)
  return parsed.success ? parsed.data : undefined
}

/** The state is pruned or never existed: nodes report both in too many ways to tell them apart. */
function stateMissing(block: RemoteBlockId, origin: string, outcome: RpcOutcome | undefined): NodeError {
  const reason = outcome !== undefined && 'error' in outcome ? ` It answers: ${outcome.error.message}` : ''
  return new NodeError(
    'upstream',
    `The upstream ${origin} does not serve the state of block ${block.number} (${block.hash}); nodes that prune keep recent states only. ` +
      `Fork a later block with --fork-block, or name an archive node with --fork.${reason}`,
  )
}

/** What the outcomes of `probeCalls` tell. Throws `upstream` when the upstream has no state of the block. */
export function readProbe(
  block: RemoteBlockId,
  outcomes: readonly RpcOutcome[],
  origin: string,
): Capabilities {
  const [number, hash, noHash, object, noObject, slot, info, values, receipts, ...rest] = outcomes
  const [codeByHash, codeByObject, callByHash, callByObject] = rest
  const byNumber = read(Quantity, number)
  const honours = (real: RpcOutcome | undefined, bogus: RpcOutcome | undefined) =>
    read(Quantity, real) !== undefined &&
    read(Quantity, bogus) === undefined &&
    (byNumber === undefined || byNumber === read(Quantity, real))
  const isBare = honours(hash, noHash) && read(Word, slot) !== undefined
  const isObject = honours(object, noObject)
  if (!isBare && !isObject && byNumber === undefined) throw stateMissing(block, origin, number)
  const anchorOf = (byHash: RpcOutcome | undefined, byObject: RpcOutcome | undefined): Anchor => {
    if (isBare && read(Data, byHash) !== undefined) return 'hash'
    return isObject && read(Data, byObject) !== undefined ? 'object' : 'number'
  }
  return {
    anchor: isBare ? 'hash' : isObject ? 'object' : 'number',
    codeAnchor: anchorOf(codeByHash, codeByObject),
    callAnchor: anchorOf(callByHash, callByObject),
    accountInfo: read(AccountInfo, info) !== undefined,
    storageValues: read(StorageValues, values)?.[PROBED]?.length === 1,
    blockReceipts: read(z.array(z.unknown()), receipts) !== undefined,
  }
}

/** The hash that the upstream's chain has at a height, to be sent with reads by height. */
export function canonicalCall(number: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }
}

/** Throws `upstream` where the block is no longer the one at its height. */
export function checkCanonical(block: RemoteBlockId, found: Hex | undefined, origin: string): void {
  if (found === block.hash) return
  throw new NodeError(
    'upstream',
    `The chain of the upstream ${origin} was reorganised: block ${block.number} is ${found ?? 'gone'}, and the fork stands on ${block.hash}. ` +
      'Fork again, from a block further below the tip.',
  )
}
