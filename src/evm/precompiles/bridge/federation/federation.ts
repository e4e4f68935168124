/** Federations: who holds the Bridge's coins on the parent chain, and under which script and address. */
import { formatAddress } from '../../../../bitcoin/address.ts'
import { outputScript, toScript, toWitnessScript } from '../../../../bitcoin/output-script.ts'
import {
  type Emergency,
  earlierEmergencyMultisig,
  emergencyMultisig,
  majority,
  multisig,
  withPrefix,
} from '../../../../bitcoin/redeem-script.ts'
import { UNRECOGNIZED_TESTNET_SCRIPT } from '../../../../bitcoin/redeem-script-parser.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import { compare, concat, fromBigIntFixed } from '../../../../encoding/bytes.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import {
  type BridgeNetwork,
  type FederationFormat,
  FORMAT,
  GENESIS_FEDERATION_BLOCK,
} from '../constants/network.ts'
import type { Member } from './members.ts'
import { byKeys } from './members.ts'

/** What the cell of a federation has. */
export interface FederationRecord {
  readonly format: FederationFormat
  readonly members: readonly Member[]
  /** Unix milliseconds. */
  readonly creationTime: number
  readonly creationBlock: number
}

/** Who holds the coins, and how. */
export interface Federation extends FederationRecord {
  /** Compressed keys of the parent chain, in the order of the members. */
  readonly publicKeys: readonly Uint8Array[]
  /** How many must sign. */
  readonly threshold: number
  readonly redeemScript: Uint8Array
  /** Hash that the output script pays to, 20 bytes. */
  readonly scriptHash: Uint8Array
  readonly outputScript: Uint8Array
  /** Base58. */
  readonly address: string
  /** Script of an output to the members alone, without emergency keys. */
  readonly memberScript: Uint8Array
}

/** Longest redeem scripts: what an input's script may push, and what a witness script may have, less a flyover prefix. */
const MAX_SCRIPT = { input: 520 - 34, witness: 3600 - 34 } as const

/** The script hash under which a redeem script locks coins in a format, 20 bytes. */
export function lockHash(redeemScript: Uint8Array, format: FederationFormat): Uint8Array {
  return (format === FORMAT.witness ? toWitnessScript(redeemScript) : toScript(redeemScript)).hash
}

function emergencyOf({ emergencyKeys, emergencyDelay }: BridgeNetwork): Emergency {
  return { keys: emergencyKeys.map((key) => fromHex(`0x${key}`)), delay: emergencyDelay }
}

function earlyScript(keys: readonly Uint8Array[], network: BridgeNetwork, isActive: IsActive): Uint8Array {
  if (network.parent.name === 'testnet' && !isActive('rskip284')) return UNRECOGNIZED_TESTNET_SCRIPT
  const emergency = emergencyOf(network)
  if (isActive('rskip293')) return earlierEmergencyMultisig(keys, emergency)
  const bigEndian = fromBigIntFixed(BigInt(network.emergencyDelay), 2)
  return earlierEmergencyMultisig(keys, { ...emergency, delay: bigEndian })
}

function redeemScriptOf(
  keys: readonly Uint8Array[],
  format: FederationFormat,
  network: BridgeNetwork,
  isActive: IsActive,
): Uint8Array {
  if (format === FORMAT.standard) return multisig(majority(keys), keys)
  if (format === FORMAT.earlyEmergency) return earlyScript(keys, network, isActive)
  return emergencyMultisig(keys, emergencyOf(network))
}

function checkSize(script: Uint8Array, format: FederationFormat): void {
  if (format === FORMAT.standard) return
  const limit = format === FORMAT.witness ? MAX_SCRIPT.witness : MAX_SCRIPT.input
  if (script.length > limit)
    throw new RangeError(`a redeem script of a federation has at most ${limit} bytes`)
}

