/**
 * Scripts that many keys spend: plain multisig (BIP-11), and multisig with emergency keys after a delay, in the two forms
 * that federations have (RSKIP-201, RSKIP-353).
 */
import { concat } from '../encoding/bytes.ts'
import { OP, push, pushCount, pushNumber } from './script.ts'

/** Most keys that CHECKMULTISIG takes. */
export const MAX_KEYS = 20

/** So many of the keys must sign (BIP-11); throws a RangeError for more than `MAX_KEYS`. */
export function multisig(required: number, keys: readonly Uint8Array[]): Uint8Array {
  return concat(unfinishedMultisig(required, keys), Uint8Array.of(OP.CHECKMULTISIG))
}

function unfinishedMultisig(required: number, keys: readonly Uint8Array[]): Uint8Array {
  if (keys.length > MAX_KEYS) throw new RangeError(`a script takes at most ${MAX_KEYS} keys`)
  return concat(pushCount(required), ...keys.map(push), pushCount(keys.length))
}

/** More than half of them. */
export function majority(keys: readonly unknown[]): number {
  return Math.floor(keys.length / 2) + 1
}

/** Keys that may spend once the coins have not moved for long enough. */
export interface Emergency {
  readonly keys: readonly Uint8Array[]
  /** Blocks; bytes stand in the script as they are. */
  readonly delay: number | Uint8Array
}

function branches(
  script: (required: number, keys: readonly Uint8Array[]) => Uint8Array,
  keys: readonly Uint8Array[],
  emergency: Emergency,
): Uint8Array {
  const { delay } = emergency
  return concat(
    Uint8Array.of(OP.NOTIF),
    script(majority(keys), keys),
    Uint8Array.of(OP.ELSE),
    typeof delay === 'number' ? pushNumber(delay) : push(delay),
    Uint8Array.of(OP.CHECKSEQUENCEVERIFY, OP.DROP),
    script(majority(emergency.keys), emergency.keys),
    Uint8Array.of(OP.ENDIF),
  )
}

/** A majority of the keys, or of the emergency keys after the delay; each branch checks its signatures (RSKIP-353). */
export function emergencyMultisig(keys: readonly Uint8Array[], emergency: Emergency): Uint8Array {
  return branches(multisig, keys, emergency)
}

/** The same with one check after the branches (RSKIP-201). */
export function earlierEmergencyMultisig(keys: readonly Uint8Array[], emergency: Emergency): Uint8Array {
  return concat(branches(unfinishedMultisig, keys, emergency), Uint8Array.of(OP.CHECKMULTISIG))
}

/** A script that also commits to 32 bytes, which it drops (RSKIP-176). */
export function withPrefix(hash: Uint8Array, script: Uint8Array): Uint8Array {
  return concat(push(hash), Uint8Array.of(OP.DROP), script)
}
