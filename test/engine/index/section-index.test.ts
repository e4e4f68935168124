/** The index against a look at every block, while the chain grows, turns to another branch, is cut, and is opened again. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import type { Header } from '../../../src/chain/header.ts'
import { toFixedHex } from '../../../src/encoding/hex.ts'
import { SECTION_BLOCKS } from '../../../src/engine/index/section.ts'
import { type IndexedBlock, SectionIndex } from '../../../src/engine/index/section-index.ts'
import { silentLogger } from '../../../src/logger.ts'
import { openStore } from '../../../src/store/level.ts'
import type { SectionRecord } from '../../../src/store/records.ts'
import { indexTables } from '../../../src/store/tables.ts'

/** A chain of numbered blocks; a block's only term is decided by its hash, and many have none. */
async function world() {
  const store = await openStore({ chain: 'regtest', chainId: 33 })
  const { logSections: table } = indexTables(store)
  const chain: ExecutedBlock[] = []
  let made = 0
  let looked = 0
  const termOf = ({ hash }: Pick<IndexedBlock, 'hash'>): number | undefined => {
    const [, salt = 0] = /([0-9a-f]{4})$/.exec(hash)?.map((digits) => Number.parseInt(digits, 16)) ?? []
    return salt % 7 === 0 ? salt % 3 : undefined
  }
  function make(): ExecutedBlock {
    const hash = toFixedHex(BigInt(++made), 32)
    const header = { number: chain.length, parentHash: chain.at(-1)?.hash ?? '0x' } as Header
    return { hash, block: { header, transactions: [], uncles: [] } } as unknown as ExecutedBlock
  }
  chain.push(make())
  const standing = (height: number) => {
    const block = chain[height]
    return block && { hash: block.hash, header: block.block.header }
  }
  const blockchain = {
    get head() {
      return chain.at(-1) as ExecutedBlock
    },
    headerAt: standing,
    hashAt: (height: number) => chain[height]?.hash,
  }
  const open = () =>
    new SectionIndex({
      blockchain,
      store,
      table,
      logger: silentLogger,
      bounds: { first: 0, lowest: 0 },
      contents(block, mark) {
        looked++
        const term = termOf(block)
        if (term !== undefined) mark(term)
      },
    })
  let index = open()
  return {
    chain,
    looked: () => looked,
    reopen() {
      index = open()
    },
    /** Replaces blocks at the end by others; the index gets the update unless `notified` is false. */
    move(removed: number, added: number, notified = true) {
      const gone = chain.splice(chain.length - removed, removed).reverse()
      const come = Array.from({ length: added }, () => {
        const block = make()
        chain.push(block)
        return block
      })
      if (notified) index.follow({ removed: gone, added: come })
    },
    async find(
      term: number,
      from: number,
      to: number,
      yieldIfDue: Parameters<SectionIndex['candidates']>[3],
    ) {
      const found: number[] = []
      for await (const heights of index.candidates([[[term]]], from, to, yieldIfDue)) found.push(...heights)
      return found
    },
    bruteForce: (term: number, from: number, to: number) =>
      chain
        .slice(from, to + 1)
        .filter((block) => termOf(block) === term)
        .map(({ block }) => block.header.number),
    /** Turns a bit of a stored section, one of its checksum unless given another place. */
    async damage(section: number, fromEnd = 1) {
      const put = table.put(section, table.get(section) as SectionRecord)
      if (put.type !== 'put') throw new Error('a section is put')
      const value = put.value.slice()
      value[value.length - fromEnd] = (value[value.length - fromEnd] as number) ^ 1
      await store.batch([{ ...put, value }])
    },
    close: () => store.close(),
  }
}

const never = () => undefined
/** Lengths that lie around the bounds of sections as often as not. */
const length = fc.oneof(
  fc.nat(40),
  fc.integer({ min: SECTION_BLOCKS - 3, max: SECTION_BLOCKS + 3 }),
  fc.nat(2 * SECTION_BLOCKS),
)
const step = fc.oneof(
  fc.record({
    kind: fc.constant('move' as const),
    removed: fc.oneof(fc.constant(0), length),
    added: length,
    notified: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('find' as const), term: fc.nat(2), from: length, blocks: length }),
  fc.record({ kind: fc.constant('reopen' as const) }),
)

