/** Blocks on any parent, made outside of a node with the node's builder and miner: trees of blocks to import. */
import { readFileSync } from 'node:fs'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { ExecutedBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import type { Header } from '../../src/chain/header.ts'
import { headerHash } from '../../src/chain/header.ts'
import { signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { Blockchain } from '../../src/engine/blockchain/blockchain.ts'
import { BlockBuilder } from '../../src/engine/mining/builder.ts'
import { createMiner } from '../../src/engine/mining/miner.ts'
import { CallTrees } from '../../src/engine/recording/call-trees.ts'
import { createVm } from '../../src/evm/vm.ts'
import type { RecordedCalls } from '../../src/execution/apply-block.ts'
import { silentLogger } from '../../src/logger.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { BlockStore } from '../../src/store/block-store.ts'
import { openStore } from '../../src/store/level.ts'
import { nodeSource } from '../../src/store/state-nodes.ts'

const config = CHAINS.regtest
const FILE = new URL('../../genesis/regtest.json', import.meta.url)
const genesis = parseGenesis(JSON.parse(readFileSync(FILE, 'utf8')), config)

/** Keys of the local network's well-known rich accounts. */
export const KEYS = ['cow', 'cow1', 'cow2'].map((seed) => keccak256(new TextEncoder().encode(seed)))

/** Contents of a block; absent members are those that a miner would choose. */
export interface Forged {
  /** Transactions that cannot run are omitted. */
  readonly transactions?: readonly Transaction[]
  /** Unix seconds. */
  readonly timestamp?: number
  readonly coinbase?: Hex
  readonly uncles?: readonly Header[]
}

/** Makes blocks and stores them. */
export interface Forge {
  readonly genesis: ExecutedBlock
  make(parent: ExecutedBlock, parts?: Forged): Promise<ExecutedBlock>
  /** The same block with a changed header and a new proof of work. */
  remine(block: ExecutedBlock, changes: Partial<Header>): Promise<ExecutedBlock>
  stateAfter(block: ExecutedBlock): StateReader
  /** The call trees that were recorded when a block was made. */
  callsOf(block: ExecutedBlock): RecordedCalls | undefined
}

/** A signed transaction of one of `KEYS`; the same arguments give the same transaction. */
export function transfer(
  sender: number,
  { nonce, to = `0x${'b0'.repeat(20)}`, value = 1n, gasPrice = 0n, data = EMPTY }: Partial<Transaction>,
): Transaction {
  const key = KEYS[sender]
  if (key === undefined) throw new Error(`no sender ${sender}`)
  return signTransaction(
    { nonce: nonce ?? 0n, to, value, gasPrice, data, gasLimit: 150_000n, chainId: config.chainId },
    key,
  )
}

/** Opens a forge on the local network's genesis, in memory. */
export async function createForge(): Promise<Forge> {
  const store = await openStore({ chain: config.name, chainId: config.chainId })
  const blocks = await BlockStore.open(store, config)
  const trie = new StateTrie(nodeSource(store))
  const vm = createVm({ chainId: config.chainId })
  const blockchain = await Blockchain.open({ store, blocks, trie, place: 'memory' }, () => {
    const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
    genesis.apply(overlay)
    const state = trie.commit(EMPTY_TRIE_ROOT, overlay.changes())
    const header = genesis.header(state.root)
    const block: ExecutedBlock = {
      hash: headerHash(header, config),
      block: { header, transactions: [], uncles: [] },
      receipts: [],
      totalDifficulty: header.difficulty,
      postState: state.root,
    }
    return { block, state }
  })
  const chain = { config, blockchain, blocks }
  const builder = new BlockBuilder({ ...chain, vm, trie, logger: silentLogger, fork: undefined })
  const mine = createMiner(chain, () => false)
  const trees = new CallTrees()

  return {
    genesis: blockchain.genesis,
    async make(parent, { transactions = [], timestamp, coinbase, uncles } = {}) {
      let next = 0
      const built = await builder.build({
        parent,
        timestamp: timestamp ?? parent.block.header.timestamp + 10,
        coinbase: coinbase ?? `0x${'c0'.repeat(20)}`,
        extraData: EMPTY,
        candidates: { next: () => transactions[next++], skipSender() {} },
        ...(uncles && { uncles }),
      })
      const block = await mine(built)
      await blockchain.insert(block, built.state)
      trees.keep([{ block, state: built.state, result: built.result }])
      return block
    },
    async remine(block, changes) {
      const parent = blocks.get(block.block.header.parentHash)
      if (parent === undefined) throw new Error(`block ${block.hash} has no parent`)
      const header = { ...block.block.header, ...changes }
      const built = await builder.build({
        parent,
        timestamp: header.timestamp,
        coinbase: header.coinbase,
        extraData: EMPTY,
        candidates: { next: () => undefined, skipSender() {} },
      })
      return mine({ ...built, block: { ...block.block, header } })
    },
    stateAfter: (block) => trie.reader(block.postState),
    callsOf: ({ hash }) => trees.of(hash),
  }
}
