/** The curve of EIP-196 and EIP-197 (alt_bn128): addition, multiplication and the pairing check (RSKIP-137). */
import { bn254 } from '@noble/curves/bn254.js'
import { concat, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { type Chunks, inChunks, inputSlice, type PrecompileCode, PrecompileFailure } from './precompile.ts'

const G1 = bn254.G1.Point
const G2 = bn254.G2.Point
const { Fp, Fp12, Fr } = bn254.fields
type G1Point = typeof G1.BASE
type G2Point = typeof G2.BASE

/** Bytes of a point of each group. */
export const PAIR_SIZE = 192
const INFINITY = new Uint8Array(64)

/** The word at `offset` as a coordinate; throws PrecompileFailure when it is not below the field's modulus. */
function coordinate(input: Uint8Array, offset: number): bigint {
  const value = toBigInt(inputSlice(input, offset, 32))
  if (value >= Fp.ORDER) throw new PrecompileFailure('coordinate outside the field')
  return value
}

/** Two words to a point of G1; (0, 0) is infinity. Throws PrecompileFailure off the curve. */
function readG1(input: Uint8Array, offset: number): G1Point {
  const x = coordinate(input, offset)
  const y = coordinate(input, offset + 32)
  if (x === 0n && y === 0n) return G1.ZERO
  // The group is the whole curve, so this is all there is to check.
  if (!Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), 3n)))
    throw new PrecompileFailure('point not on the curve')
  return G1.fromAffine({ x, y })
}

/** Four words, imaginary parts first, to a point of G2. Throws PrecompileFailure off the curve or outside the subgroup. */
function readG2(input: Uint8Array, offset: number): G2Point {
  const x = { c1: coordinate(input, offset), c0: coordinate(input, offset + 32) }
  const y = { c1: coordinate(input, offset + 64), c0: coordinate(input, offset + 96) }
  if (x.c0 === 0n && x.c1 === 0n && y.c0 === 0n && y.c1 === 0n) return G2.ZERO
  try {
    const point = G2.fromAffine({ x, y })
    point.assertValidity()
    return point
  } catch {
    throw new PrecompileFailure('point not in the second group')
  }
}

function writeG1(point: G1Point): Uint8Array {
  if (point.is0()) return INFINITY.slice()
  const { x, y } = point.toAffine()
  return concat(fromBigIntFixed(x, 32), fromBigIntFixed(y, 32))
}

/** 0x06: the sum of two points; input is padded with zeros, invalid points fail (EIP-196). */
export const bn128Add: PrecompileCode = {
  maxInputFromContract: 128,
  run: (input) => writeG1(readG1(input, 0).add(readG1(input, 64))),
}

/** 0x07: a point times any 256-bit integer; input is padded with zeros, an invalid point fails (EIP-196). */
export const bn128Multiply: PrecompileCode = {
  maxInputFromContract: 96,
  run(input) {
    const point = readG1(input, 0)
    const scalar = toBigInt(inputSlice(input, 64, 32)) % Fr.ORDER
    return scalar === 0n ? INFINITY.slice() : writeG1(point.multiplyUnsafe(scalar))
  },
}

/** The points of all pairs but those with infinity: such a pairing is one and leaves the product as it is. */
function* readPairs(input: Uint8Array): Generator<undefined, { g1: G1Point; g2: G2Point }[]> {
  const pairs: { g1: G1Point; g2: G2Point }[] = []
  for (let offset = 0; offset < input.length; offset += PAIR_SIZE) {
    const g1 = readG1(input, offset)
    const g2 = readG2(input, offset + 64)
    if (!g1.is0() && !g2.is0()) pairs.push({ g1, g2 })
    yield
  }
  return pairs
}

function* checkPairing(input: Uint8Array): Chunks {
  if (input.length % PAIR_SIZE !== 0) throw new PrecompileFailure('input is not a whole number of pairs')
  const pairs = yield* readPairs(input)
  let product = Fp12.ONE
  for (const pair of pairs) {
    product = Fp12.mul(product, bn254.pairingBatch([pair], false))
    yield
  }
  const output = new Uint8Array(32)
  if (pairs.length === 0 || Fp12.eql(Fp12.finalExponentiate(product), Fp12.ONE)) output[31] = 1
  return output
}

/** 0x08: is the product of the pairings one? 32 bytes, 1 or 0; no pairs give 1, a broken length or point fails (EIP-197). */
export const bn128Pairing: PrecompileCode = {
  ...inChunks(checkPairing),
}
