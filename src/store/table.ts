/** Typed corners of one ordered keyspace: reads happen here, writes are only described here. */

import { equal } from '../encoding/bytes.ts'
import { HASH_BYTES } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex, writeHex } from '../encoding/hex.ts'
import { messageOf } from '../errors.ts'
import { UnreadableError } from './damage.ts'

/** A change of the data. */
export type Operation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

/** A key as callers of a table give it. */
export type Id = Hex | string | number

/**
 * A change of a table's entry, which is found again by the table's prefix and its id without looking at bytes. `key` is
 * encoded when it is first asked for: a store in memory needs few of them.
 */
export type Change = Operation & { readonly prefix: number; readonly id: Id; readonly keys: KeyCodec<Id> }

/** One step of a batch. `after` is no data: it runs once the batch is written, for what is kept in memory beside it. */
export type Write = Change | { readonly type: 'after'; readonly run: () => void }

/** What a table needs of the database. */
export interface KeyValueReader {
  /** The value of a table's entry. `keys` is asked for the bytes of its key where they are needed. */
  get<K extends Id>(prefix: number, id: K, keys: KeyCodec<K>): Uint8Array | undefined
  /**
   * Entries with `from` <= key < `to` in the order of their keys, or in reverse, as of the moment of the call. The caller
   * reads `most` of them: the rest need not be collected.
   */
  entries(
    from: Uint8Array,
    to: Uint8Array,
    reverse?: boolean,
    most?: number,
  ): AsyncIterable<readonly [Uint8Array, Uint8Array]>
}

/** Keys to bytes behind a table's prefix byte, and back. Bytes must sort as keys do. */
export interface KeyCodec<K extends Id> {
  encode(prefix: number, key: K): Uint8Array
  /** `bytes` include the prefix byte. */
  decode(bytes: Uint8Array): K
}

/** A change that encodes its key at the first use. */
class LazyChange {
  readonly prefix: number
  readonly id: Id
  readonly keys: KeyCodec<Id>
  #key: Uint8Array | undefined

  constructor(prefix: number, id: Id, keys: KeyCodec<Id>) {
    this.prefix = prefix
    this.id = id
    this.keys = keys
  }

  get key(): Uint8Array {
    this.#key ??= this.keys.encode(this.prefix, this.id)
    return this.#key
  }
}

class Put extends LazyChange {
  readonly type = 'put'
  readonly value: Uint8Array

  constructor(prefix: number, id: Id, keys: KeyCodec<Id>, value: Uint8Array) {
    super(prefix, id, keys)
    this.value = value
  }
}

class Deletion extends LazyChange {
  readonly type = 'del'
}

/** Values to bytes and back, each for the entry with an id; `decode` may trust its input, for only `encode` wrote it. */
export interface ValueCodec<V> {
  encode(value: V, id: Id): Uint8Array
  decode(bytes: Uint8Array, id: Id): V
}

const HEIGHT_BYTES = 6

/** Hashes, 32 bytes. */
export const hashKey: KeyCodec<Hex> = {
  // Small arrays of their own live on the JavaScript heap; slices of Node's shared slabs would each hold 8 KiB alive.
  encode(prefix, hash) {
    const key = new Uint8Array(1 + HASH_BYTES)
    key[0] = prefix
    writeHex(key, 1, hash)
    return key
  },
  decode: (bytes) => toHex(bytes.subarray(1)),
}

/** Bytes of any length, as hex text. */
export const bytesKey: KeyCodec<Hex> = {
  encode(prefix, hex) {
    const key = new Uint8Array(hex.length / 2)
    key[0] = prefix
    writeHex(key, 1, hex)
    return key
  },
  decode: (bytes) => toHex(bytes.subarray(1)),
}

/** Heights: six bytes, big-endian, so that they sort as numbers do. */
export const heightKey: KeyCodec<number> = {
  encode(prefix, height) {
    const key = new Uint8Array(1 + HEIGHT_BYTES)
    key[0] = prefix
    for (let i = HEIGHT_BYTES, rest = height; i > 0; i--, rest = Math.floor(rest / 256)) key[i] = rest % 256
    return key
  },
  decode: (bytes) => bytes.subarray(1).reduce((height, byte) => height * 256 + byte, 0),
}

