/** Verifies a stored chain: every entry by its hash, the lookups, the states of the head and of kept snapshots, and each block by executing it again. */
import type { ChainConfig } from '../../chain/config.ts'
import { toHex } from '../../encoding/hex.ts'
import type { Store } from '../../store/level.ts'
import { foreignKeys, META } from '../../store/tables.ts'
import { auditedTables, type Fault } from './audited-tables.ts'
import { createAccountChecks } from './check-accounts.ts'
import { createBlockChecks } from './check-blocks.ts'
import { createIndexChecks } from './check-indexes.ts'
import { createLookupChecks } from './check-lookups.ts'
import { createRecordChecks } from './check-node-records.ts'
import { checkHashes, walkState } from './check-state.ts'
import { createReExecution } from './re-execution.ts'

export type { Fault } from './audited-tables.ts'

/** A step of the verification. */
export interface VerificationStep {
  /** What is being checked, for a person. */
  readonly name: string
  /** The block that was executed again. */
  readonly block?: { readonly height: number; readonly gasUsed: bigint }
}

/** What was verified. */
export interface Verification {
  readonly faults: number
  /** Height of the head; `undefined` when the faults leave none. */
  readonly head: number | undefined
  /** Blocks that were executed again, those beside the chain included. */
  readonly executed: number
  /** Stored nodes of the head's state. */
  readonly nodes: number
}

/** What is verified, and who is informed. */
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

/** Verifies a store that nobody writes. Blocks are executed again only when all entries are in order. */
export async function verifyStore(options: VerificationOptions): Promise<Verification> {
  const { store, problems, config, from, onFault, onStep } = options
  let faults = 0
  const report = (fault: Fault) => {
    faults++
    onFault(fault)
  }
  for (const problem of problems) report({ table: 'data', key: 'directory', problem })
  const tables = auditedTables(store, config, report)
  const { checkHeaders, checkBodies, checkReceipts } = createBlockChecks(tables, config)
  const { checkHeights, checkCanonical, checkHead, checkTransactions, checkPool } = createLookupChecks(tables)
  const { checkInternals, checkEntries } = createAccountChecks(tables)
  const { checkLogSections, checkParticipantSections } = createIndexChecks(tables)
  const { checkSnapshots, checkPeers, checkPosition, checkCheckpoint, checkFlushed } =
    createRecordChecks(tables)
  async function checkForeignKeys(): Promise<void> {
    for await (const key of foreignKeys(store)) {
      report({ table: 'none', key: toHex(key), problem: 'the entry belongs to no table' })
    }
  }
  const steps: readonly (readonly [string, () => Promise<void>])[] = [
    ['headers', checkHeaders],
    ['bodies', checkBodies],
    ['receipts', checkReceipts],
    ['heights', checkHeights],
    ['canonical chain', checkCanonical],
    ['head', checkHead],
    ['transactions', checkTransactions],
    ['pool', checkPool],
    ['internal calls', checkInternals],
    ['accounts', checkEntries],
    ['nodes', () => checkHashes(tables.nodes)],
    ['code', () => checkHashes(tables.code)],
    ['index of logs', checkLogSections],
    ['index of participants', checkParticipantSections],
    ['callers', checkPeers],
    ['position in a cluster', checkPosition],
    ['checkpoint', checkCheckpoint],
    ['position in the write-ahead log', checkFlushed],
    ['other entries', checkForeignKeys],
  ]
  for (const [name, check] of steps) {
    onStep({ name })
    await check()
  }
  onStep({ name: 'state of the head' })
  const headHash = tables.meta.get(META.head)
  const head = headHash === undefined ? undefined : tables.headers.get(headHash)
  const height = head?.header.number
  const { nodes } = head === undefined ? { nodes: 0 } : walkState(head.postState, head.header.number, tables)
  onStep({ name: 'snapshots' })
  await checkSnapshots(head?.postState)
  if (faults > 0) return { faults, head: height, executed: 0, nodes }

  let executed = 0
  const chain = await createReExecution(store, config, report)
  for await (const block of chain.from(from)) {
    executed++
    onStep({ name: 'execution', block })
  }
  return { faults, head: height, executed, nodes }
}
