/** Verification of stored chains: none of the reference node's has a fault, and every flipped bit is named. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBitcoin, encodeState } from '../../../src/bitcoin/bitcoin.ts'
import { decodeBlock } from '../../../src/chain/block.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import { headerHash } from '../../../src/chain/header.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import type { AuditedTables } from '../../../src/engine/verification/audited-tables.ts'
import { createIndexChecks } from '../../../src/engine/verification/check-indexes.ts'
import { type Fault, verifyStore } from '../../../src/engine/verification/verify.ts'
import { createNode } from '../../../src/index.ts'
import { openStoreForReading, type Store } from '../../../src/store/level.ts'
import type { Level } from '../../../src/store/level-entries.ts'
import type { KeptSnapshot } from '../../../src/store/node-records.ts'
import { createReadOnlyStore } from '../../../src/store/read-only.ts'
import type { SectionRecord } from '../../../src/store/records.ts'
import {
  accountTables,
  allTables,
  chainTables,
  indexTables,
  logPosition,
  parentChainTable,
  peerTables,
} from '../../../src/store/tables.ts'
import { buildInfo, FILE } from '../../support/build-infos.ts'
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
  logSections: 11,
  participantSections: 12,
  bans: 13,
  peerCounters: 14,
  internals: 15,
  senderNonces: 16,
  accountBlocks: 17,
  creators: 18,
  keptSnapshots: 19,
  replication: 20,
  checkpoint: 21,
  flushedLog: 22,
  parentChain: 23,
  compilations: 24,
  compilationOrder: 25,
  compiledCodes: 26,
  verifications: 27,
  minerSections: 28,
}
/** Those whose keys are heights or numbers, and names. */
const NUMBERED = [
  'heights',
  'canonical',
  'logSections',
  'participantSections',
  'minerSections',
  'keptSnapshots',
  'compilationOrder',
]
const NAMED = ['meta', 'bans', 'peerCounters', 'replication', 'checkpoint', 'flushedLog', 'parentChain']

type Entry = readonly [Uint8Array, Uint8Array]

/** A database of these entries, which are in the order of their keys. */
function levelOf(entries: readonly Entry[]): Level {
  const values = new Map(entries.map(([key, value]) => [Buffer.from(key).toString('hex'), value]))
  return {
    isOpen: true,
    getSync: (key) => values.get(Buffer.from(key).toString('hex')),
    async *iterator({ gte, lt }) {
      for (const [key, value] of entries) {
        if (Buffer.compare(key, gte) >= 0 && Buffer.compare(key, lt) < 0) yield [key, value]
      }
    },
    batch: () => Promise.reject(new Error('nothing is written')),
    reopen: async () => {},
    close: async () => {},
  }
}

async function verify(store: Store, from = 1) {
  const faults: Fault[] = []
  const result = await verifyStore({
    store,
    problems: [],
    config,
    from,
    onFault: (fault) => faults.push(fault),
    onStep: () => {},
  })
  return { ...result, faults }
}

