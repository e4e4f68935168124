/** Federations: who holds the Bridge's coins on the parent chain, and under which script and address. */

import { concat } from '../../../encoding/bytes.ts'
import { sha256 } from '../../../encoding/hash.ts'
import { fromHex } from '../../../encoding/hex.ts'
import { hash160 } from '../extended-key.ts'
import { multisig, push } from '../script.ts'
import { ADDRESS_VERSION, EMERGENCY_DELAY, EMERGENCY_KEYS, FEDERATION_KEYS } from './constants.ts'
import { formatParentAddress } from './parent-address.ts'

const OP_0 = 0x00
const OP_NOTIF = 0x64
const OP_ELSE = 0x67
const OP_ENDIF = 0x68
const OP_DROP = 0x75
const OP_CHECKSEQUENCEVERIFY = 0xb2

/** More than half of the keys must sign. */
function majority(keys: readonly unknown[]): number {
  return Math.floor(keys.length / 2) + 1
}

const EMERGENCY = EMERGENCY_KEYS.map((key) => fromHex(`0x${key}`))

function redeemScript(keys: readonly Uint8Array[]): Uint8Array {
  return concat(
    Uint8Array.of(OP_NOTIF),
    multisig(majority(keys), keys),
    Uint8Array.of(OP_ELSE),
    push(Uint8Array.of(EMERGENCY_DELAY & 0xff, EMERGENCY_DELAY >> 8)),
    Uint8Array.of(OP_CHECKSEQUENCEVERIFY, OP_DROP),
    multisig(majority(EMERGENCY), EMERGENCY),
    Uint8Array.of(OP_ENDIF),
  )
}

/** Base58 on the parent chain's test networks: pays to a script hash of the witness program of `script` (BIP-141). */
export function addressOfWitnessScript(script: Uint8Array): string {
  const witnessProgram = concat(Uint8Array.of(OP_0), push(sha256(script)))
  return formatParentAddress(ADDRESS_VERSION.scriptHash, hash160(witnessProgram))
}

/** Who holds the coins, and how. */
export interface Federation {
  /** Compressed keys of the parent chain, ordered by their bytes. */
  readonly publicKeys: readonly Uint8Array[]
  /** How many must sign. */
  readonly threshold: number
  readonly redeemScript: Uint8Array
  /** Base58. */
  readonly address: string
}

/** Most members for which a script is made: a single opcode holds their number. */
export const MAX_MEMBERS = 16

/** The federation of these compressed keys, which are ordered by their bytes, at most `MAX_MEMBERS`. */
export function federationOf(publicKeys: readonly Uint8Array[]): Federation {
  const script = redeemScript(publicKeys)
  const address = addressOfWitnessScript(script)
  return { publicKeys, threshold: majority(publicKeys), redeemScript: script, address }
}

/**
 * The federation that a fresh local network begins with. It stays the active one: no other becomes active without
 * `updateCollections`. Each key serves for both chains.
 */
export const FEDERATION = federationOf(FEDERATION_KEYS.map((key) => fromHex(`0x${key}`)))

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
