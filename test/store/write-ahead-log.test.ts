import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecordEncoder, SegmentReader } from '../../src/store/log-format.ts'
import type { Operation } from '../../src/store/table.ts'
import { begin, crash, damaged, lastBytes, pathsIn, put, recovered, valuesOf } from '../support/log-files.ts'
import { memoryFiles } from '../support/memory-files.ts'

const batches = fc.array(
  fc.array(
    fc.record({
      key: fc.uint8Array({ minLength: 1, maxLength: 40 }),
      value: fc.option(fc.uint8Array({ maxLength: 300 })),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  { maxLength: 8 },
)

describe('a write-ahead log', () => {
  it('returns what was appended before a crash', () =>
    fc.assert(
      fc.asyncProperty(batches, async (batches) => {
        const files = memoryFiles()
        const log = begin(files)
        const written: Operation[] = []
        for (const batch of batches) {
          const operations = batch.map(
            ({ key, value }): Operation =>
              value === null ? { type: 'del', key } : { type: 'put', key, value },
          )
          log.append(operations)
          written.push(...operations)
        }
        const copy = crash(files)
        await log.close()
        expect(await recovered(copy)).toEqual({ values: await valuesOf(written), notices: [] })
        expect(await recovered(files)).toEqual({ values: new Map(), notices: [] })
        expect(pathsIn(copy)).toEqual([])
      }),
    ))

  it('returns a batch of 130,000 operations, and one with an operation of a megabyte', async () => {
    const files = memoryFiles()
    const log = begin(files)
    log.append(
      Array.from({ length: 130_000 }, (_, key) => ({
        type: 'put',
        key: Uint8Array.of(1, key >> 16, key >> 8, key),
        value: Uint8Array.of(key),
      })),
    )
    log.append([put(7, 1), put(8, new Uint8Array(1 << 20).fill(3)), put(9, 2)])
    const { values, notices } = await recovered(crash(files))
    expect(values.size).toBe(130_003)
    expect(values.get('0101fbcf')).toEqual(Uint8Array.of(0xcf))
    expect(Buffer.alloc(1 << 20, 3).equals(values.get('0008') as Uint8Array)).toBe(true)
    expect(notices).toEqual([])
  })

  it('applies a batch of several records completely or not at all, truncated at any offset, and reports which', async () => {
    const files = memoryFiles()
    const log = begin(files)
    log.append([put(1, 1)])
    const first = lastBytes(files).length
    log.append([put(1, 2), put(2, new Uint8Array(200_000)), put(3, new Uint8Array(200_000)), put(4, 2)])
    const whole = lastBytes(files).length
    expect(whole).toBeGreaterThan(400_000)
    for (const length of [first + 1, first + 22, first + 23, first + 200_000, first + 200_100, whole - 1]) {
      const copy = damaged(files, (bytes) => bytes.subarray(0, length))
      expect(await recovered(copy), `cut off at ${length}`).toEqual({
        values: await valuesOf([put(1, 1)]),
        notices: [
          `The write-ahead log log/0000000001.wal, at byte ${first}: the last ${length - first} bytes, a write that was interrupted, are left out.`,
        ],
      })
    }
  })

  it('begins a new file when one is large, and drops the old one only on request', async () => {
    const files = memoryFiles()
    const log = begin(files)
    log.retire()
    expect(pathsIn(files)).toHaveLength(1)
    log.append([put(1, new Uint8Array(5 << 20))])
    const { sequence } = log.end
    log.retire()
    log.append([put(2, 2)])
    expect(pathsIn(files)).toHaveLength(2)
    log.drop(sequence - 1)
    expect((await recovered(crash(files))).values.size).toBe(2)
    log.drop(sequence)
    expect(pathsIn(files)).toHaveLength(1)
    await log.close()
    expect(pathsIn(files)).toHaveLength(0)
  })

  it('reads with little memory, and does not retain the largest batch', () => {
    const encoder = new RecordEncoder()
    const sizes: number[] = []
    encoder.encode([put(1, new Uint8Array(64 << 20)), put(2, 2)], 1, 0, ({ buffer }) => {
      sizes.push(buffer.byteLength)
    })
    // The long operation has memory of its own, which is not used again.
    expect(sizes[0]).toBeGreaterThan(64 << 20)
    expect(sizes[1]).toBeLessThan(1 << 20)
    let most = 0
    const reader = new SegmentReader({
      size: 64 << 20,
      close: () => {},
      read(into) {
        most = Math.max(most, into.length)
        return into.length
      },
    })
    expect(reader.record(32)).toBe('damaged')
    expect(most).toBeLessThan(1 << 20)
  })
})
