/** Federations: who holds the Bridge's coins on the parent chain, and under which script and address. */

import { formatAddress } from '../../../bitcoin/address.ts'
import { toWitnessScript } from '../../../bitcoin/output-script.ts'
import { emergencyMultisig, majority } from '../../../bitcoin/redeem-script.ts'
import { fromHex } from '../../../encoding/hex.ts'
import { ADDRESS_VERSIONS, EMERGENCY_DELAY, EMERGENCY_KEYS, FEDERATION_KEYS } from './constants.ts'

const EMERGENCY = { keys: EMERGENCY_KEYS.map((key) => fromHex(`0x${key}`)), delay: EMERGENCY_DELAY }

/** Base58: pays to a script hash of the witness program of `script` (BIP-141). */
export function addressOfWitnessScript(script: Uint8Array): string {
  return formatAddress(toWitnessScript(script), ADDRESS_VERSIONS)
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

/** The federation of these compressed keys, which are ordered by their bytes. Throws a RangeError for more than 20. */
export function federationOf(publicKeys: readonly Uint8Array[]): Federation {
  const script = emergencyMultisig(publicKeys, EMERGENCY)
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
