/**
 * Every method of the registry, by its own example: on a node that holds much, its work must be the same as on one that
 * holds little, unless it goes through what there is much of.
 */
import { describe, expect, it, vi } from 'vitest'
import { messageOf } from '../../src/errors.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { addNamed, COUNTED_EXAMPLES } from '../support/counted-examples.ts'
import { ask } from '../support/state-files.ts'
import { countWork } from '../support/work.ts'

// Native code, of which no step is counted; to stretch each passphrase of the examples takes a third of the time.
vi.mock(import('../../src/engine/wallet/encrypted-key.ts'), async (original) => ({
  ...(await original()),
  STANDARD_COST: { n: 2, r: 1, p: 1 },
}))

const [FEW, MANY] = [20, 400] as const
/** Sizes of which `npm run bench:growth` prints a table. */
const PRINTED = (process.env.GROWTH_SIZES ?? '').split(',').filter(Boolean).map(Number)
/** Trees and binary searches grow by some steps. */
const hasGrown = (least: number, most: number) => most > 1.5 * least + 60

const accountAt = (index: number) => `0x${(0x1000000 + index).toString(16).padStart(40, '0')}` as const
const quantity = (value: number) => `0x${value.toString(16)}`

interface Dimension {
  readonly options?: NodeOptions
  /** Methods that go through all of it, each with why. */
  readonly whole: Readonly<Record<string, string>>
  readonly grow: (node: Node, size: number) => Promise<unknown>
  /** How much of it the node holds. */
  readonly size: (node: Node) => Promise<number>
}

async function eachOf(size: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < size; index++) await run(index)
}

const endow = (node: Node, size: number) =>
  node.engine.dev.editState(
    Array.from({ length: size }, (_, index) => ({ address: accountAt(index), balance: 10n ** 18n })),
  )

/** Why the work of a method grows. */
const WHOLE = {
  list: 'answers all of them',
  file: 'writes each account, block or transaction to the file',
  block: 'executes a block of all that can be mined',
  check: 'each pooled transaction must be valid by the new price, gas limit or state',
  drop: 'removes all of them',
  wait: 'waits until its transaction is mined',
}
const because = (reason: keyof typeof WHOLE, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, WHOLE[reason]]))

/** What a node holds that mines each transaction. */
const MINED: Readonly<Record<string, Dimension>> = {
  blocks: {
    whole: {},
    grow: (node, size) => ask(node, 'hardhat_mine', quantity(size)),
    size: async (node) => Number(await ask(node, 'eth_blockNumber')),
  },
  snapshots: {
    whole: because('list', 'evm_snapshots'),
    grow: (node, size) => eachOf(size, () => ask(node, 'evm_snapshot')),
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
    grow: (node, size) => eachOf(size, () => ask(node, 'eth_newBlockFilter')),
    size: async (node) => Number(await ask(node, 'eth_newBlockFilter')),
  },
  'registered ABIs': {
    whole: because('list', 'evm_contracts'),
    grow: (node, size) =>
      eachOf(size, (index) => ask(node, 'evm_setAbi', accountAt(index), [`function f${index}(address to)`])),
    size: async (node) => (await ask(node, 'evm_contracts')).length,
  },
}
/** The same of a node that mines on request. */
const POOLED: Readonly<Record<string, Dimension>> = {
  'transactions in the pool': {
    options: { mining: 'manual' },
    whole: {
      ...because('list', 'txpool_content', 'txpool_inspect', 'eth_pendingTransactions'),
      ...because('block', 'eth_getWork', 'mnr_getWork', 'evm_mine', 'miner_start', 'eth_fillTransaction'),
      ...because('block', 'hardhat_mine', 'anvil_mine', 'evm_mine_detailed', 'anvil_mine_detailed'),
      ...because('block', 'eth_submitWork', 'mnr_submitBitcoinBlock'),
      ...because('block', 'mnr_submitBitcoinBlockTransactions', 'mnr_submitBitcoinBlockPartialMerkle'),
      ...because('block', 'evm_importBlock', 'evm_reorg'),
      ...because('check', 'hardhat_setMinGasPrice', 'anvil_setMinGasPrice'),
      ...because(
        'check',
        'evm_setBlockGasLimit',
        'anvil_setBlockGasLimit',
        'anvil_loadState',
        'evm_loadState',
      ),
      ...because('file', 'anvil_dumpState', 'evm_dumpState'),
      ...because('check', 'anvil_rollback', 'anvil_reorg'),
      ...because('drop', 'anvil_dropAllTransactions', 'debug_clearTxpool'),
      ...because('wait', 'eth_sendRawTransactionSync', 'eth_sendTransactionSync'),
    },
    async grow(node, size) {
      await ask(node, 'anvil_autoImpersonateAccount', true)
      await endow(node, size)
      await eachOf(size, (index) =>
        ask(node, 'eth_sendTransaction', { from: accountAt(index), to: accountAt(0), gas: '0x5208' }),
      )
      await ask(node, 'anvil_autoImpersonateAccount', false)
    },
    size: async (node) => Number((await ask(node, 'txpool_status')).pending),
  },
}

