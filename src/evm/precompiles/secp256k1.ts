/** 0x01000016 and 0x01000017: addition and multiplication on secp256k1, in the encoding of EIP-196 (RSKIP-516). */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { toBigInt } from '../../encoding/bytes.ts'
import { inputSlice, type PrecompileCode, PrecompileFailure } from './precompile.ts'

const { Point } = secp256k1
const { Fp, Fn } = Point
type CurvePoint = typeof Point.BASE

/** Two words to a point; (0, 0) is infinity. Throws PrecompileFailure off the curve. */
function readPoint(input: Uint8Array, offset: number): CurvePoint {
  const x = toBigInt(inputSlice(input, offset, 32))
  const y = toBigInt(inputSlice(input, offset + 32, 32))
  if (x === 0n && y === 0n) return Point.ZERO
  if (x >= Fp.ORDER || y >= Fp.ORDER) throw new PrecompileFailure('coordinate outside the field')
  if (!Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), 7n)))
    throw new PrecompileFailure('point not on the curve')
  return Point.fromAffine({ x, y })
}

function writePoint(point: CurvePoint): Uint8Array {
  return point.is0() ? new Uint8Array(64) : point.toBytes(false).slice(1)
}

/** The sum of two points, 64 bytes; input is padded with zeros, an invalid point fails. */
export const secp256k1Add: PrecompileCode = {
  maxInputFromContract: 128,
  run: (input) => writePoint(readPoint(input, 0).add(readPoint(input, 64))),
}

/** A point times any 256-bit integer, 64 bytes; input is padded with zeros, an invalid point fails. */
export const secp256k1Multiply: PrecompileCode = {
  maxInputFromContract: 96,
  run(input) {
    const point = readPoint(input, 0)
    const scalar = toBigInt(inputSlice(input, 64, 32)) % Fn.ORDER
    return writePoint(scalar === 0n ? Point.ZERO : point.multiplyUnsafe(scalar))
  },
}
