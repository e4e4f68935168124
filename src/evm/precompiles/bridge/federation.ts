/** The first federation: who holds the bridge's coins on the parent chain, and under which script and address. */
import { encodeBase58Check } from '../../../encoding/base58.ts'
import { concat } from '../../../encoding/bytes.ts'
import { sha256 } from '../../../encoding/hash.ts'
import { fromHex } from '../../../encoding/hex.ts'
import { hash160 } from '../extended-key.ts'
import { EMERGENCY_DELAY, EMERGENCY_KEYS, FEDERATION_KEYS } from './constants.ts'

const OP_0 = 0x00
const OP_1 = 0x51
const OP_NOTIF = 0x64
const OP_ELSE = 0x67
const OP_ENDIF = 0x68
const OP_DROP = 0x75
const OP_CHECKMULTISIG = 0xae
const OP_CHECKSEQUENCEVERIFY = 0xb2
/** First byte of a script's address on the parent chain's test networks. */
const SCRIPT_ADDRESS_VERSION = 196

/** More than half of the keys must sign. */
function majority(keys: readonly unknown[]): number {
  return Math.floor(keys.length / 2) + 1
}

function push(data: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(data.length), data)
}

function multisig(keys: readonly string[]): Uint8Array {
  return concat(
    Uint8Array.of(OP_1 - 1 + majority(keys)),
    ...keys.map((key) => push(fromHex(`0x${key}`))),
    Uint8Array.of(OP_1 - 1 + keys.length, OP_CHECKMULTISIG),
  )
}

function redeemScript(): Uint8Array {
  return concat(
    Uint8Array.of(OP_NOTIF),
    multisig(FEDERATION_KEYS),
    Uint8Array.of(OP_ELSE),
    push(Uint8Array.of(EMERGENCY_DELAY & 0xff, EMERGENCY_DELAY >> 8)),
    Uint8Array.of(OP_CHECKSEQUENCEVERIFY, OP_DROP),
    multisig(EMERGENCY_KEYS),
    Uint8Array.of(OP_ENDIF),
  )
}

/** Base58 on the parent chain's test networks: pays to a script hash of the witness program of `script` (BIP-141). */
export function addressOfWitnessScript(script: Uint8Array): string {
  const witnessProgram = concat(Uint8Array.of(OP_0), push(sha256(script)))
  return encodeBase58Check(concat(Uint8Array.of(SCRIPT_ADDRESS_VERSION), hash160(witnessProgram)))
}

const script = redeemScript()

/** The federation that a fresh local network begins with; the same record for ever, since none can follow it. */
export const FEDERATION = {
  /** Compressed; each serves for both chains. */
  publicKeys: FEDERATION_KEYS.map((key) => fromHex(`0x${key}`)),
  /** How many must sign. */
  threshold: majority(FEDERATION_KEYS),
  redeemScript: script,
  /** Base58. */
  address: addressOfWitnessScript(script),
} as const

/** Bytes of a signature as the node estimates it. */
const SIGNATURE_BYTES = 72
/** Bytes of the script that stands for an input's signatures outside the witness. */
const INPUT_SCRIPT_BYTES = 36
/** Version, counts of inputs and outputs, lock time. */
const TRANSACTION_FRAME_BYTES = 10
/** Amount, length and script of an output to a script's address. */
const OUTPUT_BYTES = 32

/** Virtual bytes of a peg-out as the node estimates it (BIP-141): without the outpoints, and with these counts. */
export function pegoutSize(inputs: number, outputs: number): number {
  const base = TRANSACTION_FRAME_BYTES + outputs * OUTPUT_BYTES + inputs * INPUT_SCRIPT_BYTES
  const signatures = FEDERATION.threshold * inputs * SIGNATURE_BYTES
  const total = base + signatures + inputs * FEDERATION.redeemScript.length
  return Math.floor((total + 3 * base) / 4)
}
