/** All opcodes by name, and the operations of a script read one at a time. */
import { EMPTY } from '../../encoding/bytes.ts'

/** Names of the opcodes from OP_NOP on, without `OP_`. */
const FROM_NOP = [
  ...['NOP', 'VER', 'IF', 'NOTIF', 'VERIF', 'VERNOTIF', 'ELSE', 'ENDIF', 'VERIFY', 'RETURN'],
  ...['TOALTSTACK', 'FROMALTSTACK', '2DROP', '2DUP', '3DUP', '2OVER', '2ROT', '2SWAP', 'IFDUP', 'DEPTH'],
  ...['DROP', 'DUP', 'NIP', 'OVER', 'PICK', 'ROLL', 'ROT', 'SWAP', 'TUCK', 'CAT', 'SUBSTR', 'LEFT'],
  ...['RIGHT', 'SIZE', 'INVERT', 'AND', 'OR', 'XOR', 'EQUAL', 'EQUALVERIFY', 'RESERVED1', 'RESERVED2'],
  ...['1ADD', '1SUB', '2MUL', '2DIV', 'NEGATE', 'ABS', 'NOT', '0NOTEQUAL', 'ADD', 'SUB', 'MUL', 'DIV'],
  ...['MOD', 'LSHIFT', 'RSHIFT', 'BOOLAND', 'BOOLOR', 'NUMEQUAL', 'NUMEQUALVERIFY', 'NUMNOTEQUAL'],
  ...['LESSTHAN', 'GREATERTHAN', 'LESSTHANOREQUAL', 'GREATERTHANOREQUAL', 'MIN', 'MAX', 'WITHIN'],
  ...['RIPEMD160', 'SHA1', 'SHA256', 'HASH160', 'HASH256', 'CODESEPARATOR', 'CHECKSIG', 'CHECKSIGVERIFY'],
  ...['CHECKMULTISIG', 'CHECKMULTISIGVERIFY', 'NOP1', 'CHECKLOCKTIMEVERIFY', 'CHECKSEQUENCEVERIFY'],
  ...['NOP4', 'NOP5', 'NOP6', 'NOP7', 'NOP8', 'NOP9', 'NOP10'],
]
/** The opcode of OP_NOP. */
export const FIRST_NAMED = 0x61

const OF_NAME: ReadonlyMap<string, number> = new Map(FROM_NOP.map((name, i) => [name, FIRST_NAMED + i]))

/** The names of the opcodes from OP_NOP on, without `OP_`, in order. */
export const NAMED_OPCODES: readonly string[] = FROM_NOP

/** The opcode of a name without `OP_`. Throws a RangeError for an unknown name. */
export function opcode(name: string): number {
  const code = OF_NAME.get(name)
  if (code === undefined) throw new RangeError(`there is no opcode OP_${name}`)
  return code
}

/** Pushes -1. */
export const OP_1NEGATE = 0x4f
/** Is invalid when executed. */
export const OP_RESERVED = 0x50

/** The name as Bitcoin Core writes it; numbers for OP_1NEGATE and OP_1 to OP_16. */
export function nameOf(code: number): string {
  if (code === 0) return '0'
  if (code === OP_1NEGATE) return '-1'
  if (code > OP_RESERVED && code < FIRST_NAMED) return String(code - OP_RESERVED)
  if (code === OP_RESERVED) return 'OP_RESERVED'
  const name = FROM_NOP[code - FIRST_NAMED]
  return name === undefined ? 'OP_UNKNOWN' : `OP_${name}`
}

/** An operation at a place in a script. */
export interface Operation {
  readonly opcode: number
  /** What it pushes; empty for operations that push no bytes of the script. */
  readonly data: Uint8Array
  /** Where the next operation begins. */
  readonly next: number
}

/** Bytes that hold the length of a push, by opcode. */
const LENGTH_BYTES: Readonly<Record<number, number>> = { 76: 1, 77: 2, 78: 4 }

/** The operation at a place before the end; `undefined` when the script ends within it. */
export function operationAt(script: Uint8Array, at: number): Operation | undefined {
  const code = script[at]
  if (code === undefined) return undefined
  if (code > 0x4e) return { opcode: code, data: EMPTY, next: at + 1 }
  const lengthBytes = LENGTH_BYTES[code] ?? 0
  const start = at + 1 + lengthBytes
  if (start > script.length) return undefined
  let length = lengthBytes === 0 ? code : 0
  for (let i = 0; i < lengthBytes; i++) length += (script[at + 1 + i] ?? 0) * 2 ** (8 * i)
  if (start + length > script.length) return undefined
  return { opcode: code, data: script.subarray(start, start + length), next: start + length }
}

/** The operations up to the end, or up to the first that the script ends within. */
export function* operationsOf(script: Uint8Array): Generator<Operation> {
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at)
    if (operation === undefined) return
    yield operation
    at = operation.next
  }
}

/** Has it pushes only? A script that ends within an operation has not. */
export function isPushOnly(script: Uint8Array): boolean {
  let end = 0
  for (const { opcode: code, next } of operationsOf(script)) {
    if (code >= FIRST_NAMED) return false
    end = next
  }
  return end === script.length
}

/** Is the push of the data the shortest one (BIP-62)? */
export function isMinimalPush({ opcode: code, data }: Operation): boolean {
  const [first = 0] = data
  if (data.length === 0) return code === 0
  if (data.length === 1 && first >= 1 && first <= 16) return false
  if (data.length === 1 && first === 0x81) return false
  if (data.length <= 75) return code === data.length
  if (data.length <= 255) return code === 0x4c
  return data.length > 65535 || code === 0x4d
}