/** A federation with what follows from its members. Throws a RangeError for too many of them. */
export function makeFederation(
  record: FederationRecord,
  network: BridgeNetwork,
  isActive: IsActive,
): Federation {
  const { format } = record
  const members = record.members.toSorted(byKeys)
  const publicKeys = members.map(([btc]) => btc)
  const redeemScript = redeemScriptOf(publicKeys, format, network, isActive)
  checkSize(redeemScript, format)
  const destination = { kind: 'scriptHash', hash: lockHash(redeemScript, format) } as const
  const membersOnly = multisig(majority(publicKeys), publicKeys)
  return {
    ...record,
    members,
    publicKeys,
    threshold: majority(publicKeys),
    redeemScript,
    scriptHash: destination.hash,
    outputScript: outputScript(destination),
    address: formatAddress(destination, network.parent.addresses),
    memberScript: outputScript({ kind: 'scriptHash', hash: lockHash(membersOnly, format) }),
  }
}

const genesis = new WeakMap<BridgeNetwork, Federation>()

/** The federation that a network begins with. */
export function genesisFederation(network: BridgeNetwork, isActive: IsActive): Federation {
  let federation = genesis.get(network)
  if (federation === undefined) {
    const { keys, creationTime, format } = network.genesisFederation
    const members = keys.map((key): Member => {
      const bytes = fromHex(`0x${key}`)
      return [bytes, bytes, bytes]
    })
    const record = { format, members, creationTime, creationBlock: GENESIS_FEDERATION_BLOCK }
    federation = makeFederation(record, network, isActive)
    genesis.set(network, federation)
  }
  return federation
}

/** The redeem script of a flyover address: the federation's, committed to 32 bytes (RSKIP-176). */
export function flyoverRedeemScript(derivationHash: Uint8Array, { redeemScript }: Federation): Uint8Array {
  return withPrefix(derivationHash, redeemScript)
}

/** The script hash of a flyover address, 20 bytes. */
export function flyoverHash(derivationHash: Uint8Array, federation: Federation): Uint8Array {
  return lockHash(flyoverRedeemScript(derivationHash, federation), federation.format)
}

/** Bytes of a signature as the node estimates it. */
const SIGNATURE_BYTES = 72
/** Bytes of the script that stands for an input's signatures outside the witness. */
const INPUT_SCRIPT_BYTES = 36
/** Version, counts of inputs and outputs, lock time. */
const TRANSACTION_FRAME_BYTES = 10
/** Amount, length and script of an output to a script's address. */
const OUTPUT_BYTES = 32
/** Outpoint and sequence of an input. */
const INPUT_FRAME_BYTES = 40

/** Bytes of the length of a byte string below 65,536 bytes. */
function lengthBytes(length: number): number {
  return length < 0xfd ? 1 : 3
}

/** Bytes of a peg-out of a federation as the node estimates it, virtual ones of the witness format (BIP-141). */
export function pegoutSize(
  { threshold, redeemScript, format }: Federation,
  inputs: number,
  outputs: number,
): number {
  const signatures = threshold * inputs * SIGNATURE_BYTES
  const frame = TRANSACTION_FRAME_BYTES + outputs * OUTPUT_BYTES
  const { length } = redeemScript
  if (format !== FORMAT.witness) {
    return frame + inputs * (INPUT_FRAME_BYTES + lengthBytes(length) + length) + signatures
  }
  const base = frame + inputs * INPUT_SCRIPT_BYTES
  const total = base + signatures + inputs * length
  return Math.floor((total + 3 * base) / 4)
}

/** Keys of the parent chain, concatenated. */
export function joinedKeys({ publicKeys }: Federation): Uint8Array {
  return concat(...publicKeys)
}

/** Is the key (compressed) one of a member's for the parent chain? */
export function hasPublicKey({ publicKeys }: Federation, key: Uint8Array): boolean {
  return publicKeys.some((own) => compare(own, key) === 0)
}
