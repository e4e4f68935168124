/**
 * The four oldest precompiled contracts: signature recovery, two hashes and the copy
 * (docs/internals/protocol.md#65-precompiled-contracts).
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { CURVE_ORDER, recoverAddress } from '../../chain/signature.ts'
import { EMPTY, fromBigInt, padLeft, toBigInt } from '../../encoding/bytes.ts'
import { keccak256, sha256 } from '../../encoding/hash.ts'
import { fromHex } from '../../encoding/hex.ts'
import { inputSlice, type PrecompileCode } from './precompile.ts'

const { Point } = secp256k1

/** The address of the point at infinity, which has no coordinates to hash. */
const INFINITY_ADDRESS = keccak256(EMPTY).subarray(12)

/** Does the signature recover to the point at infinity (s·R = e·G)? The chain computes an address of that "key" as of any other. */
function recoversInfinity(hash: Uint8Array, r: bigint, s: bigint, parity: 0 | 1): boolean {
  try {
    const compressed = padLeft(fromBigInt(r), 33)
    compressed[0] = 2 + parity
    const e = toBigInt(hash) % CURVE_ORDER
    const right = e === 0n ? Point.ZERO : Point.BASE.multiplyUnsafe(e)
    return Point.fromBytes(compressed).multiplyUnsafe(s).equals(right)
  } catch {
    return false
  }
}

/**
 * 0x01: hash, v, r, s to the signer's address in 32 bytes; empty when nothing can be recovered. Fewer than 96 bytes of
 * input recover nothing, and only the last byte of v counts, both unlike Ethereum.
 */
export const ecrecover: PrecompileCode = {
  maxInputFromContract: 128,
  run(input) {
    if (input.length < 96) return EMPTY
    const v = input[63]
    if (v !== 27 && v !== 28) return EMPTY
    const hash = input.subarray(0, 32)
    const r = toBigInt(input.subarray(64, 96))
    const s = toBigInt(inputSlice(input, 96, 32))
    if (r === 0n || r >= CURVE_ORDER || s === 0n || s >= CURVE_ORDER) return EMPTY
    const parity = v === 27 ? 0 : 1
    const address = recoverAddress(hash, r, s, parity)
    if (address !== undefined) return padLeft(fromHex(address), 32)
    return recoversInfinity(hash, r, s, parity) ? padLeft(INFINITY_ADDRESS, 32) : EMPTY
  },
}

/** 0x02: SHA-256. */
export const sha256Contract: PrecompileCode = {
  run: (input) => sha256(input),
}

/** 0x03: RIPEMD-160, left-padded to 32 bytes. */
export const ripemd160Contract: PrecompileCode = {
  run: (input) => padLeft(ripemd160(input), 32),
}

/** 0x04: the input itself. */
export const identity: PrecompileCode = {
  run: (input) => input.slice(),
}
