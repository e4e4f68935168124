/** Checks the records of a node beside its chain: snapshots, bans, counters of callers, positions in logs, the checkpoint. */
import type { Hex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import { SEQUENCE } from '../../store/checkpoint.ts'
import { compilationOf } from '../../store/source-keys.ts'
import { FLUSHED, POSITION } from '../../store/tables.ts'
import { outsideRecordIn } from '../outside-record.ts'
import { parseBannedRange } from '../peers/banned-range.ts'
import type { AuditedTables } from './audited-tables.ts'
import { walkState } from './check-state.ts'

/**
 * The checks. The entries have checksums, which confirm what no block does: a clock, a pool, the counters. A snapshot may
 * be of a block that was removed since: the node does not revert to it.
 */
export class RecordChecks {
  readonly #tables: AuditedTables

  constructor(tables: AuditedTables) {
    this.#tables = tables
  }

  /** `known`: root of a state that is walked separately. */
  async checkSnapshots(known: Hex | undefined): Promise<void> {
    const { headers, keptSnapshots } = this.#tables
    const walked = new Set([known])
    for await (const [id, { head, height, postState }] of keptSnapshots.entries()) {
      const number = headers.get(head)?.header.number
      if (number === undefined) continue
      if (number !== height) {
        const values = { height: number, expected: String(number), found: String(height) }
        keptSnapshots.fault(id, `its block ${head} has another number`, values)
      }
      if (!walked.has(postState)) walkState(postState, height, this.#tables)
      walked.add(postState)
    }
  }

  async checkPeers(): Promise<void> {
    const { bans, peerCounters } = this.#tables
    for await (const [text] of bans.entries()) {
      if (parseBannedRange(text) === undefined)
        bans.fault(text, 'it is neither an address nor a range of addresses')
    }
    for await (const _ of peerCounters.entries());
  }

  async checkPosition(): Promise<void> {
    const { replication } = this.#tables
    for await (const [name] of replication.entries()) {
      if (name !== POSITION) replication.fault(name, 'it is not a position in the log of a cluster')
    }
  }

  async checkCheckpoint(): Promise<void> {
    const { checkpoint } = this.#tables
    for await (const [name] of checkpoint.entries()) {
      if (name !== SEQUENCE) checkpoint.fault(name, 'it is not the number of a checkpoint')
    }
  }

  async checkFlushed(): Promise<void> {
    const { flushedLog } = this.#tables
    for await (const [name] of flushedLog.entries()) {
      if (name !== FLUSHED) flushedLog.fault(name, 'it is not a position in the write-ahead log')
    }
  }

  /** The entries of a simulated Bitcoin chain must lead to a state of it. */
  async checkParentChain(): Promise<void> {
    const { parentChain } = this.#tables
    const entries: (readonly [string, Uint8Array])[] = []
    for await (const entry of parentChain.entries()) entries.push(entry)
    if (entries.length === 0) return
    const { decodeState } = await import('../../bitcoin/bitcoin.ts')
    try {
      if (outsideRecordIn(entries) === undefined) decodeState(entries)
    } catch (error) {
      parentChain.fault('all', `they are not those of a Bitcoin chain: ${messageOf(error)}`)
    }
  }

  /** Each compilation has its text and its codes; the text hashes to its id, which its reader checks. */
  async checkSources(): Promise<void> {
    const { compilations, compilationOrder, compiledCodes, verifications } = this.#tables
    const ids = new Set<Hex>()
    for await (const [number, { id }] of compilationOrder.entries()) {
      ids.add(id)
      if (compilations.get(id) === undefined)
        compilationOrder.fault(number, `the compilation ${id} is missing`)
    }
    for await (const [id] of compilations.entries()) {
      if (!ids.has(id)) compilations.fault(id, 'it is missing from the order of compilations')
    }
    for await (const [key] of compiledCodes.entries()) {
      if (!ids.has(compilationOf(key))) compiledCodes.fault(key, 'its compilation is missing')
    }
    for await (const _ of verifications.entries());
  }
}
