/**
 * A whole state as the reference node's ExportState writes it: a line of hex for each trie node, the root first and each
 * node before those below it, and for each value of over 32 bytes, which follows its node and may be repeated.
 */
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { decodeNode, TrieNode } from '../../encoding/trie-node.ts'
import { NodeError } from '../../errors.ts'
import type { Write } from '../../store/table.ts'
import { stateTables } from '../../store/tables.ts'
import type { Store } from '../../store/write-behind.ts'

/** Bytes written at once. */
const BATCH_BYTES = 4 << 20

/** What was written. */
export interface ImportedState {
  readonly nodes: number
  /** Values of over 32 bytes, code among them. */
  readonly values: number
}

function refused(message: string): NodeError {
  return new NodeError('database', `${message} The state cannot be used; import one that is whole.`)
}

/** Where a node stands: the bits of the key above it, of which only the last eight matter. */
interface Place {
  readonly length: number
  readonly tail: number
}

const TOP: Place = { length: 0, tail: 0 }
/** Bits of the key of an account's code, which ends in 0x80 (docs/internals/protocol.md#56-state-keys). */
const CODE_KEY_BITS = 256
const CODE_SUFFIX = 0x80

function below({ length, tail }: Place, bits: Iterable<number>): Place {
  for (const bit of bits) {
    length++
    tail = ((tail << 1) | bit) & 0xff
  }
  return { length, tail }
}

/** What nodes refer to and no line has had yet, each time it is referred to: states share what is equal, and lines repeat it. */
class Awaited {
  readonly #nodes = new Map<Hex, Place[]>()
  readonly #values = new Map<Hex, number>()
  /** Codes of at most 32 bytes, which stand in their nodes, where code is not looked for. */
  #shortCode: Uint8Array[] = []

  addNode(hash: Hex, place: Place): void {
    const places = this.#nodes.get(hash)
    if (places === undefined) this.#nodes.set(hash, [place])
    else places.push(place)
  }

  /** Where the node stands that is awaited; `undefined` for what is not. */
  takeNode(hash: Hex): Place | undefined {
    const places = this.#nodes.get(hash)
    const place = places?.pop()
    if (places?.length === 0) this.#nodes.delete(hash)
    return place
  }

  takeValue(hash: Hex): boolean {
    const count = this.#values.get(hash)
    if (count === undefined) return false
    if (count === 1) this.#values.delete(hash)
    else this.#values.set(hash, count - 1)
    return true
  }

  addReferences({ path, left, right, value }: TrieNode, above: Place): void {
    const place = below(above, path)
    for (const [bit, child] of [left, right].entries()) {
      if (child instanceof TrieNode) this.addReferences(child, below(place, [bit]))
      else if (child !== undefined) this.addNode(child.hex, below(place, [bit]))
    }
    if (value === undefined) return
    if (value instanceof Uint8Array) {
      if (place.length === CODE_KEY_BITS && place.tail === CODE_SUFFIX) this.#shortCode.push(value)
    } else {
      this.#values.set(value.hash.hex, (this.#values.get(value.hash.hex) ?? 0) + 1)
    }
  }

  /** The short codes found since the last call. */
  takeShortCode(): Uint8Array[] {
    const found = this.#shortCode
    this.#shortCode = []
    return found
  }

  hashes(): { readonly nodes: Iterable<Hex>; readonly values: Iterable<Hex> } {
    return { nodes: this.#nodes.keys(), values: this.#values.keys() }
  }
}

function bytesOf(line: string, number: number): Uint8Array {
  if (line.length % 2 !== 0 || !/^[0-9a-f]+$/i.test(line)) throw refused(`Line ${number} is not hex.`)
  return fromHex(`0x${line}`)
}

function nodeOf(bytes: Uint8Array, number: number): TrieNode {
  try {
    return decodeNode(bytes)
  } catch (error) {
    throw refused(`Line ${number} is no trie node (${error instanceof Error ? error.message : error}).`)
  }
}

/**
 * Writes the state with this root to a store. The root is written last, so that a state is either whole or not there.
 * Throws `database` when the first line is another root, when a line belongs to nothing, and when something is missing.
 */
export async function importState(
  store: Store,
  lines: AsyncIterable<string>,
  root: Hex,
): Promise<ImportedState> {
  const tables = stateTables(store)
  const awaited = new Awaited()
  awaited.addNode(root, TOP)
  let counts = { nodes: 0, values: 0 }
  let writes: Write[] = []
  /** Values among them: a line that repeats one follows it. */
  const fresh = new Set<Hex>()
  let size = 0
  let rootBytes: Uint8Array | undefined
  let number = 0

  async function flush(): Promise<void> {
    await store.batch(writes)
    writes = []
    fresh.clear()
    size = 0
  }

  for await (const text of lines) {
    number++
    const line = text.trim()
    if (line === '') continue
    const bytes = bytesOf(line, number)
    const hash = keccakHex(bytes)
    if (rootBytes === undefined) {
      if (hash !== root) {
        throw refused(`The file begins with the state root ${hash}, and that of the block is ${root}.`)
      }
      rootBytes = bytes
    }
    const place = awaited.takeNode(hash)
    if (place !== undefined) {
      awaited.addReferences(nodeOf(bytes, number), place)
      if (hash !== root) writes.push(tables.nodes.put(hash, bytes))
      for (const code of awaited.takeShortCode()) writes.push(tables.code.put(keccakHex(code), code))
      counts = { ...counts, nodes: counts.nodes + 1 }
    } else if (awaited.takeValue(hash)) {
      writes.push(tables.code.put(hash, bytes))
      fresh.add(hash)
      counts = { ...counts, values: counts.values + 1 }
    } else if (!fresh.has(hash) && tables.code.get(hash) === undefined) {
      throw refused(`Line ${number} (${hash}) is no part of the state.`)
    }
    size += bytes.length
    if (size >= BATCH_BYTES) await flush()
  }
  await flush()
  if (rootBytes === undefined) throw refused('The file is empty.')
  const { nodes, values } = awaited.hashes()
  for (const hash of nodes) {
    if (tables.nodes.get(hash) === undefined) throw refused(`The file ends without the trie node ${hash}.`)
  }
  for (const hash of values) {
    if (tables.code.get(hash) === undefined) throw refused(`The file ends without the value ${hash}.`)
  }
  await store.batch([tables.nodes.put(root, rootBytes)])
  return counts
}