/** Before each call: the node discards the pending block, which it would otherwise have from an earlier call. */
const CHANGE = { method: 'evm_increaseTime', params: [1] }

type Example = (typeof COUNTED_EXAMPLES)[number]

/** Counted again so often where it has grown: a timer of the node may have run meanwhile. */
const RECOUNTS = 3

/** A node that holds so much of these, and the work of a method's example on it. */
async function nodeWith(size: number, dimensions: readonly Dimension[]) {
  const options: NodeOptions = Object.assign({}, ...dimensions.map((dimension) => dimension.options))
  const { mining = 'auto' } = options
  const node = await createNode({
    now: () => 1_900_000_000,
    rpcTimeoutMs: 0,
    methods: METHODS.filter(({ presets }) => presets !== undefined).map(({ name }) => `+${name}` as const),
    accountSlots: 1000,
    ...options,
  })
  const named = await addNamed(node)
  for (const { grow } of dimensions) await grow(node, size)
  async function run({ name, run }: Example): Promise<unknown> {
    await node.request(CHANGE)
    const answer = await run(node, named).catch((error) => expect.unreachable(`${name}: ${messageOf(error)}`))
    // Some change how it mines.
    await node.engine.commands.setMiningMode(mining)
    return answer
  }
  return {
    async answers(examples: readonly Example[]): Promise<readonly unknown[]> {
      const found: unknown[] = []
      for (const example of examples) found.push(await run(example))
      return found
    },
    async warm(examples: readonly Example[]): Promise<void> {
      for (const example of examples) await run(example)
      for (const dimension of dimensions) expect(await dimension.size(node)).toBeGreaterThanOrEqual(size)
    },
    count: (examples: readonly Example[]) => countWork(examples.map((example) => () => run(example))),
    close: () => node.close(),
  }
}

/** Which of these methods are more work where there is more of these, with their work at each size. */
async function grownWith(
  dimensions: readonly Dimension[],
  isMeant: (name: string) => boolean,
  sizes: readonly number[] = [FEW, MANY],
) {
  const nodes = await Promise.all(sizes.map((size) => nodeWith(size, dimensions)))
  try {
    let grown = COUNTED_EXAMPLES.filter(({ name }) => isMeant(name)).map((example) => ({
      example,
      works: [0],
    }))
    for (const node of nodes) await node.warm(grown.map(({ example }) => example))
    for (let count = 0; count <= RECOUNTS && grown.length > 0; count++) {
      const examples = grown.map(({ example }) => example)
      const counts: (readonly number[])[] = []
      for (const node of nodes) counts.push(await node.count(examples))
      grown = examples
        .map((example, at) => ({ example, works: counts.map((works) => works[at] ?? 0) }))
        .filter(({ works: [least = 0, ...others] }) => hasGrown(least, Math.max(...others)))
    }
    return grown.map(({ example: { name }, works }) => ({ name, works }))
  } finally {
    for (const node of nodes) await node.close()
  }
}

/** Reads that have nothing to answer on these nodes, which serve no connections, and whose named transaction succeeded. */
const EMPTY = `anvil_getIntervalMining debug_accountTransactionQuota eth_pendingTransactions eth_syncing
net_listening net_peerList ots_getTransactionError sco_keyUsage sco_peerList`.split(/\s+/)

it('counted reads find their results', async () => {
  const { answers, close } = await nodeWith(1, Object.values(MINED))
  try {
    const reads = COUNTED_EXAMPLES.filter(({ changesState }) => !changesState)
    const found = await answers(reads)
    const isEmpty = (answer: unknown) => [null, false, '0x', '[]', '{}'].includes(answer as string)
    const empty = reads.filter((_, at) => {
      const answer = found[at]
      return isEmpty(answer) || isEmpty(JSON.stringify(answer))
    })
    expect(empty.map(({ name }) => name).sort()).toEqual(EMPTY)
  } finally {
    await close()
  }
})

describe.each([
  ['mines each transaction', MINED],
  ['mines on request', POOLED],
])('a node that %s and holds more', (_, holdings) => {
  const dimensions = Object.values(holdings)
  const isWhole = (name: string) => dimensions.some(({ whole }) => whole[name] !== undefined)

  it('answers with the same amount of work', async () => {
    expect(await grownWith(dimensions, (name) => !isWhole(name))).toEqual([])
  })

  const apart = dimensions.length > 1 ? Object.entries(holdings) : []
  it.each(apart)('iterates over %s where it must, and over nothing else', async (_what, { whole }) => {
    const others = dimensions.filter((dimension) => dimension.whole !== whole)
    expect(await grownWith(others, (name) => whole[name] !== undefined)).toEqual([])
  })

  it.runIf(PRINTED.length > 0).each(Object.entries(holdings))('is printed: %s', async (what, dimension) => {
    // Those that go through the pool may take away what is in it.
    const grown = await grownWith([dimension], (name) => holdings === MINED || !isWhole(name), PRINTED)
    console.log(`${what}: all methods are flat but`)
    console.table(Object.fromEntries(grown.map(({ name, works }) => [name, works])))
  })
})
