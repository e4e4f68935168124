/** Clients by their defaults, without `--legacy` and settings of a type, where the chain takes typed transactions. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ContractFactory, JsonRpcProvider, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Web3 } from 'web3'
import { compileCounter } from '../compile.mjs'
import { HERE, installed, output, rpc, startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'
import { runHardhat3 } from './hardhat-plugin.mjs'

const HARDHAT_2 = installed('hardhat/internal/cli/bootstrap.js')
const CAST = installed('@foundry-rs/cast-linux-amd64/bin/cast')
const FORGE = installed('@foundry-rs/forge-linux-amd64/bin/forge')
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** The keys of the first account: that of the local chain, and that of the presets' mnemonic. */
const COW = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const FIRST = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const QUIET = {
  HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
  NO_COLOR: '1',
  FOUNDRY_DISABLE_NIGHTLY_WARNING: '1',
}

const NODES = [
  [['--rules', 'next'], COW],
  [['--preset', 'hardhat'], FIRST],
  [['--preset', 'anvil'], FIRST],
]

/** The type of a transaction, as the node shows it. */
const typeOf = async (url, hash) => (await rpc(url, 'eth_getTransactionReceipt', hash)).type

async function checkLibraries({ check, url, key }) {
  const { abi, bytecode } = compileCounter()
  await check('ethers', async () => {
    const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 50, cacheTimeout: -1 })
    try {
      const wallet = new Wallet(key, provider)
      const counter = await new ContractFactory(abi, bytecode, wallet).deploy(1n)
      await counter.waitForDeployment()
      assert.equal((await (await counter.increase(2n)).wait()).status, 1)
    } finally {
      provider.destroy()
    }
  })
  await check('viem', async () => {
    const id = Number(await rpc(url, 'eth_chainId'))
    const nativeCurrency = { name: 'coin', symbol: 'C', decimals: 18 }
    const chain = defineChain({ id, name: 'local', nativeCurrency, rpcUrls: { default: { http: [url] } } })
    const client = createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() })
    const hash = await client.deployContract({ abi, bytecode, args: [1n] })
    const reader = createPublicClient({ chain, transport: http(), pollingInterval: 50 })
    const { status, type } = await reader.waitForTransactionReceipt({ hash })
    assert.deepEqual([status, type], ['success', 'eip1559'])
  })
  await check('web3.js', async () => {
    const web3 = new Web3(url)
    const { address } = web3.eth.accounts.wallet.add(key)[0]
    const made = new web3.eth.Contract(abi).deploy({ data: bytecode, arguments: [1] })
    const counter = await made.send({ from: address })
    const { status, type } = await counter.methods.increase(2).send({ from: address })
    assert.deepEqual([status, type], [1n, 2n])
  })
}

async function checkFoundry({ check, url, key }) {
  if (!existsSync(CAST)) return
  const cast = (...args) => output(CAST, [...args, '--rpc-url', url], { env: QUIET })
  const send = async (...args) => JSON.parse(await cast('send', '--json', '--private-key', key, ...args))
  await check('cast send', async () => {
    const { status, transactionHash } = await send(TO, '--value', '1')
    assert.equal(status, '0x1')
    assert.equal(await typeOf(url, transactionHash), '0x2')
  })
  await check('cast send --auth', async () => {
    const { status, transactionHash } = await send(TO, '--auth', TO)
    assert.equal(status, '0x1')
    assert.equal(await typeOf(url, transactionHash), '0x4')
  })
  await check('cast send --legacy, still', async () => {
    const { transactionHash } = await send('--legacy', TO, '--value', '1')
    assert.equal(await typeOf(url, transactionHash), '0x0')
  })
  if (!existsSync(FORGE)) return
  await check('forge create', async () => {
    const text = await output(
      FORGE,
      [
        ...['create', '--rpc-url', url, '--private-key', key, '--broadcast', '--json'],
        ...['src/Counter.sol:Counter', '--constructor-args', '9'],
      ],
      { cwd: join(HERE, 'foundry'), env: QUIET },
    )
    assert.equal(await typeOf(url, JSON.parse(text).transactionHash), '0x2')
  })
}

/** Receipts that a script of Hardhat printed. */
function requireSent(text, types) {
  const receipts = JSON.parse(text.split('\n').findLast((line) => line.startsWith('[')))
  assert.deepEqual(
    receipts.map(({ status }) => status),
    types.map(() => 1),
  )
  assert.deepEqual(
    receipts.map(({ type }) => type),
    types,
  )
}

async function checkHardhat({ check, url }) {
  await check('Hardhat 2', async () => {
    const args = [
      HARDHAT_2,
      '--config',
      'hardhat.config.cjs',
      '--network',
      'localhost',
      'run',
      'scripts/typed.cjs',
    ]
    const env = { ...QUIET, NODE_URL: url }
    requireSent(await output(process.execPath, args, { cwd: join(HERE, 'hardhat'), env }), [2, 2, 2, 2, 1])
  })
  await check('Hardhat 3', async () => {
    requireSent(await runHardhat3(['run', 'scripts/typed.mjs'], { ...QUIET, NODE_URL: url }), [2, 2, 2, 2])
  })
}

export async function typedDefaults() {
  const { check, results } = createChecks()
  for (const [flags, key] of NODES) {
    const node = await startTandem(...flags)
    const named = (title, run) => check(`${flags.join(' ')}: ${title}`, run)
    try {
      const scene = { check: named, url: node.url, key }
      await checkLibraries(scene)
      await checkFoundry(scene)
      await checkHardhat(scene)
    } finally {
      await node.stop()
    }
  }
  return outcomeOf(results())
}
