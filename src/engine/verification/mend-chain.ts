/** Takes a damaged chain back to its last whole block, and rebuilds the lookups from the remaining blocks. */
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { toNumber } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { decodeNode, NodeHash, type TrieChild } from '../../encoding/trie-node.ts'
import { accountEntries } from '../../store/account-index.ts'
import type { Store } from '../../store/level.ts'
import type { HeaderRecord } from '../../store/records.ts'
import { bytesKey, bytesValue, type Id, Table, type Write } from '../../store/table.ts'
import { type AllTables, allTables, foreignKeys, META } from '../../store/tables.ts'
import { type AuditedTables, auditedTables, type Fault, firstHeight } from './audited-tables.ts'
import { BlockChecks, hasItsSender } from './check-blocks.ts'

/** Writes of one batch. */
const AT_ONCE = 5_000

/** A block by height and hash. */
export interface MendedHead {
  readonly number: number
  readonly hash: Hex
}

/** A block that may stay, by its header. */
interface Candidate extends HeaderRecord {
  readonly hash: Hex
}

/** Repairs the chain of one store, which nothing else uses. */
class ChainMender {
  readonly #store: Store
  readonly #config: ChainConfig
  readonly #tables: AllTables
  readonly #audited: AuditedTables
  readonly #wholeNodes = new Map<Hex, boolean>()
  #faults: Fault[] = []
  #writes: Write[] = []

  constructor(store: Store, config: ChainConfig) {
    this.#store = store
    this.#config = config
    this.#tables = allTables(store, config)
    this.#audited = auditedTables(store, config, (fault) => this.#faults.push(fault))
  }

  async mend(highest: number): Promise<MendedHead | undefined> {
    await this.#removeUnreadable()
    const kept = await this.#wholeBlocks(highest)
    const head = this.#bestOf(kept)
    if (head === undefined) return undefined
    await this.#keepOnly(kept)
    await this.#makeLookups(head, kept)
    await this.#removeStale()
    await this.#add(this.#tables.meta.put(META.head, head.hash))
    await this.#flush()
    return { number: head.header.number, hash: head.hash }
  }

  async #add(write: Write): Promise<void> {
    this.#writes.push(write)
    if (this.#writes.length >= AT_ONCE) await this.#flush()
  }

