import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { openStore } from '../../src/store/level.ts'
import { bytesValue, heightKey, nameKey, Table } from '../../src/store/table.ts'
import { inDirectory } from './store-cases.ts'

const REGTEST = { chain: 'regtest', chainId: 33 } as const

/** Opens the LevelDB of its argument, reports it, and stays. */
const HOLDER = `
import { Level } from 'level'
await new Level(process.argv[1]).open()
console.log('open')
setInterval(() => {}, 60_000)
`

/** Every file below a directory with its bytes. */
function contents(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )
}

async function refusalOf(opening: Promise<unknown>): Promise<NodeError> {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof NodeError)) throw new Error(`expected a refusal, got ${error}`)
  expect(error.kind).toBe('database')
  return error
}

describe('openStore', () => {
  it('creates the directory, and finds all entries after it is opened again', () =>
    inDirectory(async (parent) => {
      const dataDir = join(parent, 'a', 'b')
      for (let round = 0; round < 3; round++) {
        const store = await openStore({ ...REGTEST, dataDir, fsync: round === 1 })
        const table = new Table(store, 1, heightKey, bytesValue)
        for (let i = 0; i < round; i++) expect(table.get(i)).toEqual(Uint8Array.of(i))
        await store.batch([table.put(round, Uint8Array.of(round))])
        await store.close()
      }
    }))

  it('shares nothing between stores in memory', async () => {
    const [a, b] = await Promise.all([openStore(REGTEST), openStore(REGTEST)])
    const inA = new Table(a, 1, nameKey, bytesValue)
    await a.batch([inA.put('x', Uint8Array.of(1))])
    expect(new Table(b, 1, nameKey, bytesValue).get('x')).toBeUndefined()
    await Promise.all([a.close(), b.close()])
  })

  it('refuses a directory that this process holds', () =>
    inDirectory(async (dataDir) => {
      const store = await openStore({ ...REGTEST, dataDir })
      const { message } = await refusalOf(openStore({ ...REGTEST, dataDir }))
      expect(message).toBe(
        `The data directory ${dataDir} is in use by another running node. Stop that one, or choose another directory.`,
      )
      await store.close()
      await (await openStore({ ...REGTEST, dataDir })).close()
    }))

  it('refuses a directory that another process holds, and opens it once that one is killed', () =>
    inDirectory(async (dataDir) => {
      await (await openStore({ ...REGTEST, dataDir })).close()
      const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, join(dataDir, 'db')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const gone = once(holder, 'exit')
      await once(holder.stdout, 'data')
      const { message } = await refusalOf(openStore({ ...REGTEST, dataDir }))
      expect(message).toBe(
        `The data directory ${dataDir} is in use by another running node. Stop that one, or choose another directory.`,
      )
      holder.kill('SIGKILL')
      await gone
      await (await openStore({ ...REGTEST, dataDir })).close()
    }))

  it('refuses another format, another chain, another chain id and an unreadable tandem.json, and changes nothing', () =>
    inDirectory(async (dataDir) => {
      const store = await openStore({ ...REGTEST, dataDir })
      await store.batch([new Table(store, 1, nameKey, bytesValue).put('x', Uint8Array.of(1))])
      await store.close()
      const mark = join(dataDir, 'tandem.json')
      const ours = readFileSync(mark, 'utf8')
      // As an earlier version left it: the checkpoint states that the mark was changed.
      rmSync(join(dataDir, 'checkpoint.json'))
      const otherFormat = (format: number) =>
        `The database in ${dataDir} has format ${format}, and this version reads format 6. Run the version that made it, or choose another directory.`
      const otherChain = (chain: string) =>
        `The database in ${dataDir} is of chain ${chain}, not regtest (chain id 33). Choose another directory for this chain.`
      const unreadable = `The directory ${dataDir} is not a database of this node (its tandem.json cannot be read). It is left as it is; choose another directory.`
      const marks = [
        [JSON.stringify({ ...JSON.parse(ours), format: 4 }), otherFormat(4)],
        [JSON.stringify({ ...JSON.parse(ours), format: 7 }), otherFormat(7)],
        [
          JSON.stringify({ ...JSON.parse(ours), chain: 'testnet', chainId: 31 }),
          otherChain('testnet (chain id 31)'),
        ],
        [JSON.stringify({ ...JSON.parse(ours), chainId: 1337 }), otherChain('regtest (chain id 1337)')],
        ['', unreadable],
        ['{"format":"one"}', unreadable],
      ] as const
      for (const [text, words] of marks) {
        writeFileSync(mark, text)
        const before = contents(dataDir)
        const { message } = await refusalOf(openStore({ ...REGTEST, dataDir }))
        expect(message).toBe(words)
        expect(contents(dataDir)).toEqual(before)
      }
      writeFileSync(mark, ours)
      await (await openStore({ ...REGTEST, dataDir })).close()
    }))

  it('refuses a directory with foreign files, and changes nothing', () =>
    inDirectory(async (dataDir) => {
      writeFileSync(join(dataDir, 'CURRENT'), 'MANIFEST-000001\n')
      const before = contents(dataDir)
      expect((await refusalOf(openStore({ ...REGTEST, dataDir }))).message).toBe(
        `The directory ${dataDir} is not a database of this node (it holds other files, and no tandem.json). It is left as it is; choose another directory.`,
      )
      expect(contents(dataDir)).toEqual(before)
    }))

  it('accepts a directory with only hidden files and files of a killed start', () =>
    inDirectory(async (dataDir) => {
      writeFileSync(join(dataDir, '.gitignore'), '*')
      writeFileSync(join(dataDir, 'tandem.json.123'), '{')
      mkdirSync(join(dataDir, 'lost+found'))
      await (await openStore({ ...REGTEST, dataDir })).close()
      expect(existsSync(join(dataDir, 'tandem.json'))).toBe(true)
    }))

  it('reports when the path is a file', () =>
    inDirectory(async (parent) => {
      const dataDir = join(parent, 'file')
      writeFileSync(dataDir, 'x')
      expect((await refusalOf(openStore({ ...REGTEST, dataDir }))).message).toBe(
        `The directory ${dataDir} is not a database of this node (its tandem.json cannot be read). It is left as it is; choose another directory.`,
      )
    }))

  it('reports when the database is damaged', () =>
    inDirectory(async (dataDir) => {
      await (await openStore({ ...REGTEST, dataDir })).close()
      writeFileSync(join(dataDir, 'db', 'CURRENT'), 'nonsense')
      expect((await refusalOf(openStore({ ...REGTEST, dataDir }))).message).toBe(
        `The database in ${dataDir} is damaged: db/CURRENT does not name a MANIFEST file. "tandem verify --data-dir ${dataDir}" names all that is wrong, and "tandem verify --data-dir ${dataDir} --repair" goes back to the last whole block.`,
      )
    }))
})
