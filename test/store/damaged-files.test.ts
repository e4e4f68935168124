/** A database whose files are damaged while no process holds it is refused with the reason, or is complete. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fault, verifyStore } from '../../src/engine/verification/verify.ts'
import { NodeError } from '../../src/errors.ts'
import { createNode } from '../../src/index.ts'
import { DamagedTablesError } from '../../src/store/damage.ts'
import { configOfStored } from '../../src/store/identity.ts'
import {
  endRepair,
  openStoreForReading,
  openStoreForVerification,
  repairStore,
} from '../../src/store/level.ts'
import { checkClosedTables, openLevel } from '../../src/store/level-files.ts'
import { FLUSHED_KEY } from '../../src/store/tables.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let parent: string
/** Closed in order, at block 9. */
let closed: string
/** The same as a process that was killed left it: blocks 7 to 9 are in the write-ahead log alone. */
let killed: string
const hashes: string[] = []

/** Mines three blocks in each of three processes' lives, so that LevelDB has tables, a log, and a list of both. */
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'tandem-damaged-'))
  closed = join(parent, 'closed')
  killed = join(parent, 'killed')
  for (let life = 0; life < 3; life++) {
    const node = await createNode({ dataDir: closed, mining: 'manual' })
    for (let i = 0; i < 3; i++) {
      await node.request({ method: 'evm_mine' })
      hashes[life * 3 + i + 1] = node.engine.queries.head().hash
    }
    if (life === 2) cpSync(closed, killed, { recursive: true })
    await node.close()
  }
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

