/** Output descriptors: their checksum, and the scripts of those that name an address, a script or one key. */

import { digitsOf } from '../bitcoin/displayed-hash.ts'
import { outputScript, toWitnessKey } from '../bitcoin/output-script.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { OP, push } from '../bitcoin/script.ts'
import { scriptForKey } from '../bitcoin/wallet/model.ts'
import { concat } from '../encoding/bytes.ts'
import { bytesOf, publicKey, scriptFor, shown } from './parameters.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

const INPUT = `0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH\`#"\\ `
const CHECKSUM = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
/** Terms of 40 bits, as two halves: descriptors of a hundred thousand outputs are too many for `bigint`. */
const GENERATOR = [0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd].map(
  (term) => [Math.floor(term / 2 ** 20), term % 2 ** 20] as const,
)

/** A checksum of 40 bits, in two halves. */
class Checksum {
  #high = 0
  #low = 1

  add(value: number): void {
    const top = this.#high >> 15
    this.#high = ((this.#high & 0x7fff) << 5) | (this.#low >> 15)
    this.#low = ((this.#low & 0x7fff) << 5) ^ value
    for (let i = 0; top >> i > 0; i++) {
      if (((top >> i) & 1) === 0) continue
      const [high, low] = GENERATOR[i] as readonly [number, number]
      this.#high ^= high
      this.#low ^= low
    }
  }

  /** Eight characters, of five bits each. */
  toString(): string {
    const halves = [this.#high, this.#low ^ 1]
    return halves.flatMap((half) => [15, 10, 5, 0].map((bits) => CHECKSUM[(half >> bits) & 31])).join('')
  }
}

/** Eight characters (BIP-380). Throws a failure with code -5 for a character that no descriptor has. */
export function checksumOf(descriptor: string): string {
  const checksum = new Checksum()
  let classes = 0
  let count = 0
  for (const character of descriptor) {
    const place = INPUT.indexOf(character)
    if (place < 0) throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Invalid characters in payload`)
    checksum.add(place & 31)
    classes = classes * 3 + (place >> 5)
    if (++count === 3) {
      checksum.add(classes)
      classes = count = 0
    }
  }
  if (count > 0) checksum.add(classes)
  for (let i = 0; i < 8; i++) checksum.add(0)
  return checksum.toString()
}

/** The descriptor with its checksum. */
export function withChecksum(descriptor: string): string {
  return `${descriptor}#${checksumOf(descriptor)}`
}

/** The descriptor that Bitcoin Core infers for a script. */
export function describe(script: Uint8Array): string {
  const address = addressOf(script)
  return withChecksum(address === undefined ? `raw(${digitsOf(script)})` : `addr(${address})`)
}

const KEYED: Readonly<Record<string, (key: Uint8Array) => readonly Uint8Array[]>> = {
  pk: (key) => [concat(push(key), Uint8Array.of(OP.CHECKSIG))],
  pkh: (key) => [scriptForKey(key, 'legacy').script],
  wpkh: (key) => [scriptForKey(key, 'bech32').script],
  'sh(wpkh': (key) => [outputScript(toWitnessKey(key))],
  combo: (key) => ['pk', 'pkh', 'wpkh', 'sh(wpkh'].flatMap((name) => KEYED[name]?.(key) ?? []),
}

/** The scripts of a descriptor. Throws a failure with code -5 for those with extended keys or several keys, which are not supported. */
export function scriptsOf(descriptor: string): readonly Uint8Array[] {
  const [body = '', checksum] = descriptor.split('#')
  if (checksum !== undefined && checksum !== checksumOf(body))
    throw new RpcFailure(
      CODE.ADDRESS_OR_KEY,
      `Provided checksum '${shown(checksum)}' does not match computed checksum '${checksumOf(body)}'`,
    )
  const [, name = '', argument = ''] = /^(sh\(wpkh|\w+)\(([^()]*)\)+$/.exec(body) ?? []
  if (name === 'addr') return [scriptFor(argument, 'Address is not valid')]
  if (name === 'raw') return [bytesOf(argument, 'Raw script', CODE.ADDRESS_OR_KEY)]
  const keyed = Object.hasOwn(KEYED, name) ? KEYED[name] : undefined
  if (keyed === undefined)
    throw new RpcFailure(CODE.ADDRESS_OR_KEY, `'${shown(body)}' is not a supported descriptor`)
  return keyed(publicKey(argument))
}
