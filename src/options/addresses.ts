/** IP addresses: their plain form, ranges, and loopback. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { z } from 'zod'
import { type Kind, splitList } from './kinds.ts'

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

/** The address in lower case and without a zone; IPv4 for an IPv4-mapped one, as dual-stack sockets report it. */
export function plainAddress(address: string): string {
  const plain = address.replace(MAPPED, '').replace(/%.*$/, '')
  return plain.toLowerCase()
}

/** Does binding this address accept connections from this machine only? */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address)
  return plain === 'localhost' || plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

/** Is this an address, or with `/bits` a range of them? */
function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  if (bits === undefined) return true
  // A shorter prefix of a mapped address would reach beyond IPv4.
  const least = MAPPED.test(address) ? 96 : 0
  return /^\d{1,3}$/.test(bits) && Number(bits) >= least && Number(bits) <= (family === 4 ? 32 : 128)
}

/** A list of addresses and ranges such as `10.0.0.0/8`. */
export const addressRanges: Kind<readonly string[], readonly string[]> = {
  schema: () => z.array(z.string().refine(isRange)).readonly(),
  expects: 'IP addresses, or ranges such as 10.0.0.0/8',
  fromText: splitList,
}

/** A test for membership in a list of addresses and ranges, as `addressRanges` checks them. */
export function createAddressSet(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [written = '', bits] = range.split('/')
    const address = plainAddress(written)
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    // Bits of a mapped range count from the start of the IPv6 form.
    else list.addSubnet(address, Number(bits) - (address === written.toLowerCase() ? 0 : 96), family)
  }
  return (address) => {
    const plain = plainAddress(address)
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}
