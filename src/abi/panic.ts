/** The meanings of the compiler's own failures: `Panic(uint256)`. */
import { toBigInt } from '../encoding/bytes.ts'
import { toHex } from '../encoding/hex.ts'

/** Selector of `Panic(uint256)`. */
const PANIC = '0x4e487b71'

/** Solidity's documentation, "Panic via assert and Error via require". */
const MEANINGS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'inserted by the compiler'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'value that the enum does not have'],
  [0x22n, 'wrongly encoded storage byte array'],
  [0x31n, 'pop on an empty array'],
  [0x32n, 'array index out of bounds'],
  [0x41n, 'too much memory asked for'],
  [0x51n, 'call of an internal function that was never set'],
])

/** The code in a payload of `Panic(uint256)`; `undefined` for any other payload. */
export function panicCode(payload: Uint8Array): bigint | undefined {
  if (payload.length !== 36 || toHex(payload.subarray(0, 4)) !== PANIC) return undefined
  return toBigInt(payload.subarray(4))
}

/** The text for a payload of `Panic(uint256)`, such as `panic 0x12 (division or modulo by zero)`; `undefined` for any other. */
export function panicMessage(payload: Uint8Array): string | undefined {
  const code = panicCode(payload)
  if (code === undefined) return undefined
  const meaning = MEANINGS.get(code)
  const number = `panic 0x${code.toString(16).padStart(2, '0')}`
  return meaning === undefined ? number : `${number} (${meaning})`
}
