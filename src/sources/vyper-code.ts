/** Code by Vyper in the form of solc's: with places for immutable variables, and maps without what nobody reads. */
import type { CodeRange } from './compilation.ts'

/** Initial bytes of CBOR, without the length that they hold. */
const UNSIGNED = 0
const BYTES = 2
const LIST = 4
/** Bytes of the length at the end of creation code. */
const LENGTH_BYTES = 2
/** A contract is smaller. */
const MOST_IMMUTABLE_BYTES = 0x6000

/** Reads the few forms of CBOR (RFC 8949) that Vyper writes: counts up to 65,535, bytes, and lists. */
class CborReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  #byte(): number {
    return this.#bytes[this.#at++] ?? 0
  }

  /** The number in a head of a kind; `undefined` for another kind or a longer number. */
  head(kind: number): number | undefined {
    const first = this.#byte()
    const short = first & 0x1f
    if (first >> 5 !== kind || short > 25) return undefined
    if (short < 24) return short
    return short === 24 ? this.#byte() : (this.#byte() << 8) | this.#byte()
  }

  skip(count: number): void {
    this.#at += count
  }
}

/**
 * Bytes of immutable variables that creation code appends to the deployed code, as its metadata says from Vyper 0.3.10 on:
 * `[hash of the sources (from 0.4.1 on), length of the code, lengths of data, length of immutables, compiler]`
 * (vyper/compiler/output.py and vyper/ir/compile_ir.py). 0 where there is no such metadata.
 */
export function immutableBytes(creation: Uint8Array): number {
  const length = ((creation.at(-2) ?? 0) << 8) | (creation.at(-1) ?? 0)
  if (length <= LENGTH_BYTES || length > creation.length) return 0
  const reader = new CborReader(creation.subarray(creation.length - length, -LENGTH_BYTES))
  const members = reader.head(LIST)
  if (members !== 4 && members !== 5) return 0
  if (members === 5) reader.skip(reader.head(BYTES) ?? 0)
  if (reader.head(UNSIGNED) === undefined) return 0
  for (let left = reader.head(LIST) ?? 0; left > 0; left--) reader.head(UNSIGNED)
  const found = reader.head(UNSIGNED) ?? 0
  return found <= MOST_IMMUTABLE_BYTES ? found : 0
}

interface VyperCode {
  readonly object: string
  readonly sourceMap?: unknown
  readonly immutableReferences: Readonly<Record<string, readonly CodeRange[]>>
}

/** Of the map of Vyper 0.4, which is an object, the map by program counters and what is checked at them. */
function keptMap(map: unknown): unknown {
  if (typeof map !== 'object' || map === null) return map
  const kept = ['pc_pos_map_compressed', 'error_map']
  return Object.fromEntries(Object.entries(map).filter(([key]) => kept.includes(key)))
}

/** Code with its map as it is kept. */
export function withKeptMap<C extends VyperCode>(code: C): C {
  return code.sourceMap === undefined ? code : { ...code, sourceMap: keptMap(code.sourceMap) }
}

/** Deployed code with zeros behind it, which are the place of the immutable variables. */
export function withImmutables<C extends VyperCode>(deployed: C, creation: string): C {
  const digits = creation.startsWith('0x') ? creation.slice(2) : creation
  const bytes = immutableBytes(Buffer.from(digits, 'hex'))
  if (bytes === 0 || Object.keys(deployed.immutableReferences).length > 0) return deployed
  const { object } = deployed
  const start = (object.startsWith('0x') ? object.length - 2 : object.length) / 2
  return {
    ...deployed,
    object: object + '00'.repeat(bytes),
    immutableReferences: { immutables: [{ start, length: bytes }] },
  }
}
