/** Blocks of calls on top of a block, each on the state after the one before; nothing is kept. */
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { type ExecutedBlock, transactionsRoot } from '../../chain/block.ts'
import { logsBloom, mergeBlooms } from '../../chain/bloom.ts'
import { type Header, headerHash } from '../../chain/header.ts'
import { emptyHeader } from '../../chain/next-header.ts'
import { type Log, type Receipt, receiptsRoot } from '../../chain/receipt.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Vm } from '../../evm/rules.ts'
import { CallTracer } from '../../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { TransactionOutcome } from '../../execution/apply-transaction.ts'
import { applyOverrides, overriddenBlock } from '../../execution/overrides.ts'
import type { StateOverrides } from '../../execution/request.ts'
import { applySimulated } from '../../execution/simulated-transaction.ts'
import { logsWithTransfers } from '../../execution/transfer-logs.ts'
import { Overlay } from '../../state/overlay.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { ancestryOf, type ChainAccess, environmentOf } from '../blockchain/ancestry.ts'
import type { Chain } from '../blockchain/chain.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Pending } from '../mining/pending.ts'
import type { BlockReference } from '../model.ts'
import { type PlacedBlock, placedBlocks, type SimulatedBlockRequest } from './block-placement.ts'
import type { Lookup } from './lookup.ts'

const NO_OVERRIDES: StateOverrides = new Map()
/** Decoded trie nodes kept during a simulation. */
const CACHE_NODES = 10_000

/** Blocks to simulate, in order. */
export interface BlockSimulation {
  /** The block below the first. */
  readonly base: BlockReference
  readonly blocks: readonly SimulatedBlockRequest[]
  /** Check nonces and prices by the rules for blocks; without it the minimum gas price is 0 unless overridden. */
  readonly validation: boolean
  /** Add a log for each transfer of the native coin. */
  readonly traceTransfers: boolean
  readonly timeoutMs?: number
}

/** The result of one call; `logs` include its transfers where these were requested. */
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
   * Runs the blocks, gaps of height filled with empty ones. Throws `base-not-found`, `limit-exceeded` at the time
   * limit, `invalid-params` for state overrides that do not apply, and the errors of the simulation standard for a block
   * or a transaction that is not valid at its place.
   */
  simulateBlocks(simulation: BlockSimulation): Promise<readonly SimulatedBlock[]>
}

interface Parts extends ChainAccess {
  readonly openTrie: Chain['openTrie']
  readonly lookup: Lookup
  readonly pending: Pick<Pending, 'current'>
  readonly vm: Vm
  /** Most gas that the calls of a simulation may use together. */
  readonly callGasCap: bigint
  readonly maxTraceBytes: number
  /** Time limit of simulations without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
}

/** The block simulations of a node. */
export class StateBlockSimulations implements BlockSimulations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async simulateBlocks(simulation: BlockSimulation): Promise<readonly SimulatedBlock[]> {
    const { config, timeoutMs: usualTimeoutMs } = this.#parts
    const { timeoutMs = usualTimeoutMs } = simulation
    const { base, trie } = await this.#open(simulation.base)
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
    const run = new SimulationRun(this.#parts, simulation, { base, trie, end })
    const yieldIfDue = createEventLoopYield('query')
    const done: SimulatedBlock[] = []
    for (const block of placedBlocks(simulation.blocks, base.block.header, config.difficulty.goalSeconds)) {
      await yieldIfDue()
      if (performance.now() > end) throw new NodeError('limit-exceeded', 'the simulation takes too long')
      done.push(await run.append(done.at(-1)?.executed ?? base, block))
    }
    return done
  }

  /** The base, and a trie of its own that reads its state: concurrent simulations may write the same nodes. */
  async #open(reference: BlockReference): Promise<{ base: ExecutedBlock; trie: StateTrie }> {
    const trie = this.#parts.openTrie({ cacheNodes: CACHE_NODES })
    if ('tag' in reference && reference.tag === 'pending') {
      const { executed, committed } = await this.#parts.pending.current()
      trie.remember(committed)
      return { base: executed, trie }
    }
    const view = await this.#parts.lookup.block(reference)
    if (view === undefined) throw new NodeError('base-not-found', 'header not found')
    return { base: view.executed, trie }
  }
}

/** Where a simulation starts, and when it has to end. */
interface RunStart {
  readonly base: ExecutedBlock
  readonly trie: StateTrie
  /** By `performance.now()`, milliseconds. */
  readonly end: number
}

/** What the calls of one block give. */
interface BlockCalls {
  readonly transactions: Transaction[]
  readonly receipts: Receipt[]
  readonly calls: SimulatedCallResult[]
  gasUsed: bigint
  paidFees: bigint
}

/** One simulation: its blocks, which later ones read. */
class SimulationRun {
  readonly #parts: Parts
  readonly #simulation: BlockSimulation
  readonly #trie: StateTrie
  readonly #end: number
  readonly #budget: TraceBudget
  readonly #yieldIfDue = createEventLoopYield('query')
  readonly #known: Map<Hex, ExecutedBlock>
  readonly #base: Header
  /** Of `callGasCap`. */
  #gasLeft: bigint

