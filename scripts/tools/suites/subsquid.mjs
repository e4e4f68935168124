/** A processor of Subsquid over either API for traces: its blocks are those that the receipts and balances of the chain tell. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { TokenChain } from '../indexers/tokens.mjs'
import { installFor22, NODE_22 } from '../node-22.mjs'
import { HERE, rpc, startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

/** Milliseconds until the rows must be those of the chain. */
const PATIENCE = 60_000
const FOLDER = join(HERE, '../../.build/tools/subsquid')

/** The processor, and what it last told. */
function startProcessor(node, traces) {
  const child = spawn(NODE_22, [join(FOLDER, 'subsquid.mjs')], {
    env: { ...process.env, NODE: node, TRACES: traces },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let rows = []
  let log = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('[')) rows = JSON.parse(line)
    else log += `${line}\n`
  })
  child.stderr.on('data', (chunk) => (log += chunk))
  return {
    rows: () => rows,
    log: () => log,
    isRunning: () => child.exitCode === null,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Accounts whose balance a block has changed, of those that its transactions name. */
async function changedBalances(url, height, accounts) {
  const changed = []
  for (const account of accounts) {
    const at = (block) => rpc(url, 'eth_getBalance', account, `0x${block.toString(16)}`)
    if ((await at(height)) !== (await at(height - 1))) changed.push(account)
  }
  return changed
}

/** What receipts tell of a block. */
async function blockOf(url, height) {
  const block = await rpc(url, 'eth_getBlockByNumber', `0x${height.toString(16)}`, true)
  const receipts = []
  for (const { hash } of block.transactions) receipts.push(await rpc(url, 'eth_getTransactionReceipt', hash))
  const { contractAddress = null } = receipts[0] ?? {}
  return {
    height,
    hash: block.hash,
    transactions: receipts.map(({ transactionHash, from, to, gasUsed, status }) => ({
      hash: transactionHash,
      from,
      to,
      gasUsed: String(Number(gasUsed)),
      status: Number(status),
    })),
    logs: receipts.flatMap(({ logs }) =>
      logs.map(({ logIndex, address, topics, data }) => ({
        logIndex: Number(logIndex),
        address,
        topics,
        data,
      })),
    ),
    created: contractAddress === null ? [] : [contractAddress],
  }
}

/** Throws what differs. */
async function compare(url, rows) {
  const head = Number(await rpc(url, 'eth_blockNumber'))
  assert.deepEqual(
    rows.map(({ height }) => height),
    Array.from({ length: head + 1 }, (_, height) => height),
  )
  for (const { created, calls, balances, ...row } of rows.slice(1)) {
    const { created: deployed, ...expected } = await blockOf(url, row.height)
    assert.deepEqual(row, expected)
    for (const address of deployed) assert.ok(created.includes(address), `${address} is not in the traces`)
    const messages = row.transactions.filter(({ to }) => to !== null).length
    assert.ok(calls >= messages, `${calls} calls in traces of ${messages} transactions`)
    const senders = new Set(row.transactions.map(({ from }) => from))
    for (const account of await changedBalances(url, row.height, senders)) {
      assert.ok(balances.includes(account), `${account} has no difference of state`)
    }
  }
}

async function follows(url, processor) {
  const end = Date.now() + PATIENCE
  for (;;) {
    try {
      return await compare(url, processor.rows())
    } catch (error) {
      if (!processor.isRunning() || Date.now() > end) {
        throw new Error(`${error.message}\n${processor.log().slice(-3000)}`, { cause: error })
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

export async function subsquid() {
  const packages = installFor22('tools-22')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  copyFileSync(join(HERE, 'indexers/subsquid.mjs'), join(FOLDER, 'subsquid.mjs'))
  symlinkSync(packages, join(FOLDER, 'node_modules'))
  const { check, results } = createChecks()
  for (const traces of ['debug', 'trace']) {
    const node = await startTandem()
    const { url } = node
    const chain = await TokenChain.deploy(url)
    const processor = startProcessor(url, traces)
    try {
      const token = await chain.create(1000n)
      const transfer = (from, to, amount) => chain.transfer(token, from, to, amount)
      await chain.send(transfer(0, 1, 5n), transfer(3, 4, 1n), transfer(1, 2, 2n))
      await check(`follows deploys, transfers and failures (${traces})`, () => follows(url, processor))
      const snapshot = await rpc(url, 'evm_snapshot')
      await chain.mineTogether(transfer(0, 1, 6n), transfer(0, 2, 7n))
      await rpc(url, 'evm_revert', snapshot)
      await chain.send(transfer(0, 1, 8n), transfer(0, 1, 9n))
      await rpc(url, 'evm_reorg', { depth: 2 })
      await chain.send(transfer(0, 4, 10n), transfer(0, 3, 11n), transfer(0, 5, 12n))
      await check(`follows reverts and reorganisations (${traces})`, () => follows(url, processor))
    } finally {
      await processor.stop()
      await node.stop()
    }
  }
  return outcomeOf(results())
}
