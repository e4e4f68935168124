/** The cache on disk: what it has is what was put into it, whatever becomes of its files. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccakHex } from '../../../../src/encoding/hash.ts'
import { type Hex, toFixedHex } from '../../../../src/encoding/hex.ts'
import { exportCache, importCache } from '../../../../src/state/remote/cache/archive.ts'
import { RemoteCache } from '../../../../src/state/remote/cache/block-cache.ts'
import {
  blockFolder,
  cacheScope,
  clearCache,
  limitCache,
  listCache,
} from '../../../../src/state/remote/cache/cache-directory.ts'
import type { CacheRecord } from '../../../../src/state/remote/cache/records.ts'
import { saying } from '../../../support/refusals.ts'
import { testDeps } from '../../../support/remote.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const CHAIN = 33
const idOf = (number: number) => ({ number, hash: toFixedHex(BigInt(number) + 0xabcd_0000n, 32) })
const BLOCK = idOf(7)
const SCOPE = cacheScope(['http://node.example'])

/** So that of two records of one thing the first stays. */
const isProven = (of: Hex) => BigInt(of) % 2n === 1n
const address = fc.integer({ min: 0, max: 5 }).map((value) => toFixedHex(BigInt(value), 20))
const account = fc.record({
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n }),
  balance: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  codeHash: fc.uint8Array({ minLength: 1, maxLength: 4 }).map(keccakHex),
  isContract: fc.boolean(),
})
const record: fc.Arbitrary<CacheRecord> = fc.oneof(
  fc
    .record({
      kind: fc.constant('account' as const),
      address,
      account: fc.option(account, { nil: undefined }),
    })
    .map((one) => ({ ...one, isProven: isProven(one.address) })),
  fc
    .record({
      kind: fc.constant('cell' as const),
      address,
      slot: fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
      value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    })
    .map((one) => ({ ...one, isProven: isProven(one.address) })),
  fc.record({ kind: fc.constant('code' as const), code: fc.uint8Array({ maxLength: 100 }) }),
  fc.record({ kind: fc.constant('answer' as const), key: fc.string(), value: fc.jsonValue() }),
)

/** Records in the order in which memory holds them; the first of a kind for a key stays. */
function keyOf(one: CacheRecord): string {
  if (one.kind === 'account') return `account ${one.address}`
  if (one.kind === 'cell') return `cell ${one.address} ${one.slot}`
  return one.kind === 'code' ? `code ${keccakHex(one.code)}` : `answer ${one.key}`
}
const comparable = (one: CacheRecord) =>
  one.kind === 'answer' ? { ...one, value: JSON.stringify(one.value) } : one

function expectedOf(records: readonly CacheRecord[]): Map<string, unknown> {
  const expected = new Map<string, unknown>()
  for (const one of records) if (!expected.has(keyOf(one))) expected.set(keyOf(one), comparable(one))
  return expected
}

async function openCache(root: string, bytes = 1 << 30) {
  const deps = testDeps()
  return { deps, cache: new RemoteCache({ root, chainId: CHAIN, scope: SCOPE, bytes }, deps) }
}

async function store(
  root: string,
  batches: readonly (readonly CacheRecord[])[],
  id = BLOCK,
  bytes = 1 << 30,
) {
  const { cache, deps } = await openCache(root, bytes)
  const block = await cache.block(id)
  for (const batch of batches) block.put(batch)
  await cache.close()
  return deps.notices
}

async function load(root: string, id = BLOCK) {
  const { cache, deps } = await openCache(root)
  const { memory } = await cache.block(id)
  await cache.close()
  return {
    found: new Map([...memory.records()].map((one) => [keyOf(one), comparable(one)])),
    notices: deps.notices,
  }
}

const folderOf = (root: string, id = BLOCK) => blockFolder(root, CHAIN, id, SCOPE)
const partsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.part'))

