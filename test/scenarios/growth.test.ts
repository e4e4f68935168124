/** Methods whose work must not grow with what the node holds: counted work, not time, at two sizes. */
import { describe, expect, it } from 'vitest'
import { creationOf } from '../../src/abi/artifact.ts'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { createNode, createPool, type Node, type NodeOptions } from '../../src/index.ts'
import { createLivePool } from '../../src/node/pool.ts'
import { ask } from '../support/state-files.ts'
import { countWork } from '../support/work.ts'

const [FEW, MANY] = [60, 320] as const
/** Sizes of which `npm run bench:growth` prints a table. */
const PRINTED = (process.env.GROWTH_SIZES ?? '').split(',').filter(Boolean).map(Number)
/** Trees and binary searches grow by a step or three. */
const SLACK = 1.5
const NOW = 1_900_000_000

const quantity = (value: number) => `0x${value.toString(16)}`
const accountAt = (index: number) => `0x${(0x1000000 + index).toString(16).padStart(40, '0')}` as const
const STRANGER = accountAt(0xffffff)

interface Growth {
  readonly options?: NodeOptions | ((size: number) => NodeOptions)
  /** Brings a node to a size. */
  readonly grow: (node: Node, size: number) => Promise<unknown>
  /** Calls whose work must stay the same: method and parameters. */
  readonly calls: readonly (readonly [method: string, ...params: unknown[]])[]
  /** Calls that return all that the node holds: printed, not compared. */
  readonly whole?: Growth['calls']
  /** Runs before the calls, uncounted. */
  readonly before?: (node: Node) => Promise<unknown>
}

const KNOWN = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const TRANSFER = { from: KNOWN, to: STRANGER, value: '0x1' }

/** Calls of every kind, for what most of them have nothing to do with. */
const COMMON: Growth['calls'] = [
  ['web3_clientVersion'],
  ['rpc_modules'],
  ['eth_syncing'],
  ['eth_blockNumber'],
  ['eth_gasPrice'],
  ['eth_feeHistory', '0x4', 'latest', []],
  ['eth_getBalance', KNOWN, 'latest'],
  ['eth_getTransactionCount', KNOWN, 'latest'],
  ['eth_getTransactionCount', KNOWN, 'pending'],
  ['eth_getCode', STRANGER, 'latest'],
  ['eth_getStorageAt', STRANGER, '0x0', 'latest'],
  ['eth_getProof', STRANGER, [], 'latest'],
  ['eth_call', TRANSFER, 'latest'],
  ['eth_estimateGas', TRANSFER],
  ['eth_createAccessList', TRANSFER],
  ['eth_simulateV1', { blockStateCalls: [{ calls: [TRANSFER] }] }, 'latest'],
  ['eth_getBlockByNumber', 'latest', true],
  ['eth_getBlockReceipts', 'latest'],
  ['eth_getLogs', { fromBlock: 'latest' }],
  ['eth_getTransactionBySenderAndNonce', KNOWN, '0x0'],
  ['eth_sign', KNOWN, '0x12'],
  ['eth_signTransaction', { ...TRANSFER, gas: '0x5208', gasPrice: '0x3938700', nonce: '0x0' }],
  ['txpool_status'],
  ['debug_accountTransactionQuota', KNOWN],
  ['debug_traceCall', TRANSFER, 'latest', {}],
  ['trace_call', TRANSFER, ['trace'], 'latest'],
  ['trace_block', 'latest'],
  ['ots_getBlockDetails', 'latest'],
  ['ots_getContractCreator', STRANGER],
  ['evm_setAbi', 'Probe', ['function probe()']],
  ['evm_contractAbi', accountAt(5)],
  ['evm_contractNames', [accountAt(5)]],
  ['evm_decode', [{ kind: 'call', data: '0xa9059cbb', address: accountAt(5) }]],
  ['hardhat_impersonateAccount', accountAt(7)],
  ['hardhat_stopImpersonatingAccount', accountAt(7)],
  ['hardhat_setBalance', STRANGER, '0x7'],
  ['anvil_nodeInfo'],
  ['personal_unlockAccount', KNOWN, '', null],
  ['evm_increaseTime', 1],
]
/** Calls that execute a block of what is in the pool. */
const PENDING: Growth['calls'] = [
  ['eth_getWork'],
  ['mnr_getWork'],
  ['eth_getBalance', KNOWN, 'pending'],
  ['eth_fillTransaction', TRANSFER],
]
/** Calls that add to the chain or the pool. */
const WRITING: Growth['calls'] = [
  ['eth_sendTransaction', TRANSFER],
  ['evm_snapshot'],
  ['evm_mine'],
  ['hardhat_dropTransaction', `0x${'7'.repeat(64)}`],
]

