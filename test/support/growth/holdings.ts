/** What a node holds that its methods could be slowed down by: how it comes to hold so much, and which methods go through it. */
import { MAX_SNAPSHOTS } from '../../../src/engine/dev/snapshots.ts'
import { createNode, createPool, type Node, type NodeOptions } from '../../../src/index.ts'
import { ask } from '../state-files.ts'

/** Most contracts whose ABI `evm_setAbi` keeps. */
export const MOST_ABIS = 4096

/** An address that no preset and no example has. */
export const accountAt = (index: number) => `0x${(0x1000000 + index).toString(16).padStart(40, '0')}` as const

export const quantity = (value: number) => `0x${value.toString(16)}`

/** Runs this with each number from `first` to below `end`, one after another. */
export async function eachOf(
  end: number,
  run: (index: number) => Promise<unknown>,
  first = 0,
): Promise<void> {
  for (let index = first; index < end; index++) await run(index)
}

/** Most blocks of one call of `hardhat_mine`. */
const MOST_MINED = 10_000

/**
 * Commands after which a collection of states has ended, for each of what a node holds: a command goes through 256
 * entries of them at least, and a block has some 10.
 */
const COMMANDS_OF_COLLECTION = 1 / 16

/** A command that changes the clock alone. */
export const CHANGE = { method: 'evm_increaseTime', params: [1] }

/** Has a node that holds so much end its collection of states, or each command would count up to 4,096 entries of it. */
export const endCollection = (node: Node, size: number) =>
  eachOf(size * COMMANDS_OF_COLLECTION, () => node.request(CHANGE))

/** Mines so many empty blocks. */
export async function mineBlocks(node: Node, count: number): Promise<void> {
  for (let left = count; left > 0; left -= MOST_MINED)
    await ask(node, 'hardhat_mine', quantity(Math.min(left, MOST_MINED)))
}

/** Gives a balance to each account from `first` to below `end`. */
export const endow = (node: Node, end: number, first = 0) =>
  node.engine.dev.editState(
    Array.from({ length: end - first }, (_, at) => ({ address: accountAt(first + at), balance: 10n ** 18n })),
  )

/** A node, and the function that closes it and all that was opened for it. */
export interface OpenNode {
  readonly node: Node
  close(): Promise<void>
}

export interface Holding {
  readonly options?: NodeOptions
  /** Most of it that a node can hold, and where that is stated. */
  readonly most?: readonly [count: number, source: string]
  /** Methods that go through all of it, each with why. */
  readonly whole: Readonly<Record<string, string>>
  /** Methods that do one thing for each section of 1,024 blocks, each with why; up to that they do not grow. */
  readonly sections?: Readonly<Record<string, string>>
  /** Opens the node that is asked, in place of `createNode`. */
  readonly open?: (options: NodeOptions, size: number) => Promise<OpenNode>
  /** Adds those numbered from `first` to below `end`. */
  readonly grow: (node: Node, end: number, first: number) => Promise<unknown>
  /** How much of it the node holds. */
  readonly size: (node: Node) => Promise<number>
}

/** Why the work of a method grows. */
const WHOLE = {
  list: 'answers all of them',
  file: 'writes each account, block or transaction to the file',
  block: 'finds the best of all their senders, and executes a block of them up to its gas limit',
  check: 'each pooled transaction must be valid by the new price, gas limit or state',
  drop: 'removes all of them',
  wait: 'waits until its transaction is mined',
}
/** Why the work of a method grows with the sections of its range. */
export const SECTION = {
  logs: 'looks its logs up in the index of each 1,024 blocks of the range',
  past: 'installs a filter, which looks up its logs since `fromBlock` in the index of each 1,024 blocks',
  participants: 'looks the accounts up in the index of each 1,024 blocks of the range',
}

const because = (reason: keyof typeof WHOLE, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, WHOLE[reason]]))

