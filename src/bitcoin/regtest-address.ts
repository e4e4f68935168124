/** Addresses of regtest, of all kinds, and the scripts of outputs that pay to them. */
import { decodeBech32, encodeBech32 } from '../encoding/bech32.ts'
import { concat } from '../encoding/bytes.ts'
import { decodeAddress, formatAddress, parseAddress } from './address.ts'
import { REGTEST } from './chain/regtest.ts'
import { kindOf } from './chain/script-kind.ts'
import { OP_RESERVED } from './interpreter/opcodes.ts'
import { outputScript } from './output-script.ts'
import { push } from './script.ts'

const MAX_VERSION = 16
const PROGRAM_BYTES = { least: 2, most: 40 } as const

/** The script that consists of a witness program. */
export function witnessScriptOf(version: number, program: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(version === 0 ? 0 : OP_RESERVED + version), push(program))
}

/** The address of the scripts that have one: hashes of keys and scripts, witness programs. */
export function addressOf(script: Uint8Array): string | undefined {
  const { kind, hash, version } = kindOf(script)
  if (hash === undefined) return undefined
  if (version !== undefined) {
    const parts = { prefix: REGTEST.bech32, version, program: hash }
    return encodeBech32(parts, version === 0 ? 'bech32' : 'bech32m')
  }
  const destination = { kind: kind === 'scripthash' ? 'scriptHash' : 'publicKeyHash', hash } as const
  return formatAddress(destination, REGTEST.addressVersions)
}

function witnessProgramIn(text: string): Uint8Array | undefined {
  for (const form of ['bech32', 'bech32m'] as const) {
    try {
      const { prefix, version, program } = decodeBech32(text, form)
      const isOfForm = (version === 0) === (form === 'bech32') && version <= MAX_VERSION
      const hasLength =
        version === 0
          ? program.length === 20 || program.length === 32
          : program.length >= PROGRAM_BYTES.least && program.length <= PROGRAM_BYTES.most
      return prefix === REGTEST.bech32 && isOfForm && hasLength
        ? witnessScriptOf(version, program)
        : undefined
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  return undefined
}

/** Characters of the longest address (BIP-173). */
const LONGEST_ADDRESS = 90

/** The script of outputs that pay to an address; `undefined` for a text that is no address of regtest. */
export function scriptOfAddress(text: string): Uint8Array | undefined {
  if (text.length > LONGEST_ADDRESS) return undefined
  if (text.toLowerCase().startsWith(`${REGTEST.bech32}1`)) return witnessProgramIn(text)
  const payload = parseAddress(text, REGTEST.addressVersions)
  const destination = payload === undefined ? undefined : decodeAddress(payload, REGTEST.addressVersions)
  return destination === undefined ? undefined : outputScript(destination)
}
