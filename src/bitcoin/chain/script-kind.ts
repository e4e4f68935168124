/** Kinds of output scripts, with Bitcoin Core's names. */

import { isPushOnly } from '../interpreter/opcodes.ts'
import { witnessProgramOf } from '../interpreter/verification.ts'
import { isPayToScriptHash } from '../output-script.ts'
import { countOf, OP, tryParseScript } from '../script.ts'

/** Bitcoin Core's name of a kind. */
export type ScriptKind =
  | 'nonstandard'
  | 'pubkey'
  | 'pubkeyhash'
  | 'scripthash'
  | 'multisig'
  | 'nulldata'
  | 'witness_v0_keyhash'
  | 'witness_v0_scripthash'
  | 'witness_v1_taproot'
  | 'witness_unknown'

/** A kind, with what the script contains. */
export interface KindOfScript {
  readonly kind: ScriptKind
  /** The hash or program that it pays to. */
  readonly hash?: Uint8Array
  /** Of a witness program. */
  readonly version?: number
  readonly keys?: readonly Uint8Array[]
  /** How many of the keys must sign. */
  readonly required?: number
}

const NONSTANDARD: KindOfScript = { kind: 'nonstandard' }

function isKey(bytes: Uint8Array | undefined): bytes is Uint8Array {
  if (bytes === undefined) return false
  const [prefix] = bytes
  const isCompressed = bytes.length === 33 && (prefix === 2 || prefix === 3)
  return isCompressed || (bytes.length === 65 && prefix === 4)
}

function witnessKind(version: number, program: Uint8Array): KindOfScript {
  const { length } = program
  if (version === 0 && length === 20) return { kind: 'witness_v0_keyhash', hash: program, version }
  if (version === 0 && length === 32) return { kind: 'witness_v0_scripthash', hash: program, version }
  if (version === 0) return NONSTANDARD
  if (version === 1 && length === 32) return { kind: 'witness_v1_taproot', hash: program, version }
  return { kind: 'witness_unknown', hash: program, version }
}

function multisigKind(script: Uint8Array): KindOfScript {
  const chunks = tryParseScript(script)
  const [first, ...rest] = chunks ?? []
  const last = rest.pop()
  const count = rest.pop()
  if (first === undefined || count === undefined || last?.opcode !== OP.CHECKMULTISIG) return NONSTANDARD
  const areCounts = [first, count].every(({ opcode }) => opcode >= OP[1] && opcode <= OP[16])
  const keys = rest.flatMap(({ data }) => (isKey(data) ? [data] : []))
  if (!areCounts || keys.length !== rest.length) return NONSTANDARD
  const required = countOf(first) ?? 0
  if (countOf(count) !== keys.length || required > keys.length) return NONSTANDARD
  return { kind: 'multisig', keys, required }
}

/** The kind of an output's script. */
export function kindOf(script: Uint8Array): KindOfScript {
  if (isPayToScriptHash(script)) return { kind: 'scripthash', hash: script.slice(2, 22) }
  const program = witnessProgramOf(script)
  if (program !== undefined) return witnessKind(program.version, program.program)
  if (script[0] === OP.RETURN && isPushOnly(script.subarray(1))) return { kind: 'nulldata' }
  const { length } = script
  const isToKeyHash =
    length === 25 &&
    script[0] === OP.DUP &&
    script[1] === OP.HASH160 &&
    script[2] === 20 &&
    script[23] === OP.EQUALVERIFY
  if (isToKeyHash && script[24] === OP.CHECKSIG) return { kind: 'pubkeyhash', hash: script.slice(3, 23) }
  const key = script.slice(1, -1)
  const isToKey = script[0] === length - 2 && script[length - 1] === OP.CHECKSIG && isKey(key)
  return isToKey ? { kind: 'pubkey', keys: [key], required: 1 } : multisigKind(script)
}
