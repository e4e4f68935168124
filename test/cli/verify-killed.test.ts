/**
 * `tandem verify --repair` is killed with -9 before a call that changes a file or prints. A node that is started then refuses
 * the directory or has the whole chain, and a second repair finishes. The calls are drawn with a new seed each run;
 * `SEED=<seed>` repeats one, and `REPAIR_KILLS=all` (`npm run test:crashes`) takes every call.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillVerifyCommand } from '../../src/cli/verify.ts'
import { NodeError } from '../../src/errors.ts'
import { createNode } from '../../src/index.ts'
import { openStoreForReading } from '../../src/store/level.ts'
import { type EndedCommand, runCommand } from '../support/command.ts'
import { runFilled } from '../support/commands.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HOOK = fileURLToPath(new URL('../support/kill-at-call.mjs', import.meta.url))

let parent: string
/** As a process that was killed left it: blocks 7 to 9 are in the write-ahead log alone. */
let whole: string

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'tandem-killed-repair-'))
  const dataDir = join(parent, 'closed')
  whole = join(parent, 'killed')
  for (let life = 0; life < 3; life++) {
    const node = await createNode({ dataDir, mining: 'manual' })
    for (let i = 0; i < 3; i++) await node.request({ method: 'evm_mine' })
    if (life === 2) cpSync(dataDir, whole, { recursive: true })
    await node.close()
  }
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

function flip(file: string, at: (bytes: Buffer) => number): void {
  const bytes = readFileSync(file)
  const index = at(bytes)
  bytes[index] = (bytes[index] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

/** The files of a folder of a directory whose names end alike, oldest first. */
const filesOf = (dataDir: string, folder: string, end: string): string[] =>
  readdirSync(join(dataDir, folder))
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => join(dataDir, folder, name))

/** The table of the blocks 4 to 6. */
const tableOf = (dataDir: string): string => filesOf(dataDir, 'db', '.ldb').at(-1) as string

type Damage = readonly [damage: string, head: number, make: (dataDir: string) => void]

/** The damages, and the height of the head after the repair. */
const DAMAGES: readonly [Damage, ...Damage[]] = [
  ['a damaged block in a table', 3, (dataDir) => flip(tableOf(dataDir), () => 4)],
  [
    'a damaged filter in a table',
    9,
    // It is in front of the block with its name; no entry is lost with it.
    (dataDir) => flip(tableOf(dataDir), (bytes) => bytes.indexOf('filter.') - 12),
  ],
  [
    'a table whose list of blocks is damaged',
    3,
    (dataDir) => flip(tableOf(dataDir), ({ length }) => length - 60),
  ],
  [
    'a damaged write-ahead log and no list of files',
    8,
    (dataDir) => {
      for (const name of readdirSync(join(dataDir, 'db')))
        if (name.startsWith('MANIFEST')) rmSync(join(dataDir, 'db', name))
      for (const file of filesOf(dataDir, 'journal', '.wal')) flip(file, ({ length }) => length - 100)
    },
  ],
]

interface Killed extends EndedCommand {
  readonly dataDir: string
  /** The calls that were reached. */
  readonly calls: readonly string[]
}

/** Repairs a damaged copy in a process that is killed before a call. */
async function killedAt(call: number, damage: (dataDir: string) => void): Promise<Killed> {
  const folder = temporaryFolder()
  const dataDir = join(folder, 'data')
  cpSync(whole, dataDir, { recursive: true })
  damage(dataDir)
  const CALLS = join(folder, 'calls')
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(HOOK)}`, CALLS, KILL_AT: String(call) }
  const ended = await runCommand(['verify', '--data-dir', dataDir, '--repair'], env)
  return { ...ended, dataDir, calls: readFileSync(CALLS, 'utf8').trimEnd().split('\n') }
}

const headIn = (output: string): number => Number(/No fault: regtest, blocks 0 to (\d+)/.exec(output)?.[1])

const { REPAIR_KILLS = '4' } = process.env
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const random = randomNumbers(seed)

/** Some of the calls from 1 to `count`, each once, or all of them. */
function callsToKillAt(count: number): readonly number[] {
  const left = Array.from({ length: count }, (_, at) => at + 1)
  if (REPAIR_KILLS === 'all') return left
  return Array.from({ length: Number(REPAIR_KILLS) }, () => left.splice(random(left.length), 1))
    .flat()
    .sort((a, b) => a - b)
}

/** Starts a node and ends it: the height of its head, or the refusal. */
async function start(dataDir: string): Promise<number | string> {
  const node = await createNode({ dataDir, mining: 'manual' }).catch((error: NodeError) => error)
  if (node instanceof NodeError) return node.message
  const { number } = node.engine.queries.head().block.header
  await node.close()
  return number
}

const verify = (...args: string[]) => runFilled(fillVerifyCommand, args)

describe(`a repair that is killed (SEED=${seed})`, () => {
  it.each(DAMAGES)(
    'is finished by a second one, and no node starts before that, on a directory with %s',
    async (_, head, damage) => {
      const undisturbed = await killedAt(0, damage)
      expect(undisturbed).toMatchObject({ code: 0, stderr: '' })
      expect(headIn(undisturbed.stdout)).toBe(head)
      expect(await start(undisturbed.dataDir)).toBe(head)
      const { length } = undisturbed.calls
      let refusals = 0
      for (const call of callsToKillAt(length)) {
        const { code, dataDir, calls } = await killedAt(call, damage)
        const place = `killed before call ${call} of ${length}, ${calls.at(-1)}`
        expect(code, place).toBeNull()
        const started = await start(dataDir)
        if (typeof started === 'string') refusals++
        const refusal = expect.stringContaining(
          `, and "tandem verify --data-dir ${dataDir} --repair" goes back`,
        )
        expect(started, place).toEqual(typeof started === 'string' ? refusal : head)
        expect((await verify('--data-dir', dataDir, '--repair')).error, place).toBeUndefined()
        const { output, error } = await verify('--data-dir', dataDir)
        expect({ head: headIn(output), error }, place).toEqual({ head, error: undefined })
        expect(
          readdirSync(dataDir).filter((name) => name.startsWith('lock-')),
          place,
        ).toEqual([])
      }
      expect(refusals).toBeGreaterThan(0)
    },
    600_000,
  )

  it('is the reason of the refusal where nothing else is left to find', async () => {
    const [[, , damage]] = DAMAGES
    const { calls } = await killedAt(0, damage)
    // The calls at the end remove the note.
    const { dataDir } = await killedAt(calls.lastIndexOf('renameSync') + 1, damage)
    const problem = 'a repair was begun and is not complete'
    const command = `tandem verify --data-dir ${dataDir}`
    const refusal =
      `The database in ${dataDir} is damaged: ${problem}. "${command}" names all that is wrong, ` +
      `and "${command} --repair" goes back to the last whole block.`
    expect(await start(dataDir)).toBe(refusal)
    await expect(openStoreForReading(dataDir)).rejects.toThrow(refusal)
    expect(await verify('--data-dir', dataDir)).toMatchObject({
      output: `data directory: ${problem}`,
      error: { message: `The database in ${dataDir} has 1 fault. No block was executed again.` },
    })
    const second = await verify('--data-dir', dataDir, '--repair')
    expect(second.error).toBeUndefined()
    expect(second.output.split('\n')).toEqual([
      'An earlier repair is not complete; this one continues it.',
      expect.stringMatching(/^No fault: regtest, blocks 0 to 3, 3 executed again /),
    ])
    expect(await start(dataDir)).toBe(3)
  })
})
