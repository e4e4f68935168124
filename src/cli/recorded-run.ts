/**
 * Runs a command beside a node that records, and collects what that node and the nodes of the command's own processes have
 * recorded: each writes a file when it closes.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { messageOf } from '../errors.ts'
import type { Node } from '../node/node.ts'
import { readCompilations } from '../sources/source-files.ts'
import { runBesideNode } from './beside-node.ts'
import { createExecution } from './execution.ts'
import type { LineWriter } from './line-writer.ts'
import { createRemote, type Remote } from './remote.ts'
import { typedFlags } from './setting-flags.ts'
import { URL_VARIABLE } from './settings.ts'
import type { NodeWriters } from './start.ts'

/** What is recorded. */
export interface RecordedKind<T> {
  /** The setting with the folder, and its environment variable. */
  readonly setting: 'coverageDir' | 'gasDir'
  readonly variable: string
  /** Of the files. */
  readonly schema: z.ZodType<T>
  /** The methods that begin it on a node that runs already, and read it. */
  readonly methods: { readonly start: string; readonly read: string }
}

/** What was recorded, and the exit code of the command. */
export interface RecordedRun<T> {
  readonly reports: readonly T[]
  readonly exitCode: number
}

/** Folders of a project that may hold build-infos, which the command may have written. */
const PROJECT_FOLDERS = ['artifacts', 'out']

/** Adds the sources of the project in the working directory that were compiled since the node started. */
async function addProjectSources(node: Node, errors: LineWriter): Promise<void> {
  for (const folder of PROJECT_FOLDERS) {
    const { compilations } = await readCompilations([folder]).catch(() => ({ compilations: [] }))
    for (const compilation of compilations) {
      await node.engine.sources
        .add(compilation)
        .catch((error) => errors.write(`tandem: sources in ${folder} are left out: ${messageOf(error)}`))
    }
  }
}

async function filesIn<T>(folder: string, { schema }: RecordedKind<T>, errors: LineWriter): Promise<T[]> {
  const found: T[] = []
  for (const name of (await readdir(folder)).sort()) {
    try {
      found.push(schema.parse(JSON.parse(await readFile(join(folder, name), 'utf8'))))
    } catch (error) {
      errors.write(`tandem: what one process recorded is left out: ${messageOf(error)}`)
    }
  }
  return found
}

/** Runs the command beside a node of its own. Throws `NodeError` and `ListenError` when that cannot start. */
export async function recordBesideNode<T>(
  words: readonly string[],
  command: Command,
  kind: RecordedKind<T>,
  { errors }: NodeWriters,
): Promise<RecordedRun<T>> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-'))
  try {
    let running: Node | undefined
    const exitCode = await runBesideNode(
      words,
      {
        flags: typedFlags(command),
        defaults: new Map([[kind.setting, folder]]),
        environment: { [kind.variable]: folder },
        onReady(node) {
          running = node
        },
        async onEnd() {
          if (running !== undefined) await addProjectSources(running, errors)
        },
      },
      { errors },
    )
    return { reports: await filesIn(folder, kind, errors), exitCode }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the command, if there is one, against a node that runs already. Without one, reads what that has recorded so far. */
export async function runAgainst<T>(
  url: string,
  words: readonly string[],
  kind: RecordedKind<T>,
  { errors }: NodeWriters,
): Promise<RecordedRun<T>> {
  const remote = createRemote(url)
  let exitCode = 0
  if (words.length > 0) {
    await remote.call(kind.methods.start, [], z.unknown())
    const execution = createExecution(words, errors)
    execution.launch({ RPC_URL: url, [URL_VARIABLE]: url })
    exitCode = await execution.ended
  }
  return { reports: [await readFrom(remote, kind)], exitCode }
}

function readFrom<T>(remote: Remote, { methods, schema }: RecordedKind<T>): Promise<T> {
  return remote.call(methods.read, [], schema)
}
