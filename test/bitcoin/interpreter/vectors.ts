/** Bitcoin Core's text form of scripts and names of rules, as its test vectors have them. */

import { RULE } from '../../../src/bitcoin/interpreter/flags.ts'
import { NAMED_OPCODES, opcode } from '../../../src/bitcoin/interpreter/opcodes.ts'
import { encodeNumber } from '../../../src/bitcoin/interpreter/script-number.ts'
import { push } from '../../../src/bitcoin/script.ts'
import { concat, EMPTY } from '../../../src/encoding/bytes.ts'

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))

function numberScript(value: bigint): Uint8Array {
  if (value === 0n) return Uint8Array.of(0)
  if (value === -1n) return Uint8Array.of(0x4f)
  return value >= 1n && value <= 16n ? Uint8Array.of(0x50 + Number(value)) : push(encodeNumber(value))
}

function wordScript(word: string): Uint8Array {
  if (/^-?\d+$/.test(word)) return numberScript(BigInt(word))
  if (word.startsWith('0x')) return bytesOf(word.slice(2))
  const quoted = /^'(.*)'$/.exec(word)?.[1]
  if (quoted !== undefined) return push(new TextEncoder().encode(quoted))
  const name = word.replace(/^OP_/, '')
  if (name === 'RESERVED') return Uint8Array.of(0x50)
  if (name === '1NEGATE') return Uint8Array.of(0x4f)
  if (/^NOP[23]$/.test(name)) return Uint8Array.of(name === 'NOP2' ? 0xb1 : 0xb2)
  if (!NAMED_OPCODES.includes(name)) throw new Error(`unknown word ${word}`)
  return Uint8Array.of(opcode(name))
}

/** The script of a text. */
export function scriptOf(text: string): Uint8Array {
  const words = text.split(/[ \t\n]+/).filter((word) => word !== '')
  return words.length === 0 ? EMPTY : concat(...words.map(wordScript))
}

/** The rules of a text; `undefined` when one is not implemented here. */
export function rulesOf(text: string): number | undefined {
  let rules = 0
  for (const name of text.split(',')) {
    if (name === '' || name === 'NONE') continue
    if (!Object.hasOwn(RULE, name)) return undefined
    rules |= RULE[name as keyof typeof RULE]
  }
  return rules
}
