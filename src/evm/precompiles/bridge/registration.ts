/**
 * Transactions of the parent chain that are shown to the Bridge: what is refused before the proof is looked at. A proof
 * that could hold is not simulated.
 */

import { EMPTY } from '../../../encoding/bytes.ts'
import { HASH_BYTES } from '../../../encoding/hash.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import { encodeInt } from '../abi.ts'
import { PrecompileFailure } from '../precompile.ts'
import { PEGIN_CONFIRMATIONS } from './constants.ts'
import type { HeaderChain } from './header-chain.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'
import { isAddressVersion } from './parent-address.ts'

/** Results of `registerFastBridgeBtcTransaction` that are no amount (RSKIP-176). */
const FAST_BRIDGE = { notContract: -300, otherCaller: -301, notValid: -303, failed: -900 } as const

/** Bytes of an address with its version. */
const ADDRESS_BYTES = 21
/** Bytes of the number of transactions, before the hashes of a partial merkle tree. */
const COUNT_BYTES = 4

function notSimulated(signature: string): PrecompileFailure {
  const notice = `the Bridge failed on ${signature}: transactions of the parent chain are not simulated`
  return new PrecompileFailure(notice, { isNotSimulated: true })
}

/** A CompactSize of the parent chain and its bytes; throws a RangeError when it is not all there. */
function readCompactSize(bytes: Uint8Array, at: number): { value: bigint; size: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const first = view.getUint8(at)
  if (first < 0xfd) return { value: BigInt(first), size: 1 }
  if (first === 0xfd) return { value: BigInt(view.getUint16(at + 1, true)), size: 3 }
  if (first === 0xfe) return { value: BigInt(view.getUint32(at + 1, true)), size: 5 }
  return { value: view.getBigUint64(at + 1, true), size: 9 }
}

/** Has a partial merkle tree (BIP-37) the length that its counts of hashes and flags ask for? */
function hasTreeLength(tree: Uint8Array): boolean {
  try {
    const hashes = readCompactSize(tree, COUNT_BYTES)
    const flagsAt = BigInt(COUNT_BYTES + hashes.size) + hashes.value * BigInt(HASH_BYTES)
    if (flagsAt >= BigInt(tree.length)) return false
    const flags = readCompactSize(tree, Number(flagsAt))
    return flagsAt + BigInt(flags.size) + flags.value === BigInt(tree.length)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Is the height one with enough confirmations? */
function isConfirmed(headers: HeaderChain, height: number): boolean {
  return height >= 0 && headers.best().height - height + 1 >= PEGIN_CONFIRMATIONS
}

function registerTransaction({ args, headers, store }: BridgeCall, signature: string): Uint8Array {
  store.touchList(CELL.processedTransactions)
  headers.open()
  if (!isConfirmed(headers, args.index(1))) return EMPTY
  if (!hasTreeLength(args.bytes(2))) throw new PrecompileFailure('malformed merkle tree')
  throw notSimulated(signature)
}

function registerCoinbase({ args, headers }: BridgeCall, signature: string): Uint8Array {
  headers.open()
  if (!hasTreeLength(args.bytes(2))) throw new PrecompileFailure('malformed merkle tree')
  throw notSimulated(signature)
}

function isAddress(bytes: Uint8Array): boolean {
  return bytes.length === ADDRESS_BYTES && isAddressVersion(bytes[0])
}

function registerFastBridge({ args, headers, env }: BridgeCall, signature: string): number {
  if (!isAddress(args.bytes(4)) || !isAddress(args.bytes(6))) return FAST_BRIDGE.failed
  if (env.isTop) return FAST_BRIDGE.notContract
  if (env.caller !== args.address(5)) return FAST_BRIDGE.otherCaller
  headers.open()
  if (!isConfirmed(headers, args.index(1))) return FAST_BRIDGE.notValid
  if (!hasTreeLength(args.bytes(2))) return FAST_BRIDGE.failed
  throw notSimulated(signature)
}

function registering(
  signature: string,
  gas: bigint,
  run: (call: BridgeCall, signature: string) => Uint8Array,
): BridgeMethod {
  return { signature, gas, run: (call) => run(call, signature) }
}

/** All of them. */
export const REGISTRATION_METHODS: readonly BridgeMethod[] = [
  registering('registerBtcTransaction(bytes,int256,bytes)', 22_000n, registerTransaction),
  registering(
    'registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)',
    10_000n,
    registerCoinbase,
  ),
  registering(
    'registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)',
    25_000n,
    (call, signature) => encodeInt(registerFastBridge(call, signature)),
  ),
]
