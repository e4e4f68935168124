/**
 * A whole state as the reference node's ExportState writes it: a line of hex for each trie node, the root first and each
 * node before those below it, and for each value of over 32 bytes, which follows its node and may be repeated.
 */
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { decodeNode, TrieNode } from '../../encoding/trie-node.ts'
import { messageOf, NodeError } from '../../errors.ts'
import type { Write } from '../../store/table.ts'
import { stateTables } from '../../store/tables.ts'
import type { Store } from '../../store/write-behind.ts'

/** Bytes of one batch of writes. */
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

/** The place of a node: the length of the key above it in bits, and the last eight of them. */
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

/**
 * Nodes and values that were referred to and have not been read yet, once for each reference: a state refers several times to
 * what is equal, and the file repeats it each time.
 */
class Awaited {
  readonly #nodes = new Map<Hex, Place[]>()
  readonly #values = new Map<Hex, number>()
  /** Codes of at most 32 bytes: their nodes contain them, and code is read from its own table. */
  #shortCode: Uint8Array[] = []

  addNode(hash: Hex, place: Place): void {
    const places = this.#nodes.get(hash)
    if (places === undefined) this.#nodes.set(hash, [place])
    else places.push(place)
  }

  /** Removes one reference to a node and returns its place; `undefined` where there is none. */
  takeNode(hash: Hex): Place | undefined {
    const places = this.#nodes.get(hash)
    const place = places?.pop()
    if (places?.length === 0) this.#nodes.delete(hash)
    return place
  }

  /** Removes one reference to a value; false where there is none. */
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
    throw refused(`Line ${number} is not a trie node (${messageOf(error)}).`)
  }
}

/** A state that is being written to a store, line by line. */
class StateImport {
  readonly #store: Store
  readonly #root: Hex
  readonly #tables: ReturnType<typeof stateTables>
  readonly #awaited = new Awaited()
  #rootBytes: Uint8Array | undefined
  #writes: Write[] = []
  #bytes = 0
  /** Values among the writes that are not in the store yet: a line may repeat one. */
  readonly #fresh = new Set<Hex>()
  #nodes = 0
  #values = 0

  constructor(store: Store, root: Hex) {
    this.#store = store
    this.#root = root
    this.#tables = stateTables(store)
    this.#awaited.addNode(root, TOP)
  }

  /** Adds the bytes of a line. */
  async add(bytes: Uint8Array, number: number): Promise<void> {
    const hash = keccakHex(bytes)
    if (this.#rootBytes === undefined) {
      if (hash !== this.#root) {
        throw refused(`The file begins with the state root ${hash}, and that of the block is ${this.#root}.`)
      }
      this.#rootBytes = bytes
    }
    const place = this.#awaited.takeNode(hash)
    if (place !== undefined) this.#addNode(hash, bytes, nodeOf(bytes, number), place)
    else if (this.#awaited.takeValue(hash)) this.#addValue(hash, bytes)
    else if (!this.#fresh.has(hash) && this.#tables.code.get(hash) === undefined) {
      throw refused(`Line ${number} (${hash}) is not part of the state.`)
    }
    this.#bytes += bytes.length
    if (this.#bytes >= BATCH_BYTES) await this.#flush()
  }

  /** Writes the root, after a check that nothing is missing. */
  async end(): Promise<ImportedState> {
    await this.#flush()
    if (this.#rootBytes === undefined) throw refused('The file is empty.')
    const { nodes, values } = this.#awaited.hashes()
    for (const hash of nodes) {
      if (this.#tables.nodes.get(hash) === undefined)
        throw refused(`The file ends without the trie node ${hash}.`)
    }
    for (const hash of values) {
      if (this.#tables.code.get(hash) === undefined) throw refused(`The file ends without the value ${hash}.`)
    }
    await this.#store.batch([this.#tables.nodes.put(this.#root, this.#rootBytes)])
    return { nodes: this.#nodes, values: this.#values }
  }

  #addNode(hash: Hex, bytes: Uint8Array, node: TrieNode, place: Place): void {
    this.#awaited.addReferences(node, place)
    if (hash !== this.#root) this.#writes.push(this.#tables.nodes.put(hash, bytes))
    for (const code of this.#awaited.takeShortCode()) {
      this.#writes.push(this.#tables.code.put(keccakHex(code), code))
    }
    this.#nodes++
  }

  #addValue(hash: Hex, bytes: Uint8Array): void {
    this.#writes.push(this.#tables.code.put(hash, bytes))
    this.#fresh.add(hash)
    this.#values++
  }

  async #flush(): Promise<void> {
    await this.#store.batch(this.#writes)
    this.#writes = []
    this.#fresh.clear()
    this.#bytes = 0
  }
}

/**
 * Writes the state with this root to a store. The root is written last, so that a state is either whole or not there.
 * Throws `database` when the first line is another root, when a line is not part of the state, and when something is
 * missing.
 */
export async function importState(
  store: Store,
  lines: AsyncIterable<string>,
  root: Hex,
): Promise<ImportedState> {
  const state = new StateImport(store, root)
  let number = 0
  for await (const text of lines) {
    number++
    const line = text.trim()
    if (line !== '') await state.add(bytesOf(line, number), number)
  }
  return state.end()
}
