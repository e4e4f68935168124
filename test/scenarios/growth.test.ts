/** Methods whose work must not grow with what the node holds: counted work, not time, at two sizes. */
import { describe, expect, it } from 'vitest'
import { creationOf } from '../../src/abi/artifact.ts'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
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
  readonly options?: NodeOptions
  /** Brings a node to a size. */
  readonly grow: (node: Node, size: number) => Promise<unknown>
  /** Calls whose work must stay the same: method and parameters. */
  readonly calls: readonly (readonly [method: string, ...params: unknown[]])[]
  /** Runs before the calls, uncounted. */
  readonly before?: (node: Node) => Promise<unknown>
}

async function eachOf(size: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < size; index++) await run(index)
}

const GROWTHS: Readonly<Record<string, Growth>> = {
  snapshots: {
    options: { preset: 'hardhat' },
    grow: (node, size) => eachOf(size, () => ask(node, 'evm_snapshot')),
    before: (node) => ask(node, 'evm_snapshot', 'base').catch(() => undefined),
    calls: [['hardhat_metadata'], ['evm_snapshot'], ['evm_revert', 'base'], ['evm_diff', 'base']],
  },
  blocks: {
    grow: (node, size) => ask(node, 'hardhat_mine', quantity(size)),
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
}

/** Work of each call, by its method and parameters; each is made once before it is counted. */
async function workAt(size: number, { options, grow, before, calls }: Growth): Promise<[string, number][]> {
  const node = await createNode({ now: () => NOW, rpcTimeoutMs: 0, ...options })
  try {
    await grow(node, size)
    const runs = calls.map(
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
    return counted.map((work, at) => [JSON.stringify(calls[at]), work])
  } finally {
    await node.close()
  }
}

describe.each(Object.entries(GROWTHS))('with more %s', (what, growth) => {
  it.runIf(PRINTED.length > 0)('is printed', async () => {
    const table: Record<string, Record<string, number>> = {}
    for (const size of PRINTED) {
      for (const [call, work] of await workAt(size, growth)) table[call] = { ...table[call], [size]: work }
    }
    console.log(what)
    console.table(table)
  })

  it('a call is as much work as before', async () => {
    const [few, many] = [await workAt(FEW, growth), await workAt(MANY, growth)]
    const grown = few.map(([call, work], at) => ({ call, from: work, to: many[at]?.[1] ?? 0 }))
    expect(grown.filter(({ from, to }) => to > SLACK * from + 20)).toEqual([])
  })
})

it('init code is recognised among many contracts without a look at each', async () => {
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