  constructor(parts: Parts, simulation: BlockSimulation, { base, trie, end }: RunStart) {
    this.#parts = parts
    this.#simulation = simulation
    this.#base = base.block.header
    this.#gasLeft = parts.callGasCap
    this.#trie = trie
    this.#end = end
    this.#budget = new TraceBudget(parts.maxTraceBytes)
    this.#known = new Map([[base.hash, base]])
  }

  /** Runs a block on its parent. */
  async append(parent: ExecutedBlock, block: PlacedBlock): Promise<SimulatedBlock> {
    const { vm } = this.#parts
    const draft = this.#draftOf(parent, block)
    const overlay = new Overlay(this.#trie.reader(parent.postState))
    const plain = overriddenBlock(this.#environmentOf(parent, draft), block.overrides)
    const name = `${block.name}.stateOverrides`
    const env = applyOverrides(overlay, plain, block.stateOverrides ?? NO_OVERRIDES, vm, name)
    const done = await this.#runCalls(block, overlay, env)
    const state = this.#trie.commit(parent.postState, overlay.changes())
    this.#trie.remember(state)
    const executed = this.#completed(parent, draft, done, state.root)
    this.#known.set(executed.hash, executed)
    return { executed, calls: done.calls }
  }

  #environmentOf(parent: ExecutedBlock, draft: Header): BlockEnvironment {
    const { blockchain, blocks } = this.#parts
    const known = this.#known
    const headers = { header: (hash: Hex) => known.get(hash)?.block.header ?? blocks.header(hash) }
    const ancestry = ancestryOf({ hash: parent.hash, header: parent.block.header }, blockchain, headers)
    return environmentOf(draft, ancestry, (hash) => known.get(hash) ?? blocks.get(hash))
  }

  /**
   * The header with all fields that do not follow from the execution. As in the recorded exchanges of the standard
   * (fixtures/execution-apis), a block has the gas limit and the fee recipient of the simulated block below it, also
   * where they were overridden, with validation its minimum gas price too, and no other override.
   */
  #draftOf(parent: ExecutedBlock, { number, timestamp, overrides }: PlacedBlock): Header {
    const { config } = this.#parts
    const { validation } = this.#simulation
    const above = parent.block.header
    const isFirst = above === this.#base
    return {
      ...emptyHeader(number, config),
      parentHash: parent.hash,
      coinbase: overrides.coinbase ?? (isFirst ? ZERO_ADDRESS : above.coinbase),
      stateRoot: parent.postState,
      difficulty: overrides.difficulty ?? this.#base.difficulty,
      gasLimit: overrides.gasLimit ?? above.gasLimit,
      timestamp,
      minimumGasPrice: overrides.minimumGasPrice ?? (validation ? above.minimumGasPrice : 0n),
    }
  }

  async #runCalls({ calls, name }: PlacedBlock, state: Overlay, env: BlockEnvironment): Promise<BlockCalls> {
    const { config, vm } = this.#parts
    const { validation, traceTransfers } = this.#simulation
    const done: BlockCalls = { transactions: [], receipts: [], calls: [], gasUsed: 0n, paidFees: 0n }
    const destroyedEarlier = new Set<Hex>()
    for (const [index, call] of calls.entries()) {
      await this.#yieldIfDue()
      const tracer = traceTransfers ? new CallTracer(this.#budget) : undefined
      const { transaction, outcome } = await applySimulated({
        call,
        name: `${name}.calls[${index}]`,
        state,
        env,
        vm,
        chainId: config.chainId,
        gasAvailable: env.gasLimit - done.gasUsed,
        gasCap: this.#gasLeft,
        validation,
        gasPriceCap: config.gasPriceCapAt(env.number),
        destroyedEarlier,
        tracer,
        deadlineMs: this.#end - performance.now(),
      })
      this.#gasLeft -= outcome.gasUsed
      for (const address of outcome.destroyed) destroyedEarlier.add(address)
      record(done, transaction, outcome)
      done.calls.push({ outcome, logs: tracer === undefined ? outcome.logs : logsWithTransfers(tracer.root) })
    }
    return done
  }

  #completed(parent: ExecutedBlock, draft: Header, done: BlockCalls, stateRoot: Hex): ExecutedBlock {
    const { transactions, receipts, gasUsed, paidFees } = done
    const header: Header = {
      ...draft,
      stateRoot,
      transactionsRoot: transactionsRoot(transactions),
      receiptsRoot: receiptsRoot(receipts),
      logsBloom: mergeBlooms(receipts.map((receipt) => receipt.logsBloom)),
      gasUsed,
      paidFees,
    }
    return {
      hash: headerHash(header, this.#parts.config),
      block: { header, transactions, uncles: [] },
      receipts,
      totalDifficulty: parent.totalDifficulty + header.difficulty,
      postState: stateRoot,
    }
  }
}

function record(done: BlockCalls, transaction: Transaction, outcome: TransactionOutcome): void {
  const { succeeded, gasUsed, fee, logs } = outcome
  done.gasUsed += gasUsed
  done.paidFees += fee
  done.transactions.push(transaction)
  done.receipts.push({
    succeeded,
    cumulativeGasUsed: done.gasUsed,
    gasUsed,
    logsBloom: logsBloom(logs),
    logs,
    type: transaction.type,
  })
}