/** Topic of a log that no other subscription asks for. */
const topicAt = (index: number) => `0x${(index + 1).toString(16).padStart(64, '0')}`

async function eachOf(size: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < size; index++) await run(index)
}

const GROWTHS: Readonly<Record<string, Growth>> = {
  snapshots: {
    options: { preset: 'hardhat' },
    grow: (node, size) => eachOf(size, () => ask(node, 'evm_snapshot')),
    before: (node) => ask(node, 'evm_snapshot', 'base').catch(() => undefined),
    whole: [['evm_snapshots']],
    calls: [['hardhat_metadata'], ['evm_snapshot'], ['evm_revert', 'base'], ['evm_diff', 'base']],
  },
  blocks: {
    grow: (node, size) => ask(node, 'hardhat_mine', quantity(size)),
    whole: [['evm_reset']],
    calls: [
      ['eth_hashrate'],
      ['eth_netHashrate'],
      ['eth_gasPrice'],
      ['eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest', address: STRANGER }],
      ['trace_filter', { fromBlock: 'earliest', toBlock: 'latest', toAddress: [STRANGER] }],
      ['ots_searchTransactionsBefore', STRANGER, 0, 25],
    ],
  },
  'transactions of an account': {
    grow: async (node, size) => {
      const [from] = await ask(node, 'eth_accounts')
      await eachOf(size, () => ask(node, 'eth_sendTransaction', { from, to: STRANGER, value: '0x1' }))
    },
    calls: [
      ['ots_searchTransactionsBefore', STRANGER, 0, 2],
      ['ots_searchTransactionsAfter', STRANGER, 0, 2],
      ['eth_getTransactionBySenderAndNonce', '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826', '0x3'],
      ['ots_getContractCreator', STRANGER],
    ],
  },
  filters: {
    options: { maxFilters: 100_000 },
    grow: (node, size) => eachOf(size, () => ask(node, 'eth_newBlockFilter')),
    whole: [['evm_reset']],
    calls: [['eth_newBlockFilter'], ['eth_newPendingTransactionFilter'], ['eth_newFilter', {}], ['evm_mine']],
  },
  'senders in the pool': {
    options: { mining: 'manual' },
    async grow(node, size) {
      await ask(node, 'anvil_autoImpersonateAccount', true)
      await node.engine.dev.editState(
        Array.from({ length: size }, (_, index) => ({ address: accountAt(index), balance: 10n ** 18n })),
      )
      await eachOf(size, (index) =>
        ask(node, 'eth_sendTransaction', { from: accountAt(index), to: STRANGER, gas: '0x5208' }),
      )
    },
    whole: [
      ['txpool_content'],
      ['txpool_inspect'],
      ['txpool_contentFrom', KNOWN],
      ['eth_pendingTransactions'],
      ['debug_wireProtocolQueueSize'],
      ['eth_getBlockByNumber', 'pending', false],
      ['eth_getWork'],
    ],
    calls: [
      ['txpool_status'],
      ['txpool_contentFrom', accountAt(3)],
      ['eth_getBlockTransactionCountByNumber', 'pending'],
      ['eth_getTransactionByBlockNumberAndIndex', 'pending', '0x2'],
      ['eth_getTransactionBySenderAndNonce', accountAt(4), '0x0'],
      ['eth_getTransactionBySenderAndNonce', STRANGER, '0x0'],
      ['anvil_removePoolTransactions', accountAt(5)],
      ['eth_sendTransaction', { from: accountAt(6), to: STRANGER, gas: '0x5208' }],
    ],
  },
  'registered ABIs': {
    grow: (node, size) =>
      eachOf(size, (index) =>
        ask(node, 'evm_setAbi', accountAt(index), [
          `function f${index}(address to, uint256 amount)`,
          'function transfer(address to, uint256 amount)',
          'event Transfer(address indexed from, address indexed to, uint256 amount)',
          'error Refused(uint256 why)',
        ]),
      ),
    whole: [['evm_contracts']],
    calls: [...COMMON, ...WRITING, ...PENDING],
  },
  'impersonated accounts': {
    grow: (node, size) => eachOf(size, (index) => ask(node, 'hardhat_impersonateAccount', accountAt(index))),
    calls: [...COMMON, ...WRITING, ...PENDING],
  },
  'accounts of the wallet': {
    options: (size) => ({ accounts: size }),
    grow: async () => undefined,
    whole: [['eth_accounts'], ['personal_listAccounts']],
    calls: [...COMMON, ...WRITING, ['personal_unlockAccount', KNOWN, '', null]],
  },
  'transactions of one sender in the pool': {
    options: { mining: 'manual', accountSlots: 1_000_000 },
    grow: (node, size) =>
      eachOf(size, (index) =>
        ask(node, 'eth_sendTransaction', { ...TRANSFER, gas: '0x5208', nonce: quantity(index) }),
      ),
    whole: [
      ['txpool_content'],
      ['txpool_inspect'],
      ['txpool_contentFrom', KNOWN],
      ['eth_pendingTransactions'],
      ['debug_wireProtocolQueueSize'],
      ['eth_getBlockByNumber', 'pending', false],
      ...PENDING,
    ],
    calls: [
      ['eth_sendTransaction', { ...TRANSFER, gas: '0x5208' }],
      ...COMMON,
      ['evm_snapshot'],
      ['hardhat_dropTransaction', `0x${'7'.repeat(64)}`],
      ['eth_getTransactionByBlockNumberAndIndex', 'pending', '0x2'],
      ['eth_getBlockTransactionCountByNumber', 'pending'],
    ],
  },
  'queued transactions of one sender': {
    options: { mining: 'manual', accountSlots: 1_000_000 },
    grow: (node, size) =>
      eachOf(size, (index) =>
        ask(node, 'eth_sendTransaction', { ...TRANSFER, gas: '0x5208', nonce: quantity(index + 2) }),
      ),
    whole: [
      ['txpool_content'],
      ['txpool_inspect'],
      ['txpool_contentFrom', KNOWN],
      ['eth_pendingTransactions'],
      ['debug_wireProtocolQueueSize'],
    ],
    calls: [
      ...COMMON,
      ...WRITING.slice(1),
      ['eth_sendTransaction', { ...TRANSFER, from: '0x7986b3df570230288501eea3d890bd66948c9b79' }],
      ['eth_getTransactionBySenderAndNonce', KNOWN, '0x5'],
    ],
  },
  subscriptions: {
    options: { maxSubscriptions: 1_000_000 },
    grow: (node, size) =>
      eachOf(size, (index) =>
        ask(node, 'eth_subscribe', 'logs', { address: accountAt(index), topics: [topicAt(index)] }),
      ),
    calls: [...COMMON, ...WRITING, ...PENDING, ['eth_subscribe', 'newHeads']],
  },
}

