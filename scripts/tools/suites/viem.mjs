/** viem's test client: every action in its three modes, each judged by what it changes. */
import assert from 'node:assert/strict'
import {
  createTestClient,
  defineChain,
  http,
  parseEther,
  parseGwei,
  publicActions,
  walletActions,
} from 'viem'
import { startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const STRANGER = '0x00000000000000000000000000000000DeaDBeef'
/** Returns 42 to every call: PUSH1 42, MSTORE, RETURN. */
const ANSWER = '0x602a60005260206000f3'
const ONE = `0x${'1'.padStart(64, '0')}`

/** Actions about things that this chain does not have. */
const BY_RULE = ['setNextBlockBaseFeePerGas']

/** Actions for which viem sends a method that the node of the mode does not have itself. */
const NOT_OF_THE_NODE = {
  anvil: [],
  hardhat: ['setBlockTimestampInterval, removeBlockTimestampInterval', 'sendUnsignedTransaction'],
  ganache: [
    ...['mine with an interval', 'setNonce', 'setStorageAt', 'impersonateAccount, stopImpersonatingAccount'],
    ...['dropTransaction', 'setCoinbase', 'setMinGasPrice', 'setNextBlockBaseFeePerGas', 'setLoggingEnabled'],
    ...['setBlockTimestampInterval, removeBlockTimestampInterval', 'sendUnsignedTransaction'],
    ...['dumpState, loadState', 'reset'],
  ],
}

/** Mining, and the clock. */
async function checkMining({ check, client }) {
  // First of all: without a preset the clock counts from the time of day, which blocks of one second run ahead of.
  await check('increaseTime', async () => {
    const now = BigInt(Math.floor(Date.now() / 1000))
    await client.increaseTime({ seconds: 3600 })
    await client.mine({ blocks: 1 })
    const { timestamp } = await client.getBlock()
    assert.ok(timestamp >= now + 3600n, `${timestamp - now}`)
  })
  await check('mine', async () => {
    const before = await client.getBlockNumber()
    await client.mine({ blocks: 3 })
    assert.equal(await client.getBlockNumber(), before + 3n)
  })
  await check('mine with an interval', async () => {
    const before = await client.getBlock()
    await client.mine({ blocks: 3, interval: 60 })
    const { timestamp } = await client.getBlock()
    assert.ok(timestamp - before.timestamp >= 120n, `${timestamp - before.timestamp}`)
  })
}

/** Balances, code, nonces, storage, impersonation, snapshots. */
async function checkAccounts({ check, client, second, pay }) {
  await check('setBalance', async () => {
    const number = await client.getBlockNumber()
    await client.setBalance({ address: STRANGER, value: parseEther('5') })
    assert.equal(await client.getBalance({ address: STRANGER }), parseEther('5'))
    assert.equal(await client.getBlockNumber(), number)
  })
  await check('setCode', async () => {
    const address = '0x00000000000000000000000000000000000000c0'
    await client.setCode({ address, bytecode: ANSWER })
    assert.equal(await client.getCode({ address }), ANSWER)
    assert.equal(BigInt((await client.call({ to: address })).data), 42n)
  })
  await check('setNonce', async () => {
    await client.setNonce({ address: STRANGER, nonce: 9 })
    assert.equal(await client.getTransactionCount({ address: STRANGER }), 9)
  })
  await check('setStorageAt', async () => {
    const address = '0x00000000000000000000000000000000000000c1'
    await client.setStorageAt({ address, index: 2, value: ONE })
    assert.equal(await client.getStorageAt({ address, slot: '0x2' }), ONE)
  })
  await check('impersonateAccount, stopImpersonatingAccount', async () => {
    const spend = () => client.sendTransaction({ account: STRANGER, to: second, value: 1n, gas: 21_000n })
    await client.setBalance({ address: STRANGER, value: parseEther('1') })
    await client.impersonateAccount({ address: STRANGER })
    assert.equal((await client.getTransactionReceipt({ hash: await spend() })).status, 'success')
    await client.stopImpersonatingAccount({ address: STRANGER })
    await assert.rejects(spend())
  })
  await check('snapshot, revert', async () => {
    const before = await client.getBalance({ address: second })
    const id = await client.snapshot()
    await pay()
    assert.equal(await client.getBalance({ address: second }), before + 1n)
    await client.revert({ id })
    assert.equal(await client.getBalance({ address: second }), before)
  })
}

/** Timestamps, automining and the pool. */
async function checkPool({ check, client, pay, waiting }) {
  await check('setNextBlockTimestamp', async () => {
    const { timestamp } = await client.getBlock()
    await client.setNextBlockTimestamp({ timestamp: timestamp + 777n })
    await client.mine({ blocks: 1 })
    assert.equal((await client.getBlock()).timestamp, timestamp + 777n)
  })
  await check('setAutomine, getAutomine', async () => {
    assert.equal(await client.getAutomine(), true)
    await waiting(async () => {
      const number = await client.getBlockNumber()
      assert.equal(await client.getAutomine(), false)
      await pay()
      assert.equal(await client.getBlockNumber(), number)
    })
  })
  await check('getTxpoolStatus, getTxpoolContent, inspectTxpool', () =>
    waiting(async () => {
      await pay()
      assert.deepEqual(await client.getTxpoolStatus(), { pending: 1, queued: 0 })
      assert.ok((await client.getTxpoolContent()).pending)
      assert.ok((await client.inspectTxpool()).pending)
    }),
  )
  await check('dropTransaction', () =>
    waiting(async () => {
      const hash = await pay()
      await client.dropTransaction({ hash })
      await assert.rejects(client.getTransaction({ hash }), { name: 'TransactionNotFoundError' })
    }),
  )
}

/** Limits and intervals of blocks. */
async function checkBlocks({ check, client, pay }) {
  await check('setBlockGasLimit', async () => {
    const { gasLimit } = await client.getBlock()
    await client.setBlockGasLimit({ gasLimit: 12_345_678n })
    await client.mine({ blocks: 1 })
    assert.equal((await client.getBlock()).gasLimit, 12_345_678n)
    await client.setBlockGasLimit({ gasLimit })
  })
  await check('setCoinbase', async () => {
    await client.setCoinbase({ address: STRANGER })
    await client.mine({ blocks: 1 })
    assert.equal((await client.getBlock()).miner, STRANGER.toLowerCase())
  })
  await check('setMinGasPrice', async () => {
    await client.setMinGasPrice({ gasPrice: parseGwei('3') })
    await assert.rejects(pay({ gasPrice: parseGwei('1') }))
    await pay({ gasPrice: parseGwei('3') })
    await client.setMinGasPrice({ gasPrice: 0n })
  })
  await check('setNextBlockBaseFeePerGas', () => client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n }))
  await check('setBlockTimestampInterval, removeBlockTimestampInterval', async () => {
    await client.setBlockTimestampInterval({ interval: 5 })
    await client.mine({ blocks: 1 })
    const { timestamp } = await client.getBlock()
    await client.mine({ blocks: 1 })
    assert.equal((await client.getBlock()).timestamp - timestamp, 5n)
    await client.removeBlockTimestampInterval()
  })
  await check('setIntervalMining', async () => {
    const number = await client.getBlockNumber()
    await client.setIntervalMining({ interval: 1 })
    const deadline = Date.now() + 20_000
    while ((await client.getBlockNumber()) < number + 2n) {
      assert.ok(Date.now() < deadline, 'no two blocks within 20 s')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await client.setIntervalMining({ interval: 0 })
    // Anvil mines nothing by itself from here on.
    await client.setAutomine(true)
  })
}

