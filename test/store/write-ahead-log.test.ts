import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openStore, type Store } from '../../src/store/level.ts'
import { bytesValue, heightKey, type Operation, Table } from '../../src/store/table.ts'
import { readWriteAheadLog, WriteAheadLog } from '../../src/store/write-ahead-log.ts'
import { createWriteBehind } from '../../src/store/write-behind.ts'
import { inDirectory } from './store-cases.ts'

const REGTEST = { chain: 'regtest', chainId: 33 } as const
const put = (key: number, value: number): Operation => ({
  type: 'put',
  key: Uint8Array.of(key),
  value: Uint8Array.of(value),
})

/** What a journal's folder gives to the next process. */
async function replayed(folder: string): Promise<Operation[]> {
  let found: Operation[] = []
  const log = await WriteAheadLog.open(folder, false, async (operations) => {
    found = operations
  })
  log.close()
  return found
}

/** A copy of the log as a crash at this moment would leave it. */
function crash(folder: string): string {
  const copy = `${folder}-crashed`
  cpSync(folder, copy, { recursive: true })
  return copy
}

const lastFile = (folder: string): string => join(folder, readdirSync(folder).sort().at(-1) as string)

describe('a journal', () => {
  it('gives back, in order, what was appended before a crash', () =>
    inDirectory(async (folder) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.array(
              fc.record({
                key: fc.uint8Array({ minLength: 1, maxLength: 40 }),
                value: fc.option(fc.uint8Array({ maxLength: 300 })),
              }),
              { minLength: 1, maxLength: 8 },
            ),
            { maxLength: 8 },
          ),
          async (batches) => {
            const own = join(folder, Math.random().toString(36).slice(2))
            const log = await WriteAheadLog.open(own, false, async () => {})
            const written: Operation[] = []
            for (const batch of batches) {
              const operations = batch.map(
                ({ key, value }): Operation =>
                  value === null ? { type: 'del', key } : { type: 'put', key, value },
              )
              log.append(operations)
              written.push(...operations)
            }
            const copy = crash(own)
            log.close()
            expect(await replayed(copy)).toEqual(written)
            expect(await replayed(own)).toEqual([])
          },
        ),
        { numRuns: 50 },
      )
    }))

  it('drops a record that was cut off at the end, wherever the cut is, and keeps those before it', () =>
    inDirectory(async (parent) => {
      const folder = join(parent, 'journal')
      const log = await WriteAheadLog.open(folder, false, async () => {})
      log.append([put(1, 1)])
      const first = readFileSync(lastFile(folder)).length
      log.append([put(2, 2), put(3, 3)])
      const whole = readFileSync(lastFile(folder)).length
      for (let length = first; length < whole; length++) {
        const copy = crash(folder)
        truncateSync(lastFile(copy), length)
        expect(await replayed(copy), `cut at ${length}`).toEqual([put(1, 1)])
      }
      const damaged = crash(folder)
      const bytes = readFileSync(lastFile(damaged))
      bytes[whole - 1] = 9
      writeFileSync(lastFile(damaged), bytes)
      expect(await replayed(damaged)).toEqual([put(1, 1)])
      log.close()
    }))

  it('refuses damage that is not at the end, and leaves the files as they are', () =>
    inDirectory(async (parent) => {
      const folder = join(parent, 'journal')
      const log = await WriteAheadLog.open(folder, false, async () => {})
      log.append([put(1, 1)])
      appendFileSync(join(folder, '0000000002.log'), '')
      const first = join(folder, readdirSync(folder).sort()[0] as string)
      const bytes = readFileSync(first)
      bytes[9] = (bytes[9] as number) ^ 1
      writeFileSync(first, bytes)
      const copy = crash(folder)
      await expect(replayed(copy)).rejects.toMatchObject({ kind: 'database' })
      expect(readdirSync(copy)).toHaveLength(2)
      log.close()
    }))

  it('refuses a damaged record that others follow, but not one that zeros follow', () =>
    inDirectory(async (parent) => {
      const folder = join(parent, 'journal')
      const log = await WriteAheadLog.open(folder, false, async () => {})
      log.append([put(1, 1)])
      const first = readFileSync(lastFile(folder)).length
      log.append([put(2, 2)])
      const second = readFileSync(lastFile(folder)).length
      log.append([put(3, 3)])
      const bytes = readFileSync(lastFile(folder))
      bytes[first + 9] = (bytes[first + 9] as number) ^ 1
      const copy = crash(folder)
      writeFileSync(lastFile(copy), bytes)
      await expect(replayed(copy)).rejects.toMatchObject({ kind: 'database' })
      expect(() => readWriteAheadLog(copy)).toThrow(/is damaged/)
      writeFileSync(lastFile(copy), bytes.fill(0, second))
      expect(await replayed(copy)).toEqual([put(1, 1)])
      log.close()
    }))

  it('begins a new file when one is large, and drops the old one only when asked', () =>
    inDirectory(async (parent) => {
      const folder = join(parent, 'journal')
      const log = await WriteAheadLog.open(folder, false, async () => {})
      expect(log.retire()).toEqual([])
      log.append([{ type: 'put', key: Uint8Array.of(1), value: new Uint8Array(5 << 20) }])
      const retired = log.retire()
      expect(retired).toHaveLength(1)
      log.append([put(2, 2)])
      expect(readdirSync(folder)).toHaveLength(2)
      expect(await replayed(crash(folder))).toHaveLength(2)
      log.drop(retired)
      expect(readdirSync(folder)).toHaveLength(1)
      log.close()
      expect(readdirSync(folder)).toHaveLength(0)
    }))
})

