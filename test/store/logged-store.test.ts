/** A database with its log: what a killed process left in the log is in the store of the next one. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore, type Store } from '../../src/store/level.ts'
import { bytesValue, hashValue, heightKey, nameKey, Table } from '../../src/store/table.ts'
import { META, PREFIX } from '../../src/store/tables.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const REGTEST = { chain: 'regtest', chainId: 33 } as const

/** A directory of format 5: fixtures/write-ahead-log/README.md. */
describe('a log of the previous format', () => {
  const HEAD = '0xed41d10da1ed9a2a1543b57014126b3f9e9c31cc6dbe34c942983877f07c843d'
  function copyOfFixture(): { dataDir: string; file: string } {
    const dataDir = join(temporaryFolder(), 'data')
    cpSync('fixtures/write-ahead-log/format-1', dataDir, { recursive: true })
    return { dataDir, file: join(dataDir, 'journal', '0000000001.log') }
  }
  const headOf = (store: Store) => new Table(store, PREFIX.meta, nameKey, hashValue).get(META.head)

  it('is read, and converted when its directory is opened', async () => {
    const { dataDir, file } = copyOfFixture()
    mkdirSync(join(dataDir, 'db'))
    const created = await openStore({ ...REGTEST, dataDir })
    expect(headOf(created)).toBe(HEAD)
    expect(existsSync(file)).toBe(false)
    expect(JSON.parse(readFileSync(join(dataDir, 'tandem.json'), 'utf8'))).toEqual({ format: 6, ...REGTEST })
    await created.close()
    const reopened = await openStore({ ...REGTEST, dataDir })
    expect(headOf(reopened)).toBe(HEAD)
    await reopened.close()
  })

  it('is refused with the place of the damage, and loses only its truncated end', async () => {
    const { dataDir, file } = copyOfFixture()
    const whole = readFileSync(file)
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    writeFileSync(file, Buffer.from(whole).fill(7, 12_000, 12_001))
    await expect(openStore({ ...REGTEST, dataDir })).rejects.toThrow(
      new RegExp(
        `^The database in ${dataDir} is damaged: the write-ahead log journal/0000000001\\.log, at byte \\d+: a record is damaged; the last block that is whole is \\d \\(0x[0-9a-f]{64}\\)\\. ` +
          `"tandem verify --data-dir ${dataDir}" names all that is wrong, and "tandem verify --data-dir ${dataDir} --repair" goes back to the last whole block\\.$`,
      ),
    )
    expect(readFileSync(join(dataDir, 'tandem.json'), 'utf8')).toContain('"format":5')
    writeFileSync(file, whole)
    truncateSync(file, whole.length - 1)
    const store = await openStore({ ...REGTEST, dataDir, onNotice })
    expect(headOf(store)).not.toBe(HEAD)
    expect(notices).toEqual([
      expect.stringMatching(
        /^The write-ahead log journal\/0000000001\.log, at byte \d+: the last \d+ bytes, a write that was interrupted, are left out\.$/,
      ),
    ])
    await store.close()
  })
})

describe('a store with a log', () => {
  const tableOf = (store: Store) => new Table(store, 1, heightKey, bytesValue)

  it('has every acknowledged batch after a crash, whether LevelDB had it or not', async () => {
    const parent = temporaryFolder()
    const dataDir = join(parent, 'data')
    const store = await openStore({ ...REGTEST, dataDir })
    const table = tableOf(store)
    // As a crash would leave it: the log alone, before any LevelDB.
    const copy = join(parent, 'copy')
    for (let i = 0; i < 200; i++) {
      await store.batch([table.put(i, Uint8Array.of(i)), table.put(1000, Uint8Array.of(i))])
      if (i % 3 === 0) await store.batch([table.del(i)])
    }
    cpSync(join(dataDir, 'journal'), join(copy, 'journal'), { recursive: true })
    cpSync(join(dataDir, 'tandem.json'), join(copy, 'tandem.json'))
    await store.close()
    for (const directory of [copy, dataDir]) {
      const reopened = await openStore({ ...REGTEST, dataDir: directory })
      const again = tableOf(reopened)
      for (let i = 0; i < 200; i++) {
        expect(again.get(i), `${i}`).toEqual(i % 3 === 0 ? undefined : Uint8Array.of(i))
      }
      expect(again.get(1000)).toEqual(Uint8Array.of(199))
      await reopened.close()
      expect(readdirSync(join(directory, 'journal'))).toEqual([])
    }
  })

  it('leaves no log after a clean shutdown', async () => {
    const dataDir = join(temporaryFolder(), 'x')
    const store = await openStore({ ...REGTEST, dataDir })
    await store.batch([tableOf(store).put(1, Uint8Array.of(1))])
    await store.close()
    expect(existsSync(join(dataDir, 'journal'))).toBe(true)
    expect(readdirSync(join(dataDir, 'journal'))).toEqual([])
  })
})
