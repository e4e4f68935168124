/** `tandem export`: writes canonical blocks as raw bytes, whole or not at all. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { decodeBlockHeader, encodeBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import { headerHash } from '../chain/header.ts'
import { fromHex, type Hex, toHex, toQuantity } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { replaceFile } from '../store/atomic-file.ts'
import { BlockStore } from '../store/block-store.ts'
import { configOfStored } from '../store/identity.ts'
import { openStoreForReading } from '../store/level.ts'
import { addDirectoryFlags, addUrlFlag, dataDirectory, runningNode } from './chain-place.ts'
import { remoteChain } from './import-target.ts'
import { createRemote } from './remote.ts'
import type { Writers } from './start.ts'

const FORMATS = ['rlp', 'jsonl'] as const
type Format = (typeof FORMATS)[number]

/** Bytes that are written at once. */
const CHUNK_BYTES = 1 << 18

/** Where blocks are read. */
interface BlockSource {
  readonly head: number
  readonly config: ChainConfig
  block(height: number): Promise<Uint8Array>
  close(): Promise<void>
}

async function openDirectory(dataDir: string): Promise<BlockSource> {
  const { identity, store } = await openStoreForReading(dataDir)
  const config = configOfStored(identity)
  const blocks = await BlockStore.open(store, config)
  const head = blocks.head()
  const header = head === undefined ? undefined : blocks.header(head)
  if (header === undefined) throw new NodeError('database', `The database in ${dataDir} holds no chain.`)
  return {
    head: header.number,
    config,
    async block(height) {
      const hash = blocks.canonicalHash(height)
      const executed = hash === undefined ? undefined : blocks.get(hash)
      if (executed === undefined) {
        throw new NodeError(
          'database',
          `The database in ${dataDir} lacks block ${height}; tandem verify names what is wrong.`,
        )
      }
      return encodeBlock(executed.block, config)
    },
    close: () => store.close(),
  }
}

const Text = z.string().regex(/^0x[0-9a-f]*$/)

async function openUrl(url: string): Promise<BlockSource> {
  const remote = createRemote(url)
  const config = await remoteChain(remote)
  const head = Number(await remote.call('eth_blockNumber', [], Text))
  return {
    head,
    config,
    block: async (height) => fromHex(await remote.call('debug_getRawBlock', [toQuantity(height)], Text)),
    close: async () => {},
  }
}

/** The bytes of a file with blocks `from` to `to`. */
async function* contentOf(
  source: BlockSource,
  { from, to, format }: { from: number; to: number; format: Format },
): AsyncGenerator<Uint8Array> {
  let chunk: Uint8Array[] = []
  let size = 0
  let parent: Hex | undefined
  for (let number = from; number <= to; number++) {
    const bytes = await source.block(number)
    const header = decodeBlockHeader(bytes, source.config)
    if (parent !== undefined && header.parentHash !== parent) {
      throw new NodeError('internal', `The chain changed below block ${number}. Export it again.`)
    }
    const hash = headerHash(header, source.config)
    parent = hash
    const entry =
      format === 'rlp' ? bytes : Buffer.from(`${JSON.stringify({ number, hash, raw: toHex(bytes) })}\n`)
    chunk.push(entry)
    size += entry.length
    if (size < CHUNK_BYTES) continue
    yield Buffer.concat(chunk)
    ;[chunk, size] = [[], 0]
  }
  if (size > 0) yield Buffer.concat(chunk)
}

interface ExportOptions {
  readonly from: string
  readonly to?: string
  readonly format?: string
}

function heightOf(text: string, flag: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new NodeError('invalid-options', `${flag} expects a block number, not "${text}".`)
}

/** The format that is given, or else that of the file name's extension. */
function formatOf(given: string | undefined, file: string): Format {
  const format = given ?? (/\.(jsonl|ndjson|json)$/.test(file) ? 'jsonl' : 'rlp')
  const known = FORMATS.find((name) => name === format)
  if (known !== undefined) return known
  throw new NodeError('invalid-options', `--format expects ${FORMATS.join(' or ')}, not "${format}".`)
}

async function exportBlocks(
  source: BlockSource,
  file: string,
  options: ExportOptions,
  { errors, output }: Writers,
): Promise<void> {
  const from = heightOf(options.from, '--from')
  const to = options.to === undefined ? source.head : heightOf(options.to, '--to')
  const format = formatOf(options.format, file)
  if (from > to || to > source.head) {
    throw new NodeError('invalid-options', `There are blocks 0 to ${source.head}, not ${from} to ${to}.`)
  }
  const content = contentOf(source, { from, to, format })
  if (file === '-') {
    await pipeline(Readable.from(content), process.stdout, { end: false })
    errors.write(`Exported blocks ${from} to ${to}.`)
    return
  }
  await replaceFile(file, content, 0o666).catch((error: unknown) => {
    if (error instanceof NodeError) throw error
    throw new NodeError(
      'internal',
      `${file} cannot be written: ${error instanceof Error ? error.message : error}`,
    )
  })
  output.write(`Exported blocks ${from} to ${to} to ${file}.`)
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillExportCommand(command: Command, writers: Writers): void {
  command.argument('[file]', 'file to write, replaced whole; - is standard output', '-')
  addUrlFlag(command, 'to read')
  command
    .option('--from <height>', 'first block', '0')
    .option('--to <height>', 'last block; the head unless given')
    .option(
      '--format <name>',
      'rlp: blocks one after another, jsonl: a line of JSON each; by the file name unless given',
    )
  addDirectoryFlags(command)
  command.allowExcessArguments(false).action(async (file: string, options: ExportOptions) => {
    const url = runningNode(command)
    const source = await (url === undefined ? openDirectory(dataDirectory(command)) : openUrl(url))
    try {
      await exportBlocks(source, file, options, writers)
    } finally {
      await source.close()
    }
  })
}
