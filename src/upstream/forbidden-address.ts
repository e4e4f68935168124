/**
 * Addresses that a fork never connects to, whoever named the URL: link-local ones, and those at which cloud providers serve
 * the credentials of the machine. Names are checked by what they resolve to when the connection is made.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { createAddressSet, plainAddress } from '../options/addresses.ts'

const isForbidden = createAddressSet([
  '169.254.0.0/16',
  'fe80::/10',
  // The IPv4 range within IPv6: compatible, translated (RFC 7915), 6to4 (RFC 3056), NAT64 (RFC 6052). Mapped addresses are
  // checked as IPv4.
  '::169.254.0.0/112',
  '::ffff:0:169.254.0.0/112',
  '2002:a9fe::/32',
  '64:ff9b::169.254.0.0/112',
  // Metadata services outside of the link-local range.
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '192.0.0.192',
])

/** Names of metadata services, which resolve on the provider's machines only. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
])

/** The resolver of the system, or one in its place. */
export type Resolver = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

/** The resolver of the system; all addresses of a name. */
export const resolveName: Resolver = (hostname, done) => {
  systemLookup(hostname, { all: true }, (error, addresses) => done(error, addresses ?? []))
}

const FORBIDDEN = 'link-local and metadata addresses are never connected to'

/** Why a URL is not connected to, as far as its text shows; decimal, octal and hex spellings of addresses included. */
export function forbiddenHost(url: string): string | undefined {
  const host = new URL(url).hostname.toLowerCase().replace(/^\[|\]$/g, '')
  const name = host.replace(/\.$/, '')
  if (METADATA_NAMES.has(name)) return FORBIDDEN
  // URLs of ws and http spell IPv4 addresses in the dotted form.
  return isIP(host) !== 0 && isForbidden(plainAddress(host)) ? FORBIDDEN : undefined
}

/** The refusal of a name by what it resolves to. */
export class ForbiddenAddress extends Error {
  constructor(hostname: string, address: string) {
    super(`${hostname} is ${address}; ${FORBIDDEN}`)
    this.name = 'ForbiddenAddress'
  }
}

/** The look-up of a socket: fails with `ForbiddenAddress` where any address of a name is forbidden. */
export function guardedLookup(resolve: Resolver): LookupFunction {
  return (hostname, { family, all }, callback) => {
    resolve(hostname, (error, found) => {
      if (error !== null) return callback(error, '')
      const forbidden = found.find(({ address }) => isForbidden(address))
      if (forbidden !== undefined) return callback(new ForbiddenAddress(hostname, forbidden.address), '')
      const version = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : (family ?? 0)
      const addresses = found.filter((one) => version === 0 || one.family === version)
      const [first] = addresses
      if (first === undefined) return callback(new Error(`${hostname} has no address`), '')
      if (all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