describe('a store behind its journal', () => {
  const tableOf = (store: Store) => new Table(store, 1, heightKey, bytesValue)

  it('has every acknowledged batch after a crash, whether LevelDB had it or not', () =>
    inDirectory(async (parent) => {
      const dataDir = join(parent, 'data')
      const store = await openStore({ ...REGTEST, dataDir })
      const table = tableOf(store)
      for (let i = 0; i < 200; i++) {
        await store.batch([table.put(i, Uint8Array.of(i)), table.put(1000, Uint8Array.of(i))])
        if (i % 3 === 0) await store.batch([table.del(i)])
      }
      // As a crash would leave it: the log alone, before any LevelDB.
      const copy = join(parent, 'copy')
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
    }))

  it('takes no more batches when the database cannot be written, and forgets none that it took', async () => {
    let refuse = false
    const data = new Map<string, Uint8Array>()
    const level = {
      getSync: (key: Uint8Array) => data.get(String(key)),
      async batch(operations: Operation[]) {
        if (refuse) throw new Error('no space left')
        for (const operation of operations) {
          if (operation.type === 'put') data.set(String(operation.key), operation.value)
        }
      },
      async *iterator() {},
      async close() {},
    }
    const store = createWriteBehind(level, undefined, false)
    const table = tableOf(store)
    await store.batch([table.put(1, Uint8Array.of(1))])
    for await (const _ of store.entries(Uint8Array.of(0), Uint8Array.of(9)))
      throw new Error('the level has no entries')
    refuse = true
    await store.batch([table.put(2, Uint8Array.of(2))])
    await expect(store.close()).rejects.toThrow('cannot be written')
    expect(table.get(1)).toEqual(Uint8Array.of(1))
    expect(table.get(2)).toEqual(Uint8Array.of(2))
    await expect(store.batch([table.put(3, Uint8Array.of(3))])).rejects.toThrow('cannot be written')
    expect(table.get(3)).toBeUndefined()
  })

  it('leaves no log behind a clean end', () =>
    inDirectory(async (dataDir) => {
      const store = await openStore({ ...REGTEST, dataDir: join(dataDir, 'x') })
      await store.batch([tableOf(store).put(1, Uint8Array.of(1))])
      await store.close()
      expect(existsSync(join(dataDir, 'x', 'journal'))).toBe(true)
      expect(readdirSync(join(dataDir, 'x', 'journal'))).toEqual([])
    }))
})
