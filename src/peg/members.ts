/** The keys of the simulated federations' members, and what their nodes do. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { addressOf } from '../chain/signature.ts'
import { keccak256 } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import type { MemberKeys } from './member-keys.ts'

/** What a member's node does: it works, it is down, or its signatures are of something else. */
export type MemberConduct = 'working' | 'stopped' | 'wrong'

/** A key that the node has. */
export interface MemberKey {
  /** 32 bytes. */
  readonly secret: Uint8Array
  /** Of this chain. */
  readonly address: Hex
}

/** Keys known from the start: keccak-256 of `federator1`, `federator2` and so on, of which the first three are in the genesis federation. */
const NAMED_KEYS = 20

/** The secret of a name: its keccak-256, as the reference node makes the keys of its regtest. */
export function secretOfName(name: string): Uint8Array {
  return keccak256(new TextEncoder().encode(name))
}

/** The keys by public key, and the conduct of those who have them. */
export class Members {
  readonly #keys = new Map<Hex, MemberKey>()
  readonly #conducts = new Map<Hex, MemberConduct>()

  readonly #given: Pick<MemberKeys, 'get'> | undefined

  /** `given`: keys that the node was given. */
  constructor(given?: Pick<MemberKeys, 'get'>) {
    this.#given = given
    for (let i = 1; i <= NAMED_KEYS; i++) this.add(secretOfName(`federator${i}`))
  }

  /** Takes a key in; its compressed public key. Throws `invalid-params` for a secret that is none. */
  add(secret: Uint8Array): Uint8Array {
    if (!secp256k1.utils.isValidSecretKey(secret))
      throw invalidParams('key: expected a private key of 32 bytes')
    const publicKey = secp256k1.getPublicKey(secret, true)
    this.#keys.set(toHex(publicKey), { secret, address: addressOf(secret) })
    return publicKey
  }

  /** The accounts of all keys on this chain. */
  get addresses(): readonly Hex[] {
    return [...this.#keys.values()].map(({ address }) => address)
  }

  /** The key of a compressed public key; `undefined` for one that the node has not. */
  keyOf(publicKey: Uint8Array): MemberKey | undefined {
    const known = this.#keys.get(toHex(publicKey))
    const secret = known === undefined ? this.#given?.get(publicKey) : undefined
    if (secret === undefined) return known
    this.add(secret)
    return this.#keys.get(toHex(publicKey))
  }

  /** What the node of the member with this key (compressed, of the parent chain) does. */
  conductOf(publicKey: Uint8Array): MemberConduct {
    return this.#conducts.get(toHex(publicKey)) ?? 'working'
  }

  /** Sets it. Throws `invalid-params` for a key that the node has not. */
  setConduct(publicKey: Uint8Array, conduct: MemberConduct): void {
    if (this.keyOf(publicKey) === undefined)
      throw invalidParams(`member: the node has no key ${toHex(publicKey)}`)
    this.#conducts.set(toHex(publicKey), conduct)
  }
}