let folder: string
let entries: Entry[]
/**
 * The first blocks of the reference node's chains with uncles, contracts and calls among them, a transaction that waits, a
 * kept snapshot, a ban with counters, a position in a cluster's log, a Bitcoin chain of three blocks, sources, and a section
 * of each index, which belongs to no block as the chain is too short.
 */
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
  const [compilation = '0x'] = await node.addSources(buildInfo('solc-0.5.17'))
  const noted = { codeHash: compilation, compilation, file: FILE, name: 'Box' }
  await node.engine.sources.note({ address: from as Hex, ...noted })
  await node.request({ method: 'eth_sendTransaction', params: [{ from, to: from }] })
  await node.request({ method: 'evm_snapshot', params: ['here', { keep: true }] })
  await node.request({ method: 'sco_banAddress', params: ['203.0.113.0/24'] })
  await node.close()
  const { store } = await openStoreForReading(dataDir)
  entries = []
  for await (const entry of store.entries(Uint8Array.of(0), Uint8Array.of(255))) entries.push(entry)
  const section = { last: `0x${'5a'.repeat(32)}`, rows: Uint8Array.of(0, 0, 0, 0) } as const
  const { logSections, participantSections, minerSections } = indexTables(store)
  const { peerCounters } = peerTables(store)
  const bitcoin = createBitcoin({ clock: () => 1_700_000_000, seed: new Uint8Array(32) })
  bitcoin.mine(2, Uint8Array.of(0x51))
  const parentChain = parentChainTable(store)
  for (const write of [
    ...encodeState(bitcoin.snapshot()).map(([key, value]) => parentChain.put(key, value)),
    logSections.put(0, section),
    participantSections.put(0, section),
    minerSections.put(0, section),
    peerCounters.put('203.0.113.9', { score: -5, punishments: 1 }),
    logPosition(store).put({ cluster: 'c1', sequence: 7, term: 2 }),
  ]) {
    if (write.type === 'put') entries.push([write.key, write.value])
  }
  entries.sort(([a], [b]) => Buffer.compare(a, b))
  await store.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('an intact chain', () => {
  it('has no fault, from any height, side blocks included', async () => {
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

describe('a Bitcoin chain', () => {
  it('is reported when its entries lead to no chain', async () => {
    const best = entries.find(([key]) => key[0] === TABLES.parentChain) as Entry
    const reader = createReadOnlyStore(levelOf(entries), [])
    const write = parentChainTable(reader).put('00', new Uint8Array(36))
    if (write.type !== 'put') throw new Error('nothing was written')
    const { faults } = await verify(createReadOnlyStore(levelOf(entries), [write]))
    expect(Buffer.from(best[0].slice(1)).toString()).toBe('00')
    expect(faults).toEqual([expect.objectContaining({ table: 'parentChain', key: 'all' })])
  })
})

describe('a flipped bit', () => {
  it('is found in every table of the disk format', () => {
    const reader = createReadOnlyStore(levelOf([]), [])
    expect(Object.keys(allTables(reader, config)).sort()).toEqual(Object.keys(TABLES).sort())
  })

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
          value[byte] = (value[byte] as number) ^ (1 << bit)
          const { faults } = await verify(createReadOnlyStore(level, [{ type: 'put', key, value }]))
          const name = NAMED.includes(table)
            ? Buffer.from(key.slice(1)).toString()
            : NUMBERED.includes(table)
              ? String(key.slice(1).reduce((height, digit) => height * 256 + digit, 0))
              : `0x${Buffer.from(key.slice(1)).toString('hex')}`
          expect(faults).toContainEqual(expect.objectContaining({ table, key: name }))
        },
      ),
      { numRuns: 10 },
    )
  })

  it.each(Object.keys(TABLES))('in a key of the table %s is found', async (table) => {
    const own = entries.filter(([key]) => key[0] === TABLES[table])
    const [old, value] = own[own.length >> 1] as Entry
    for (const [byte, bit] of [
      [old.length - 1, 0],
      [old.length >> 1, 5],
      [0, 6],
    ] as const) {
      const key = old.slice()
      key[byte] = (key[byte] as number) ^ (1 << bit)
      const { faults } = await verify(
        createReadOnlyStore(levelOf(entries), [
          { type: 'del', key: old },
          { type: 'put', key, value },
        ]),
      )
      expect(faults.length, `byte ${byte}`).toBeGreaterThan(0)
    }
  })

  it('that is missing is found, for each kind of entry', async () => {
    const level = levelOf(entries)
    const chain = ['headers', 'bodies', 'receipts', 'heights', 'canonical', 'transactions', 'meta']
    for (const table of [...chain, 'internals', 'senderNonces', 'accountBlocks', 'creators']) {
      const [key] = entries.filter((entry) => entry[0][0] === TABLES[table]).at(-1) as Entry
      const { faults } = await verify(createReadOnlyStore(level, [{ type: 'del', key }]))
      expect(faults.length, table).toBeGreaterThan(0)
    }
  })
})

describe('a block with consistent entries', () => {
  it('is reported when its execution gives a different state', async () => {
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
        problem: 'its execution gives a different stateRoot',
        expected: header.stateRoot,
        found: stateRoot,
      }),
    ])
    // Below the height from which blocks are executed, only the entries are looked at.
    expect((await verify(createReadOnlyStore(level, writes), header.number + 1)).faults).toEqual([])
  })
})

