/** What a node records: by kind of run, over pools, resets, reverts and reorganisations, and to files when it closes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/node/node.ts'
import { createPool } from '../../src/node/pool.ts'
import { evm_coverage } from '../../src/rpc/methods/coverage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The contract of the method's example, whose only statement adds one to slot 0. */
const [added, coded] = evm_coverage.examples[0]?.after ?? []
const [buildInfo] = (added?.params ?? []) as [object]
const [to, code] = (coded?.params ?? []) as [string, string]

const ask = (node: Node, method: string, ...params: unknown[]) => node.request({ method, params })
const send = async (node: Node) => {
  const [from] = node.engine.accounts.list()
  return ask(node, 'eth_sendTransaction', { from, to, gas: '0x186a0' })
}

async function prepare(node: Node): Promise<void> {
  await node.addSources(buildInfo)
  await ask(node, 'hardhat_setCode', to, code)
}

/** Runs of the only statement. */
async function runs(node: Node): Promise<number | undefined> {
  return (await node.coverage()).files['Counter.sol']?.s[0]
}

async function expectSum(node: Node, transactions: number): Promise<void> {
  const gas = await node.gas()
  expect(gas.transactions).toBe(transactions)
  expect(gas.stacks.reduce((sum, stack) => sum + stack.gas, 0) - gas.refunds).toBe(gas.gasUsed)
}

let node: Node
beforeEach(async () => {
  node = await createNode()
  await prepare(node)
})
afterEach(() => node.close())

describe('coverage', () => {
  it('is off until it is started, and stays when it is stopped', async () => {
    await send(node)
    expect(await runs(node)).toBe(0)
    expect(await ask(node, 'evm_stopCoverage')).toBe(false)
    await ask(node, 'evm_startCoverage')
    await send(node)
    expect(await runs(node)).toBe(1)
    expect(await ask(node, 'evm_stopCoverage')).toBe(true)
    await send(node)
    expect(await runs(node)).toBe(1)
    await ask(node, 'evm_startCoverage')
    expect(await runs(node)).toBe(0)
  })

  it.each([
    [['transactions'], 1],
    [['calls'], 1],
    [['estimates'], 2],
    [['transactions', 'calls', 'estimates'], 4],
  ])('records %j', async (kinds, count) => {
    await ask(node, 'evm_startCoverage', kinds)
    await send(node)
    await ask(node, 'eth_call', { to })
    await ask(node, 'eth_estimateGas', { to })
    // Runs under a tracer are not recorded.
    await ask(node, 'debug_traceCall', { to }, 'latest')
    // An estimate runs a message with all gas, and once more with what it used.
    expect(await runs(node)).toBe(count)
  })

  it('refuses other kinds, by name', async () => {
    await expect(ask(node, 'evm_startCoverage', ['views'])).rejects.toThrow(/kinds/)
    await expect(createNode({ coverage: ['views'] })).rejects.toThrow(/coverage/)
  })

  it('keeps what ran before a revert or a reset', async () => {
    await ask(node, 'evm_startCoverage')
    const snapshot = await ask(node, 'evm_snapshot')
    await send(node)
    await ask(node, 'evm_revert', snapshot)
    await send(node)
    expect(await runs(node)).toBe(2)
    await ask(node, 'hardhat_reset')
    expect(await runs(node)).toBe(2)
    await ask(node, 'hardhat_setCode', to, code)
    await send(node)
    expect(await runs(node)).toBe(3)
  })
})

describe('gas', () => {
  it('is that of each block once, wherever the block went', async () => {
    await ask(node, 'evm_startGasProfile')
    const snapshot = await ask(node, 'evm_snapshot')
    await send(node)
    await ask(node, 'evm_revert', snapshot)
    await send(node)
    await ask(node, 'evm_setAutomine', false)
    await send(node)
    await ask(node, 'eth_getBlockByNumber', 'pending', false)
    await ask(node, 'evm_mine')
    await expectSum(node, 3)
    expect((await node.gas()).methods).toMatchObject([{ contract: 'Counter', calls: 3 }])
  })

  it('is left out of what was mined before the start', async () => {
    await send(node)
    await ask(node, 'evm_startGasProfile')
    await expectSum(node, 0)
  })

  it('is recorded beside coverage', async () => {
    await ask(node, 'evm_startGasProfile')
    await ask(node, 'evm_startCoverage')
    await send(node)
    await expectSum(node, 1)
    expect(await runs(node)).toBe(1)
  })

  it('of one transaction is that of its receipt', async () => {
    const hash = await send(node)
    const { gasUsed } = (await ask(node, 'eth_getTransactionReceipt', hash)) as { gasUsed: string }
    const gas = (await ask(node, 'evm_gasProfile', hash)) as Awaited<ReturnType<Node['gas']>>
    expect(gas.gasUsed).toBe(Number(gasUsed))
    expect(gas.lines).toMatchObject([{ file: 'Counter.sol', line: 1 }])
    expect(await ask(node, 'evm_gasProfile', `0x${'1'.repeat(64)}`)).toBeNull()
  })
})

it('records the chains of a pool together', async () => {
  await ask(node, 'evm_startCoverage')
  await ask(node, 'evm_startGasProfile')
  const pool = await createPool({ base: node })
  for (const name of ['a', 'b']) await send(await pool.chain(name))
  await send(node)
  expect(await runs(await pool.chain('a'))).toBe(3)
  expect(await runs(node)).toBe(3)
  await pool.close()
  await expectSum(node, 3)
})

it('writes what was recorded to a new file of a folder when the node closes', async () => {
  const folder = temporaryFolder()
  const artifacts = join(folder, 'artifacts/build-info')
  mkdirSync(artifacts, { recursive: true })
  writeFileSync(join(artifacts, 'counter.json'), JSON.stringify(buildInfo))
  const [coverageDir, gasDir] = [join(folder, 'coverage'), join(folder, 'gas')]
  for (let round = 0; round < 2; round++) {
    const recorded = await createNode({ coverageDir, gasDir, abi: [join(folder, 'artifacts')] })
    await ask(recorded, 'hardhat_setCode', to, code)
    await send(recorded)
    await recorded.close()
  }
  const read = (dir: string) =>
    readdirSync(dir).map((name) => JSON.parse(readFileSync(join(dir, name), 'utf8')))
  expect(read(coverageDir).map(({ files }) => files['Counter.sol'].s)).toEqual([{ 0: 1 }, { 0: 1 }])
  expect(read(gasDir).map(({ transactions }) => transactions)).toEqual([1, 1])
})
