/**
 * A whole suite of the size of OpenZeppelin's: files with a fixture, tests that go back to it as `loadFixture` does, and
 * in each test calls, transactions, deployments and failures, drawn by a fixed sequence. The requests are those of
 * Hardhat's clients over HTTP: gas is estimated, the node signs, the receipt is read.
 */
import { measure } from '../measure.mjs'
import { HTTP_NODES } from '../nodes.mjs'
import { PROBE, probeAbi, quantity, receiptOf, SINK, TOKEN, tokenAbi } from '../scenes.mjs'
import { start } from '../start.mjs'

const FILES = 25
const TESTS = 20
/** Operations of a test besides the return to the fixture. */
const STEPS = 8
/** Operations of a fixture: its deployments and transactions, and the snapshot. */
const FIXTURE = 8
const OPERATIONS = FILES * (FIXTURE + TESTS * (2 + STEPS))

/** Numbers from 0 to below 1, the same in every run: the minimal standard generator of Park and Miller. */
function sequence(seed) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** One file's connection: what its tests do with the contracts of the fixture. */
function createFile({ client, name }, accounts) {
  const gasPrice = quantity(3_000_000_000)
  let sent = 0
  const call = (to, data, from = accounts[0]) => client.call('eth_call', [{ from, to, data }, 'latest'])

  async function send(transaction) {
    const fields = { from: accounts[0], gasPrice, ...transaction }
    // A new hash each time: some nodes remember transactions from before a revert.
    const gas = quantity(BigInt(await client.call('eth_estimateGas', [fields])) + BigInt(++sent))
    const receipt = await receiptOf(client, await client.call('eth_sendTransaction', [{ ...fields, gas }]))
    if (receipt.status !== '0x1') throw new Error(`a transaction of the suite failed on ${name}`)
    return receipt
  }

  /** Expects a request to be refused, as a reverted call is. */
  async function refused(request) {
    const answered = await request.then(
      () => true,
      () => false,
    )
    if (answered) throw new Error(`${name} did not refuse what reverts`)
  }

  const deploy = async (data) => (await send({ data })).contractAddress
  const deployToken = () => deploy(TOKEN.bytecode + tokenAbi.encodeDeploy([10n ** 24n]).slice(2))
  const encode = (method, ...values) => tokenAbi.encodeFunctionData(method, values)
  return { accounts, call, send, refused, deploy, deployToken, encode }
}

/** Contracts and balances that each test of a file begins with. */
async function fixture({ accounts, send, deploy, deployToken, encode }) {
  const [token, other] = [await deployToken(), await deployToken()]
  const probe = await deploy(PROBE.bytecode)
  for (const account of accounts.slice(1, 3)) {
    await send({ to: token, data: encode('transfer', account, 1000n) })
    await send({ to: token, data: encode('approve', account, 1000n) })
  }
  return { token, other, probe }
}

/** What a test does, with the share of it; a step gets the contracts and a number from 0 to 99. */
const STEP_KINDS = [
  [0.3, ({ call, encode, accounts }, { token }, n) => call(token, encode('balanceOf', accounts[n]))],
  [
    0.1,
    ({ call, encode, accounts }, { token }, n) => call(token, encode('allowance', accounts[0], accounts[n])),
  ],
  [
    0.2,
    ({ send, encode, accounts }, { token }, n) =>
      send({ to: token, data: encode('transfer', accounts[n], 1n) }),
  ],
  [
    0.08,
    ({ send, encode, accounts }, { other }, n) => send({ to: other, data: encode('mint', accounts[n], 5n) }),
  ],
  [
    0.07,
    ({ send }, { probe }, n) => send({ to: probe, data: probeAbi.encodeFunctionData('set', [n, n + 1]) }),
  ],
  [0.05, ({ send }) => send({ to: SINK, value: '0x1' })],
  [
    0.1,
    ({ refused, call, encode, accounts }, { token }) =>
      refused(call(token, encode('transfer', accounts[0], 10n ** 25n), accounts[5])),
  ],
  [
    0.05,
    ({ refused, send, encode, accounts }, { token }) =>
      refused(send({ from: accounts[5], to: token, data: encode('mint', accounts[5], 1n) })),
  ],
  [0.05, ({ deployToken }) => deployToken()],
]

