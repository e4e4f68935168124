/**
 * Transactions of the parent chain that are shown to the Bridge: what is refused before the proof is looked at. A proof
 * that could hold is not simulated.
 */

import { decodeAddress } from '../../../../bitcoin/address.ts'
import { hasTreeLength } from '../../../../bitcoin/merkle-tree.ts'
import { EMPTY } from '../../../../encoding/bytes.ts'
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeCall, BridgeMethod } from '../method.ts'

/** Results of `registerFastBridgeBtcTransaction` that are no amount (RSKIP-176). */
const FAST_BRIDGE = { notContract: -300, otherCaller: -301, notValid: -303, failed: -900 } as const

function notSimulated(signature: string): PrecompileFailure {
  const notice = `the Bridge failed on ${signature}: transactions of the parent chain are not simulated`
  return new PrecompileFailure(notice, { isNotSimulated: true })
}

/** Is the height one with enough confirmations? */
function isConfirmed({ headers, network }: BridgeCall, height: number): boolean {
  return height >= 0 && headers.best().height - height + 1 >= network.peginConfirmations
}

function registerTransaction(call: BridgeCall, signature: string): Uint8Array {
  const { args, headers, peg } = call
  peg.processedHeight(doubleSha256(args.bytes(0)))
  headers.open()
  if (!isConfirmed(call, args.index(1))) return EMPTY
  if (!hasTreeLength(args.bytes(2))) throw new PrecompileFailure('malformed merkle tree')
  throw notSimulated(signature)
}

function registerCoinbase({ args, headers }: BridgeCall, signature: string): Uint8Array {
  headers.open()
  if (!hasTreeLength(args.bytes(2))) throw new PrecompileFailure('malformed merkle tree')
  throw notSimulated(signature)
}

function isAddress({ network }: BridgeCall, bytes: Uint8Array): boolean {
  return decodeAddress(bytes, network.parent.addresses) !== undefined
}

function registerFastBridge(call: BridgeCall, signature: string): number {
  const { args, headers, env } = call
  if (!isAddress(call, args.bytes(4)) || !isAddress(call, args.bytes(6))) return FAST_BRIDGE.failed
  if (env.isTop) return FAST_BRIDGE.notContract
  if (env.caller !== args.address(5)) return FAST_BRIDGE.otherCaller
  headers.open()
  if (!isConfirmed(call, args.index(1))) return FAST_BRIDGE.notValid
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
