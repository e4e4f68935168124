/**
 * What LevelDB has to hold by itself, in a small file beside it. LevelDB opens a shorter database without an error where
 * the end of its log is missing, and an empty one where the list of its files is: a comparison with this file finds both.
 *
 * The file is replaced whenever batches leave the write-ahead log: at the start, before each removal of one of its files,
 * and at the end. By then LevelDB has synced all that the file records; what came later is in the log.
 */

import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { networkFile } from '../chain/network.ts'
import { readNetwork } from '../chain/read-network.ts'
import { isShipped } from '../chain/shipped-networks.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { messageOf, NodeError } from '../errors.ts'
import { replaceFile } from './atomic-file.ts'
import { diskFiles, type Files, readWhole } from './files.ts'
import type { Identity } from './identity.ts'
import type { Level } from './level-entries.ts'
import { sequenceNumber } from './node-records.ts'
import { blockPosition } from './records.ts'
import { hashKey, nameKey } from './table.ts'
import { META, PREFIX } from './tables.ts'

/** The name of the file in a data directory. */
export const CHECKPOINT_FILE = 'checkpoint.json'
/** Key of the sequence number in the database. */
export const SEQUENCE = 'sequence'
const SEQUENCE_KEY = nameKey.encode(PREFIX.checkpoint, SEQUENCE)

const hex = z.templateLiteral(['0x', z.string()])
const headPosition = z.object({ number: z.int(), hash: hex, state: hex })
const content = z
  .object({
    sequence: z.int(),
    chain: z.string(),
    chainId: z.int(),
    network: z
      .unknown()
      .transform((json) => networkFile(readNetwork(json, CHECKPOINT_FILE)))
      .optional(),
    fork: z.object({ number: z.int(), hash: hex }).optional(),
    rules: z.record(z.string(), z.int().nullable()).optional(),
    head: headPosition.optional(),
    log: z.int().optional(),
    damage: z.string().optional(),
    repair: z.literal(true).optional(),
  })
  .refine(({ chain, network }) => network !== undefined || isShipped(chain))

/** The tip of a chain: its height and hash, and the root of the state after it. */
export interface HeadPosition {
  readonly number: number
  readonly hash: Hex
  readonly state: Hex
}

/** What the database held when the file was written. */
export interface Checkpoint {
  /** Of this file; the database holds the same number, or a later one. */
  readonly sequence: number
  /** `undefined` where the file cannot be read. */
  readonly identity: Identity | undefined
  /** `undefined` without a chain. */
  readonly head: HeadPosition | undefined
  /** First file of the write-ahead log, which has to be there; `undefined` when none was left. */
  readonly log: number | undefined
  /** Found in the files since, and not repaired. */
  readonly damage: string | undefined
  /** A repair has begun and is not complete: it leaves out what is damaged before it removes what depends on that. */
  readonly isInRepair: boolean
}

