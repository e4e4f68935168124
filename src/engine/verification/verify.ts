/** Verifies a stored chain: every entry by its hash, the lookups, the states of the head and of kept snapshots, and each block by executing it again. */
import type { ChainConfig } from '../../chain/config.ts'
import { toHex } from '../../encoding/hex.ts'
import type { Store } from '../../store/level.ts'
import { foreignKeys, META } from '../../store/tables.ts'
import { type AuditedTables, auditedTables, type Fault, type Report } from './audited-tables.ts'
import { AccountChecks } from './check-accounts.ts'
import { BlockChecks } from './check-blocks.ts'
import { createIndexChecks } from './check-indexes.ts'
import { LookupChecks } from './check-lookups.ts'
import { RecordChecks } from './check-node-records.ts'
import { checkHashes, walkState } from './check-state.ts'
import { ReExecution } from './re-execution.ts'

export type { Fault } from './audited-tables.ts'

/** A step of the verification. */
export interface VerificationStep {
  /** What is being checked, for a person. */
  readonly name: string
  /** The block that was executed again. */
  readonly block?: { readonly height: number; readonly gasUsed: bigint }
  /** The part of the blocks that was executed again, 0 to 1. */
  readonly share?: number
}

/** What was verified. */
export interface Verification {
  readonly faults: number
  /** Height of the head; `undefined` when the faults leave none. */
  readonly head: number | undefined
  /** Number of blocks that were executed again, side blocks included. */
  readonly executed: number
  /** Stored nodes of the head's state. */
  readonly nodes: number
}

/** The store to verify, and the callbacks for results. */
export interface VerificationOptions {
  readonly store: Store
  /** What was wrong with its files when it was opened. */
  readonly problems: readonly string[]
  readonly config: ChainConfig
  /** First height that is executed again. */
  readonly from: number
  readonly onFault: (fault: Fault) => void
  readonly onStep: (step: VerificationStep) => void
}

/** A check, by what it checks. */
type Check = readonly [name: string, check: () => Promise<void>]

/** The checks of all entries but snapshots, in the order in which they build on each other. */
function checksOf(tables: AuditedTables, { store, config }: VerificationOptions, report: Report): Check[] {
  const blocks = new BlockChecks(tables, config)
  const lookups = new LookupChecks(tables)
  const accounts = new AccountChecks(tables)
  const { checkLogSections, checkMinerSections, checkParticipantSections } = createIndexChecks(tables)
  const records = new RecordChecks(tables)
  return [
    ['headers', () => blocks.checkHeaders()],
    ['bodies', () => blocks.checkBodies()],
    ['receipts', () => blocks.checkReceipts()],
    ['heights', () => lookups.checkHeights()],
    ['canonical chain', () => lookups.checkCanonical()],
    ['head', () => lookups.checkHead()],
    ['transactions', () => lookups.checkTransactions()],
    ['pool', () => lookups.checkPool()],
    ['internal calls', () => accounts.checkInternals()],
    ['accounts', () => accounts.checkEntries()],
    ['nodes', () => checkHashes(tables.nodes)],
    ['code', () => checkHashes(tables.code)],
    ['index of logs', checkLogSections],
    ['index of participants', checkParticipantSections],
    ['index of miners', checkMinerSections],
    ['sources', () => records.checkSources()],
    ['callers', () => records.checkPeers()],
    ['position in a cluster', () => records.checkPosition()],
    ['checkpoint', () => records.checkCheckpoint()],
    ['position in the write-ahead log', () => records.checkFlushed()],
    ['parent chain', () => records.checkParentChain()],
    ['other entries', () => checkForeignKeys(store, report)],
  ]
}

async function checkForeignKeys(store: Store, report: Report): Promise<void> {
  for await (const key of foreignKeys(store)) {
    report({ table: 'none', key: toHex(key), problem: 'the entry belongs to no table' })
  }
}

/** Verifies a store that is not written meanwhile. Blocks are executed again only when all entries are in order. */
export async function verifyStore(options: VerificationOptions): Promise<Verification> {
  const { store, problems, config, from, onFault, onStep } = options
  let faults = 0
  const report = (fault: Fault) => {
    faults++
    onFault(fault)
  }
  for (const problem of problems) report({ table: 'data', key: 'directory', problem })
  const tables = auditedTables(store, config, report)
  for (const [name, check] of checksOf(tables, options, report)) {
    onStep({ name })
    await check()
  }
  onStep({ name: 'state of the head' })
  const headHash = tables.meta.get(META.head)
  const head = headHash === undefined ? undefined : tables.headers.get(headHash)
  const height = head?.header.number
  const { nodes } = head === undefined ? { nodes: 0 } : walkState(head.postState, head.header.number, tables)
  onStep({ name: 'snapshots' })
  await new RecordChecks(tables).checkSnapshots(head?.postState)
  if (faults > 0) return { faults, head: height, executed: 0, nodes }

  let executed = 0
  const chain = await ReExecution.open(store, config, report)
  for await (const block of chain.from(from)) {
    executed++
    const share = height === undefined ? 1 : (block.height - from + 1) / (height - from + 1)
    onStep({ name: 'execution', block, share })
  }
  return { faults, head: height, executed, nodes }
}

/** Reads each entry of a store whose chain is not whole by itself; nodes and code also by their hashes. */
export async function verifyEntries(
  store: Store,
  config: ChainConfig,
  onFault: (fault: Fault) => void,
): Promise<void> {
  const { nodes, code, ...others } = auditedTables(store, config, onFault)
  for (const table of Object.values(others)) for await (const _ of table.entries());
  for (const table of [nodes, code]) await checkHashes(table)
}
