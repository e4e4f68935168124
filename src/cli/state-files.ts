/** State files and genesis files of the command: read whole, written whole or not at all, and kept while a node runs. */
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { ChainConfig } from '../chain/config.ts'
import { readGenesisSettings } from '../chain/state-file/genesis-file.ts'
import { readStateFile } from '../chain/state-file/read.ts'
import { NodeError } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Node } from '../node/node.ts'
import type { NodeOptions } from '../options/options.ts'
import { dumpText, loadStateText, stateText } from '../rpc/wire/state-file.ts'
import { replaceFile } from '../store/atomic-file.ts'
import { diskFiles } from '../store/files.ts'

/** The state files of a running node. */
export interface StateFiles {
  readonly load?: { readonly path: string; readonly mayBeMissing: boolean } | undefined
  /** Written when the node ends. */
  readonly dump?: string | undefined
  /** Seconds after which it is written again while the node runs. */
  readonly intervalSeconds?: number | undefined
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function readError(path: string, error: unknown): NodeError {
  const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error)
  return new NodeError('invalid-options', `The file ${path} cannot be read: ${why}.`)
}

/** Names the file in the refusal of its content. */
async function within<T>(path: string, run: () => MaybePromise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw new NodeError('invalid-options', `${path}: ${error.message}`)
  }
}

/** The text of a state file, compressed or not. Throws `invalid-options` naming the file. */
export async function readStateText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw readError(path, error)
  })
  return within(path, () => stateText(bytes))
}

/** Writes a state file, compressed where its name ends in `.gz`. Throws `internal`; the file is then as it was. */
export async function writeStateText(
  path: string,
  text: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const bytes = Readable.from(text, { objectMode: true })
  const content = path.endsWith('.gz') ? bytes.pipe(createGzip()) : bytes
  bytes.on('error', (error) => content.destroy(error))
  await replaceFile(path, content, 0o666).catch((error: unknown) => {
    if (error instanceof NodeError) throw error
    throw new NodeError('internal', `${path} cannot be written: ${messageOf(error)}.`)
  })
}

/**
 * Checks a state file before its chain is opened: a refused one makes no data directory. `isForced` allows another chain
 * id. Throws `invalid-options` naming the file.
 */
export async function requireStateFor(path: string, config: ChainConfig, isForced: boolean): Promise<void> {
  const text = await readStateText(path)
  await within(path, () => {
    readStateFile(text, config, isForced)
  })
}

/** Loads a state file into a node; `isForced` allows one of another chain id. Throws `invalid-options` naming the file. */
export async function loadStateFile({ engine }: Node, path: string, isForced = false): Promise<void> {
  const text = await readStateText(path)
  await within(path, () => loadStateText(engine, text, isForced))
}

/** The options of a node with those of a genesis file; given options take precedence. Throws `invalid-options`. */
export async function withGenesisFile(given: NodeOptions, path: string | undefined): Promise<NodeOptions> {
  if (path === undefined) return given
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw readError(path, error)
  })
  const settings = await within(path, () => readGenesisSettings(text))
  const { alloc, ...own } = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  )
  return { ...settings, ...own, alloc: new Map([...(settings.alloc ?? []), ...(given.alloc ?? [])]) }
}

/** A folder stands for the file `state.json` in it. */
async function fileAt(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isFolder ? `${path}/state.json` : path
}

/** Throws `invalid-options` where the file that a node writes at its end could not be written, before anything runs. */
export async function requireWritable({ dump }: StateFiles): Promise<void> {
  if (dump === undefined) return
  const path = await fileAt(dump)
  const folder = dirname(path)
  const draft = join(folder, `.${basename(path)}.${process.pid}.draft`)
  try {
    diskFiles.create(draft).close()
    diskFiles.remove(draft)
  } catch (error) {
    const why = (await exists(folder)) ? messageOf(error) : `there is no folder ${folder}`
    throw new NodeError('invalid-options', `The state file ${path} cannot be written: ${why}.`)
  }
}

/** Loads the state file of a node that starts. Throws `invalid-options` naming the file. */
export async function loadAtStart(node: Node, { load }: StateFiles): Promise<void> {
  if (load === undefined) return
  const path = await fileAt(load.path)
  if (load.mayBeMissing && !(await exists(path))) return
  await loadStateFile(node, path)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Writes a node's state file at intervals, and at the end. */
export interface StateKeeper {
  /** Stops the interval and writes the file. Throws `internal`. */
  end(): Promise<void>
}

/** Starts it; `onError` gets what goes wrong before the end. */
export function keepState(
  { engine }: Node,
  { dump, intervalSeconds }: StateFiles,
  onError: (error: unknown) => void,
): StateKeeper {
  let writing: Promise<void> = Promise.resolve()
  async function write(): Promise<void> {
    if (dump !== undefined) await writeStateText(await fileAt(dump), dumpText(engine, true))
  }
  const timer =
    dump === undefined || intervalSeconds === undefined
      ? undefined
      : setInterval(() => {
          writing = writing.then(write).catch(onError)
        }, intervalSeconds * 1000).unref()
  return {
    async end() {
      clearInterval(timer)
      await writing
      await write()
    },
  }
}
