/** Blocks of calls on top of a block, each on the state after the one before; nothing is kept. */
import { type ExecutedBlock, transactionsRoot, unclesHash } from '../../chain/block.ts'
import { logsBloom, mergeBlooms } from '../../chain/bloom.ts'
import { type Header, headerHash } from '../../chain/header.ts'
import { type Log, type Receipt, receiptsRoot } from '../../chain/receipt.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import { CallTracer } from '../../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { TransactionOutcome } from '../../execution/apply-transaction.ts'
import { NULL_ADDRESS } from '../../execution/message-call.ts'
import { applyOverrides } from '../../execution/overrides.ts'
import type { BlockOverrideValues, StateOverrides } from '../../execution/request.ts'
import { applySimulated, type SimulatedCall } from '../../execution/simulated-transaction.ts'
import { logsWithTransfers } from '../../execution/transfer-logs.ts'
import { Overlay } from '../../state/overlay.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { ancestryOf, type ChainAccess, environmentOf } from '../blockchain/ancestry.ts'
import type { Chain } from '../blockchain/chain.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Pending } from '../mining/pending.ts'
import type { BlockReference } from '../model.ts'
import type { Lookup } from './lookup.ts'

/** Most blocks of one simulation, those that fill gaps of height included. */
const MAX_BLOCKS = 256
/** Decoded trie nodes kept during a simulation. */
const CACHE_NODES = 10_000

/** A block to simulate. */
export interface SimulatedBlockRequest {
  readonly overrides: BlockOverrideValues
  readonly stateOverrides?: StateOverrides
  readonly calls: readonly SimulatedCall[]
}

/** Blocks to simulate, in order. */
export interface BlockSimulation {
  /** The block below the first. */
  readonly base: BlockReference
  readonly blocks: readonly SimulatedBlockRequest[]
  /** Hold nonces and prices to the rules for blocks; without it the minimum gas price is 0 unless overridden. */
  readonly validation: boolean
  /** Add a log for each transfer of the native coin. */
  readonly traceTransfers: boolean
  readonly timeoutMs?: number
}

/** What one call did; `logs` with its transfers where they were asked for. */
export interface SimulatedCallResult {
  readonly outcome: TransactionOutcome
  readonly logs: readonly Log[]
}

/** A simulated block, without proof of work and REMASC transaction. */
export interface SimulatedBlock {
  readonly executed: ExecutedBlock
  readonly calls: readonly SimulatedCallResult[]
}

/** Simulated blocks. */
export interface BlockSimulations {
  /**
   * Runs the blocks, gaps of height filled with empty ones. Throws `block-not-found`, `limit-exceeded` at the time
   * limit, and the errors of the simulation standard for a block or a transaction that cannot be there.
   */
  simulateBlocks(simulation: BlockSimulation): Promise<readonly SimulatedBlock[]>
}

