/** Which tables the nodes of a cluster share, and changes as a store finds them, from the bytes of their keys. */
import {
  bytesKey,
  type Change,
  hashKey,
  heightKey,
  type Id,
  type KeyCodec,
  type KeyValueReader,
  nameKey,
  type Operation,
} from './table.ts'
import { PREFIX } from './tables.ts'

const BY_HASH = hashKey as KeyCodec<Id>
const BY_HEIGHT = heightKey as KeyCodec<Id>
const BY_BYTES = bytesKey as KeyCodec<Id>
const BY_NAME = nameKey as KeyCodec<Id>

/**
 * The tables that every node of a cluster holds alike. The others belong to one node: indexes, which it builds from its
 * blocks, the scores and bans of its callers, and its position in the log.
 */
const SHARED: ReadonlyMap<number, KeyCodec<Id>> = new Map([
  [PREFIX.headers, BY_HASH],
  [PREFIX.bodies, BY_HASH],
  [PREFIX.receipts, BY_HASH],
  [PREFIX.heights, BY_HEIGHT],
  [PREFIX.canonical, BY_HEIGHT],
  [PREFIX.transactions, BY_HASH],
  [PREFIX.pool, BY_HASH],
  [PREFIX.meta, BY_NAME],
  [PREFIX.nodes, BY_HASH],
  [PREFIX.code, BY_HASH],
  [PREFIX.internals, BY_HASH],
  [PREFIX.senderNonces, BY_BYTES],
  [PREFIX.accountBlocks, BY_BYTES],
  [PREFIX.creators, BY_BYTES],
  [PREFIX.keptSnapshots, BY_HEIGHT],
  [PREFIX.parentChain, BY_NAME],
  [PREFIX.compilations, BY_HASH],
  [PREFIX.compilationOrder, BY_HEIGHT],
  [PREFIX.compiledCodes, BY_BYTES],
  [PREFIX.verifications, BY_BYTES],
])

/** First bytes of the keys of the shared tables, ascending. */
export const SHARED_PREFIXES: readonly number[] = [...SHARED.keys()].sort((a, b) => a - b)

/** Is this a change of a table that the nodes of a cluster share? */
export function isShared({ prefix }: Change): boolean {
  return SHARED.has(prefix)
}

/** An operation on a shared table as a change. Throws for any other table. */
export function changeOf(operation: Operation): Change {
  const prefix = operation.key[0] ?? 0
  const keys = SHARED.get(prefix)
  if (keys === undefined) throw new Error(`table ${prefix} is not shared by the nodes of a cluster`)
  return { ...operation, prefix, id: keys.decode(operation.key), keys }
}

/** Does the database have a chain beyond its genesis? */
export async function hasBlocks(reader: KeyValueReader): Promise<boolean> {
  const above = heightKey.encode(PREFIX.canonical, 1)
  for await (const _ of reader.entries(above, Uint8Array.of(PREFIX.canonical + 1))) return true
  return false
}