function flip(file: string, at: (length: number) => number): void {
  const bytes = readFileSync(file)
  const index = at(bytes.length)
  bytes[index] = (bytes[index] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

const DAMAGES = {
  'is deleted': (file: string) => rmSync(file),
  'is emptied': (file: string) => truncateSync(file, 0),
  'is cut in half': (file: string) => truncateSync(file, Math.floor(readFileSync(file).length / 2)),
  'lacks its last byte': (file: string) => truncateSync(file, readFileSync(file).length - 1),
  'has a flipped bit at its start': (file: string) => flip(file, () => 4),
  'has a flipped bit in the middle': (file: string) => flip(file, (length) => length >> 1),
  'has a flipped bit at its end': (file: string) => flip(file, (length) => length - 1),
} as const
type Damage = keyof typeof DAMAGES

/** A copy in which the file of a kind, the oldest of it, is damaged. */
function damagedCopy(directory: string, kind: RegExp, damage: Damage): string {
  const dataDir = join(temporaryFolder(), 'data')
  cpSync(directory, dataDir, { recursive: true })
  const [file] = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((name) => kind.test(name))
    .sort()
  if (file === undefined) throw new Error(`there is no file ${kind}`)
  DAMAGES[damage](join(dataDir, file))
  return dataDir
}

/** Starts a node and ends it: the height of its head, or the refusal. */
async function start(dataDir: string): Promise<number | string> {
  try {
    const node = await createNode({ dataDir, mining: 'manual' })
    const { number } = node.engine.queries.head().block.header
    await node.close()
    return number
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'database') return error.message
    throw error
  }
}

function refusal(dataDir: string, problem: string): string {
  const verify = `tandem verify --data-dir ${dataDir}`
  return (
    `The database in ${dataDir} is damaged: ${problem}. "${verify}" names all that is wrong, ` +
    `and "${verify} --repair" goes back to the last whole block.`
  )
}

async function faultsOf(dataDir: string): Promise<Fault[]> {
  const { store, problems, identity } = await openStoreForVerification(dataDir)
  const faults: Fault[] = []
  const config = configOfStored(identity)
  await verifyStore({
    store,
    problems,
    config,
    from: 1,
    onFault: (fault) => faults.push(fault),
    onStep: () => {},
  })
  await store.close()
  return faults
}

const LOST = (height: number) =>
  `LevelDB lacks the last of what was written until block ${height} (${hashes[height]}) was the head`
const REPORTED = (words: string) => `LevelDB reports "${words}"`
const NOT_A_LIST = 'db/CURRENT does not name a MANIFEST file'
const NO_LIST = REPORTED('Corruption: no meta-nextfile entry in descriptor')
const MISMATCH = 'Corruption: checksum mismatch'
const UNREAD = 'checkpoint.json cannot be read'
const NO_IDENTITY = 'tandem.json cannot be read'

const NOTE = 'The entry of LevelDB that states how much of the write-ahead log it has is damaged.'

/** A copy in which LevelDB's own entry of how much of the log it has is another. */
async function withDamagedNote(directory: string): Promise<string> {
  const dataDir = join(temporaryFolder(), 'data')
  cpSync(directory, dataDir, { recursive: true })
  const { level } = await openLevel(dataDir, {
    createIfMissing: false,
    tables: await checkClosedTables(dataDir),
  })
  await level.batch([{ type: 'put', key: FLUSHED_KEY, value: Uint8Array.of(1, 2, 3) }], { sync: true })
  await level.close()
  return dataDir
}

async function repaired(dataDir: string): Promise<string[]> {
  const notices: string[] = []
  await repairStore(dataDir, (sentence) => notices.push(sentence))
  const { identity, store } = await openStoreForVerification(dataDir)
  await store.close()
  await endRepair(dataDir, identity)
  return notices
}

/** A repair gives these sentences; the directory is whole afterwards, up to a block. */
async function expectRepair(dataDir: string, notices: readonly unknown[], head: number): Promise<void> {
  expect(await repaired(dataDir)).toEqual(notices)
  expect(await faultsOf(dataDir)).toEqual([])
  expect(await start(dataDir)).toBe(head)
}

type Problem = string | RegExp | ((dataDir: string) => string)

/** What a start finds, in the order of `DAMAGES`; `undefined` where it is complete. */
const CLOSED: readonly (readonly [RegExp, readonly (Problem | undefined)[]])[] = [
  [
    /^db\/CURRENT$/,
    ['db/CURRENT is missing', NOT_A_LIST, NOT_A_LIST, NOT_A_LIST, NOT_A_LIST, NOT_A_LIST, NOT_A_LIST],
  ],
  [
    /^db\/MANIFEST/,
    [
      (dataDir) => REPORTED(`IO error: ${dataDir}/db/MANIFEST-000007: No such file or directory`),
      NO_LIST,
      NO_LIST,
      NO_LIST,
      REPORTED(MISMATCH),
      REPORTED(MISMATCH),
      REPORTED(MISMATCH),
    ],
  ],
  [
    /^db\/.*\.ldb$/,
    [
      (dataDir) => REPORTED(`Corruption: 1 missing files; e.g.: ${dataDir}/db/000005.ldb`),
      /^db\/000005\.ldb has 0 bytes of \d+$/,
      /^db\/000005\.ldb has \d+ bytes of \d+$/,
      /^db\/000005\.ldb has \d+ bytes of \d+$/,
      /^db\/000005\.ldb, at byte \d+: the checksum of a block is wrong$/,
      /^db\/000005\.ldb, at byte \d+: the checksum of a block is wrong$/,
      /^db\/000005\.ldb, at byte \d+: the footer is not one$/,
    ],
  ],
  [
    /^db\/.*\.log$/,
    [
      () => LOST(9),
      () => LOST(9),
      () => LOST(9),
      () => LOST(9),
      /^LevelDB leaves out \d+ bytes of db\/000009\.log: Corruption: checksum mismatch$/,
      /^LevelDB leaves out \d+ bytes of db\/000009\.log: Corruption: checksum mismatch$/,
      /^LevelDB leaves out \d+ bytes of db\/000009\.log: Corruption: checksum mismatch$/,
    ],
  ],
  [/^checkpoint\.json$/, [undefined, UNREAD, UNREAD, UNREAD, UNREAD, UNREAD, UNREAD]],
  [
    /^tandem\.json$/,
    [
      'tandem.json is missing',
      NO_IDENTITY,
      NO_IDENTITY,
      undefined,
      NO_IDENTITY,
      'tandem.json was changed',
      NO_IDENTITY,
    ],
  ],
]

/** Starts twice on a damaged copy: the second start must not overlook what the first one found. */
async function expectRefusal(dataDir: string, problem: Problem): Promise<void> {
  const first = await start(dataDir)
  if (problem instanceof RegExp) {
    const [, found = ''] = / is damaged: (.*)\. "tandem verify/.exec(String(first)) ?? []
    expect(found).toMatch(problem)
    expect(first).toBe(refusal(dataDir, found))
  } else {
    expect(first).toBe(refusal(dataDir, typeof problem === 'string' ? problem : problem(dataDir)))
  }
  expect(await start(dataDir)).toBe(first)
}

const ROWS = CLOSED.flatMap(([kind, problems]) =>
  Object.keys(DAMAGES).map((damage, i) => [kind, damage as Damage, problems[i]] as const),
)

describe('a database that was closed', () => {
  it.each(ROWS)('where %s %s is refused, or complete', async (kind, damage, problem) => {
    const dataDir = damagedCopy(closed, kind, damage)
    if (problem !== undefined) return expectRefusal(dataDir, problem)
    expect(await start(dataDir)).toBe(9)
  })

  it('is refused when LevelDB is missing or has been created again', async () => {
    const dataDir = damagedCopy(closed, /^db\/CURRENT$/, 'is deleted')
    rmSync(join(dataDir, 'db'), { recursive: true })
    const problem = `LevelDB has none of what was written until block 9 (${hashes[9]}) was the head`
    await expectRefusal(dataDir, problem)
    const other = join(temporaryFolder(), 'other')
    for (let life = 0; life < 4; life++) expect(await start(other)).toBe(0)
    rmSync(join(dataDir, 'db'), { recursive: true })
    cpSync(join(other, 'db'), join(dataDir, 'db'), { recursive: true })
    const { store, problems } = await openStoreForVerification(dataDir)
    await store.close()
    expect(problems).toEqual([
      expect.stringMatching(/^its head is block 0 \(0x[0-9a-f]{64}\); it was block 9 \(0x[0-9a-f]{64}\)$/),
    ])
    expect(await faultsOf(dataDir)).toContainEqual({ table: 'data', key: 'directory', problem: problems[0] })
    await expectRefusal(dataDir, problems[0] as string)
  })

  it('gets a checkpoint when an earlier version wrote none', async () => {
    const dataDir = damagedCopy(closed, /^checkpoint/, 'is deleted')
    expect(await start(dataDir)).toBe(9)
    const [text = ''] = readFileSync(join(dataDir, 'checkpoint.json'), 'utf8').split('\n')
    expect(JSON.parse(text)).toMatchObject({
      chain: 'regtest',
      chainId: 33,
      head: { number: 9, hash: hashes[9] },
    })
  })

  it.each([
    [/^db\/CURRENT$/, 'is deleted'],
    [/^db\/CURRENT$/, 'is emptied'],
    [/^db\/MANIFEST/, 'is cut in half'],
    [/^db\/MANIFEST/, 'is deleted'],
  ] as const)('is complete after a repair when %s %s', async (kind, damage) => {
    const dataDir = damagedCopy(closed, kind, damage)
    await expectRepair(dataDir, [expect.stringMatching(/^LevelDB rebuilds its list of files: .*\.$/)], 9)
  })

  it.each([
    ['closed', () => closed],
    ['killed', () => killed],
  ])('is unchanged after a repair of an intact directory (%s)', async (_, directory) => {
    const dataDir = join(temporaryFolder(), 'data')
    cpSync(directory(), dataDir, { recursive: true })
    const filesOf = () =>
      readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(json|wal)$/.test(name))
        .sort()
        .map((name) => [name, readFileSync(join(dataDir, name), 'hex')])
    const before = filesOf()
    expect(await repaired(dataDir)).toEqual(['There is nothing to repair.'])
    expect(filesOf()).toEqual(before)
    expect(await start(dataDir)).toBe(9)
  })

  it('is complete after a repair when LevelDB has lost its position in the log', async () => {
    const dataDir = await withDamagedNote(closed)
    await expectRepair(dataDir, [`${NOTE} The whole log is written to LevelDB once more.`], 9)
  })

  it('has each block of its tables checked before LevelDB reads them', async () => {
    expect(await faultsOf(damagedCopy(closed, /^checkpoint/, 'is deleted'))).toEqual([])
    for (const part of [0, 0.1, 0.3, 0.5, 0.7, 0.9]) {
      const dataDir = damagedCopy(closed, /^checkpoint/, 'is deleted')
      const tables = readdirSync(join(dataDir, 'db')).filter((name) => name.endsWith('.ldb'))
      // Behind the last block is the footer, with some bytes that mean nothing.
      for (const table of tables)
        flip(join(dataDir, 'db', table), (length) => Math.floor(part * (length - 48)))
      const refused = await openStoreForVerification(dataDir).catch((error) => error)
      expect(refused).toBeInstanceOf(DamagedTablesError)
      const { problems } = refused as DamagedTablesError
      expect(problems).toHaveLength(tables.length)
      for (const table of tables) {
        const named = new RegExp(`^db/${table}, at byte (\\d+): the checksum of a block is wrong$`)
        expect(problems.filter((problem) => named.test(problem))).toHaveLength(1)
      }
      await expectRefusal(dataDir, problems[0] as string)
    }
  })

  it('has only the listed tables of LevelDB checked, also when a compaction writes or removes others meanwhile', async () => {
    const dataDir = damagedCopy(closed, /^checkpoint/, 'is deleted')
    const none = await checkClosedTables(dataDir, 0)
    const { level, checkTables } = await openLevel(dataDir, { createIfMissing: false, tables: none })
    writeFileSync(join(dataDir, 'db', '000999.ldb'), 'the beginning of a table')
    const [merged] = readdirSync(join(dataDir, 'db')).filter((name) => name.endsWith('.ldb'))
    rmSync(join(dataDir, 'db', merged as string))
    expect([...checkTables()].flat()).toEqual([])
    await level.close()
  })

  it('is not opened for reading when LevelDB has lost its end', async () => {
    const dataDir = damagedCopy(closed, /^db\/.*\.log$/, 'lacks its last byte')
    await expect(openStoreForReading(dataDir)).rejects.toThrow(refusal(dataDir, LOST(9)))
  })
})

