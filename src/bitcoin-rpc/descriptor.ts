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
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn]

function step(checksum: bigint, value: number): bigint {
  const top = checksum >> 35n
  let next = ((checksum & 0x7ffffffffn) << 5n) ^ BigInt(value)
  for (const [i, term] of GENERATOR.entries()) if (((top >> BigInt(i)) & 1n) === 1n) next ^= term
  return next
}

/** Eight characters (BIP-380). Throws a failure with code -5 for a character that no descriptor has. */
export function checksumOf(descriptor: string): string {
  let checksum = 1n
  let classes = 0
  let count = 0
  for (const character of descriptor) {
    const place = INPUT.indexOf(character)
    if (place < 0) throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Invalid characters in payload`)
    checksum = step(checksum, place & 31)
    classes = classes * 3 + (place >> 5)
    if (++count === 3) {
      checksum = step(checksum, classes)
      classes = count = 0
    }
  }
  if (count > 0) checksum = step(checksum, classes)
  for (let i = 0; i < 8; i++) checksum = step(checksum, 0)
  checksum ^= 1n
  return Array.from({ length: 8 }, (_, i) => CHECKSUM[Number((checksum >> BigInt(5 * (7 - i))) & 31n)]).join(
    '',
  )
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
