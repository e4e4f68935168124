/** Scripts as Bitcoin Core's JSON shows them. */
import { kindOf } from '../bitcoin/chain/script-kind.ts'
import { digitsOf } from '../bitcoin/displayed-hash.ts'
import { nameOf, operationAt } from '../bitcoin/interpreter/opcodes.ts'
import { decodeNumber } from '../bitcoin/interpreter/script-number.ts'
import { isStrictDer } from '../bitcoin/interpreter/signature-encoding.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { describe } from './descriptor.ts'

const PUSHDATA4 = 0x4e
const TYPES: Readonly<Record<number, string>> = {
  1: 'ALL',
  2: 'NONE',
  3: 'SINGLE',
  129: 'ALL|ANYONECANPAY',
  130: 'NONE|ANYONECANPAY',
  131: 'SINGLE|ANYONECANPAY',
}

function pushText(data: Uint8Array, showsTypes: boolean): string {
  if (data.length <= 4) return String(decodeNumber(data, false))
  const type = TYPES[data.at(-1) ?? 0]
  if (showsTypes && type !== undefined && isStrictDer(data))
    return `${digitsOf(data.subarray(0, -1))}[${type}]`
  return digitsOf(data)
}

/** The operations as words. `showsTypes`: are types of signatures named, as in scripts of inputs? */
export function asmOf(script: Uint8Array, showsTypes = false): string {
  const words: string[] = []
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at)
    if (operation === undefined) {
      words.push('[error]')
      break
    }
    const { opcode, data, next } = operation
    words.push(opcode <= PUSHDATA4 ? pushText(data, showsTypes) : nameOf(opcode))
    at = next
  }
  return words.join(' ')
}

/** `scriptPubKey` of an output. */
export function viewOfScript(script: Uint8Array): object {
  return {
    asm: asmOf(script),
    desc: describe(script),
    hex: digitsOf(script),
    address: addressOf(script),
    type: kindOf(script).kind,
  }
}