  async #flush(): Promise<void> {
    const writes = this.#writes
    this.#writes = []
    await this.#store.batch(writes)
  }

  /** Removes entries that are not what was written: of no table, undecodable, or of another hash. */
  async #removeUnreadable(): Promise<void> {
    for await (const key of foreignKeys(this.#store)) {
      const table = new Table(this.#store, toNumber(key.subarray(0, 1)), bytesKey, bytesValue)
      await this.#add(table.del(toHex(key.subarray(1))))
    }
    for (const table of Object.values(this.#tables) as Table<Id, unknown>[]) {
      for await (const { key, problem } of table.audit())
        if (problem !== undefined) await this.#add(table.del(key))
    }
    for (const table of [this.#tables.nodes, this.#tables.code]) {
      for await (const { key, value } of table.audit()) {
        if (value !== undefined && keccakHex(value) !== key) await this.#add(table.del(key))
      }
    }
    await this.#flush()
  }

  /** The blocks up to a height that are whole, with all below them and the states after them; by their hashes. */
  async #wholeBlocks(highest: number): Promise<ReadonlyMap<Hex, Candidate>> {
    const candidates: Candidate[] = []
    for await (const [hash, record] of this.#audited.headers.readable()) {
      if (headerHash(record.header, this.#config) === hash) candidates.push({ hash, ...record })
    }
    candidates.sort((a, b) => a.header.number - b.header.number)
    await this.#makeHeights(candidates)
    const broken = await this.#brokenBlocks()
    const first = firstHeight(this.#audited)
    const kept = new Map<Hex, Candidate>()
    for (const candidate of candidates) {
      const { hash, header, postState } = candidate
      if (broken.has(hash) || header.number < first || header.number > highest) continue
      if (header.number > first && !kept.has(header.parentHash)) continue
      if (this.#isWholeState(postState)) kept.set(hash, candidate)
    }
    return kept
  }

  /** The blocks of each height as their headers state them, in the order of arrival where that is known. */
  async #makeHeights(blocks: Iterable<Candidate>): Promise<void> {
    const { heights } = this.#tables
    const expected = new Map<number, Hex[]>()
    for (const { hash, header } of blocks) {
      const hashes = expected.get(header.number)
      if (hashes === undefined) expected.set(header.number, [hash])
      else hashes.push(hash)
    }
    for await (const [height, hashes] of this.#audited.heights.readable()) {
      if (!expected.has(height)) await this.#add(heights.del(height))
      expected.get(height)?.sort((a, b) => hashes.indexOf(a) - hashes.indexOf(b))
    }
    for (const [height, hashes] of expected) await this.#add(heights.put(height, hashes))
    await this.#flush()
  }

  /** Hashes of blocks with a missing or wrong part. */
  async #brokenBlocks(): Promise<ReadonlySet<string>> {
    this.#faults = []
    const checks = new BlockChecks(this.#audited, this.#config)
    await checks.checkHeaders()
    await checks.checkBodies()
    await checks.checkReceipts()
    return new Set(this.#faults.map(({ key }) => key))
  }

  /** Is a state complete from its root to its leaves? Each node is visited once. */
  #isWholeState(root: Hex): boolean {
    return root === EMPTY_TRIE_ROOT || this.#isWholeNode(root)
  }

  #isWholeNode(hash: Hex): boolean {
    const known = this.#wholeNodes.get(hash)
    if (known !== undefined) return known
    const bytes = this.#audited.nodes.get(hash)
    const isWhole = bytes !== undefined && this.#isWholeChild(decodeNode(bytes))
    this.#wholeNodes.set(hash, isWhole)
    return isWhole
  }

  #isWholeChild(child: TrieChild): boolean {
    if (child instanceof NodeHash) return this.#isWholeNode(child.hex)
    const { value, left, right } = child
    const isLong = value !== undefined && !(value instanceof Uint8Array)
    if (isLong && this.#audited.code.get(value.hash.hex)?.length !== value.length) return false
    return [left, right].every((below) => below === undefined || this.#isWholeChild(below))
  }

  /** The tip that fork choice prefers; of equal ones, the canonical one. */
  #bestOf(kept: ReadonlyMap<Hex, Candidate>): Candidate | undefined {
    let best: Candidate | undefined
    for (const block of kept.values()) {
      const isCanonical = this.#audited.canonical.get(block.header.number) === block.hash
      const isEqual = block.totalDifficulty === best?.totalDifficulty
      if (best === undefined || block.totalDifficulty > best.totalDifficulty || (isEqual && isCanonical))
        best = block
    }
    return best
  }

  async #keepOnly(kept: ReadonlyMap<Hex, Candidate>): Promise<void> {
    const { headers, bodies, receipts, internals } = this.#tables
    for (const table of [headers, bodies, receipts, internals] as Table<Hex, unknown>[]) {
      for await (const { key } of table.audit()) if (!kept.has(key)) await this.#add(table.del(key))
    }
    await this.#flush()
    await this.#makeHeights(kept.values())
  }

  /** Rebuilds the lookups of canonical blocks and their transactions, from the head down. */
  async #makeLookups(head: Candidate, kept: ReadonlyMap<Hex, Candidate>): Promise<void> {
    const { canonical, transactions, senderNonces, accountBlocks, creators } = this.#tables
    for (const table of [canonical, transactions, senderNonces, accountBlocks, creators] as Table<
      Id,
      unknown
    >[]) {
      for await (const { key } of table.audit()) await this.#add(table.del(key))
    }
    await this.#flush()
    for (
      let block: Candidate | undefined = head;
      block !== undefined;
      block = kept.get(block.header.parentHash)
    ) {
      const { hash, header } = block
      await this.#add(canonical.put(header.number, hash))
      const [body, receipts] = [this.#audited.bodies.get(hash), this.#audited.receipts.get(hash)]
      if (body === undefined || receipts === undefined) throw new Error(`block ${hash} is incomplete`)
      for (const [index, transaction] of body.transactions.entries()) {
        await this.#add(transactions.put(transaction.hash, { blockHash: hash, index }))
      }
      const entries = accountEntries(
        { block: { header, ...body }, receipts },
        this.#audited.internals.get(hash),
      )
      for (const [key, value] of entries.senderNonces) await this.#add(senderNonces.put(key, value))
      for (const [key, value] of entries.accountBlocks) await this.#add(accountBlocks.put(key, value))
      for (const [key, value] of entries.creators) await this.#add(creators.put(key, value))
    }
  }

  /** Removes what the node rebuilds on demand, and what is of no use without the lost entries. */
  async #removeStale(): Promise<void> {
    const { logSections, participantSections, minerSections, keptSnapshots, pool, meta } = this.#tables
    for (const table of [logSections, participantSections, minerSections]) {
      for await (const { key } of table.audit()) await this.#add(table.del(key))
    }
    for await (const [id, { head, height, postState }] of this.#audited.keptSnapshots.readable()) {
      const number = this.#audited.headers.get(head)?.header.number
      const isUsable = number === undefined || (number === height && this.#isWholeState(postState))
      if (!isUsable) await this.#add(keptSnapshots.del(id))
    }
    for await (const [hash, { transaction }] of this.#audited.pool.readable()) {
      if (transaction.hash !== hash || !hasItsSender(transaction)) await this.#add(pool.del(hash))
    }
    for await (const [name] of this.#audited.meta.readable()) {
      if (name !== META.head && name !== META.loadedGenesis) await this.#add(meta.del(name))
    }
  }
}

/**
 * Takes a chain back to its last whole block, none above `highest`: the last one that is complete with all blocks below
 * it and the states after them. Lookups are rebuilt from the blocks; what cannot be read is removed. `undefined` where
 * no block is whole; then the blocks stay as they are.
 */
export async function mendChain(
  store: Store,
  config: ChainConfig,
  highest: number,
): Promise<MendedHead | undefined> {
  return new ChainMender(store, config).mend(highest)
}
