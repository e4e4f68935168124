/**
 * The reference node's chain under its recorded traces (fixtures/traces/reference-node), executed by this node from
 * the genesis on. State roots are not compared: this node commits state to a Merkle-Patricia trie.
 */
import { readFileSync } from 'node:fs'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { cumulativeDifficulty, decodeBlock, type ExecutedBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { headerHash } from '../../src/chain/header.ts'
import { receiptsRoot } from '../../src/chain/receipt.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { type ChainAccess, environmentAt } from '../../src/engine/blockchain/ancestry.ts'
import type { Queries } from '../../src/engine/engine.ts'
import type { BlockReference } from '../../src/engine/model.ts'
import { ChainReplays } from '../../src/engine/queries/replay.ts'
import { TraceSearch } from '../../src/engine/queries/trace-filter.ts'
import { CallTrees } from '../../src/engine/recording/call-trees.ts'
import { createVm } from '../../src/evm/vm.ts'
import { applyBlock } from '../../src/execution/apply-block.ts'
import { runOnce } from '../../src/state/fork/demand.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { fakeEngine } from './fake-engine.ts'
import { genesisOf } from './replay.ts'
import { dispatcherOf } from './rpc.ts'

const config = CHAINS.regtest

/** A chain with the receipts that this node computed. */
export interface ReferenceChain {
  /** Blocks in the order of the recording, genesis first; the longest branch is canonical. */
  readonly blocks: readonly ExecutedBlock[]
  /** Answers trace_* and debug_trace* on it. */
  readonly dispatcher: ReturnType<typeof dispatcherOf>
}

function genesisBlock(hash: Hex): ExecutedBlock {
  const file = new URL('../../genesis/regtest.json', import.meta.url)
  const header = parseGenesis(JSON.parse(readFileSync(file, 'utf8')), config).header(EMPTY_TRIE_ROOT)
  return {
    hash,
    block: { header, transactions: [], uncles: [] },
    receipts: [],
    totalDifficulty: header.difficulty,
    postState: EMPTY_TRIE_ROOT,
  }
}

/** Executes blocks, given as RLP. Throws when the receipts of one are not those of its header. */
export async function referenceChain(raw: readonly Hex[]): Promise<ReferenceChain> {
  const vm = createVm({ chainId: config.chainId })
  const trie = new StateTrie({ node: () => undefined, code: () => undefined })
  const decoded = raw.map((text) => decodeBlock(fromHex(text), config))
  const [first] = decoded
  if (first === undefined) throw new Error('the chain has no block')

  const committed = trie.commit(EMPTY_TRIE_ROOT, genesisOf(config).changes())
  trie.remember(committed)
  const genesis = { ...genesisBlock(first.header.parentHash), postState: committed.root }
  const known = new Map<Hex, ExecutedBlock>([[genesis.hash, genesis]])
  const canonical: ExecutedBlock[] = [genesis]
  const headerAt = (height: number) => {
    const found = canonical[height]
    return found && { hash: found.hash, header: found.block.header }
  }
  const chain = {
    config,
    blockchain: {
      get head() {
        return canonical.at(-1) as ExecutedBlock
      },
      headerAt,
      hashAt: (height: number) => canonical[height]?.hash,
    },
    blocks: {
      get: (hash: Hex) => known.get(hash),
      header: (hash: Hex) => known.get(hash)?.block.header,
    },
  } as unknown as ChainAccess

  for (const block of decoded) {
    const { header } = block
    const parent = known.get(header.parentHash)
    if (parent === undefined) throw new Error(`block ${header.number} has no parent`)
    const parentState = trie.reader(parent.postState)
    const env = environmentAt(header, chain)
    const { result, state } = await applyBlock({ block, config, vm, parentState, env })
    if (receiptsRoot(result.receipts) !== header.receiptsRoot) {
      throw new Error(`block ${header.number} has other receipts`)
    }
    const after = trie.commit(parent.postState, state.changes())
    trie.remember(after)
    const executed = {
      hash: headerHash(header, config),
      block,
      receipts: result.receipts,
      totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(block),
      postState: after.root,
    }
    known.set(executed.hash, executed)
    if (canonical.length === header.number) canonical.push(executed)
  }

  const blockOf = (reference: BlockReference): ExecutedBlock | undefined => {
    if ('hash' in reference) return known.get(reference.hash)
    if ('number' in reference) return canonical[reference.number]
    return reference.tag === 'earliest' ? genesis : canonical.at(-1)
  }
  const lookup = { stateAfter: (block: ExecutedBlock) => trie.reader(block.postState) }
  const replays = new ChainReplays({
    ...chain,
    vm,
    lookup,
    callTrees: new CallTrees(),
    timeoutMs: 0,
    maxTraceBytes: 2 ** 28,
    onDemand: runOnce,
  })
  const queries: Partial<Queries> = {
    replay: (...given) => replays.replay(...given),
    traces: (...given) => replays.traces(...given),
    trace: (...given) => replays.trace(...given),
    head: () => canonical.at(-1) as ExecutedBlock,
    accountQuota: () => undefined,
    async block(reference) {
      const executed = blockOf(reference)
      return executed && { executed, pending: false }
    },
    transaction(hash) {
      for (const block of canonical) {
        const index = block.block.transactions.findIndex((transaction) => transaction.hash === hash)
        const transaction = block.block.transactions[index]
        if (transaction !== undefined) return { transaction, block, index }
      }
      return undefined
    },
    async *blocksBetween(_senders, _receivers, { from, to }) {
      yield Array.from({ length: to - from + 1 }, (_, i) => from + i)
    },
  }
  const traces = new TraceSearch({
    ...chain,
    replays,
    blocksBetween: queries.blocksBetween as Queries['blocksBetween'],
    lookup: { block: queries.block as Queries['block'] },
  })
  const { engine } = fakeEngine()
  return {
    blocks: [...known.values()],
    dispatcher: dispatcherOf({
      ...engine,
      queries: { ...engine.queries, ...queries, traceFilter: (query) => traces.find(query) },
    }),
  }
}
