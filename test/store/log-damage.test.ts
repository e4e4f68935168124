import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesValue, heightKey, type Operation, Table } from '../../src/store/table.ts'
import {
  begin,
  crash,
  damaged,
  flip,
  lastBytes,
  open,
  pathsIn,
  put,
  recovered,
  valuesOf,
} from '../support/log-files.ts'
import { type MemoryFiles, memoryFiles } from '../support/memory-files.ts'
import { memoryLevel } from '../support/memory-level.ts'

/** Values as a text: comparing thousands of maps takes long. */
const textOf = (values: ReadonlyMap<string, Uint8Array>): string =>
  [...values].map(([key, value]) => `${key} ${Buffer.from(value).toString('latin1')}`).join()

/** The same in the order of the keys. */
const sorted = (values: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> =>
  new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A log of many batches, and the states after each of them. */
async function manyBatches() {
  const files = memoryFiles()
  const log = begin(files)
  const states = ['']
  const written: Operation[] = []
  const random = new Uint8Array(900).map((_, index) => (index * 167 + (index >> 3) * 59) & 255)
  for (let i = 0; i < 60; i++) {
    const operations = [put(i, random.subarray(0, 1 + ((i * 97) % 900))), put(1000, i)]
    if (i % 5 === 4) operations.push({ type: 'del', key: Uint8Array.of(0, i - 2) })
    log.append(operations)
    written.push(...operations)
    states.push(textOf(await valuesOf(written)))
  }
  return { files, states }
}

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: Error) => error.message,
  )

const sentence = (path: string, at: number, problem: string) =>
  `The database in / is damaged: the write-ahead log ${path.slice(1)}, at byte ${at}: ${problem}; no block is whole. "tandem verify --data-dir /" names all that is wrong, and "tandem verify --data-dir / --repair" goes back to the last whole block.`

