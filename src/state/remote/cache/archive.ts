/** A cache, or a part of it, as one file that can be carried to another machine. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { concat } from '../../../encoding/bytes.ts'
import { type Hex, isHex } from '../../../encoding/hex.ts'
import { messageOf, NodeError } from '../../../errors.ts'
import { replaceFile } from '../../../store/atomic-file.ts'
import { newFileName, readCached } from './block-cache.ts'
import { blockFolder, listCache, useFolder } from './cache-directory.ts'
import { encodeFrame, fileHead, readFileContent } from './records.ts'

/** First line of an archive. */
const MAGIC = 'tandem fork archive 2\n'
const OLD_MAGIC = 'tandem fork archive 1\n'

/** The line above the bytes of a block. */
const Entry = z.strictObject({
  chainId: z.int().min(1),
  number: z.int().min(0),
  hash: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .refine(isHex),
  scope: z.string().regex(/^[0-9a-f]{32}$/),
  bytes: z.int().min(0),
})

/** What was moved. */
export interface Moved {
  readonly blocks: number
  readonly records: number
}

function refused(path: string, why: string): NodeError {
  return new NodeError(
    'upstream',
    `The file ${path} is not a fork cache of this program (${why}). Nothing was imported.`,
  )
}

function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  async function* content() {
    yield bytes
  }
  return replaceFile(path, content(), 0o666)
}

/** Writes the cache below `root`, of one network where `chainId` is given, to a file. Throws `upstream` when there is nothing. */
export async function exportCache(root: string, path: string, chainId?: number): Promise<Moved> {
  const parts: Uint8Array[] = [Buffer.from(MAGIC)]
  let blocks = 0
  let records = 0
  for (const cached of await listCache(root, chainId)) {
    const { scope, path: folder, chainId: chain } = cached
    if (scope === undefined) continue
    const { hash, number } = cached.block
    const subject = { hash, scope }
    const own = [...(await readCached(folder, subject)).records()]
    if (own.length === 0) continue
    const content = concat(fileHead(subject), encodeFrame(subject, own))
    const entry: z.input<typeof Entry> = { chainId: chain, number, hash, scope, bytes: content.length }
    parts.push(Buffer.from(`${JSON.stringify(entry)}\n`), content)
    blocks++
    records += own.length
  }
  if (blocks === 0)
    throw new NodeError('upstream', `There is nothing to export: the fork cache in ${root} is empty.`)
  await writeWhole(path, gzipSync(concat(...parts)))
  return { blocks, records }
}

interface ArchivedBlock {
  readonly chainId: number
  readonly number: number
  readonly hash: Hex
  readonly scope: string
  readonly content: Uint8Array
}

function blocksIn(path: string, bytes: Buffer): ArchivedBlock[] {
  if (bytes.subarray(0, OLD_MAGIC.length).toString('latin1') === OLD_MAGIC)
    throw refused(
      path,
      'it is of an older format, which does not name the upstream; fetch the state again with tandem fork warm',
    )
  if (bytes.subarray(0, MAGIC.length).toString('latin1') !== MAGIC)
    throw refused(path, 'it begins with something else')
  const found: ArchivedBlock[] = []
  for (let at = MAGIC.length; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at)
    let line: unknown
    try {
      line = JSON.parse(bytes.subarray(at, end).toString('utf8'))
    } catch {
      throw refused(path, 'it is damaged')
    }
    const entry = Entry.safeParse(line)
    if (end < 0 || !entry.success) throw refused(path, 'it is damaged')
    const { chainId, number, hash, scope, bytes: length } = entry.data
    const content = bytes.subarray(end + 1, end + 1 + length)
    if (content.length !== length) throw refused(path, 'it is cut off')
    found.push({ chainId, number, hash, scope, content })
    at = end + 1 + length
  }
  return found
}

/** Adds an archive to the cache below `root`; at most `most` bytes are unpacked. Throws `upstream` for a file that is not an archive. */
export async function importCache(root: string, path: string, most: number, now: number): Promise<Moved> {
  let bytes: Buffer
  try {
    bytes = gunzipSync(await readFile(path), { maxOutputLength: most })
  } catch (error) {
    throw refused(path, messageOf(error))
  }
  const blocks = blocksIn(path, bytes).map((block) => ({
    ...block,
    ...readFileContent(block.content, block),
  }))
  // All of it is checked before the first file is written.
  for (const { state, number } of blocks)
    if (state !== 'whole') throw refused(path, `block ${number} is ${state}`)
  let records = 0
  for (const { chainId, number, hash, scope, records: given } of blocks) {
    const subject = { hash, scope }
    const folder = blockFolder(root, chainId, { number, hash }, scope)
    await useFolder(folder, now)
    const known = await readCached(folder, subject)
    const added = given.filter((record) => known.put(record))
    records += added.length
    if (added.length === 0) continue
    await writeWhole(join(folder, newFileName()), concat(fileHead(subject), encodeFrame(subject, added)))
  }
  return { blocks: blocks.length, records }
}