/** Work of each call, by its method and parameters; each is made once before it is counted. */
async function workAt(
  size: number,
  { options, grow, before, calls, whole = [] }: Growth,
  isPrinted = false,
): Promise<[string, number][]> {
  const node = await createNode({
    now: () => NOW,
    rpcTimeoutMs: 0,
    ...(typeof options === 'function' ? options(size) : options),
  })
  try {
    await grow(node, size)
    const all = [...calls, ...(isPrinted ? whole : [])]
    const runs = all.map(
      ([method, ...params]) =>
        () =>
          ask(node, method, ...params),
    )
    for (const run of runs) {
      await before?.(node)
      await run()
    }
    await before?.(node)
    const counted = await countWork(runs)
    return counted.map((work, at) => [JSON.stringify(all[at]), work])
  } finally {
    await node.close()
  }
}

/** Is the most work clearly more than that at the smallest size? */
function hasGrown(works: Readonly<Record<number, number>>): boolean {
  const [least = 0, ...others] = Object.values(works)
  return Math.max(...others) > SLACK * least + 20
}

describe.each(Object.entries(GROWTHS))('with more %s', (what, growth) => {
  it.runIf(PRINTED.length > 0)('is printed', async () => {
    const table: Record<string, Record<string, number>> = {}
    for (const size of PRINTED) {
      for (const [call, work] of await workAt(size, growth, true))
        table[call] = { ...table[call], [size]: work }
    }
    const grown = Object.entries(table).filter(([, works]) => hasGrown(works))
    console.log(`${what}: ${Object.keys(table).length - grown.length} calls are flat`)
    console.table(Object.fromEntries(grown))
  })

  it('a call takes as much work as before', async () => {
    const [few, many] = [await workAt(FEW, growth), await workAt(MANY, growth)]
    const grown = few.map(([call, work], at) => ({ call, from: work, to: many[at]?.[1] ?? 0 }))
    expect(grown.filter(({ from, to }) => hasGrown([from, to]))).toEqual([])
  })
})

