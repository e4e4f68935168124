/** Numbers and truth values on the stack: little-endian, the highest bit is the sign. */
import { demand } from './script-failure.ts'

/** The shortest form; zero is empty. */
export function encodeNumber(value: bigint): Uint8Array {
  const bytes: number[] = []
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 8n) bytes.push(Number(rest & 0xffn))
  const last = bytes.at(-1) ?? 0
  if (last >= 0x80) bytes.push(value < 0n ? 0x80 : 0)
  else if (value < 0n) bytes[bytes.length - 1] = last | 0x80
  return Uint8Array.from(bytes)
}

function isMinimal(bytes: Uint8Array): boolean {
  const last = bytes.at(-1)
  if (last === undefined || (last & 0x7f) !== 0) return true
  return bytes.length > 1 && ((bytes.at(-2) ?? 0) & 0x80) !== 0
}

/** The number in at most `most` bytes. Throws the failure SCRIPTNUM. */
export function decodeNumber(bytes: Uint8Array, mustBeMinimal: boolean, most = 4): bigint {
  demand(bytes.length <= most && (!mustBeMinimal || isMinimal(bytes)), 'SCRIPTNUM')
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0)
  const isNegative = ((bytes.at(-1) ?? 0) & 0x80) !== 0
  return isNegative ? -(value & ~(0x80n << BigInt(8 * (bytes.length - 1)))) : value
}

/** Is any bit but the sign set? */
export function isTrue(bytes: Uint8Array): boolean {
  return bytes.some((byte, i) => byte !== 0 && !(i === bytes.length - 1 && byte === 0x80))
}