describe('damage of a log', () => {
  it('is reported, or affects no acknowledged batch, at any byte', async () => {
    const { files, states } = await manyBatches()
    const { length } = lastBytes(files)
    const seed = Date.now()
    const offsets = fc.sample(fc.tuple(fc.nat(length - 1), fc.integer({ min: 1, max: 255 })), {
      numRuns: 500,
      seed,
    })
    const ends = Array.from({ length: 60 }, (_, i) => [i < 30 ? i : length - 60 + i, 0x40] as const)
    for (const [offset, mask] of [...offsets, ...ends]) {
      const where = `byte ${offset}, mask ${mask}, seed ${seed}`
      const copy = damaged(files, (bytes) => flip(bytes, offset, mask))
      const message = await messageOf(
        recovered(copy).then(({ values }) => expect(textOf(values) === states.at(-1), where).toBe(true)),
      )
      if (message === 'none') continue
      const at = Number(/at byte (\d+)/.exec(message)?.[1])
      expect(at, where).toBeLessThanOrEqual(offset)
      const problem = offset < 32 ? 'the header is damaged' : 'a record is damaged'
      expect(message, where).toBe(sentence('/log/0000000001.wal', at, problem))
      expect(pathsIn(copy), where).toEqual(['/log/0000000001.wal'])
    }
  })

  it('that truncates the end leaves complete batches, and is returned, at any offset', async () => {
    const { files, states } = await manyBatches()
    const { length } = lastBytes(files)
    const seed = Date.now()
    let untold = 0
    for (const cut of fc.sample(fc.nat(length - 1), { numRuns: 300, seed })) {
      const { values, notices } = await recovered(damaged(files, (bytes) => bytes.subarray(0, cut)))
      expect(states.includes(textOf(values)), `cut at ${cut}, seed ${seed}`).toBe(true)
      if (notices.length === 0) untold++
    }
    // A cut between two batches, 60 of 27,000 bytes, is the same as a log that ended there.
    expect(untold).toBeLessThan(20)
  })

  it('that truncates batches which the database already has never replaces a newer value by an older one, at any offset', async () => {
    const files = memoryFiles()
    const level = memoryLevel()
    const store = await open(files, level)
    const table = new Table(store, 1, heightKey, bytesValue)
    const states = [textOf(new Map())]
    const mirror = memoryLevel()
    const write = async (i: number) => {
      const writes = [table.put(0, Uint8Array.of(i)), table.put(1 + (i % 7), Uint8Array.of(i))]
      if (i % 5 === 4) writes.push(table.del(1 + ((i + 3) % 7)))
      await store.batch(writes)
      await mirror.batch(writes as Operation[], { sync: false })
      states.push(textOf(sorted(mirror.values)))
    }
    for (let i = 0; i < 20; i++) await write(i)
    // Reading a range waits until the database has all.
    for await (const _ of table.range());
    const ahead = memoryLevel(level.values)
    for (let i = 20; i < 30; i++) await write(i)
    const whole = lastBytes(files).length
    for (let cut = 0; cut <= whole; cut++) {
      const copy = damaged(files, (bytes) => bytes.subarray(0, cut))
      const { values } = await recovered(copy, memoryLevel(ahead.values))
      const found = states.lastIndexOf(textOf(sorted(values)))
      expect(found, `cut at ${cut} of ${whole}`).toBeGreaterThanOrEqual(20)
    }
    await store.close()
  })

  it('that truncates a large batch, which the database got whole before the interruption, keeps all of it', async () => {
    const files = memoryFiles()
    const log = begin(files)
    log.append([put(1, 1)])
    log.append(Array.from({ length: 40_000 }, (_, i) => put(i % 30_000, 2)))
    const level = memoryLevel()
    const { batch } = level
    let batches = 0
    level.batch = async (operations, options) => {
      // The process dies before it has replayed all.
      if (++batches > 1) throw new Error('killed')
      await batch(operations, options)
    }
    await expect(open(crash(files), level)).rejects.toThrow('killed')
    const cut = damaged(files, (bytes) => bytes.subarray(0, bytes.length - 1))
    const { values } = await recovered(cut, memoryLevel(level.values))
    const numbers = new Set([...values.values()].map(([value]) => value))
    expect([...numbers]).toEqual([2])
  })

  it('before the last file is reported, also when a file is missing or truncated', async () => {
    const files = memoryFiles()
    const log = begin(files)
    for (let i = 0; i < 3; i++) {
      log.append([put(1, i)])
      log.append([put(2, new Uint8Array(4 << 20).fill(i + 1))])
      log.retire()
    }
    log.append([put(9, 9)])
    const second = pathsIn(files)[1] as string
    const empty = crash(files)
    empty.contents.set(second, Buffer.alloc(0))
    expect(await messageOf(recovered(empty))).toBe(sentence(second, 0, 'the header is damaged'))
    const cut = crash(files)
    cut.contents.set(second, (files.contents.get(second) as Buffer).subarray(0, 1000))
    expect(await messageOf(recovered(cut))).toBe(sentence(second, 67, 'a record is damaged'))
    const lacking = crash(files)
    lacking.remove(second)
    const [first] = pathsIn(files) as [string]
    const end = files.contents.get(first)?.length as number
    expect(await messageOf(recovered(lacking))).toBe(sentence(first, end, 'records 3 to 4 are missing'))
  })

  it('is repaired by returning to the batch before it; the damaged files are kept', async () => {
    const { files, states } = await manyBatches()
    const copy = damaged(files, (bytes) => flip(bytes, bytes.length >> 1))
    const at = Number(/at byte (\d+)/.exec(await messageOf(recovered(copy)))?.[1])
    const { values, notices } = await recovered(copy, memoryLevel(), true)
    expect(states.slice(20)).toContain(textOf(values))
    expect(notices).toEqual([
      `The write-ahead log log/0000000001.wal, at byte ${at}: a record is damaged; no block is whole. The rest is left out; its files are kept as *.damaged.`,
    ])
    expect(pathsIn(copy)).toEqual(['/log/0000000001.wal.damaged'])
    expect(await recovered(copy)).toMatchObject({ notices: [] })
  })

  it('in batches that the database already has is skipped and returned', async () => {
    const files = memoryFiles()
    const level = memoryLevel()
    const store = await open(files, level)
    const table = new Table(store, 1, heightKey, bytesValue)
    for (let i = 0; i < 10; i++) await store.batch([table.put(i, Uint8Array.of(i))])
    for await (const _ of table.range());
    for (let i = 10; i < 15; i++) await store.batch([table.put(i, Uint8Array.of(i))])
    const before = memoryLevel(level.values)
    const copy = damaged(files, (bytes) => flip(bytes, 66))
    await store.close()
    const { values, notices } = await recovered(copy, before)
    const found = [...values.values()].map(([value]) => Number(value)).sort((a, b) => a - b)
    expect(found).toEqual(Array.from({ length: 15 }, (_, i) => i))
    expect(notices).toEqual([
      'The write-ahead log log/0000000001.wal, at byte 32: a damaged record, which is in the database already or was refused, is passed over.',
    ])
  })

  it('of a power failure, zeros in place of unsynced bytes, is skipped and returned', async () => {
    const files = memoryFiles()
    const log = begin(files, true)
    await log.append([put(1, 1)])
    const first = lastBytes(files).length
    const waiting = [log.append([put(2, new Uint8Array(3000).fill(7))]), log.append([put(3, 3)])]
    for (const [from, to] of [[first], [1024, 1536]] as const) {
      const { values, notices } = await recovered(damaged(files, (bytes) => bytes.fill(0, from, to)))
      expect(values).toEqual(await valuesOf([put(1, 1)]))
      expect(notices).toHaveLength(1)
    }
    // A later record that was written when this one was known to be on the medium shows that it is damage.
    await Promise.all(waiting)
    await log.append([put(4, 4)])
    const later = damaged(files, (bytes) => bytes.fill(0, 1024, 1536))
    expect(await messageOf(recovered(later))).toBe(
      sentence('/log/0000000001.wal', first, 'a record is damaged'),
    )
  })

  it('of a power failure is also skipped when the next file reached the medium first', async () => {
    const files = memoryFiles()
    const log = begin(files, true)
    await log.append([put(1, 1)])
    const [first] = pathsIn(files) as [string]
    const { length } = lastBytes(files)
    const waiting = [log.append([put(2, new Uint8Array(5 << 20).fill(7))])]
    log.retire()
    const begun = crash(files)
    waiting.push(log.append([put(3, 3)]))
    const written = crash(files)
    await Promise.all(waiting)
    await log.append([put(4, 4)])
    const acknowledged = crash(files)
    for (const size of [length, length + 10, length + 4096]) {
      const lose = (copy: MemoryFiles): MemoryFiles => {
        const bytes = copy.contents.get(first) as Buffer
        return memoryFiles(new Map(copy.contents).set(first, bytes.subarray(0, size)))
      }
      for (const copy of [begun, written]) {
        const { values, notices } = await recovered(lose(copy))
        expect(values).toEqual(await valuesOf([put(1, 1)]))
        expect(notices).toHaveLength((size > length ? 1 : 0) + (copy === written ? 1 : 0))
      }
      const problem = size === length ? 'record 2 is missing' : 'a record is damaged'
      expect(await messageOf(recovered(lose(acknowledged)))).toBe(sentence(first, length, problem))
    }
  })
})