describe('a database whose process was killed', () => {
  it('is complete, and refused when the log of its last blocks is missing or LevelDB has lost earlier entries', async () => {
    const whole = damagedCopy(killed, /^checkpoint/, 'is deleted')
    expect(await start(whole)).toBe(9)
    const noLog = damagedCopy(killed, /^journal/, 'is deleted')
    await expectRefusal(noLog, 'the file 3 of the write-ahead log is missing')
    const shorter = damagedCopy(killed, /^db\/.*\.log$/, 'is cut in half')
    await expectRefusal(shorter, () => LOST(6))
  })

  it('has the blocks of its log after a repair when LevelDB has lost its position in the log', async () => {
    const dataDir = await withDamagedNote(killed)
    await expectRefusal(dataDir, NOTE.replace('The', 'the').slice(0, -1))
    expect(await faultsOf(dataDir)).toContainEqual({
      table: 'data',
      key: 'directory',
      problem: NOTE.replace('The', 'the').slice(0, -1),
    })
    await expectRepair(dataDir, [`${NOTE} The whole log is written to LevelDB once more.`], 9)
  })

  it('returns to the last complete block when its log is damaged and the list of files is missing', async () => {
    const dataDir = damagedCopy(killed, /^db\/MANIFEST/, 'is deleted')
    const [name = ''] = readdirSync(join(dataDir, 'journal'))
    flip(join(dataDir, 'journal', name), (length) => length - 100)
    const notices = await repaired(dataDir)
    const block = `the last block that is whole is 8 (${hashes[8]})`
    expect(notices).toEqual([
      expect.stringMatching(/^LevelDB rebuilds its list of files: .*\.$/),
      expect.stringMatching(
        new RegExp(
          `^The write-ahead log journal/${name}, at byte \\d+: a record is damaged; ${block.replace(/[()]/g, '\\$&')}\\. The rest is left out; its files are kept as \\*\\.damaged\\.$`,
        ),
      ),
    ])
    expect(await faultsOf(dataDir)).toEqual([])
    expect(await start(dataDir)).toBe(8)
  })

  it('is refused when a block below those of the log is missing', async () => {
    const dataDir = damagedCopy(killed, /^db\/CURRENT$/, 'lacks its last byte')
    cpSync(join(killed, 'db', 'CURRENT'), join(dataDir, 'db', 'CURRENT'))
    // The block 6 is in the table that was written last.
    const table = join(
      dataDir,
      'db',
      readdirSync(join(dataDir, 'db'))
        .filter((name) => name.endsWith('.ldb'))
        .sort()
        .at(-1) as string,
    )
    flip(table, () => 4)
    await expectRefusal(dataDir, /^db\/\d+\.ldb, at byte \d+: the checksum of a block is wrong$/)
  })
})

it('a database whose process was killed while LevelDB was created starts empty', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  expect(await start(dataDir)).toBe(0)
  rmSync(join(dataDir, 'checkpoint.json'))
  for (const name of readdirSync(join(dataDir, 'db')))
    if (!name.startsWith('MANIFEST')) rmSync(join(dataDir, 'db', name))
  expect(await start(dataDir)).toBe(0)
})
