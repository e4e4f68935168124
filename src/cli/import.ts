/** `tandem import`: takes raw blocks from a file or a pipe, validates and executes each, and stops at the first invalid one. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Command } from 'commander'
import { brokenRuleOf, NodeError } from '../errors.ts'
import { type RawBlock, readRawBlocks } from './block-stream.ts'
import { addChainFlags, addUrlFlag, chainOptions, runningNode } from './chain-place.ts'
import { type ImportTarget, openDirectory, openRemote } from './import-target.ts'
import { createProgress, type ProgressStream } from './progress.ts'
import type { Writers } from './start.ts'

interface Input {
  readonly stream: AsyncIterable<Uint8Array>
  /** Bytes; `undefined` for a pipe. */
  readonly size: number | undefined
  close(): void
}

/** Throws `invalid-options` when there is no such file. */
async function openInput(path: string): Promise<Input> {
  if (path === '-') return { stream: process.stdin, size: undefined, close: () => {} }
  try {
    const file = await open(path)
    const stats = await file.stat()
    const stream = createReadStream('', { fd: file, highWaterMark: 1 << 20 })
    return { stream, size: stats.isFile() ? stats.size : undefined, close: () => stream.destroy() }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new NodeError(
      'invalid-options',
      code === 'ENOENT' ? `There is no file ${path}.` : `The file ${path} cannot be read: ${message}`,
    )
  }
}

function count(blocks: number): string {
  return `${blocks.toLocaleString('en-US')} ${blocks === 1 ? 'block' : 'blocks'}`
}

/** The message of a refused block: its place in the input, the rule that it breaks, the expected value and the one found. */
function refusal({ place }: RawBlock, error: NodeError): string {
  const { rule, height, expected, found } = brokenRuleOf(error) ?? {}
  const block = height === undefined ? 'The block' : `Block ${height}`
  const by = rule === undefined ? '' : ` by the rule ${rule}`
  const isNamed = expected !== undefined && error.message.includes(`${expected}, not ${found}`)
  const values = expected === undefined || isNamed ? '' : ` Expected ${expected}, found ${found}.`
  return `${block} (${place}) is invalid${by}: ${error.message.replace(/^block \d+: /, '')}.${values}`
}

/** The error of an import that ends early, with what is kept. `raw` is the block that was being taken. */
async function stopped(
  error: unknown,
  raw: RawBlock | undefined,
  imported: number,
  target: ImportTarget,
): Promise<unknown> {
  if (!(error instanceof NodeError) || error.kind !== 'invalid-block') return error
  const { number, hash } = await target.head()
  const what = raw === undefined ? error.message : refusal(raw, error)
  const kept = `Imported before it: ${count(imported)}; the head is block ${number} (${hash}).`
  return new NodeError('invalid-block', `${what} ${kept}`, error.data)
}

/** Imports the blocks of an input. Throws `NodeError` at the first invalid block; what came before it is kept. */
async function importBlocks(
  input: Input,
  target: ImportTarget,
  { output, terminal, signal }: { output: Writers['output']; terminal: ProgressStream; signal: AbortSignal },
): Promise<void> {
  const progress = createProgress(terminal, Date.now)
  let [blocks, known, gas] = [0, 0, 0n]
  let current: RawBlock | undefined
  try {
    for await (const raw of readRawBlocks(input.stream)) {
      current = raw
      const { isNew, number, gasUsed } = await target.take(raw.bytes)
      if (isNew) {
        blocks++
        gas += gasUsed
      } else {
        known++
      }
      const done = input.size === undefined ? undefined : raw.end / input.size
      progress.show(`block ${number.toLocaleString('en-US')}`, { blocks, gas }, done)
      if (signal.aborted) {
        throw new NodeError(
          'internal',
          'Interrupted. Run the same command again: it continues with the next block.',
        )
      }
      current = undefined
    }
  } catch (error) {
    progress.clear()
    throw await stopped(error, current, blocks, target)
  }
  progress.clear()
  const { number, hash } = await target.head()
  output.write(
    `Imported ${count(blocks)} (${known.toLocaleString('en-US')} ${known === 1 ? 'was' : 'were'} there already): ` +
      `${progress.rates({ blocks, gas })}. The head is block ${number} (${hash}).`,
  )
}

/** Runs until its end with a signal that the first SIGINT or SIGTERM aborts: the current block is finished. */
async function interruptible(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  process.once('SIGINT', abort)
  process.once('SIGTERM', abort)
  try {
    await run(controller.signal)
  } finally {
    process.removeListener('SIGINT', abort)
    process.removeListener('SIGTERM', abort)
  }
}

async function openTarget(command: Command): Promise<ImportTarget> {
  const url = runningNode(command)
  return url === undefined ? openDirectory(await chainOptions(command)) : openRemote(url)
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillImportCommand(command: Command, { output }: Writers): void {
  command.argument(
    '<file>',
    'raw blocks: RLP one after another, or lines of hex or of JSON with "raw"; - is standard input',
  )
  addUrlFlag(command, 'to import into')
  addChainFlags(command)
  command.allowExcessArguments(false).action(async (path: string) => {
    const input = await openInput(path)
    try {
      const target = await openTarget(command)
      try {
        await interruptible((signal) =>
          importBlocks(input, target, { output, terminal: process.stderr, signal }),
        )
      } finally {
        await target.close()
      }
    } finally {
      input.close()
    }
  })
}