describe('the cache', () => {
  it('keeps its records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(record, { minLength: 1 }), { maxLength: 5 }), async (batches) => {
        const root = temporaryFolder()
        expect(await store(root, batches)).toEqual([])
        expect((await load(root)).found).toEqual(expectedOf(batches.flat()))
      }),
      { numRuns: 40 },
    )
  })

  it('never returns a wrong value from damaged files', async () => {
    const damage = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.integer({ min: 0, max: 7 }) }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
      fc.record({
        kind: fc.constant('append' as const),
        bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }),
      }),
      fc.record({
        kind: fc.constant('zero' as const),
        at: fc.nat(),
        length: fc.integer({ min: 1, max: 200 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(record, { minLength: 1 }), { minLength: 1, maxLength: 4 }),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        async (batches, damages) => {
          const root = temporaryFolder()
          await store(root, batches)
          const [name = ''] = partsIn(folderOf(root))
          const path = join(folderOf(root), name)
          let bytes = readFileSync(path)
          for (const one of damages) {
            if (bytes.length === 0) break
            if (one.kind === 'append') bytes = Buffer.concat([bytes, one.bytes])
            else if (one.kind === 'cut') bytes = bytes.subarray(0, one.at % bytes.length)
            else if (one.kind === 'zero')
              bytes
                .subarray(one.at % bytes.length)
                .subarray(0, one.length)
                .fill(0)
            else bytes[one.at % bytes.length] = (bytes[one.at % bytes.length] as number) ^ (1 << one.bit)
          }
          writeFileSync(path, bytes)
          const expected = expectedOf(batches.flat())
          // What is read is right; what is lost can be put again, and is there afterwards.
          for (const [key, value] of (await load(root)).found) expect(value).toEqual(expected.get(key))
          await store(root, batches)
          expect((await load(root)).found).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('replaces an unproven record by a proven one, and never replaces a proven one', async () => {
    const root = temporaryFolder()
    const cell = (value: bigint, proven: boolean): CacheRecord => {
      return { kind: 'cell', address: toFixedHex(2n, 20), slot: 1n, value, isProven: proven }
    }
    await store(root, [[cell(1n, false)], [cell(2n, false)], [cell(3n, true)], [cell(4n, true)]])
    expect([...(await load(root)).found.values()]).toEqual([cell(3n, true)])
    await store(root, [[cell(5n, false)]])
    expect([...(await load(root)).found.values()]).toEqual([cell(3n, true)])
  })

  it('moves a corrupt file away, keeps the records that were read from it, and reports it once', async () => {
    const root = temporaryFolder()
    const cell = (slot: bigint): CacheRecord => ({
      kind: 'cell',
      address: toFixedHex(1n, 20),
      slot,
      value: slot,
      isProven: false,
    })
    await store(root, [[cell(1n)], [cell(2n)]])
    const folder = folderOf(root)
    const path = join(folder, partsIn(folder)[0] ?? '')
    const bytes = readFileSync(path)
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1
    writeFileSync(path, bytes)
    const first = await load(root)
    expect([...first.found.keys()]).toEqual([keyOf(cell(1n))])
    expect(first.notices).toEqual([
      `The cache file ${path} is corrupt; it was put aside, and what it held is fetched again.`,
    ])
    expect(readdirSync(folder).filter((name) => name.endsWith('.aside'))).toHaveLength(1)
    expect(await load(root)).toEqual({ found: first.found, notices: [] })
  })

  it('does not read a file of another block', async () => {
    const root = temporaryFolder()
    await store(root, [[{ kind: 'cell', address: toFixedHex(1n, 20), slot: 1n, value: 1n, isProven: false }]])
    const [name = ''] = partsIn(folderOf(root))
    const other = idOf(8)
    mkdirSync(folderOf(root, other), { recursive: true })
    copyFileSync(join(folderOf(root), name), join(folderOf(root, other), name))
    const { found, notices } = await load(root, other)
    expect(found.size).toBe(0)
    const path = join(folderOf(root, other), name)
    expect(notices).toEqual([
      `The cache file ${path} is foreign; it was put aside, and what it held is fetched again.`,
    ])
  })

  it('has the records of several writers at the same time', async () => {
    const root = temporaryFolder()
    const cell = (slot: number): CacheRecord => ({
      kind: 'cell',
      address: toFixedHex(1n, 20),
      slot: BigInt(slot),
      value: BigInt(slot + 1),
      isProven: false,
    })
    const writers = await Promise.all([0, 1, 2].map(() => openCache(root)))
    const blocks = await Promise.all(writers.map(({ cache }) => cache.block(BLOCK)))
    for (let slot = 0; slot < 60; slot++) blocks[slot % 3]?.put([cell(slot)])
    await Promise.all(writers.map(({ cache }) => cache.close()))
    expect((await load(root)).found.size).toBe(60)
  })

  it('merges the files of processes that ended', async () => {
    const root = temporaryFolder()
    const folder = folderOf(root)
    const cell = (slot: number): CacheRecord => ({
      kind: 'cell',
      address: toFixedHex(1n, 20),
      slot: BigInt(slot),
      value: 1n,
      isProven: false,
    })
    for (let slot = 0; slot < 10; slot++) await store(root, [[cell(slot)]])
    // No process has this id, and the files are older than any that may be in use.
    for (const name of partsIn(folder)) {
      const ended = join(folder, name.replace(/^\d+/, '2147483646'))
      copyFileSync(join(folder, name), ended)
      utimesSync(ended, 1, 1)
      writeFileSync(join(folder, name), '')
    }
    expect((await load(root)).found.size).toBe(10)
    expect(partsIn(folder).filter((name) => name.startsWith('2147483646'))).toEqual([])
    expect((await load(root)).found.size).toBe(10)
  })
})

describe('the size', () => {
  const code = (byte: number): CacheRecord => ({ kind: 'code', code: new Uint8Array(1000).fill(byte) })

  it('is limited by removing the least recently used files', async () => {
    const root = temporaryFolder()
    for (const number of [1, 2, 3]) {
      await store(root, [[code(number)]], idOf(number))
      utimesSync(folderOf(root, idOf(number)), 1000 + number, 1000 + number)
    }
    expect((await listCache(root)).map(({ block }) => block.number)).toEqual([3, 2, 1])
    await store(root, [[code(4)]], idOf(4), 3500)
    expect((await listCache(root)).map(({ block }) => block.number).sort()).toEqual([2, 3, 4])
    expect(await limitCache(root, 0, new Set([folderOf(root, idOf(3))]))).toBeLessThan(1200)
    expect((await listCache(root)).map(({ block }) => block.number)).toEqual([3])
  })

  it('that is too small for one block stops writes, but not the fork', async () => {
    const root = temporaryFolder()
    const notices = await store(root, [[code(1)], [code(2)], [code(3)]], BLOCK, 2500)
    expect(notices).toEqual([
      'The cache of the fork is not written any more: it would exceed 2500 bytes (--fork-cache-size).',
    ])
    expect((await load(root)).found.size).toBe(2)
  })

  it.skipIf(process.platform !== 'linux')('is disabled when its folder cannot be created', async () => {
    expect(await store('/proc/tandem', [[code(1)]])).toEqual([
      "The cache of the fork is not written any more: ENOENT: no such file or directory, mkdir '/proc/tandem'.",
    ])
  })

  it('of a cleared cache is zero, and other files stay', async () => {
    const root = temporaryFolder()
    await store(root, [[code(1)]])
    writeFileSync(join(root, 'own.txt'), 'mine')
    expect(await clearCache(root, 30)).toEqual({ blocks: 0, bytes: 0 })
    expect((await clearCache(root)).blocks).toBe(1)
    expect(await listCache(root)).toEqual([])
    expect(readFileSync(join(root, 'own.txt'), 'utf8')).toBe('mine')
  })
})

describe('an archive', () => {
  const records: CacheRecord[] = [
    { kind: 'code', code: Uint8Array.of(1, 2) },
    { kind: 'answer', key: 'eth_chainId []', value: '0x21' },
  ]

  it('moves a cache to another machine', async () => {
    const [root, other] = [temporaryFolder(), temporaryFolder()]
    await store(root, [records])
    const file = join(root, 'cache.gz')
    expect(await exportCache(root, file)).toEqual({ blocks: 1, records: 2 })
    expect(await importCache(other, file, 1 << 20, 1000)).toEqual({ blocks: 1, records: 2 })
    expect(await load(other)).toEqual(await load(root))
    expect(await importCache(other, file, 1 << 20, 1000)).toEqual({ blocks: 1, records: 0 })
    expect(partsIn(folderOf(other))).toHaveLength(1)
  })

  it('of another format, or a damaged one, changes nothing', async () => {
    const [root, other] = [temporaryFolder(), temporaryFolder()]
    await store(root, [records])
    const file = join(root, 'cache.gz')
    await exportCache(root, file)
    const whole = readFileSync(file)
    const no = (path: string, why: string) =>
      saying(`The file ${path} is not a fork cache of this program (${why}). Nothing was imported.`)
    const damaged: [string, Buffer, string][] = [
      ['text', Buffer.from('hello'), 'incorrect header check'],
      ['half', whole.subarray(0, whole.length >> 1), 'unexpected end of file'],
    ]
    for (const [name, bytes, why] of damaged) {
      writeFileSync(join(root, name), bytes)
      await expect(importCache(other, join(root, name), 1 << 20, 1000)).rejects.toThrow(
        no(join(root, name), why),
      )
    }
    await expect(importCache(other, file, 20, 1000)).rejects.toThrow(
      no(file, 'Cannot create a Buffer larger than 20 bytes'),
    )
    const none = join(root, 'none')
    await expect(importCache(other, none, 20, 1000)).rejects.toThrow(
      no(none, `ENOENT: no such file or directory, open '${none}'`),
    )
    await expect(exportCache(other, file)).rejects.toThrow(
      saying(`There is nothing to export: the fork cache in ${other} is empty.`),
    )
    expect(await listCache(other)).toEqual([])
  })
})
