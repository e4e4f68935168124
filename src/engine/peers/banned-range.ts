/** A ban: an address, or with `/bits` the range of its network prefix (docs/internals/rpc-reference.md#716-sco). */
import { isIP, isIPv4, SocketAddress } from 'node:net'
import { isLoopback, plainAddress } from '../../options/addresses.ts'

/** An address or a range of addresses; IPv4-mapped IPv6 counts as IPv4. */
export interface BannedRange {
  /** Canonical text as it is listed: the address, and `/bits` if given. */
  readonly text: string
  /** Equal for all texts of the same range. */
  readonly key: string
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  /** Absent for a single address. */
  readonly bits?: number
}

/** Prefix bits of an IPv4-mapped IPv6 address before its IPv4 address. */
const MAPPED_BITS = 96

/** The canonical text of an address, or `undefined` for another text. */
function canonical(text: string): string | undefined {
  const version = isIP(text)
  if (version === 0 || text.includes('%')) return undefined
  if (version === 4) return text
  return plainAddress(new SocketAddress({ address: text, family: 'ipv6' }).address)
}

/** The 16-bit groups of an IPv6 address or the bytes of an IPv4 one, as one number. */
function numberOf(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  // Only an address that embeds IPv4 ends in dots; its last two groups are those four bytes.
  const [head = '', tail] = address
    .replace(/(\d+\.){3}\d+$/, (dotted) => {
      const value = numberOf(dotted)
      return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
    })
    .split('::')
  const groups = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'))
  const [left, right] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

/**
 * Parses a text; `undefined` when it is no address or range, or starts with a loopback address or the unspecified
 * address.
 */
export function parseBannedRange(text: string): BannedRange | undefined {
  const [written = '', mask, ...rest] = text.split('/')
  const address = canonical(written)
  if (address === undefined || rest.length > 0 || isLoopback(address)) return undefined
  if (address === '0.0.0.0' || address === '::') return undefined
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  if (mask === undefined) return { text: address, key: address, address, family }
  if (!/^\d{1,3}$/.test(mask)) return undefined
  const bits = Number(mask) - (family === 'ipv4' && written.includes(':') ? MAPPED_BITS : 0)
  const width = family === 'ipv4' ? 32 : 128
  if (bits < 1 || bits > width) return undefined
  const network = numberOf(address) >> BigInt(width - bits)
  return { text: `${address}/${bits}`, key: `${family} ${network}/${bits}`, address, family, bits }
}
