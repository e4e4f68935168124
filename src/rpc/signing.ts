/** The common part of the methods that sign with a key of this node. */
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { TransactionRequest } from '../engine/model.ts'
import { invalidParams, NodeError } from '../errors.ts'
import type { RpcOptions } from './rpc-options.ts'
import { sentRequest } from './typed-request.ts'
import type { CallArgument } from './wire/call.ts'

/**
 * Throws when the wallet is disabled: `wallet-disabled` in the namespace `personal`, `invalid-params` elsewhere
 * (docs/internals/rpc-reference.md#75-sending, docs/internals/rpc-reference.md#714-personal).
 */
export function requireWallet({ accounts }: Engine, namespace: string): void {
  if (accounts.enabled) return
  throw namespace === 'personal'
    ? new NodeError('wallet-disabled', 'The local wallet feature is disabled')
    : invalidParams('Local wallet is disabled in this node')
}

/**
 * The key of an account that is held and unlocked. Throws `invalid-params` with the reference
 * node's message (docs/internals/rpc-reference.md#75-sending, `eth_sign`).
 */
export function signingKey({ accounts }: Engine, address: Hex): Uint8Array {
  const key = accounts.key(address)
  if (key === undefined) throw invalidParams('Account not found')
  return key
}

/**
 * A call object as a transaction to sign. Throws `invalid-params`: no sender, or the chain id of another
 * chain (docs/internals/rpc-reference.md#75-sending).
 */
export function sendRequest(transaction: CallArgument, engine: Engine): TransactionRequest {
  const { config } = engine
  const { from, chainId, maxFeePerGas: _, ...rest } = sentRequest(transaction, engine)
  if (from === undefined) throw invalidParams('from is null')
  if (chainId !== undefined && chainId.value !== 0n && chainId.value !== BigInt(config.chainId)) {
    throw invalidParams(`Invalid chainId: ${chainId.text}`)
  }
  return { ...rest, from }
}

/** Gas limit of a transaction that names none: Hardhat's is the block's, Anvil's an estimate where that succeeds. */
async function defaultGas(
  request: TransactionRequest,
  { queries, dev }: Engine,
  dialect: RpcOptions['dialect'],
): Promise<bigint> {
  const blockGas = dev.headerOverrides().gasLimit ?? queries.head().block.header.gasLimit
  if (dialect === 'hardhat') return blockGas
  const tag = queries.poolSize().pending === 0 ? 'latest' : 'pending'
  return queries.estimateGas(request, { tag }, 'cost').catch(() => blockGas)
}

/**
 * The same, with what the dialect fills in: in that of Hardhat and Anvil the price is the suggested one, a maximum fee
 * (EIP-1559) counts as the price, and gas has a default that suffices. Throws as `sendRequest` does.
 */
export async function completeRequest(
  transaction: CallArgument,
  engine: Engine,
  { dialect }: RpcOptions,
): Promise<TransactionRequest> {
  const request = sendRequest(transaction, engine)
  if (dialect === 'rsk') return request
  return {
    ...request,
    gasPrice: request.gasPrice ?? transaction.maxFeePerGas ?? engine.queries.gasPrice(),
    gas: request.gas ?? (await defaultGas(request, engine, dialect)),
  }
}
