/** Verification of stored chains: none of the reference node's has a fault, and every flipped bit is named. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeBlock } from '../../../src/chain/block.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import { headerHash } from '../../../src/chain/header.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import type { AuditedTables } from '../../../src/engine/verification/audited-tables.ts'
import { checkIndexes } from '../../../src/engine/verification/check-indexes.ts'
import { type Fault, verifyStore } from '../../../src/engine/verification/verify.ts'
import { createNode } from '../../../src/index.ts'
import { openStoreForReading, type Store } from '../../../src/store/level.ts'
import { createReadOnlyStore } from '../../../src/store/read-only.ts'
import { chainTables, type SectionRecord } from '../../../src/store/tables.ts'
import type { Level } from '../../../src/store/write-behind.ts'
import { mineHeader } from '../../support/mined-header.ts'
import { referenceBlocks } from '../../support/reference-files.ts'

const config = CHAINS.regtest

/** First bytes of keys, as the disk format has them (src/store/tables.ts). */
const TABLES: Readonly<Record<string, number>> = {
  headers: 1,
  bodies: 2,
  receipts: 3,
  heights: 4,
  canonical: 5,
  transactions: 6,
  pool: 7,
  meta: 8,
  nodes: 9,
  code: 10,
}

type Entry = readonly [Uint8Array, Uint8Array]

/** A database of these entries, which are in the order of their keys. */
function levelOf(entries: readonly Entry[]): Level {
  const values = new Map(entries.map(([key, value]) => [Buffer.from(key).toString('hex'), value]))
  return {
    getSync: (key) => values.get(Buffer.from(key).toString('hex')),
    async *iterator({ gte, lt }) {
      for (const [key, value] of entries) {
        if (Buffer.compare(key, gte) >= 0 && Buffer.compare(key, lt) < 0) yield [key, value]
      }
    },
    batch: () => Promise.reject(new Error('nothing is written')),
    close: async () => {},
  }
}

async function verify(store: Store, from = 1) {
  const faults: Fault[] = []
  const result = await verifyStore({
    store,
    config,
    from,
    onFault: (fault) => faults.push(fault),
    onStep: () => {},
  })
  return { ...result, faults }
}

