/** Addresses of the parent chain's test networks. */
import { decodeBase58Check, encodeBase58Check } from '../../../encoding/base58.ts'
import { concat } from '../../../encoding/bytes.ts'
import { ADDRESS_VERSION } from './constants.ts'

/** Longer texts are no addresses; decoding takes quadratic time. */
const MAX_TEXT = 200

/** Base58 of a version byte and a hash. */
export function formatParentAddress(version: number, hash160: Uint8Array): string {
  return encodeBase58Check(concat(Uint8Array.of(version), hash160))
}

/** Is this the version byte of an address of the test networks? */
export function isAddressVersion(version: number | undefined): boolean {
  return version === ADDRESS_VERSION.publicKeyHash || version === ADDRESS_VERSION.scriptHash
}

/** The hash in an address, of any length; `undefined` when the text is not an address of the test networks. */
export function parseParentAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_TEXT) return undefined
  try {
    const payload = decodeBase58Check(text)
    return isAddressVersion(payload[0]) ? payload.slice(1) : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