describe('an entry of the accounts', () => {
  it('that belongs to no block is found, also together with a missing one', async () => {
    const tables = accountTables(createReadOnlyStore(levelOf(entries), []))
    const stray: Hex = `0x${'77'.repeat(20)}000000000003`
    const origin = { hash: `0x${'5a'.repeat(32)}`, creator: `0x${'66'.repeat(20)}` } as const
    const [gone] = entries.find(([key]) => key[0] === TABLES.creators) as Entry
    const writes = [tables.creators.put(stray, origin), tables.accountBlocks.put(stray, [0])]
    for (const without of [[], [{ type: 'del' as const, key: gone }]]) {
      const operations = [...writes.filter((write) => write.type !== 'after'), ...without]
      const { faults } = await verify(createReadOnlyStore(levelOf(entries), operations))
      const problem = 'the canonical block of its height has no such entry'
      for (const table of ['creators', 'accountBlocks']) {
        expect(faults).toContainEqual({ table, key: stray, height: 3, problem })
      }
      expect(faults).toHaveLength(2 + without.length)
    }
  })

  it('of internal calls is compared with the execution of its block', async () => {
    const tables = accountTables(createReadOnlyStore(levelOf(entries), []))
    const [key] = entries.findLast(([bytes]) => bytes[0] === TABLES.internals) as Entry
    const hash: Hex = `0x${Buffer.from(key.slice(1)).toString('hex')}`
    const list = tables.internals.get(hash) ?? []
    // The same accounts in another order give the same entries.
    const changed = list.map((item) => ({ ...item, participants: [...item.participants].reverse() }))
    expect(changed).not.toEqual(list)
    const writes = [tables.internals.put(hash, changed)].filter((write) => write.type !== 'after')
    const { faults } = await verify(createReadOnlyStore(levelOf(entries), writes))
    expect(faults).toEqual([expect.objectContaining({ table: 'internals', key: hash })])
  })
})

describe('a kept snapshot', () => {
  it('is compared with its block, and its state is traversed', async () => {
    const tables = allTables(createReadOnlyStore(levelOf(entries), []), config)
    const kept = tables.keptSnapshots.get(1) as KeptSnapshot
    const postState: Hex = `0x${'77'.repeat(32)}`
    const faultsOf = async (record: KeptSnapshot): Promise<Fault[]> => {
      const writes = [tables.keptSnapshots.put(1, record)].filter((write) => write.type !== 'after')
      return (await verify(createReadOnlyStore(levelOf(entries), writes))).faults
    }
    expect(await faultsOf({ ...kept, height: kept.height + 1 })).toEqual([
      expect.objectContaining({ table: 'keptSnapshots', key: '1', expected: String(kept.height) }),
    ])
    expect(await faultsOf({ ...kept, postState })).toEqual([
      expect.objectContaining({ table: 'nodes', key: postState, height: kept.height }),
    ])
    // A block that was removed: the node does not revert to the snapshot.
    expect(await faultsOf({ ...kept, head: postState, postState })).toEqual([])
  })
})

describe('a section of an index', () => {
  const header = decodeBlock(fromHex(referenceBlocks('rpc-chain')[0] as Hex), config).header
  /** Hashes of two branches. */
  const hashOf = (height: number, branch = 0): Hex =>
    `0x${(branch * 4096 + height).toString(16).padStart(64, '0')}`
  /** Every block of both branches has the header of one with logs. */
  const bloom = new Uint8Array(256)
  bloom[255] = 1
  const headers = new Map<Hex, unknown>()
  for (const branch of [0, 1]) {
    for (let number = 0; number < 1024; number++) {
      const parentHash = hashOf(number - 1, branch)
      headers.set(hashOf(number, branch), { header: { ...header, number, parentHash, logsBloom: bloom } })
    }
  }

  async function faultsOf(record: SectionRecord): Promise<unknown[]> {
    const faults: unknown[] = []
    const { checkLogSections } = createIndexChecks({
      headers: { get: (hash: Hex) => headers.get(hash) },
      logSections: {
        async *entries() {
          yield [0, record]
        },
        fault: (section: number, problem: string) => faults.push([section, problem]),
      },
    } as unknown as AuditedTables)
    await checkLogSections()
    return faults
  }

  it('is compared with its blocks, also on a replaced branch', async () => {
    // Two rows, of the bloom's bit 0 and of any log (2048): number of rows; term and end of each; 128 bytes each.
    const rows = new Uint8Array(20 + 2 * 128).fill(255)
    const view = new DataView(rows.buffer)
    for (const [i, value] of [2, 0, 20 + 128, 2048, 20 + 256].entries()) view.setUint32(4 * i, value, true)
    const lasts = [hashOf(1023), hashOf(1023, 1)]
    for (const last of lasts) expect(await faultsOf({ last, rows })).toEqual([])
    rows[200] = 254
    const fault = [0, 'the section of the index is not that of its blocks']
    for (const last of lasts) expect(await faultsOf({ last, rows })).toEqual([fault])
    // Of blocks that were removed; the record has a checksum.
    expect(await faultsOf({ last: hashOf(4000), rows })).toEqual([])
  })
})
