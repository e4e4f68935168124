/** What the tables keep beside the chain: snapshots, sources, checkpoints. JSON, with a checksum. */
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { roomFor, toNumber } from '../encoding/bytes.ts'
import { NodeError } from '../errors.ts'
import { writeInteger } from './records.ts'
import type { Id, ValueCodec } from './table.ts'

const CHECKSUM_BYTES = 4

function checksum(bytes: Uint8Array, id: Id): number {
  return crc32(bytes, crc32(String(id)))
}

/**
 * Adds a CRC-32 of id and value to entries that nothing else in the database confirms, as hashes, roots and execution
 * confirm blocks and states: a changed bit is found. Reading such an entry throws `database`.
 */
export function checked<V>(codec: ValueCodec<V>): ValueCodec<V> {
  return {
    encode(value, id) {
      const bytes = codec.encode(value, id)
      const stored = roomFor(bytes.length + CHECKSUM_BYTES)
      stored.set(bytes)
      writeInteger(stored, bytes.length, checksum(bytes, id))
      return stored
    },
    decode(stored, id) {
      const end = Math.max(0, stored.length - CHECKSUM_BYTES)
      const bytes = stored.subarray(0, end)
      if (toNumber(stored.subarray(end)) !== checksum(bytes, id)) {
        throw new NodeError(
          'database',
          `The checksum of the entry ${id} is wrong: tandem verify names its table.`,
        )
      }
      return codec.decode(bytes, id)
    },
  }
}

/** Is the value of a schema, which transforms nothing? */
function isOf<T>(schema: z.ZodType<T>, value: unknown): value is T {
  return schema.safeParse(value).success
}

/** JSON of a schema, for what is small and seldom written. What is read has its members in the order of the text. */
export function jsonValue<T>(schema: z.ZodType<T>): ValueCodec<T> {
  return {
    encode: (value) => new TextEncoder().encode(JSON.stringify(value)),
    decode(bytes) {
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
      if (!isOf(schema, value)) throw new RangeError('this is JSON of another form')
      return value
    },
  }
}

const hex = z.templateLiteral(['0x', z.string()])

/** A snapshot that outlives a restart, as JSON: numbers of over 53 bits are hex. */
export const keptSnapshot = z
  .object({
    head: hex,
    height: z.int(),
    postState: hex,
    name: z.string().optional(),
    time: z.number().describe('Unix seconds'),
    pool: z.array(hex).readonly(),
    clock: z.object({
      offset: z.number(),
      exact: z.number().optional(),
      interval: z.number().optional(),
    }),
    coinbase: hex,
    gasLimit: hex.optional(),
    minimumGasPrice: hex.optional(),
    parent: hex.optional().describe('state of a parent chain in the node'),
  })
  .readonly()

/** What `keptSnapshot` reads. */
export type KeptSnapshot = z.infer<typeof keptSnapshot>

/** A compilation in the order of additions. */
export const storedCompilation = z
  .object({
    id: hex,
    bytes: z.int().describe('that it takes in the tables'),
    /** Of the codes of its contracts without metadata, in the order of the contracts. */
    lengths: z.array(z.int()).readonly(),
    /** Bytes of the creation codes of its contracts (`sources/creation-probe.ts`). */
    creations: z
      .array(z.object({ length: z.int(), at: z.int(), bytes: hex }).readonly())
      .readonly()
      .default([]),
  })
  .readonly()

/** What `storedCompilation` reads. */
export type StoredCompilation = z.infer<typeof storedCompilation>

const openPlaces = z
  .array(z.object({ start: z.int(), length: z.int(), name: z.string() }).readonly())
  .readonly()

/** Deployed code of a contract as the compiler made it, with its open places. */
export const compiledCode = z
  .object({ file: z.string(), name: z.string(), code: hex, links: openPlaces, immutables: openPlaces })
  .readonly()

/** What `compiledCode` reads. */
export type CompiledCode = z.infer<typeof compiledCode>

/** The contract that a person named for an address, while its code is the one that was verified. */
export const verification = z
  .object({ codeHash: hex, compilation: hex, file: z.string(), name: z.string() })
  .readonly()

/** What `verification` reads. */
export type Verification = z.infer<typeof verification>

/** The number of a checkpoint. */
export const sequenceNumber = checked(jsonValue(z.int()))