/** Short names. */
export const nameKey: KeyCodec<string> = {
  encode: (prefix, name) => Uint8Array.of(prefix, ...new TextEncoder().encode(name)),
  decode: (bytes) => new TextDecoder().decode(bytes.subarray(1)),
}

/** Bytes as they are. */
export const bytesValue: ValueCodec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes }

/** One hash. */
export const hashValue: ValueCodec<Hex> = { encode: fromHex, decode: toHex }

/** An entry of a table with its value, or with the problem of its bytes. */
export type AuditedEntry<K, V> =
  | { readonly key: K; readonly value: V; readonly problem?: undefined }
  | { readonly key: K; readonly value?: undefined; readonly problem: string }

function unreadable(id: Id, error: unknown): UnreadableError {
  return new UnreadableError(`the entry ${id} cannot be read: ${messageOf(error)}`)
}

/** The part of the keyspace whose keys start with one byte. */
export class Table<K extends Id, V> {
  readonly #reader: KeyValueReader
  readonly #prefix: number
  readonly #keys: KeyCodec<K>
  readonly #values: ValueCodec<V>

  constructor(reader: KeyValueReader, prefix: number, keys: KeyCodec<K>, values: ValueCodec<V>) {
    this.#reader = reader
    this.#prefix = prefix
    this.#keys = keys
    this.#values = values
  }

  get(key: K): V | undefined {
    const bytes = this.#reader.get(this.#prefix, key, this.#keys)
    return bytes === undefined ? undefined : this.#decode(bytes, key)
  }

  /** Throws `storage` for bytes that are not what `put` writes. */
  #decode(bytes: Uint8Array, id: K): V {
    try {
      return this.#values.decode(bytes, id)
    } catch (error) {
      throw unreadable(id, error)
    }
  }

  /** What `read` makes of the bytes of an entry, for a reader that needs a part of the value. Throws as `get` does. */
  part<P>(key: K, read: (bytes: Uint8Array) => P): P | undefined {
    const bytes = this.bytes(key)
    if (bytes === undefined) return undefined
    try {
      return read(bytes)
    } catch (error) {
      throw unreadable(key, error)
    }
  }

  /** The bytes of an entry, for a reader that needs little of them. */
  bytes(key: K): Uint8Array | undefined {
    return this.#reader.get(this.#prefix, key, this.#keys)
  }

  put(id: K, value: V): Write {
    return new Put(this.#prefix, id, this.#keys as KeyCodec<Id>, this.#values.encode(value, id))
  }

  del(id: K): Write {
    return new Deletion(this.#prefix, id, this.#keys as KeyCodec<Id>)
  }

  /** All entries in order, each decoded strictly: with the problem where its bytes are not what `put` writes. */
  async *audit(): AsyncIterable<AuditedEntry<K, V>> {
    const range = [Uint8Array.of(this.#prefix), Uint8Array.of(this.#prefix + 1)] as const
    for await (const [bytes, stored] of this.#reader.entries(...range)) {
      const key = this.#keys.decode(bytes)
      try {
        const value = this.#values.decode(stored, key)
        if (equal(this.#values.encode(value, key), stored)) yield { key, value }
        else yield { key, problem: 'its bytes are not in the form in which they were written' }
      } catch (error) {
        yield { key, problem: `it cannot be read: ${error instanceof Error ? error.message : error}` }
      }
    }
  }

  /** Entries with `from` <= key < `to` in order, or in reverse, `most` of them; a bound that is left out is the table's own. */
  async *range(
    from?: K,
    to?: K,
    reverse = false,
    most = Number.POSITIVE_INFINITY,
  ): AsyncIterable<readonly [K, V]> {
    const lower = from === undefined ? Uint8Array.of(this.#prefix) : this.#keys.encode(this.#prefix, from)
    const upper = to === undefined ? Uint8Array.of(this.#prefix + 1) : this.#keys.encode(this.#prefix, to)
    let left = most
    for await (const [key, value] of this.#reader.entries(lower, upper, reverse, most)) {
      const id = this.#keys.decode(key)
      yield [id, this.#decode(value, id)]
      if (--left === 0) return
    }
  }
}
