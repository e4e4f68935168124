/** Recursive Length Prefix, the only importer of `@ethereumjs/rlp`; strict on the way in. */
import { RLP } from '@ethereumjs/rlp'
import { EMPTY, toBigInt, toNumber } from './bytes.ts'

/** What RLP carries: byte strings, and lists of such items. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Maximum nesting of lists, far above anything on the chain. */
const MAX_DEPTH = 32

/**
 * Refuses lists that are nested deeply: the library copies the content at every level, and would take minutes for a few
 * megabytes. A length beyond the end is left for the library to refuse.
 */
function requireShallow(bytes: Uint8Array): void {
  const ends: number[] = []
  for (let at = 0; at < bytes.length; ) {
    while (at >= (ends.at(-1) ?? Number.POSITIVE_INFINITY)) ends.pop()
    const prefix = bytes[at++] ?? 0
    if (prefix < 0x80) continue
    const short = prefix & 0x3f
    let length = short
    if (short > 55) {
      length = 0
      for (const end = at + short - 55; at < end; at++) length = length * 256 + (bytes[at] ?? 0)
    }
    if (prefix < 0xc0) at += length
    else if (ends.push(at + length) > MAX_DEPTH) throw new RangeError('lists are nested too deeply')
  }
}

/** RLP of a byte string or a nested list. */
export function encodeRlp(item: RlpItem): Uint8Array {
  return RLP.encode(item as Uint8Array)
}

/** The one item that `bytes` hold. Throws a RangeError when they are malformed or bytes are left over. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  if (bytes.length === 0) throw new RangeError('no RLP item in zero bytes')
  requireShallow(bytes)
  try {
    return RLP.decode(bytes) as RlpItem
  } catch (error) {
    throw new RangeError(error instanceof Error ? error.message : 'malformed RLP', { cause: error })
  }
}

/** Narrows an item to a list; `what` names it in the error. */
export function asList(item: RlpItem | undefined, what: string): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new RangeError(`${what} must be an RLP list`)
  return item
}

/** Narrows an item to a byte string; `what` names it in the error. */
export function asBytes(item: RlpItem | undefined, what: string): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RangeError(`${what} must be an RLP string`)
  return item
}

/** An unsigned integer of any width in an RLP string; leading zeros are allowed, as the chain allows them. */
export function asBigInt(item: RlpItem | undefined, what: string): bigint {
  return toBigInt(asBytes(item, what))
}

/** A small unsigned integer (at most 6 bytes) in an RLP string. */
export function asNumber(item: RlpItem | undefined, what: string): number {
  return toNumber(asBytes(item, what))
}

/** RLP of the empty byte string, 0x80. */
export const RLP_EMPTY = encodeRlp(EMPTY)
