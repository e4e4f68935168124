/** Bitcoin's scripts: their parts, and how they are written. */
import { concat, EMPTY, join } from '../encoding/bytes.ts'
import { ByteReader } from './byte-reader.ts'
import { uint32 } from './serialization.ts'

/** Opcodes used here. */
export const OP = {
  0: 0x00,
  PUSHDATA1: 0x4c,
  PUSHDATA2: 0x4d,
  PUSHDATA4: 0x4e,
  NEGATE1: 0x4f,
  1: 0x51,
  16: 0x60,
  NOTIF: 0x64,
  ELSE: 0x67,
  ENDIF: 0x68,
  RETURN: 0x6a,
  DROP: 0x75,
  DUP: 0x76,
  EQUAL: 0x87,
  EQUALVERIFY: 0x88,
  HASH160: 0xa9,
  CODESEPARATOR: 0xab,
  CHECKSIG: 0xac,
  CHECKMULTISIG: 0xae,
  CHECKMULTISIGVERIFY: 0xaf,
  CHECKSEQUENCEVERIFY: 0xb2,
} as const

/** One operation of a script. */
export interface Chunk {
  readonly opcode: number
  /** What a push pushes, also OP_0; absent for all other operations, OP_1 to OP_16 too. */
  readonly data?: Uint8Array
}

function pushLength(opcode: number, reader: ByteReader): number | undefined {
  if (opcode < OP.PUSHDATA1) return opcode
  if (opcode === OP.PUSHDATA1) return reader.byte()
  if (opcode === OP.PUSHDATA2) return reader.uint16()
  return opcode === OP.PUSHDATA4 ? reader.uint32() : undefined
}

/** Operations without data, one object each: a script may have a million of them. */
const PLAIN: readonly Chunk[] = Array.from({ length: 256 }, (_, opcode) => ({ opcode }))

/** The operations of a script. Throws a RangeError when it ends within a push. */
export function parseScript(script: Uint8Array): readonly Chunk[] {
  const reader = new ByteReader(script)
  const chunks: Chunk[] = []
  while (reader.remaining > 0) {
    const opcode = reader.byte()
    const length = pushLength(opcode, reader)
    const chunk = length === undefined ? PLAIN[opcode] : { opcode, data: reader.bytes(length) }
    if (chunk !== undefined) chunks.push(chunk)
  }
  return chunks
}

/** The script of these operations. */
export function writeChunks(chunks: readonly Chunk[]): Uint8Array {
  return join(
    chunks.map(({ opcode, data = EMPTY }) => {
      const { length } = data
      if (opcode === OP.PUSHDATA1) return concat(Uint8Array.of(opcode, length), data)
      if (opcode === OP.PUSHDATA2) return concat(Uint8Array.of(opcode, length, length >>> 8), data)
      if (opcode === OP.PUSHDATA4) return concat(Uint8Array.of(opcode), uint32(length), data)
      return concat(Uint8Array.of(opcode), data)
    }),
  )
}

/** `parseScript`; `undefined` for a script that ends within a push. */
export function tryParseScript(script: Uint8Array): readonly Chunk[] | undefined {
  try {
    return parseScript(script)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Pushes data of less than 65,536 bytes by its length (no data as OP_0); throws a RangeError above. */
export function push(data: Uint8Array): Uint8Array {
  const { length } = data
  if (length < OP.PUSHDATA1) return concat(Uint8Array.of(length), data)
  if (length < 0x100) return concat(Uint8Array.of(OP.PUSHDATA1, length), data)
  if (length < 0x10000) return concat(Uint8Array.of(OP.PUSHDATA2, length, length >>> 8), data)
  throw new RangeError('too long to be pushed')
}

/** The least bytes of a number that is not negative, lowest first, the highest bit clear. */
function numberBytes(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 0x100)) bytes.push(rest % 0x100)
  if ((bytes.at(-1) ?? 0) >= 0x80) bytes.push(0)
  return Uint8Array.from(bytes)
}

/** Pushes a number as bytes, as the reference node writes a delay. */
export function pushNumber(value: number): Uint8Array {
  return push(numberBytes(value))
}

/** Pushes a count as the reference node does: up to 15 in one opcode, 16 and more as bytes. */
export function pushCount(value: number): Uint8Array {
  return value < 16 ? Uint8Array.of(value === 0 ? OP[0] : OP[1] - 1 + value) : pushNumber(value)
}

/** Most bytes of a number in a script. */
const MAX_NUMBER_BYTES = 4

/**
 * The number that is not negative that a chunk pushes; `undefined` when it pushes none, or not in the shortest form.
 * Throws a RangeError, as the reference node fails, for a push of nothing and of a single zero byte.
 */
export function countOf({ opcode, data }: Chunk): number | undefined {
  if (opcode >= OP[1] && opcode <= OP[16]) return opcode - OP[1] + 1
  if (opcode > OP[16] || data === undefined) return undefined
  const last = data.at(-1)
  if (last === undefined || (last === 0 && data.length === 1)) throw new RangeError('not a number')
  if (last >= 0x80 || (last === 0 && (data.at(-2) ?? 0) < 0x80)) return undefined
  if (data.length > MAX_NUMBER_BYTES) return undefined
  return data.reduceRight((value, byte) => value * 0x100 + byte, 0)
}
