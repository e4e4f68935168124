/** A store whose disk refuses writes: nothing is acknowledged that is not there, reads go on, and it recovers by itself. */
import { beforeEach, describe, expect, it } from 'vitest'
import { openLoggedStore } from '../../src/store/logged-store.ts'
import { bytesValue, heightKey, Table } from '../../src/store/table.ts'
import type { Timers } from '../../src/store/timers.ts'
import type { Store } from '../../src/store/write-behind.ts'
import { type MemoryFiles, memoryFiles, systemError } from '../support/memory-files.ts'
import { type MemoryLevel, memoryLevel } from '../support/memory-level.ts'

const FULL =
  'The node cannot write to its disk (ENOSPC: no space left on device). Nothing was changed; changes are accepted again as soon as the disk can be written.'
const REFUSED = { kind: 'storage', message: FULL }
const SYNC_FAILED = {
  kind: 'storage',
  message: FULL.replace('ENOSPC: no space left on device', 'EIO: i/o error'),
}

let files: MemoryFiles
let level: MemoryLevel
/** Timers run when the test reports so, those of the milliseconds. */
let timers: Timers & { run(): Promise<void>; readonly waits: number[] }

beforeEach(() => {
  files = memoryFiles()
  level = memoryLevel()
  let waiting: (() => void)[] = []
  const waits: number[] = []
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  timers = {
    waits,
    yield: () => Promise.resolve(),
    after(milliseconds, run) {
      const start = () => {
        waits.push(milliseconds)
        waiting.push(run)
      }
      start()
      const cancel = () => {
        waiting = waiting.filter((each) => each !== run)
      }
      return {
        restart() {
          cancel()
          start()
        },
        cancel,
      }
    },
    async run() {
      for (const run of waiting.splice(0)) run()
      await settled()
    },
  }
})

const open = (fsync: boolean): Promise<Store> =>
  openLoggedStore(level, { files, timers, folder: '/log', place: '/', fsync })
const tableOf = (store: Store) => new Table(store, 1, heightKey, bytesValue)

async function heights(store: Store): Promise<number[]> {
  const found: number[] = []
  for await (const [height] of tableOf(store).range()) found.push(height)
  return found
}

/** What the next process has after a crash at this moment. */
async function afterCrash(): Promise<number[]> {
  const [copy, values] = [memoryFiles(files.contents), memoryLevel(level.values)]
  return heights(
    await openLoggedStore(values, { files: copy, timers, folder: '/log', place: '/', fsync: false }),
  )
}

const one = Uint8Array.of(1)