/** Data of a node that mines each transaction. */
export const MINED: Readonly<Record<string, Holding>> = {
  blocks: {
    whole: {},
    sections: {
      eth_getLogs: SECTION.logs,
      eth_getFilterLogs: SECTION.logs,
      eth_getFilterChanges: SECTION.past,
      eth_uninstallFilter: SECTION.past,
      trace_filter: SECTION.participants,
    },
    grow: (node, end, first) => mineBlocks(node, end - first),
    size: async (node) => Number(await ask(node, 'eth_blockNumber')),
  },
  snapshots: {
    // A snapshot above the bound takes the place of the oldest, and some examples take one and give it back.
    most: [MAX_SNAPSHOTS - 10, 'docs/operating.md#memory, less those of the examples'],
    whole: because('list', 'evm_snapshots'),
    grow: (node, end, first) => eachOf(end, () => ask(node, 'evm_snapshot'), first),
    size: async (node) => (await ask(node, 'evm_snapshots')).length,
  },
  accounts: {
    whole: because('file', 'anvil_dumpState', 'evm_dumpState'),
    grow: endow,
    size: async (node) => {
      const state = await node.engine.queries.state({ tag: 'latest' })
      let count = 0
      while (state?.account(accountAt(count)) !== undefined) count++
      return count
    },
  },
  filters: {
    options: { maxFilters: 1_000_000 },
    whole: {},
    grow: (node, end, first) => eachOf(end, () => ask(node, 'eth_newBlockFilter'), first),
    size: async (node) => Number(await ask(node, 'eth_newBlockFilter')),
  },
  'registered ABIs': {
    most: [MOST_ABIS, 'docs/methods/evm.md#evm_setabi'],
    whole: because('list', 'evm_contracts'),
    grow: (node, end, first) =>
      eachOf(
        end,
        (index) => ask(node, 'evm_setAbi', accountAt(index), [`function f${index}(address to)`]),
        first,
      ),
    size: async (node) => (await ask(node, 'evm_contracts')).length,
  },
}

/** Transactions that wait in the pool of a node that mines on request. */
export const POOL: Holding = {
  options: { mining: 'manual' },
  most: [10_000, 'with 100,000 the table takes 20 minutes'],
  whole: {
    ...because('list', 'txpool_content', 'txpool_inspect', 'eth_pendingTransactions'),
    ...because('block', 'eth_getWork', 'mnr_getWork', 'evm_mine', 'miner_start', 'eth_fillTransaction'),
    ...because('block', 'hardhat_mine', 'anvil_mine', 'evm_mine_detailed', 'anvil_mine_detailed'),
    ...because('block', 'eth_submitWork', 'mnr_submitBitcoinBlock'),
    ...because('block', 'mnr_submitBitcoinBlockTransactions', 'mnr_submitBitcoinBlockPartialMerkle'),
    ...because('block', 'evm_importBlock', 'evm_reorg'),
    ...because('check', 'hardhat_setMinGasPrice', 'anvil_setMinGasPrice'),
    ...because('check', 'evm_setBlockGasLimit', 'anvil_setBlockGasLimit', 'anvil_loadState', 'evm_loadState'),
    ...because('file', 'anvil_dumpState', 'evm_dumpState'),
    ...because('check', 'anvil_rollback', 'anvil_reorg'),
    ...because('drop', 'anvil_dropAllTransactions', 'debug_clearTxpool'),
    ...because('wait', 'eth_sendRawTransactionSync', 'eth_sendTransactionSync'),
  },
  async grow(node, end, first) {
    await ask(node, 'anvil_autoImpersonateAccount', true)
    await endow(node, end, first)
    // By default they pay nothing, and an example sets a minimum.
    const paid = { to: accountAt(0), gas: '0x5208', gasPrice: '0x1' }
    await eachOf(end, (index) => ask(node, 'eth_sendTransaction', { from: accountAt(index), ...paid }), first)
    await ask(node, 'anvil_autoImpersonateAccount', false)
  },
  size: async (node) => Number((await ask(node, 'txpool_status')).pending),
}

/** Data of a node that mines on request. */
export const POOLED: Readonly<Record<string, Holding>> = { 'transactions in the pool': POOL }

const otherChain = (index: number) => `c${index}`

/** The same of a chain of a pool, which is asked while the others are open. */
export const IN_POOL: Readonly<Record<string, Holding>> = {
  'chains of a pool': {
    most: [10_000, '--pool, src/options/serve-settings.ts'],
    whole: {},
    async open(options, size) {
      const base = await createNode(options)
      const pool = await createPool({ size: size + 1, base })
      await base.close()
      await eachOf(size, (index) => pool.chain(otherChain(index)))
      return { node: await pool.chain('asked'), close: () => pool.close() }
    },
    grow: async () => undefined,
    size: async () => Number.POSITIVE_INFINITY,
  },
}
