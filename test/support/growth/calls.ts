/** Calls, with the parameters that could matter, whose work must not grow with what a node holds. */
import { MAX_SNAPSHOTS } from '../../../src/engine/dev/snapshots.ts'
import { createNode, createPool, type Node, type NodeOptions } from '../../../src/index.ts'
import { ask } from '../state-files.ts'
import { countWork } from '../work.ts'
import {
  accountAt,
  eachOf,
  endCollection,
  endow,
  MOST_ABIS,
  mineBlocks,
  quantity,
  SECTION,
} from './holdings.ts'

const NOW = 1_900_000_000
const STRANGER = accountAt(0xffffff)

/** Something that a node holds, and calls that it could slow down. */
export interface Growth {
  readonly options?: NodeOptions | ((size: number) => NodeOptions)
  /** Most of it that a node can hold. */
  readonly most?: number
  /** Grows a node to a size. */
  readonly grow: (node: Node, size: number) => Promise<unknown>
  /** Calls whose work must stay the same: method and parameters. */
  readonly calls: readonly (readonly [method: string, ...params: unknown[]])[]
  /** Calls that return or remove all that the node holds: made once, after the others; printed, not compared. */
  readonly whole?: Growth['calls']
  /** Why methods of `calls` do one thing for each section of 1,024 blocks; up to that they do not grow. */
  readonly sections?: Readonly<Record<string, string>>
  /** Runs before the calls, not counted. */
  readonly before?: (node: Node) => Promise<unknown>
}

const KNOWN = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const TRANSFER = { from: KNOWN, to: STRANGER, value: '0x1' }

/** Calls of every kind, for data that most of them do not use. */
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
  ['evm_simulate', { steps: [{ send: TRANSFER }] }],
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
/** Calls that execute a block of the pooled transactions. */
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

/** The kinds of data that a node is grown by, by name. */
export const GROWTHS: Readonly<Record<string, Growth>> = {
  snapshots: {
    options: { preset: 'hardhat' },
    most: MAX_SNAPSHOTS,
    grow: (node, size) => eachOf(size, () => ask(node, 'evm_snapshot')),
    before: (node) => ask(node, 'evm_snapshot', 'base').catch(() => undefined),
    whole: [['evm_snapshots']],
    calls: [['hardhat_metadata'], ['evm_snapshot'], ['evm_revert', 'base'], ['evm_diff', 'base']],
  },
  blocks: {
    grow: mineBlocks,
    whole: [['evm_reset']],
    sections: { eth_getLogs: SECTION.logs, trace_filter: SECTION.participants },
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
    options: { maxFilters: 1_000_000 },
    grow: (node, size) => eachOf(size, () => ask(node, 'eth_newBlockFilter')),
    whole: [['evm_reset']],
    calls: [['eth_newBlockFilter'], ['eth_newPendingTransactionFilter'], ['eth_newFilter', {}], ['evm_mine']],
  },
  'senders in the pool': {
    options: { mining: 'manual' },
    async grow(node, size) {
      await ask(node, 'anvil_autoImpersonateAccount', true)
      await endow(node, size)
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
    most: MOST_ABIS,
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
    most: 10_000,
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

/**
 * Work of each call, by its method and parameters; each is made before it is counted. With `isWhole` also of those
 * that return all that the node holds.
 */
export async function workAt(
  size: number,
  { options, grow, before, calls, whole = [] }: Growth,
  isWhole = false,
): Promise<[string, number][]> {
  const node = await createNode({
    now: () => NOW,
    rpcTimeoutMs: 0,
    maxLogBlocks: 0,
    ...(typeof options === 'function' ? options(size) : options),
  })
  try {
    await grow(node, size)
    const all = [...calls, ...(isWhole ? whole : [])]
    const runOf =
      ([method, ...params]: Growth['calls'][number]) =>
      () =>
        ask(node, method, ...params)
    async function warm(): Promise<void> {
      for (const call of calls) {
        await before?.(node)
        await runOf(call)()
      }
    }
    await warm()
    await endCollection(node, size)
    // Its end empties the caches.
    await warm()
    await before?.(node)
    const counted = await countWork(all.map(runOf))
    return counted.map((work, at) => [JSON.stringify(all[at]), work])
  } finally {
    await node.close()
  }
}

/** Work of opening a chain of a pool, of mining a block of it, and of closing it, beside so many. */
export async function workInPool(size: number): Promise<[string, number][]> {
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
    return ['open a chain', 'mine a block of it', 'close it'].map((step, at) => [step, counted[at] ?? 0])
  } finally {
    await pool.close()
  }
}