interface Parts extends ChainAccess {
  readonly openTrie: Chain['openTrie']
  readonly lookup: Lookup
  readonly pending: Pick<Pending, 'current'>
  readonly vm: Vm
  /** Gas of a call without gas. */
  readonly callGasCap: bigint
  readonly maxTraceBytes: number
  /** Time limit of simulations without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

/** A block to simulate with its height and time. */
interface Placed extends SimulatedBlockRequest {
  readonly number: number
  readonly timestamp: number
}

/** Gives each block its height and time, and fills gaps. */
function placed(blocks: readonly SimulatedBlockRequest[], base: Header, seconds: number): readonly Placed[] {
  const chain: Placed[] = []
  let { number, timestamp } = base
  for (const block of blocks) {
    const { number: height = number + 1, timestamp: time } = block.overrides
    if (height <= number) {
      throw new NodeError('block-order', `block numbers must be in order: ${height} <= ${number}`)
    }
    if (chain.length + height - number > MAX_BLOCKS) {
      throw new NodeError('too-many-blocks', `too many blocks: ${MAX_BLOCKS} are simulated at most`)
    }
    for (number++; number < height; number++) {
      timestamp += seconds
      chain.push({ overrides: {}, calls: [], number, timestamp })
    }
    if (time !== undefined && time <= timestamp) {
      throw new NodeError('timestamp-order', `block timestamps must be in order: ${time} <= ${timestamp}`)
    }
    timestamp = time ?? timestamp + seconds
    chain.push({ ...block, number, timestamp })
  }
  return chain
}

/** Makes the simulations of a node. */
export function createBlockSimulations(parts: Parts): BlockSimulations {
  const { config, blockchain, blocks, lookup, vm } = parts

  /** The base, and a trie of its own that reads its state: concurrent simulations may write the same nodes. */
  async function open(reference: BlockReference): Promise<{ base: ExecutedBlock; trie: StateTrie }> {
    const trie = parts.openTrie({ cacheNodes: CACHE_NODES })
    if ('tag' in reference && reference.tag === 'pending') {
      const { executed, committed } = await parts.pending.current()
      trie.remember(committed)
      return { base: executed, trie }
    }
    const view = await lookup.block(reference)
    if (view === undefined) throw new NodeError('block-not-found', 'header not found')
    return { base: view.executed, trie }
  }

  return {
    async simulateBlocks(simulation) {
      const { validation, traceTransfers, timeoutMs = parts.timeoutMs } = simulation
      const { base, trie } = await open(simulation.base)
      const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
      const yieldIfDue = createEventLoopYield('query')
      const budget = new TraceBudget(parts.maxTraceBytes)
      const known = new Map<Hex, ExecutedBlock>([[base.hash, base]])
      const headers = { header: (hash: Hex) => known.get(hash)?.block.header ?? blocks.header(hash) }

      function draftOf(parent: ExecutedBlock, { number, timestamp, overrides }: Placed): Header {
        const above = parent.block.header
        const rules = config.rulesAt(number)
        return {
          version: rules.headerVersion,
          parentHash: parent.hash,
          unclesHash: unclesHash([], config),
          coinbase: overrides.coinbase ?? NULL_ADDRESS,
          stateRoot: parent.postState,
          transactionsRoot: parent.postState,
          receiptsRoot: parent.postState,
          logsBloom: EMPTY,
          difficulty: overrides.difficulty ?? above.difficulty,
          number,
          gasLimit: overrides.gasLimit ?? above.gasLimit,
          gasUsed: 0n,
          timestamp,
          extraData: EMPTY,
          paidFees: 0n,
          minimumGasPrice: overrides.minimumGasPrice ?? (validation ? above.minimumGasPrice : 0n),
          uncleCount: 0,
          ummRoot: rules.umm ? EMPTY : undefined,
          edges: rules.headerVersion === 0 ? undefined : [],
          baseEvent: rules.headerVersion === 2 ? EMPTY : undefined,
          bitcoinHeader: EMPTY,
          merkleProof: EMPTY,
          coinbaseTransaction: EMPTY,
        }
      }

      async function run(parent: ExecutedBlock, block: Placed): Promise<SimulatedBlock> {
        const draft = draftOf(parent, block)
        const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, headers)
        const env = environmentOf(draft, ancestry, (hash) => known.get(hash) ?? blocks.get(hash))
        const overlay = new Overlay(trie.reader(parent.postState))
        if (block.stateOverrides !== undefined) {
          applyOverrides(overlay, block.stateOverrides, vm.rulesAt(env.number).precompiles)
        }
        const transactions: Transaction[] = []
        const receipts: Receipt[] = []
        const calls: SimulatedCallResult[] = []
        const destroyedEarlier = new Set<Hex>()
        let gasUsed = 0n
        let paidFees = 0n
        for (const call of block.calls) {
          await yieldIfDue()
          const tracer = traceTransfers ? new CallTracer(budget) : undefined
          const { transaction, outcome } = await applySimulated({
            call,
            state: overlay,
            env,
            vm,
            chainId: config.chainId,
            gasAvailable: draft.gasLimit - gasUsed,
            gasCap: parts.callGasCap,
            validation,
            destroyedEarlier,
            tracer,
            deadlineMs: end - performance.now(),
          })
          for (const address of outcome.destroyed) destroyedEarlier.add(address)
          gasUsed += outcome.gasUsed
          paidFees += outcome.fee
          const { succeeded, logs } = outcome
          transactions.push(transaction)
          receipts.push({
            succeeded,
            cumulativeGasUsed: gasUsed,
            gasUsed: outcome.gasUsed,
            logsBloom: logsBloom(logs),
            logs,
          })
          calls.push({ outcome, logs: tracer === undefined ? logs : logsWithTransfers(tracer.root) })
        }
        const state = trie.commit(parent.postState, overlay.changes())
        trie.remember(state)
        const header: Header = {
          ...draft,
          stateRoot: state.root,
          transactionsRoot: transactionsRoot(transactions),
          receiptsRoot: receiptsRoot(receipts),
          logsBloom: mergeBlooms(receipts.map((receipt) => receipt.logsBloom)),
          gasUsed,
          paidFees,
        }
        const executed: ExecutedBlock = {
          hash: headerHash(header, config),
          block: { header, transactions, uncles: [] },
          receipts,
          totalDifficulty: parent.totalDifficulty + header.difficulty,
          postState: state.root,
        }
        known.set(executed.hash, executed)
        return { executed, calls }
      }

      const done: SimulatedBlock[] = []
      for (const block of placed(simulation.blocks, base.block.header, config.difficulty.goalSeconds)) {
        await yieldIfDue()
        if (performance.now() > end) throw new NodeError('limit-exceeded', 'the simulation takes too long')
        done.push(await run(done.at(-1)?.executed ?? base, block))
      }
      return done
    },
  }
}
