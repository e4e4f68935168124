/** Known faults, planted into a bundle of the simulator to see that it finds them. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { Scenario } from './run.ts'

/** A fault: a text of a source that is replaced by another. */
interface Mutation {
  readonly scenario: Scenario
  /** Below `src`. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** A seed that finds it: the suite looks for it from there on. `--mutate all` looks for all faults from new seeds on. */
  readonly suiteSeed?: number
}

/** The faults by what they do. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'acknowledges a batch that the log does not have': {
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: 'const durable = this.#log.append(operations)',
    to: 'const durable = undefined as Promise<void> | undefined',
  },
  'acknowledges before the medium has it': {
    suiteSeed: 3,
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: 'if (durable !== undefined) await durable',
    to: '',
  },
  'does not sync the file': {
    scenario: 'storage',
    file: 'store/write-ahead-log.ts',
    from: 'await this.#file.sync()',
    to: '',
  },
  'does not sync the folder of a new file': {
    scenario: 'storage',
    file: 'store/write-ahead-log.ts',
    from: 'if (!this.#isNameSynced) await this.#files.syncFolder(this.#folder)',
    to: '',
  },
  'closes a file before it is synced': {
    scenario: 'storage',
    file: 'store/write-ahead-log.ts',
    from: 'if (fsync && this.#durable < this.#sequence) this.#unsynced = [...this.#unsynced, old]\n    else old.close()',
    to: 'old.close()',
  },
  'commits each record of a batch': {
    scenario: 'storage',
    file: 'store/log-format.ts',
    from: 'end(KIND.piece)',
    to: 'end(KIND.commit)',
  },
  'does not look at the checksum of a record': {
    suiteSeed: 2,
    scenario: 'storage',
    file: 'store/log-format.ts',
    from: "if (crc32(body) !== checksum) return 'damaged'",
    to: '',
  },
  'takes a short write for a whole one': {
    scenario: 'storage',
    file: 'store/files.ts',
    from: 'while (written < bytes.length) written += file.write(bytes.subarray(written))',
    to: '',
  },
  'removes files of the log that the level lacks': {
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: 'this.#log.drop(this.#flushed)',
    to: 'this.#log.drop(this.#log.end.sequence)',
  },
  'does not sync the level before files of the log go': {
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: '{ sync: this.#fsync }',
    to: '{ sync: false }',
  },
  'states a file of the log whose name may be lost': {
    scenario: 'chain',
    file: 'store/write-ahead-log.ts',
    from: 'await files.syncFolder(folder)\n    return this.#paths',
    to: 'return this.#paths',
  },
  'states what the level has not synced': {
    scenario: 'chain',
    file: 'store/checkpoint.ts',
    from: '{ sync: true }',
    to: '{ sync: false }',
  },
  'does not sync a checkpoint': {
    scenario: 'chain',
    file: 'store/atomic-file.ts',
    from: 'await file.sync()',
    to: '',
  },
  'removes files of the log before a checkpoint lets them go': {
    scenario: 'chain',
    file: 'store/write-behind.ts',
    from: 'await this.#checkpoints?.write(await this.#log.firstBehind(this.#flushed))\n        this.#log.drop(this.#flushed)',
    to: 'this.#log.drop(this.#flushed)\n        await this.#checkpoints?.write(await this.#log.firstBehind(this.#flushed))',
  },
  'resumes while batches are on their way to the medium': {
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: 'await this.#log.settled()\n        await this.#log.resume',
    to: 'await this.#log.resume',
  },
  'closes while batches are on their way to the medium': {
    scenario: 'storage',
    file: 'store/write-behind.ts',
    from: 'await this.#log.settled()\n      await this.#recovering',
    to: 'await this.#recovering',
  },
  'acknowledges before the log has it': {
    suiteSeed: 1,
    scenario: 'replication',
    file: 'replication/replicated-store.ts',
    from: 'return replicate(changes, (position) => local.batch([...writes, position]))',
    to: 'replicate(changes, (position) => local.batch([...writes, position])).catch(() => {})',
  },
  'appends without a fence': {
    suiteSeed: 5,
    scenario: 'replication',
    file: 'replication/log.ts',
    from: 'expect: { lastSequence: after, ...(after === 0 && { lastSubjectSequence: 0 }) },',
    to: '',
  },
  'takes an unanswered append for done': {
    scenario: 'replication',
    file: 'replication/log.ts',
    from: "throw new AppendError('unanswered', cause)",
    to: 'return sequence',
  },
  'takes an unanswered append for refused': {
    scenario: 'replication',
    file: 'replication/log.ts',
    from: "throw new AppendError('unanswered', cause)",
    to: "throw new AppendError('fenced', cause)",
  },
  'takes a purged message for that of another': {
    scenario: 'replication',
    file: 'replication/log.ts',
    from: 'return found === null ? undefined',
    to: 'return found === null ? false',
  },
  'counts a found lease as renewed': {
    scenario: 'replication',
    file: 'replication/lease.ts',
    from: 'await bucket.update(LEASE_KEY, node, entry.revision)',
    to: 'entry.revision',
  },
  'does not try to lead when the lease is back': {
    suiteSeed: 20,
    scenario: 'recovery',
    file: 'replication/lease.ts',
    from: 'const isNew = performance.now() > this.#heldUntil',
    to: 'const isNew = this.#heldUntil === 0',
  },
  'keeps the queue while it waits for the reader': {
    suiteSeed: 20,
    scenario: 'recovery',
    file: 'replication/member.ts',
    from: 'this.#tryToLead()\n          return',
    to: 'continue',
  },
  'reads on before its own record has ended': {
    suiteSeed: 37,
    scenario: 'recovery',
    file: 'replication/member.ts',
    from: 'await this.#records.idle()\n      await this.#followReplica()',
    to: 'await this.#followReplica()',
  },
  'makes a snapshot of a part of a record': {
    suiteSeed: 783_453_642,
    scenario: 'recovery',
    file: 'replication/member.ts',
    from: "if (!this.#reader.isAtRest) throw tryAgain('This node follows the leader of the cluster')",
    to: '',
  },
  'goes on behind a gap': {
    scenario: 'replication',
    file: 'replication/reader.ts',
    from: 'if (sequence !== this.#tail + 1) throw new GapError()',
    to: '',
  },
}

/** The simulator with a fault in it. It is run from the project's root. */
export async function mutated(name: string): Promise<typeof import('./run.ts')> {
  const mutation = MUTATIONS[name]
  if (mutation === undefined) throw new Error(`there is no fault "${name}"`)
  const target = resolve('src', mutation.file)
  const parts = readFileSync(target, 'utf8').split(mutation.from)
  if (parts.length !== 2)
    throw new Error(`${mutation.file} has the text of the fault "${name}" ${parts.length - 1} times`)
  const bundle = await rolldown({
    input: resolve('test/simulation/run.ts'),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    logLevel: 'silent',
    plugins: [{ name: 'fault', load: (id) => (id === target ? parts.join(mutation.to) : undefined) }],
  })
  const file = resolve('.build', 'mutated', `${name.replaceAll(' ', '-')}.js`)
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  return import(pathToFileURL(join(file)).href)
}

/**
 * Runs the seeds of a faulty simulator from `first` on until one fails; resolves to how many it took, `undefined` when none
 * of `most` failed.
 */
export async function seedsToFind(name: string, first: number, most: number): Promise<number | undefined> {
  const { runSeed } = await mutated(name)
  const scenario = (MUTATIONS[name] as Mutation).scenario
  for (let count = 1; count <= most; count++) {
    const { failure } = await runSeed(scenario, first + count - 1)
    if (failure !== undefined) return count
  }
  return undefined
}
