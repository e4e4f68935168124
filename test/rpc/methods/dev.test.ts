/** What development clients send, name by name: what it asks of the engine, and what it answers. */
import { describe, expect, it } from 'vitest'
import { fromHex } from '../../../src/encoding/hex.ts'
import { block1, firstTransfer, pooled, UNKNOWN } from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const X = `0x${'1a'.repeat(20)}`

async function run(method: string, ...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), method, params), calls }
}
const edit = (change: object) => [[{ address: X, ...change }]]
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

describe('methods of development clients', () => {
  it.each<[string, unknown[], unknown, string, unknown[]]>([
    ['hardhat_setBalance', [X, '0x10'], true, 'editState', edit({ balance: 16n })],
    ['evm_setAccountBalance', [X, '0x10'], true, 'editState', edit({ balance: 16n })],
    ['anvil_setBalance', [X, '0x10'], null, 'editState', edit({ balance: 16n })],
    ['tenderly_setBalance', [X, '0x10'], null, 'editState', edit({ balance: 16n })],
    ['hardhat_addBalance', [X, '0x10'], true, 'addBalance', [X, 16n]],
    ['anvil_addBalance', [X, 16], null, 'addBalance', [X, 16n]],
    ['tenderly_addBalance', [X, '16'], null, 'addBalance', [X, 16n]],
    ['anvil_removePoolTransactions', [X], null, 'dropTransactionsOf', [X]],
    ['debug_clearTxpool', [], null, 'dropAllTransactions', []],
    ['hardhat_setLoggingEnabled', [false], true, 'setLoggingEnabled', [false]],
    ['anvil_setLoggingEnabled', [true], null, 'setLoggingEnabled', [true]],
    ['anvil_rollback', [], null, 'rollback', [1]],
    ['anvil_rollback', ['0x3'], null, 'rollback', [3]],
    ['anvil_reorg', [2], null, 'replaceBlocks', [2, []]],
    [
      'anvil_impersonateSignature',
      [`0x${'11'.repeat(64)}01`, X],
      null,
      'impersonateSignature',
      [`0x${'11'.repeat(64)}1c`, X],
    ],
    ['hardhat_setCode', [X, '0x6001'], true, 'editState', edit({ code: fromHex('0x6001') })],
    ['evm_setAccountCode', [X, '0x'], true, 'editState', edit({ code: fromHex('0x') })],
    ['anvil_setCode', [X, '0x'], null, 'editState', edit({ code: fromHex('0x') })],
    ['hardhat_setNonce', [X, '0x5'], true, 'editState', edit({ nonce: 5n })],
    ['evm_setAccountNonce', [X, 5], true, 'editState', edit({ nonce: 5n })],
    ['anvil_setNonce', [X, '0x5'], null, 'editState', edit({ nonce: 5n })],
    [
      'hardhat_setStorageAt',
      [X, '0x0', word('2a')],
      true,
      'editState',
      edit({ storage: new Map([[0n, 42n]]) }),
    ],
    [
      'anvil_setStorageAt',
      [X, word('1'), '0x2a'],
      true,
      'editState',
      edit({ storage: new Map([[1n, 42n]]) }),
    ],
    ['evm_setAccountStorageAt', [X, 3, '0x'], true, 'editState', edit({ storage: new Map([[3n, 0n]]) })],
    ['hardhat_setCoinbase', [X], true, 'setCoinbase', [X]],
    ['anvil_setCoinbase', [X], null, 'setCoinbase', [X]],
    ['hardhat_setMinGasPrice', ['0x3b9aca00'], true, 'setMinimumGasPrice', [1_000_000_000n]],
    ['anvil_setMinGasPrice', ['0x0'], null, 'setMinimumGasPrice', [0n]],
    ['evm_setBlockGasLimit', ['0x1c9c380'], true, 'setBlockGasLimit', [30_000_000n]],
    ['anvil_setBlockGasLimit', ['0x1c9c380'], true, 'setBlockGasLimit', [30_000_000n]],
    ['hardhat_mine', [], true, 'mine', [{ blocks: 1, interval: 1 }]],
    ['hardhat_mine', ['0x3e8', '0x3c'], true, 'mine', [{ blocks: 1000, interval: 60 }]],
    ['anvil_mine', [null, null], null, 'mine', [{ blocks: 1, interval: 1 }]],
    ['anvil_mine', ['0x2', '0x0'], null, 'mine', [{ blocks: 2, interval: 0 }]],
    ['hardhat_reset', [], true, 'reset', []],
    ['hardhat_reset', [null], true, 'reset', []],
    ['hardhat_reset', [{}], true, 'reset', []],
    ['anvil_reset', [{ forking: { blockNumber: null } }], null, 'reset', []],
    ['anvil_reset', [{ forking: null, jsonRpcUrl: null }], null, 'reset', []],
    ['hardhat_dropTransaction', [pooled.hash], true, 'dropTransaction', [pooled.hash]],
    ['hardhat_dropTransaction', [UNKNOWN], false, 'dropTransaction', [UNKNOWN]],
    ['anvil_dropTransaction', [pooled.hash], pooled.hash, 'dropTransaction', [pooled.hash]],
    ['anvil_dropTransaction', [UNKNOWN], null, 'dropTransaction', [UNKNOWN]],
    ['anvil_dropAllTransactions', [], null, 'dropAllTransactions', []],
    ['anvil_autoImpersonateAccount', [true], null, 'setEverybody', [true]],
    ['hardhat_autoImpersonateAccount', [false], null, 'setEverybody', [false]],
    ['anvil_setIntervalMining', [5], null, 'setIntervalMining', [5000]],
    ['anvil_setAutomine', [false], true, 'setAutomine', [false, { poolWaits: false }]],
    ['anvil_setBlockTimestampInterval', [12], null, 'setBlockTimestampInterval', [12]],
    ['anvil_removeBlockTimestampInterval', [], true, 'setBlockTimestampInterval', [undefined]],
    ['evm_setTime', [1_700_000_000_999], 7, 'setTime', [1_700_000_000]],
    ['anvil_setTime', ['0x6553f100'], 7, 'setTime', [1_700_000_000]],
    ['anvil_snapshot', [], '0x1', 'snapshot', []],
    ['anvil_revert', ['0x1'], true, 'revert', [1]],
    ['anvil_increaseTime', [60], '0x3c', 'increaseTime', [60]],
    ['anvil_setNextBlockTimestamp', ['0x3e8'], null, 'setNextBlockTimestamp', [1000]],
    ['miner_start', [], true, 'startMining', []],
    ['miner_start', [4], true, 'startMining', []],
    ['miner_stop', [], true, 'stopMining', []],
  ])('%s %j', async (method, params, result, command, args) => {
    expect(await run(method, ...params)).toEqual({ outcome: { result }, calls: [{ name: command, args }] })
  })

  it('miner_start mines a block for each transaction when mining was off', async () => {
    const { engine, calls } = fakeEngine({ dev: { miningMode: () => 'manual' } })
    expect(await ask(dispatcherOf(engine), 'miner_start')).toEqual({ result: true })
    expect(calls).toEqual([
      { name: 'startMining', args: [] },
      { name: 'setAutomine', args: [true] },
    ])
  })

  it.each<['auto' | 'manual' | number, boolean, number | null]>([
    ['auto', true, null],
    ['manual', false, null],
    [1500, false, 2],
  ])('return the mining mode: %s', async (mode, auto, interval) => {
    const dispatcher = dispatcherOf(fakeEngine({ dev: { miningMode: () => mode } }).engine)
    for (const name of ['hardhat_getAutomine', 'anvil_getAutomine']) {
      expect(await ask(dispatcher, name)).toEqual({ result: auto })
    }
    expect(await ask(dispatcher, 'anvil_getIntervalMining')).toEqual({ result: interval })
  })

  it('start and stop impersonation in each family’s form', async () => {
    const { engine } = fakeEngine()
    const dispatcher = dispatcherOf(engine)
    expect(await ask(dispatcher, 'hardhat_impersonateAccount', [X])).toEqual({ result: true })
    expect(engine.dev.impersonation.covers(X as never)).toBe(true)
    expect(await ask(dispatcher, 'hardhat_stopImpersonatingAccount', [X])).toEqual({ result: true })
    expect(await ask(dispatcher, 'hardhat_stopImpersonatingAccount', [X])).toEqual({ result: false })
    expect(await ask(dispatcher, 'anvil_impersonateAccount', [X])).toEqual({ result: null })
    expect(await ask(dispatcher, 'anvil_stopImpersonatingAccount', [X])).toEqual({ result: null })
    expect(engine.dev.impersonation.covers(X as never)).toBe(false)
  })

  it('describe the node', async () => {
    const dispatcher = dispatcherOf(fakeEngine().engine)
    const { result } = await ask(dispatcher, 'hardhat_metadata')
    expect(result).toEqual({
      clientVersion: expect.stringContaining('/'),
      chainId: 33,
      instanceId: UNKNOWN,
      latestBlockNumber: 1,
      latestBlockHash: block1.hash,
    })
    expect(await ask(dispatcher, 'anvil_metadata')).toEqual({ result })
    const { header } = block1.block
    expect(await ask(dispatcher, 'anvil_nodeInfo')).toEqual({
      result: {
        currentBlockNumber: '0x1',
        currentBlockTimestamp: header.timestamp,
        currentBlockHash: block1.hash,
        hardFork: 'Cancun',
        chainName: 'regtest',
        transactionOrder: 'fees',
        environment: {
          baseFee: `0x${header.minimumGasPrice.toString(16)}`,
          chainId: 33,
          gasLimit: `0x${header.gasLimit.toString(16)}`,
          gasPrice: '0x42',
        },
        forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
      },
    })
  })

  it.each<[string, unknown[], string]>([
    ['hardhat_setBalance', [X, `0x1${'0'.repeat(64)}`], `Invalid param: 0x1${'0'.repeat(63)}...`],
    ['hardhat_setBalance', [X, -1], 'Invalid param -1: value must be a valid hex or string number.'],
    ['anvil_setCode', [X, '0xzz'], 'Invalid data format: invalid hex value.'],
    [
      'hardhat_setStorageAt',
      [X, `0x${'1'.repeat(65)}`, '0x0'],
      'Invalid slot: expected at most 32 bytes in hex.',
    ],
    ['hardhat_setStorageAt', [X, '0x0', 'one'], 'Invalid value: expected at most 32 bytes in hex.'],
    ['hardhat_setStorageAt', [X, '0x0'], 'method parameters invalid'],
    ['hardhat_mine', [1_000_001], 'Invalid blocks: expected a whole number from 0 to 1000000.'],
    ['anvil_setIntervalMining', [2_147_484], 'Invalid seconds: expected a whole number from 0 to 2147483.'],
    [
      'hardhat_reset',
      [{ forking: { jsonRpcUrl: 'http://localhost:1', blockNumber: 7 } }],
      'options.forking: a node that shares its chain with others cannot fork another chain',
    ],
    [
      'anvil_reset',
      [{ forking: { blockNumber: 7 } }],
      'options.forking: a node that shares its chain with others cannot fork another chain',
    ],
    [
      'anvil_setRpcUrl',
      ['http://localhost:1'],
      'url: this node forks no other chain; anvil_reset with forking starts a fork',
    ],
    ['anvil_setRpcUrl', ['localhost'], 'url: must be a URL of http, https, ws or wss'],
    [
      'anvil_reset',
      [{ forking: { jsonRpcUrl: 'ftp://x' } }],
      'options.forking.jsonRpcUrl: must be a URL of http, https, ws or wss',
    ],
    [
      'anvil_reset',
      [{ jsonRpcUrl: 'http://localhost:1' }],
      'options.forking: a node that shares its chain with others cannot fork another chain',
    ],
  ])('%s refuses %j', async (method, params, message) => {
    expect(await run(method, ...params)).toEqual({ outcome: { error: { code: -32602, message } }, calls: [] })
  })

  it('do not drop mined transactions', async () => {
    const { outcome } = await run('hardhat_dropTransaction', firstTransfer.hash)
    expect(outcome.error).toEqual({
      code: -32602,
      message: `transaction: ${firstTransfer.hash} cannot be dropped, it is mined`,
    })
  })

  const NO_BASE_FEE = 'blocks of this chain have no base fee, only a minimum gas price'
  const NO_RANDOM = 'blocks of this chain are mined and carry a difficulty, no random value'
  const NO_BLOBS = 'transactions of this chain carry no blobs (EIP-4844)'

  it.each([
    ['hardhat_setNextBlockBaseFeePerGas', `${NO_BASE_FEE} (setMinGasPrice)`],
    ['anvil_setNextBlockBaseFeePerGas', `${NO_BASE_FEE} (setMinGasPrice)`],
    ['hardhat_setPrevRandao', NO_RANDOM],
    ['anvil_setPrevRandao', NO_RANDOM],
    ['anvil_setNextBlockPrevRandao', NO_RANDOM],
    ['anvil_getBlobByHash', NO_BLOBS],
    ['anvil_getBlobsByTransactionHash', NO_BLOBS],
    ['eth_blobBaseFee', NO_BLOBS],
    ['eth_baseFee', `${NO_BASE_FEE} (eth_gasPrice)`],
    [
      'eth_config',
      'forks of this chain activate by height and have no fork id and no blob schedule (EIP-7910)',
    ],
    ['eth_getBlockAccessList', 'blocks of this chain carry no access lists (EIP-7928)'],
    [
      'anvil_setChainId',
      'the chain id is bound into the signatures of transactions and fixed when the node starts (--chain-id)',
    ],
    ['anvil_classifyTransaction', 'it belongs to another chain that Anvil can emulate'],
    ['anvil_addCapability', 'accounts of this chain cannot delegate to code (EIP-7702)'],
    ['wallet_sendTransaction', 'accounts of this chain cannot delegate to code (EIP-7702)'],
    [
      'debug_executionWitness',
      'the state of this chain is a binary trie, of which Ethereum clients verify no witness',
    ],
  ])('%s is refused with the reason', async (method, reason) => {
    const { outcome } = await run(method, '0x1')
    expect(outcome.error).toMatchObject({
      code: -32601,
      message: `the method ${method} does not exist/is not available: ${reason}`,
    })
  })

  it('are refused without a hint when no client has a method of this name', async () => {
    expect((await run('setPrevRandao', '0x1')).outcome.error?.message).toBe('method not found')
    expect((await run('eth_setPrevRandao', '0x1')).outcome.error?.message).toBe('method not found')
  })

  it('close with their own namespace, which leaves the chain’s own methods open', async () => {
    const dispatcher = dispatcherOf(fakeEngine().engine, {}, { switched: ['-hardhat', '-anvil'] })
    for (const name of ['anvil_snapshot', 'anvil_setBalance', 'evm_setAccountBalance', 'hardhat_mine']) {
      expect((await ask(dispatcher, name, [])).error?.code, name).toBe(-32601)
    }
    expect(await ask(dispatcher, 'evm_snapshot')).toEqual({ result: '0x1' })
  })
})