function stepOf(draw) {
  let left = draw
  for (const [share, step] of STEP_KINDS) {
    left -= share
    if (left < 0) return step
  }
  return STEP_KINDS.at(-1)[1]
}

async function runSuite(node) {
  const accounts = await node.client.call('eth_accounts')
  const next = sequence(17)
  for (let number = 0; number < FILES; number++) {
    const file = createFile(node, accounts)
    const contracts = await fixture(file)
    let snapshot = await node.client.call('evm_snapshot')
    for (let test = 0; test < TESTS; test++) {
      await node.client.call('evm_revert', [snapshot])
      snapshot = await node.client.call('evm_snapshot')
      for (let step = 0; step < STEPS; step++) {
        const run = stepOf(next())
        await run(file, contracts, Math.floor(next() * accounts.length))
      }
    }
  }
}

/** Total of the server: from the start of its process to the end of the suite. */
export const SUITE_ROW = {
  name: 'suite',
  title: `a suite of ${FILES} files with ${TESTS} tests each, ${OPERATIONS.toLocaleString('en')} operations, from the start of the node on`,
  operation: 'suite',
  unit: 's',
  // Anvil 1.7.1 loses transactions that are sent right after a revert.
  nodes: ['tandem', 'tandem-node-26', 'tandem-disk', 'hardhat-3', 'hardhat-2'],
  limits: [{ most: 0.6, of: ['hardhat-3', 'hardhat-2'] }],
  rounds: 3,
  async sample(name, options) {
    let node
    try {
      return await measure(
        {
          operations: 1,
          async work() {
            node = await start(name, options)
            await runSuite(node)
          },
        },
        () => node?.cpuMs() ?? 0,
      )
    } finally {
      await node?.stop()
    }
  },
}

/** What recording the coverage of all runs costs. */
export const COVERAGE_ROW = {
  ...SUITE_ROW,
  name: 'coverage',
  title: 'the suite with its coverage recorded, and without',
  nodes: ['tandem', 'tandem-coverage'],
  limits: [{ most: 2, node: 'tandem-coverage', of: ['tandem'] }],
}

/** Tests of a file that only sends and reads. */
const SHORT_TESTS = 1_500

/** The requests of short tests, as hardhat-ethers and `loadFixture` make them: the node signs an approval of a token. */
export const SHORT_TESTS_ROW = {
  name: 'suite-short',
  title: `${SHORT_TESTS.toLocaleString('en')} short tests from the start of the node on: back to a snapshot, a token approval with receipt, a call`,
  operation: 'test',
  chain: 'fresh',
  nodes: [...HTTP_NODES, 'http'],
  limits: [{ most: 1, of: ['anvil'] }],
  async sample({ client, token, node }) {
    const accounts = await client.call('eth_accounts')
    const data = tokenAbi.encodeFunctionData('approve', [SINK, 1])
    const kept = { snapshot: await client.call('evm_snapshot') }
    async function test(number) {
      if (!(await client.call('evm_revert', [kept.snapshot]))) throw new Error(`${node.name} did not go back`)
      kept.snapshot = await client.call('evm_snapshot')
      await client.call('eth_getBlockByNumber', ['latest', false])
      const gasPrice = await client.call('eth_gasPrice')
      // Another sender and another hash each time: Anvil 1.7.1 remembers transactions from before a revert.
      const from = accounts[number % accounts.length]
      const gas = quantity(100_000 + number)
      const hash = await client.call('eth_sendTransaction', [{ from, to: token, data, gas, gasPrice }])
      const { status } = await receiptOf(client, hash)
      const allowance = tokenAbi.encodeFunctionData('allowance', [from, SINK])
      const allowed = await client.call('eth_call', [{ to: token, data: allowance }, 'latest'])
      if (status !== '0x1' || BigInt(allowed) !== 1n) throw new Error(`a test failed on ${node.name}`)
    }
    return {
      operations: SHORT_TESTS,
      async work() {
        for (let number = 0; number < SHORT_TESTS; number++) await test(number)
      },
    }
  },
}
