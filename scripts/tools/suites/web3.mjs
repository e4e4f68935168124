/** What web3.js makes of the node's answers. */
import assert from 'node:assert/strict'
import { Web3 } from 'web3'
import { compileCounter } from '../compile.mjs'
import { startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

async function failsAs(name, promise) {
  const error = await promise.then(
    () => assert.fail(`no ${name}`),
    (reason) => reason,
  )
  assert.equal(error.name, name, error.stack)
  return error
}

/** The chain, its prices, a transaction, a batch. */
async function checkChain({ check, web3, eth, first, second }) {
  await check('chain, clients and prices', async () => {
    assert.equal(await eth.getChainId(), 33n)
    assert.match(await eth.getNodeInfo(), /^anvil\//)
    assert.ok((await eth.getGasPrice()) > 0n)
    assert.equal(await eth.net.isListening(), true)
  })
  await check('sendTransaction by the node and by a local key', async () => {
    const { status, transactionIndex } = await eth.sendTransaction({ from: first, to: second, value: '1' })
    assert.deepEqual([status, transactionIndex], [1n, 0n])
    const account = eth.accounts.wallet.add(KEY)[0]
    assert.equal((await eth.sendTransaction({ from: account.address, to: second, value: '1' })).status, 1n)
    eth.accounts.wallet.clear()
  })
  await check('an unknown method has its code', async () => {
    const error = await web3.provider
      .request({ jsonrpc: '2.0', id: 1, method: 'eth_unknown', params: [] })
      .catch((reason) => reason)
    assert.equal((error.error ?? error.cause ?? error).code, -32601)
  })
  await check('calculateFeeData: no base fee', async () => {
    const { gasPrice, maxFeePerGas } = await eth.calculateFeeData()
    assert.ok(gasPrice > 0n)
    assert.equal(maxFeePerGas, undefined)
  })
  await check('batch', async () => {
    const batch = new web3.BatchRequest()
    const asked = ['eth_chainId', 'eth_blockNumber'].map((method) => batch.add({ method, params: [] }))
    await batch.execute()
    assert.equal(await asked[0], '0x21')
    assert.match(await asked[1], /^0x/)
  })
}

/** Calls, events and failures of a contract. */
async function checkContract({ check, counter, first }) {
  await check('a contract: call, send, estimate, past events', async () => {
    assert.equal(await counter.methods.value().call(), 1n)
    assert.ok((await counter.methods.increase(2n).estimateGas({ from: first })) > 21_000n)
    const receipt = await counter.methods.increase(2n).send({ from: first })
    assert.equal(receipt.events.Increased.returnValues.value, 3n)
    assert.equal((await counter.getPastEvents('Increased', { fromBlock: 0 })).length, 1)
  })
  await check('ContractExecutionError: custom error of a call', async () => {
    const { cause } = await failsAs('ContractExecutionError', counter.methods.increase(101n).call())
    assert.deepEqual([cause.errorName, cause.errorArgs.asked], ['TooMuch', 101n])
  })
  await check(
    'TransactionRevertInstructionError: a mined transaction that failed, with its data',
    async () => {
      counter.handleRevert = true
      const attempt = counter.methods.increase(101n).send({ from: first, gas: '100000' })
      const { receipt, data } = await failsAs('TransactionRevertInstructionError', attempt)
      assert.equal(receipt.status, 0n)
      assert.equal(data.slice(-64), '65'.padStart(64, '0'))
    },
  )
}

/** Subscriptions over WebSocket. */
async function checkSubscriptions({ check, counter, first, node, abi }) {
  await check('subscriptions: newHeads, logs, contract events', async () => {
    const socket = new Web3(node.url.replace('http', 'ws'))
    try {
      const live = new socket.eth.Contract(abi, counter.options.address)
      const heads = await socket.eth.subscribe('newHeads')
      const logs = await socket.eth.subscribe('logs', { address: counter.options.address })
      const events = live.events.Increased()
      await new Promise((resolve) => events.once('connected', resolve))
      const next = (source) => new Promise((resolve) => source.once('data', resolve))
      const all = Promise.all([next(heads), next(logs), next(events)])
      const { blockNumber } = await counter.methods.increase(4n).send({ from: first })
      const [head, log, event] = await all
      assert.equal(BigInt(head.number), blockNumber)
      assert.equal(BigInt(log.blockNumber), blockNumber)
      assert.equal(event.returnValues.value, 7n)
    } finally {
      socket.provider.disconnect()
    }
  })
}

export async function web3() {
  const { check, results } = createChecks()
  const node = await startTandem('--preset', 'anvil')
  const { abi, bytecode } = compileCounter()
  const web3 = new Web3(node.url)
  web3.setConfig({ defaultTransactionType: '0x0' })
  const { eth } = web3
  const [first, second] = await eth.getAccounts()
  try {
    const counter = await new eth.Contract(abi)
      .deploy({ data: bytecode, arguments: [1n] })
      .send({ from: first })
    const scene = { check, web3, eth, counter, first, second, node, abi }
    await checkChain(scene)
    await checkContract(scene)
    await checkSubscriptions(scene)
  } finally {
    await node.stop()
  }
  return outcomeOf(results())
}