describe('a store whose log cannot be written', () => {
  it.each([false, true])(
    'refuses batches, answers reads, and continues when there is space (fsync %s)',
    async (fsync) => {
      const store = await open(fsync)
      const table = tableOf(store)
      await store.batch([table.put(1, one)])
      files.refuse = (call) => (call === 'write' || call === 'create' ? systemError('ENOSPC') : undefined)
      let ran = false
      await expect(
        store.batch([table.put(2, one), { type: 'after', run: () => (ran = true) }]),
      ).rejects.toMatchObject(REFUSED)
      expect(ran).toBe(false)
      expect(store.failure).toMatchObject(REFUSED)
      await expect(store.batch([table.put(3, one)])).rejects.toMatchObject(REFUSED)
      expect([table.get(1), table.get(2), table.get(3)]).toEqual([one, undefined, undefined])
      expect(await heights(store)).toEqual([1])
      expect(await afterCrash()).toEqual([1])
      for (let i = 0; i < 8; i++) await timers.run()
      expect(store.failure).toMatchObject(REFUSED)
      // Twice as long each time, up to five seconds; the first is the flush of the first batch.
      expect(timers.waits.filter((wait) => wait !== 5).slice(0, 8)).toEqual([
        100, 200, 400, 800, 1600, 3200, 5000, 5000,
      ])
      files.refuse = () => undefined
      await timers.run()
      expect(store.failure).toBeUndefined()
      await store.batch([table.put(4, one)])
      expect(await afterCrash()).toEqual([1, 4])
      await store.close()
      expect(await afterCrash()).toEqual([1, 4])
      expect([...files.contents.keys()]).toEqual([])
    },
  )

  it('does not restore a batch after a crash that a failed sync refused, even when the file has it', async () => {
    const store = await open(true)
    const table = tableOf(store)
    await store.batch([table.put(1, one)])
    files.refuse = (call) => (call === 'sync' || call === 'truncate' ? systemError('EIO') : undefined)
    const batches = [2, 3].map((height) => store.batch([table.put(height, one)]))
    for (const batch of batches) await expect(batch).rejects.toMatchObject(SYNC_FAILED)
    expect([table.get(1), table.get(2), table.get(3)]).toEqual([one, undefined, undefined])
    files.refuse = () => undefined
    await timers.run()
    expect(store.failure).toBeUndefined()
    await store.batch([table.put(4, one)])
    expect(await afterCrash()).toEqual([1, 4])
    await store.close()
  })

  it('needs no file from before a failed sync after it has continued in a new one', async () => {
    const store = await open(true)
    const table = tableOf(store)
    await store.batch([table.put(1, one)])
    await store.batch([table.put(2, one)])
    files.refuse = (call) => (call === 'sync' ? systemError('EIO') : undefined)
    await expect(store.batch([table.put(3, one)])).rejects.toMatchObject(SYNC_FAILED)
    files.refuse = () => undefined
    await timers.run()
    expect(store.failure).toBeUndefined()
    expect(level.values.size).toBe(0)
    // The medium has lost what was in the old file.
    const [old] = [...files.contents.keys()].sort() as [string]
    files.contents.set(old, Buffer.from(files.contents.get(old) as Buffer).fill(7, 40, 60))
    expect(await afterCrash()).toEqual([1, 2])
    await store.close()
  })

  it('closes a file after it is synced, and each file once', async () => {
    const store = await open(true)
    const table = tableOf(store)
    const synced: string[] = []
    files.refuse = (call, path) => {
      if (call === 'sync' || call === 'syncFolder') synced.push(`${call} ${path}`)
      return undefined
    }
    const large = new Uint8Array(3 << 20)
    // The flush that begins the second file runs while the batch of the first is being synced.
    const batches = [1, 2, 3].map((height) => store.batch([table.put(height, large)]))
    await Promise.all(batches)
    await timers.run()
    const last = store.batch([table.put(4, one)])
    await timers.run()
    await last
    expect(synced).toContain('syncFolder /log')
    expect(synced.indexOf('sync /log/0000000002.wal')).toBeGreaterThan(0)
    expect(store.failure).toBeUndefined()
    await store.close()
    expect([...files.contents.keys()]).toEqual([])
  })
})

describe('a store whose LevelDB cannot be written', () => {
  it('opens LevelDB again and keeps acknowledged batches, or reports them when it is closed before', async () => {
    const store = await open(false)
    const table = tableOf(store)
    await store.batch([table.put(1, one)])
    level.error = new Error('IO error: /data/db/000005.log: No space left on device')
    await timers.run()
    const message = FULL.replace('ENOSPC: no space left on device', 'No space left on device')
    expect(store.failure).toMatchObject({ kind: 'storage', message })
    await expect(store.batch([table.put(2, one)])).rejects.toThrow(message)
    expect(await heights(store)).toEqual([1])
    level.isOpen = false
    expect(() => table.get(9)).toThrow(message)
    level.isOpen = true
    level.error = undefined
    await timers.run()
    expect(store.failure).toBeUndefined()
    await store.batch([table.put(2, one)])
    level.error = new Error('IO error: /data/db/000005.log: No space left on device')
    await expect(store.close()).rejects.toMatchObject({
      kind: 'storage',
      message:
        'Not every change could be written to the database (No space left on device). What was acknowledged and is not in it is in the write-ahead log; the next start takes it from there.',
    })
    level.error = undefined
    level.hasFailed = false
    expect(await afterCrash()).toEqual([1, 2])
  })
})