let folder: string
let entries: Entry[]
/** The first blocks of the reference node's chain with uncles and contracts, and a transaction that waits. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tandem-verify-'))
  const dataDir = join(folder, 'data')
  const node = await createNode({ dataDir, mining: 'manual' })
  for (const name of ['rpc-chain', 'uncles']) {
    for (const raw of referenceBlocks(name).slice(0, 14)) {
      await node.engine.commands.importBlock(decodeBlock(fromHex(raw), config))
    }
  }
  const [from] = (await node.request({ method: 'eth_accounts' })) as Hex[]
  await node.request({ method: 'eth_sendTransaction', params: [{ from, to: from }] })
  await node.close()
  const { store } = await openStoreForReading(dataDir)
  entries = []
  for await (const entry of store.entries(Uint8Array.of(0), Uint8Array.of(255))) entries.push(entry)
  await store.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a chain that is in order', () => {
  it('has no fault, from any height, its blocks beside the chain included', async () => {
    const store = createReadOnlyStore(levelOf(entries), [])
    const whole = await verify(store)
    expect(whole.faults).toEqual([])
    const blocks = entries.filter(([key]) => key[0] === TABLES.headers).length
    expect(whole.executed).toBe(blocks - 1)
    const part = await verify(store, (whole.head as number) - 1)
    expect(part.faults).toEqual([])
    expect(part.executed).toBeGreaterThan(0)
    expect(part.executed).toBeLessThan(blocks / 2)
  })
})

describe('a flipped bit', () => {
  it.each(Object.keys(TABLES))('in the table %s is found and named', async (table) => {
    const level = levelOf(entries)
    const own = entries.filter(([key]) => key[0] === TABLES[table])
    expect(own.length).toBeGreaterThan(0)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(own.length - 1),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(7),
        async (i, at, bit) => {
          const [key, stored] = own[i] as Entry
          const value = stored.slice()
          const byte = Math.floor(at * value.length)
          // The order of arrival of a transaction that waits: any is as good.
          fc.pre(table !== 'pool' || byte !== 2)
          value[byte] = (value[byte] as number) ^ (1 << bit)
          const { faults } = await verify(createReadOnlyStore(level, [{ type: 'put', key, value }]))
          const name =
            table === 'meta'
              ? 'head'
              : table === 'heights' || table === 'canonical'
                ? String(key.slice(1).reduce((height, digit) => height * 256 + digit, 0))
                : `0x${Buffer.from(key.slice(1)).toString('hex')}`
          expect(faults).toContainEqual(expect.objectContaining({ table, key: name }))
        },
      ),
      { numRuns: 10 },
    )
  })

  it('that is gone altogether is found: each kind of entry', async () => {
    const level = levelOf(entries)
    for (const table of ['headers', 'bodies', 'receipts', 'heights', 'canonical', 'transactions', 'meta']) {
      const [key] = entries.filter((entry) => entry[0][0] === TABLES[table]).at(-1) as Entry
      const { faults } = await verify(createReadOnlyStore(level, [{ type: 'del', key }]))
      expect(faults.length, table).toBeGreaterThan(0)
    }
  })
})

describe('a block whose entries fit one another', () => {
  it('is found when its execution gives another state', async () => {
    const level = levelOf(entries)
    const tables = chainTables(createReadOnlyStore(level, []), config)
    const old = tables.meta.get('head') as Hex
    const record = tables.headers.get(old)
    const [body, receipts] = [tables.bodies.get(old), tables.receipts.get(old)]
    if (record === undefined || body === undefined || receipts === undefined)
      throw new Error('there is no head')
    const { header, totalDifficulty } = record
    const stateRoot = tables.headers.get(header.parentHash)?.postState as Hex
    const changed = mineHeader({ ...header, stateRoot }, config, { time: 0 })
    const hash = headerHash(changed, config)
    const others = (tables.heights.get(header.number) ?? []).filter((other) => other !== old)
    const writes = [
      tables.headers.del(old),
      tables.bodies.del(old),
      tables.receipts.del(old),
      tables.headers.put(hash, { header: changed, totalDifficulty, postState: stateRoot }),
      tables.bodies.put(hash, body),
      tables.receipts.put(hash, receipts),
      tables.heights.put(header.number, [...others, hash]),
      tables.canonical.put(header.number, hash),
      tables.meta.put('head', hash),
      ...body.transactions.map((transaction, index) =>
        tables.transactions.put(transaction.hash, { blockHash: hash, index }),
      ),
    ].filter((write) => write.type !== 'after')
    const { faults } = await verify(createReadOnlyStore(level, writes))
    expect(faults).toEqual([
      expect.objectContaining({
        table: 'headers',
        key: hash,
        height: header.number,
        problem: 'its execution gives another stateRoot',
        expected: header.stateRoot,
        found: stateRoot,
      }),
    ])
    // Below the height from which blocks are executed, only the entries are looked at.
    expect((await verify(createReadOnlyStore(level, writes), header.number + 1)).faults).toEqual([])
  })
})

describe('a section of an index', () => {
  const header = decodeBlock(fromHex(referenceBlocks('rpc-chain')[0] as Hex), config).header
  const hashOf = (height: number): Hex => `0x${height.toString(16).padStart(64, '0')}`
  /** Every block has the header of one with logs. */
  const bloom = new Uint8Array(256)
  bloom[255] = 1

  async function faultsOf(record: SectionRecord): Promise<unknown[]> {
    const faults: unknown[] = []
    await checkIndexes({
      canonical: { get: hashOf },
      headers: { get: () => ({ header: { ...header, logsBloom: bloom } }) },
      bodies: { get: () => ({ transactions: [], uncles: [] }) },
      participantSections: { async *entries() {} },
      logSections: {
        async *entries() {
          yield [0, record]
        },
        fault: (section: number, problem: string) => faults.push([section, problem]),
      },
    } as unknown as AuditedTables)
    return faults
  }

  it('is compared with its blocks while its last block is canonical', async () => {
    // Two rows, of the bloom's bit 0 and of any log (2048): number of rows; term and end of each; 128 bytes each.
    const rows = new Uint8Array(20 + 2 * 128).fill(255)
    const view = new DataView(rows.buffer)
    for (const [i, value] of [2, 0, 20 + 128, 2048, 20 + 256].entries()) view.setUint32(4 * i, value, true)
    const last = hashOf(1023)
    expect(await faultsOf({ last, rows })).toEqual([])
    rows[200] = 254
    expect(await faultsOf({ last, rows })).toEqual([[0, expect.stringContaining('not that of its blocks')]])
    expect(await faultsOf({ last: hashOf(1022), rows })).toEqual([])
  })
})
