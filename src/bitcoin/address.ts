/** Addresses of Bitcoin's networks in Base58. */
import { decodeBase58Check, encodeBase58Check } from '../encoding/base58.ts'
import { concat } from '../encoding/bytes.ts'
import { DESTINATION_BYTES, type Destination } from './output-script.ts'

/** First bytes of a network's addresses. */
export interface AddressVersions {
  readonly publicKeyHash: number
  readonly scriptHash: number
}

/** Of the main network. */
export const MAIN_VERSIONS: AddressVersions = { publicKeyHash: 0, scriptHash: 5 }

/** Of the test networks, the local one too. */
export const TEST_VERSIONS: AddressVersions = { publicKeyHash: 111, scriptHash: 196 }

/** Longer texts are no addresses; decoding takes quadratic time. */
const MAX_TEXT = 200

/** Base58 of a destination. */
export function formatAddress({ kind, hash }: Destination, versions: AddressVersions): string {
  return encodeBase58Check(concat(Uint8Array.of(versions[kind]), hash))
}

/** The destination in the 21 bytes of version and hash; `undefined` for other bytes. */
export function decodeAddress(bytes: Uint8Array, versions: AddressVersions): Destination | undefined {
  const [version] = bytes
  if (bytes.length !== 1 + DESTINATION_BYTES) return undefined
  const hash = bytes.slice(1)
  if (version === versions.publicKeyHash) return { kind: 'publicKeyHash', hash }
  return version === versions.scriptHash ? { kind: 'scriptHash', hash } : undefined
}

/** The bytes of version and hash in an address, the hash of any length; `undefined` when the text is not of the network. */
export function parseAddress(text: string, versions: AddressVersions): Uint8Array | undefined {
  if (text.length > MAX_TEXT) return undefined
  try {
    const payload = decodeBase58Check(text)
    const [version] = payload
    const isOfNetwork = version === versions.publicKeyHash || version === versions.scriptHash
    return isOfNetwork ? payload : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