it('init code is recognised among many contracts without a comparison with each', async () => {
  const registry = createAbiRegistry()
  const codeAt = (index: number) => {
    const code = new Uint8Array(64 + 32 * (index % 50)).fill(index & 0xff)
    code[0] = index >> 8
    return code
  }
  async function register(index: number) {
    const creation = creationOf(codeAt(index))
    await registry.register({ name: `C${index}`, entries: [], ...(creation && { creation }) })
  }
  const [known, argument] = [codeAt(3), new Uint8Array(32)]
  const recognise = () => registry.creation(concat(known, argument))
  await eachOf(FEW, register)
  const [few = 0] = await countWork([recognise])
  for (let index = FEW; index < MANY; index++) await register(index)
  expect(recognise()?.name).toBe('C3')
  const [many = 0] = await countWork([recognise])
  expect(many).toBeLessThan(SLACK * few + 20)
})

describe('with a pool of chains', () => {
  /** Work of opening a chain, of asking one, and of dropping one, when the pool has so many. */
  async function workWithChains(size: number): Promise<Record<string, number>> {
    const pool = await createPool({ size: size + 10 })
    try {
      await eachOf(size, (index) => pool.chain(`c${index}`))
      const warm = await pool.chain('warm')
      await ask(warm, 'evm_mine')
      await warm.close()
      const counted = await countWork([
        () => pool.chain('one'),
        async () => ask(await pool.chain('one'), 'evm_mine'),
        async () => (await pool.chain('one')).close(),
      ])
      return Object.fromEntries(['open', 'evm_mine', 'close'].map((step, at) => [step, counted[at] ?? 0]))
    } finally {
      await pool.close()
    }
  }

  it.runIf(PRINTED.length > 0)('is printed', async () => {
    const table: Record<string, object> = {}
    for (const size of PRINTED) if (size <= 1000) table[size] = await workWithChains(size)
    console.table(table)
  })

  it('a chain is opened, queried and closed with the same work when there are many', async () => {
    const [few, many] = [await workWithChains(4), await workWithChains(40)]
    for (const [step, work] of Object.entries(few)) expect(many[step], step).toBeLessThan(SLACK * work + 20)
  })

  it('a chain starts with the same work for any number of registered ABIs, and keeps its own', async () => {
    const most = 1500
    const base = await createNode()
    const pool = createLivePool(10, base)
    const names = async (node: Node) => (await ask(node, 'evm_contracts')).length
    const open = (name: string) => countWork([() => pool.chain(name)])
    try {
      const register = (index: number) => ask(base, 'evm_setAbi', accountAt(index), [`function f${index}()`])
      await eachOf(FEW, register)
      await pool.chain('first')
      const [few = 0] = await open('few')
      for (let index = FEW; index < most; index++) await register(index)
      const [many = 0] = await open('many')
      expect(many).toBeLessThan(SLACK * few + 20)
      await register(most)
      const [older, newer] = [await pool.chain('few'), await pool.chain('many')]
      await ask(newer, 'evm_setAbi', accountAt(most + 1), ['function other()'])
      await ask(newer, 'evm_setAbi', accountAt(most + 2), ['function another()'])
      expect([await names(older), await names(newer), await names(base)]).toEqual([FEW, most + 2, most + 1])
    } finally {
      await pool.close()
      await base.close()
    }
  })
})
