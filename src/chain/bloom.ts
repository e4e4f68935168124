/**
 * The 2048-bit bloom of log addresses and topics: add, test, merge (Yellow Paper 4.3.1,
 * docs/internals/protocol.md#55-receipts).
 */
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { Log } from './receipt.ts'

const BYTES = 256

/** The bloom of no logs; shared, never written to. */
export const ZERO_BLOOM = new Uint8Array(BYTES)

/** The three bits of an item, each 0 to 2047, counted from the end of the bloom. */
function bitsOf(item: Uint8Array): readonly [number, number, number] {
  const { buffer, byteOffset } = keccak256(item)
  const hash = new DataView(buffer, byteOffset)
  const bit = (at: number) => hash.getUint16(at) & 0x7ff
  return [bit(0), bit(2), bit(4)]
}

/**
 * Items whose bits are remembered: addresses and first topics come back block after block. A lookup takes 0.02 µs, a
 * hash 0.8. All nodes of the process share the bits, which are the same for each; a cache for each node would have to
 * be passed through every codec of receipts and headers.
 */
const KNOWN_ITEMS = 4096
const knownBits = new Map<Hex, readonly [number, number, number]>()

/** The three bits of an address or topic, each 0 to 2047, counted from the end of the bloom. */
export function bloomBits(item: Hex): readonly [number, number, number] {
  let bits = knownBits.get(item)
  if (bits === undefined) {
    if (knownBits.size === KNOWN_ITEMS) knownBits.clear()
    bits = bitsOf(fromHex(item))
    knownBits.set(item, bits)
  }
  return bits
}

function setBits(bloom: Uint8Array, bits: readonly [number, number, number]): void {
  for (const bit of bits) {
    const at = BYTES - 1 - (bit >> 3)
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
  }
}

/** The bloom of some logs, 256 bytes; `ZERO_BLOOM` when there are none. */
export function logsBloom(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return ZERO_BLOOM
  const bloom = new Uint8Array(BYTES)
  for (const { address, topics } of logs) {
    setBits(bloom, bloomBits(address))
    for (const topic of topics) setBits(bloom, bloomBits(topic))
  }
  return bloom
}

/** Everything that any of the blooms holds; `ZERO_BLOOM` when none of them holds anything. */
export function mergeBlooms(blooms: readonly Uint8Array[]): Uint8Array {
  const filled = blooms.filter((bloom) => bloom !== ZERO_BLOOM)
  const [first, ...rest] = filled
  if (first === undefined) return ZERO_BLOOM
  if (rest.length === 0) return first
  const merged = first.slice()
  for (const bloom of rest) {
    for (let i = 0; i < BYTES; i++) merged[i] = (merged[i] ?? 0) | (bloom[i] ?? 0)
  }
  return merged
}