describe('a section index', () => {
  it('finds the same as a scan of all blocks, whatever the changes of the chain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
        const { chain, move, find, bruteForce, reopen, close } = await world()
        for (const one of steps) {
          if (one.kind === 'move') move(Math.min(one.removed, chain.length - 1), one.added, one.notified)
          else if (one.kind === 'reopen') reopen()
          else {
            const from = Math.min(one.from, chain.length - 1)
            const to = Math.min(from + one.blocks, chain.length - 1)
            expect(await find(one.term, from, to, never)).toEqual(bruteForce(one.term, from, to))
          }
        }
        const last = chain.length - 1
        expect(await find(0, 0, last, never)).toEqual(bruteForce(0, 0, last))
        await close()
      }),
      { numRuns: 60 },
    )
  })

  it('rebuilds a section with a damaged record', async () => {
    const { chain, move, find, bruteForce, looked, reopen, damage, close } = await world()
    move(0, 2 * SECTION_BLOCKS - 1)
    await damage(0)
    await damage(1, 20)
    reopen()
    const before = looked()
    const last = chain.length - 1
    for (const term of [0, 1, 2]) expect(await find(term, 0, last, never)).toEqual(bruteForce(term, 0, last))
    expect(looked() - before).toBe(chain.length)
    await close()
  })

  it('reads each block once, when it is added', async () => {
    const { move, find, looked, chain, close } = await world()
    move(0, 3 * SECTION_BLOCKS)
    expect(looked()).toBe(chain.length)
    for (const term of [0, 1, 2]) await find(term, 0, chain.length - 1, never)
    expect(looked()).toBe(chain.length)
    await close()
  })

  it('reads finished sections from disk when it is opened again, and builds the last one at the first query', async () => {
    const { move, find, looked, reopen, bruteForce, chain, close } = await world()
    move(0, 2 * SECTION_BLOCKS + 99)
    const before = looked()
    reopen()
    expect(looked()).toBe(before)
    expect(await find(1, 0, chain.length - 1, never)).toEqual(bruteForce(1, 0, chain.length - 1))
    expect(looked()).toBe(before + 100)
    await find(1, 0, chain.length - 1, never)
    expect(looked()).toBe(before + 100)
    await close()
  })

  it('reads only the requested blocks of a short range', async () => {
    const { move, find, looked, reopen, bruteForce, chain, close } = await world()
    move(0, SECTION_BLOCKS + 500)
    reopen()
    const before = looked()
    expect(await find(1, chain.length - 10, chain.length - 1, never)).toEqual(
      bruteForce(1, chain.length - 10, chain.length - 1),
    )
    expect(looked()).toBe(before + 10)
    await close()
  })

  it('does not use a section of another chain, in memory or on disk', async () => {
    const { move, find, reopen, bruteForce, chain, close } = await world()
    move(0, SECTION_BLOCKS + 5)
    await find(0, 0, 900, never)
    move(20, 40)
    expect(await find(0, 0, 1023, never)).toEqual(bruteForce(0, 0, 1023))
    reopen()
    move(100, 110)
    reopen()
    for (const term of [0, 1, 2])
      expect(await find(term, 0, chain.length - 1, never)).toEqual(bruteForce(term, 0, chain.length - 1))
    await close()
  })

  it('answers for the current chain before it gets the last update', async () => {
    const { move, find, bruteForce, looked, chain, close } = await world()
    move(0, 500)
    move(100, 100, false)
    const before = looked()
    for (const term of [0, 1, 2]) expect(await find(term, 0, 500, never)).toEqual(bruteForce(term, 0, 500))
    expect(looked()).toBe(before + 100)
    move(chain.length - 300, 0, false)
    expect(await find(1, 0, 299, never)).toEqual(bruteForce(1, 0, 299))
    await close()
  })

  it('builds a section correctly while the chain changes', async () => {
    const { move, find, reopen, bruteForce, chain, close } = await world()
    move(0, SECTION_BLOCKS + 700)
    reopen()
    const chainWriter: readonly (readonly [removed: number, added: number])[] = [
      [0, 30],
      [10, 20],
      [300, 301],
      [0, 5],
    ]
    let pauses = 0
    const yieldIfDue = () => {
      const next = pauses++ % 150 === 149 ? chainWriter[(pauses - 150) / 150] : undefined
      if (next === undefined) return undefined
      return Promise.resolve().then(() => move(...next))
    }
    await find(0, SECTION_BLOCKS, chain.length - 1, yieldIfDue)
    expect(pauses).toBeGreaterThan(600)
    for (const term of [0, 1, 2])
      expect(await find(term, 0, chain.length - 1, never)).toEqual(bruteForce(term, 0, chain.length - 1))
    await close()
  })
})
