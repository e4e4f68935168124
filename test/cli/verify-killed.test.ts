/** `tandem verify --repair` is killed with -9 before each of its calls that change a file or print; a second one finishes. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillVerifyCommand } from '../../src/cli/verify.ts'
import { createNode } from '../../src/index.ts'
import { type EndedCommand, runCommand } from '../support/command.ts'
import { runFilled } from '../support/commands.ts'
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

/** The damages, and the height of the head after the repair. */
const DAMAGES: readonly (readonly [string, number, (dataDir: string) => void])[] = [
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

describe('a repair that is killed', () => {
  it.each(DAMAGES)(
    'is finished by a second one, of a directory with %s',
    async (_, head, damage) => {
      const undisturbed = await killedAt(0, damage)
      expect(undisturbed).toMatchObject({ code: 0, stderr: '' })
      expect(headIn(undisturbed.stdout)).toBe(head)
      const { length } = undisturbed.calls
      for (let call = 1; call <= length; call++) {
        const { code, dataDir, calls } = await killedAt(call, damage)
        const place = `killed before call ${call} of ${length}, ${calls.at(-1)}`
        expect(code, place).toBeNull()
        const second = await runFilled(fillVerifyCommand, ['--data-dir', dataDir, '--repair'])
        expect(second.error, place).toBeUndefined()
        const { output, error } = await runFilled(fillVerifyCommand, ['--data-dir', dataDir])
        expect({ head: headIn(output), error }, place).toEqual({ head, error: undefined })
        expect(
          readdirSync(dataDir).filter((name) => name.startsWith('lock-')),
          place,
        ).toEqual([])
      }
    },
    120_000,
  )
})
