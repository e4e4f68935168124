/** What ethers' providers, signers and contracts make of the node's answers. */
import assert from 'node:assert/strict'
import {
  ContractFactory,
  isError,
  JsonRpcProvider,
  NonceManager,
  parseEther,
  Wallet,
  WebSocketProvider,
} from 'ethers'
import { compileCounter } from '../compile.mjs'
import { startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const POOR = `0x${'42'.repeat(32)}`

/** The promise fails with an error of this code, which is handed back. */
async function failsAs(code, promise) {
  const error = await promise.then(
    () => assert.fail(`no ${code}`),
    (reason) => reason,
  )
  assert.ok(isError(error, code), error.stack)
  return error
}

/** The network, a deployed contract, and a transaction. */
async function checkContract({ check, provider, wallet, counter, other }) {
  await check('getNetwork, getFeeData: no base fee', async () => {
    assert.equal((await provider.getNetwork()).chainId, 33n)
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = await provider.getFeeData()
    assert.ok(gasPrice > 0n)
    assert.deepEqual([maxFeePerGas, maxPriorityFeePerGas], [null, null])
  })
  await check('a contract is deployed', async () => {
    await counter.waitForDeployment()
    assert.equal(await counter.value(), 1n)
  })
  await check('a transaction is populated as a legacy one', async () => {
    const sent = await wallet.sendTransaction({ to: other.address, value: 1n })
    const { status, fee, index, hash } = await sent.wait()
    assert.deepEqual([status, index, sent.type], [1, 0, 0])
    assert.ok(fee > 0n)
    const block = await provider.getBlock('latest', true)
    assert.equal(block.prefetchedTransactions[0].hash, hash)
  })
}

/** Failures of a contract, as ethers sees them. */
async function checkExecutionErrors({ check, counter, preset }) {
  await check('CALL_EXCEPTION: custom error of a call', async () => {
    const error = await failsAs('CALL_EXCEPTION', counter.increase.staticCall(101n))
    assert.deepEqual([error.action, error.revert?.name, error.revert?.args[0]], ['call', 'TooMuch', 101n])
  })
  await check('CALL_EXCEPTION: custom error of an estimate', async () => {
    const error = await failsAs('CALL_EXCEPTION', counter.increase(101n))
    assert.equal(error.action, 'estimateGas')
    assert.equal(counter.interface.parseError(error.data)?.name, 'TooMuch')
  })
  if (preset === 'anvil') {
    await check('CALL_EXCEPTION: a mined transaction that failed', async () => {
      const sent = await counter.increase(101n, { gasLimit: 100_000n })
      const { receipt } = await failsAs('CALL_EXCEPTION', sent.wait())
      assert.equal(receipt.status, 0)
    })
  }
}

/** Refused transactions, as ethers sees them. */
async function checkRefusals({ check, provider, wallet, other }) {
  await check('INSUFFICIENT_FUNDS', async () => {
    const poor = new Wallet(POOR, provider)
    await failsAs(
      'INSUFFICIENT_FUNDS',
      poor.sendTransaction({ to: wallet.address, value: 1n, gasLimit: 21_000n }),
    )
    await failsAs(
      'INSUFFICIENT_FUNDS',
      wallet.sendTransaction({ to: poor.address, value: parseEther('20000'), gasLimit: 21_000n }),
    )
  })
  await check('NONCE_EXPIRED', () =>
    failsAs('NONCE_EXPIRED', wallet.sendTransaction({ to: other.address, nonce: 0, gasLimit: 21_000n })),
  )
  await check('REPLACEMENT_UNDERPRICED', async () => {
    await provider.send('evm_setAutomine', [false])
    try {
      const nonce = await wallet.getNonce()
      const send = (gasPrice) =>
        wallet.sendTransaction({ to: other.address, nonce, gasPrice, gasLimit: 21_000n })
      await send(5_000_000_000n)
      await failsAs('REPLACEMENT_UNDERPRICED', send(4_000_000_000n))
    } finally {
      await provider.send('evm_mine', [])
      await provider.send('evm_setAutomine', [true])
    }
  })
}

/** Several transactions at once, logs, signatures, what is absent. */
async function checkReads({ check, provider, wallet, counter, other }) {
  await check('NonceManager sends several at once', async () => {
    const manager = new NonceManager(wallet)
    const sent = await Promise.all(
      [1n, 2n, 3n].map((value) => manager.sendTransaction({ to: other.address, value })),
    )
    const receipts = await Promise.all(sent.map((one) => one.wait()))
    assert.deepEqual(
      receipts.map(({ status }) => status),
      [1, 1, 1],
    )
  })
  await check('logs are parsed, filters find them', async () => {
    const receipt = await (await counter.increase(2n)).wait()
    assert.deepEqual([...receipt.logs[0].args], [wallet.address, 3n])
    const found = await counter.queryFilter(counter.filters.Increased(wallet.address))
    assert.equal(found.length, 1)
  })
  await check('signMessage, signTypedData of an account of the node', async () => {
    assert.match(await other.signMessage('text'), /^0x[0-9a-f]{130}$/)
    const types = { Note: [{ name: 'text', type: 'string' }] }
    assert.match(await other.signTypedData({ name: 'd' }, types, { text: 't' }), /^0x[0-9a-f]{130}$/)
  })
  await check('absent things are null', async () => {
    const none = `0x${'0'.repeat(64)}`
    assert.equal(await provider.getTransaction(none), null)
    assert.equal(await provider.getTransactionReceipt(none), null)
    assert.equal(await provider.getBlock(none), null)
    assert.equal(await provider.getBlock(999_999), null)
  })
}

/** Events over WebSocket. */
async function checkEvents({ check, wallet, counter, url }) {
  await check('events over WebSocket: blocks, logs, pending transactions', async () => {
    const socket = new WebSocketProvider(url.replace('http', 'ws'))
    try {
      const block = new Promise((resolve) => socket.once('block', resolve))
      const pending = new Promise((resolve) => socket.once('pending', resolve))
      const event = new Promise((resolve) =>
        counter
          .connect(socket)
          .once('Increased', (by, value, payload) => resolve([by, value, payload.log.blockNumber])),
      )
      // The answers to the subscriptions come in order, before that to a call made after them.
      for (let i = 0; i < 3; i++) await socket.send('eth_chainId', [])
      const { hash, blockNumber } = await (await counter.increase(4n)).wait()
      assert.deepEqual(await event, [wallet.address, 7n, blockNumber])
      assert.equal(await block, blockNumber)
      assert.equal(await pending, hash)
    } finally {
      // ethers unsubscribes without waiting, and a destroyed provider rejects what is not answered.
      await socket.removeAllListeners()
      for (let i = 0; i < 3; i++) await socket.send('eth_chainId', [])
      await socket.destroy()
    }
  })
}

async function providerChecks(check, { url }, preset) {
  const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1, pollingInterval: 100 })
  const wallet = new Wallet(KEY, provider)
  const { abi, bytecode } = compileCounter()
  const other = await provider.getSigner(1)
  try {
    const counter = await new ContractFactory(abi, bytecode, wallet).deploy(1n)
    const scene = { check, provider, wallet, counter, other, url, preset }
    await checkContract(scene)
    await checkExecutionErrors(scene)
    await checkRefusals(scene)
    await checkReads(scene)
    await checkEvents(scene)
  } finally {
    provider.destroy()
  }
}

async function ethers(preset) {
  const { check, results } = createChecks()
  const node = await startTandem('--preset', preset)
  try {
    await providerChecks(check, node, preset)
  } finally {
    await node.stop()
  }
  return outcomeOf(results())
}

export const ethersHardhat = () => ethers('hardhat')
export const ethersAnvil = () => ethers('anvil')