/** Records nothing. */
const NONE: Checkpoint = {
  sequence: 0,
  identity: undefined,
  head: undefined,
  log: undefined,
  damage: undefined,
  isInRepair: false,
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')

async function store(
  files: Files,
  dataDir: string,
  { chain, chainId, network, fork, rules }: Identity,
  { sequence, head, log, damage, isInRepair }: Checkpoint,
): Promise<void> {
  const repair = isInRepair ? true : undefined
  const text = JSON.stringify({ sequence, chain, chainId, network, fork, rules, head, log, damage, repair })
  await replaceFile(join(dataDir, CHECKPOINT_FILE), `${text}\n${checksum(text)}\n`, 0o666, files)
}

/** The file of a data directory; `undefined` in one that an earlier version made. Throws `database` without access. */
export function readCheckpoint(dataDir: string, files: Files = diskFiles): Checkpoint | undefined {
  let bytes: string
  try {
    bytes = readWhole(files, join(dataDir, CHECKPOINT_FILE)).toString()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new NodeError('database', `The data directory ${dataDir} cannot be read: ${messageOf(error)}`)
  }
  const [text = '', sum, end, ...more] = bytes.split('\n')
  const isWhole = checksum(text) === sum && end === '' && more.length === 0
  const parsed = isWhole ? content.safeParse(JSON.parse(text)) : undefined
  if (parsed?.data === undefined) return { ...NONE, damage: `${CHECKPOINT_FILE} cannot be read` }
  const { chain, chainId, network, fork, rules, repair = false, ...rest } = parsed.data
  const { sequence, head, log, damage } = rest
  const identity = { chain, chainId, network, fork, rules }
  return { sequence, identity, head, log, damage, isInRepair: repair }
}

/** Notes damage that LevelDB does not find a second time, so that no later start overlooks it. */
export async function noteDamage(
  dataDir: string,
  identity: Identity,
  damage: string,
  files: Files = diskFiles,
): Promise<void> {
  await store(files, dataDir, identity, { ...(readCheckpoint(dataDir, files) ?? NONE), damage })
}

/**
 * Notes that a repair begins, before it changes anything, or that it is complete. Until then each start refuses the
 * directory, whatever is left in it.
 */
export async function noteRepair(
  dataDir: string,
  identity: Identity,
  isInRepair: boolean,
  files: Files = diskFiles,
): Promise<void> {
  const last = readCheckpoint(dataDir, files) ?? NONE
  if (last.isInRepair === isInRepair) return
  await store(files, dataDir, last.identity ?? identity, { ...last, isInRepair })
}

/** The tip of the chain in a database; `undefined` without one. Throws what the database throws. */
function headPositionOf(level: Pick<Level, 'getSync'>): HeadPosition | undefined {
  const stored = level.getSync(nameKey.encode(PREFIX.meta, META.head))
  if (stored === undefined) return undefined
  const hash = toHex(stored)
  const header = level.getSync(hashKey.encode(PREFIX.headers, hash))
  if (header === undefined) throw new Error(`the header of the head block ${hash} is missing`)
  return { hash, ...blockPosition(header) }
}

function readableHead(level: Pick<Level, 'getSync'>): HeadPosition | undefined {
  try {
    return headPositionOf(level)
  } catch {
    return undefined
  }
}

/** `block 9 (0x…)`. */
function named(head: HeadPosition | undefined): string {
  return head === undefined ? 'no block' : `block ${head.number} (${head.hash})`
}

/** Writes the checkpoints of an open database, one after another. */
export class Checkpoints {
  readonly #dataDir: string
  readonly #identity: Identity
  readonly #level: Level
  readonly #files: Files
  #sequence: number
  /** Found while the database was open; no later start may overlook it, even if LevelDB has merged the file since. */
  damage: string | undefined
  /** A repair continues where the head cannot be read; the chain is repaired afterwards. */
  isInRepair = false

  /** `last` is what was read before; the database may be ahead of it. */
  constructor(
    dataDir: string,
    identity: Identity,
    level: Level,
    last: Checkpoint | undefined,
    files: Files = diskFiles,
  ) {
    this.#files = files
    this.#dataDir = dataDir
    this.#identity = identity
    this.#level = level
    this.#sequence = Math.max(last?.sequence ?? 0, sequenceOf(level) ?? 0)
  }

  /**
   * Syncs what LevelDB has, then records it. Files of the log before `log` may be removed once this has resolved; all
   * of them without it.
   */
  async write(log: number | undefined): Promise<void> {
    const sequence = ++this.#sequence
    const value = sequenceNumber.encode(sequence, SEQUENCE)
    await this.#level.batch([{ type: 'put', key: SEQUENCE_KEY, value }], { sync: true })
    const head = this.isInRepair ? readableHead(this.#level) : headPositionOf(this.#level)
    await store(this.#files, this.#dataDir, this.#identity, {
      ...NONE,
      sequence,
      head,
      log,
      damage: this.damage,
      isInRepair: this.isInRepair,
    })
  }
}

/** What an opened database lacks of its checkpoint before it has read its log; `undefined` when nothing. */
export function lackOf(level: Pick<Level, 'getSync'>, { sequence, head }: Checkpoint): string | undefined {
  const found = sequenceOf(level)
  if ((found ?? 0) >= sequence) return undefined
  const end = found === undefined ? 'has none of' : 'lacks the last of'
  return `LevelDB ${end} what was written until ${named(head)} was the head`
}

/**
 * What is wrong with the head of an opened database, compared with `last` where no batch was written since; `undefined`
 * when nothing is.
 */
export function headProblem(level: Pick<Level, 'getSync'>, last: Checkpoint | undefined): string | undefined {
  try {
    const found = headPositionOf(level)
    if (last === undefined || last.sequence === 0) return undefined
    if (found?.hash !== last.head?.hash) {
      return `its head is ${found === undefined ? 'missing' : named(found)}; it was ${named(last.head)}`
    }
    return found?.state === last.head?.state ? undefined : `${named(found)}, its head, has another state`
  } catch (error) {
    return `its head cannot be read (${messageOf(error)})`
  }
}

/** The number of the last checkpoint whose data the database has in full. */
function sequenceOf(level: Pick<Level, 'getSync'>): number | undefined {
  const stored = level.getSync(SEQUENCE_KEY)
  return stored && sequenceNumber.decode(stored, SEQUENCE)
}