/** Logging, unsigned transactions, dumps and resets. */
async function checkRest({ check, client, second }) {
  await check('setLoggingEnabled', () => client.setLoggingEnabled(true))
  await check('sendUnsignedTransaction', async () => {
    await client.setBalance({ address: STRANGER, value: parseEther('1') })
    const before = await client.getBalance({ address: second })
    await client.sendUnsignedTransaction({ from: STRANGER, to: second, value: 2n, gas: 21_000n })
    assert.equal(await client.getBalance({ address: second }), before + 2n)
  })
  await check('dumpState, loadState', async () => {
    const state = await client.dumpState()
    await client.setBalance({ address: STRANGER, value: 1n })
    await client.loadState({ state })
    assert.notEqual(await client.getBalance({ address: STRANGER }), 1n)
  })
  await check('reset', async () => {
    await client.reset()
    assert.equal(await client.getBlockNumber(), 0n)
  })
}

async function actionsOf(mode, flags) {
  const node = await startTandem(...flags)
  const checks = createChecks()
  const skipped = new Set(NOT_OF_THE_NODE[mode])
  const check = (title, action) => (skipped.has(title) ? undefined : checks.check(title, action))
  const chain = defineChain({
    id: 33,
    name: 'local',
    nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
    rpcUrls: { default: { http: [node.url] } },
  })
  const client = createTestClient({ chain, mode, transport: http(), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
  const [first, second] = await client.getAddresses()
  const pay = (fields = {}) =>
    client.sendTransaction({ account: first, to: second, value: 1n, gas: 21_000n, ...fields })
  const waiting = async (use) => {
    await client.setAutomine(false)
    try {
      await use()
    } finally {
      await client.mine({ blocks: 1 })
      await client.setAutomine(true)
    }
  }
  const scene = { check, client, second, pay, waiting }
  try {
    await checkMining(scene)
    await checkAccounts(scene)
    await checkPool(scene)
    await checkBlocks(scene)
    await checkRest(scene)
  } finally {
    await node.stop()
  }
  return outcomeOf(
    checks.results(),
    BY_RULE.filter((title) => !skipped.has(title)),
  )
}

export const viemHardhat = () => actionsOf('hardhat', ['--preset', 'hardhat'])
export const viemAnvil = () => actionsOf('anvil', ['--preset', 'anvil'])
export const viemGanache = () => actionsOf('ganache', ['--accounts', '10'])
