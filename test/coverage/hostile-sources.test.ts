/** Compilations that are damaged, or are not those of the code: coverage and gas show less, and nothing fails. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { coverableFile } from '../../src/coverage/coverable-file.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { SourceFile } from '../../src/source-level/source-file.ts'
import { CASE, codes, compiled, DAMAGES, fresh } from '../support/damaged-sources.ts'

/** The selector of `test1()`. */
const TEST1 = '0x6b59084d'

let node: Node
beforeEach(async () => {
  node = await createNode({ coverage: ['transactions', 'calls'] })
  await node.request({ method: 'evm_startGasProfile' })
})
afterEach(() => node.close())

async function runCase(): Promise<void> {
  const [from] = (await node.request({ method: 'eth_accounts' })) as [Hex]
  const code = compiled.outputs[CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
  const send = async (transaction: object) => {
    const params = [{ from, gas: '0x3d0900', ...transaction }]
    return node.request({ method: 'eth_sendTransaction', params })
  }
  const hash = await send({ data: `0x${code}` })
  const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  const to = (receipt as { contractAddress: Hex }).contractAddress
  await expect(send({ to, data: TEST1 })).rejects.toThrow('D failed')
  await expect(node.request({ method: 'eth_call', params: [{ to, data: TEST1 }] })).rejects.toThrow()
}

async function expectExactGas(): Promise<void> {
  const gas = await node.gas()
  const spent = gas.stacks.reduce((sum, stack) => sum + stack.gas, 0)
  const { receipts } = node.engine.queries.head()
  expect(gas.transactions).toBe(2)
  expect(spent - gas.refunds).toBe(gas.gasUsed)
  expect(gas.gasUsed).toBeGreaterThan(Number(receipts[0]?.gasUsed))
}

const linesOf = (report: Awaited<ReturnType<Node['coverage']>>): number =>
  Object.values(report.files)
    .flatMap(({ s }) => Object.values(s))
    .filter((count) => count > 0).length

describe('coverage and gas', () => {
  it('has lines where nothing is damaged', async () => {
    await node.addSources(fresh())
    await runCase()
    const report = await node.coverage()
    expect(linesOf(report)).toBeGreaterThan(5)
    expect(report.notes).toEqual([])
    await expectExactGas()
  })

  it.each(Object.keys(DAMAGES))('show less with %s', async (name) => {
    const info = fresh()
    DAMAGES[name]?.(info)
    await node.addSources(info)
    await runCase()
    const { files } = await node.coverage()
    for (const coverage of Object.values(files)) {
      expect(Object.keys(coverage.s)).toEqual(Object.keys(coverage.statementMap))
    }
    await expectExactGas()
  })

  it('name codes whose sources are not known', async () => {
    const info = fresh()
    for (const code of codes(info)) code.object = `60${String(code.object).slice(2).replaceAll('5b', '00')}`
    await node.addSources(info)
    await runCase()
    const report = await node.coverage()
    expect(linesOf(report)).toBe(0)
    expect(report.notes).toEqual(['4 codes ran whose sources are not known.'])
    await expectExactGas()
  })

  it('read sources of 10 MB', async () => {
    const info = fresh()
    for (const source of Object.values(info.input.sources)) {
      source.content += `\n${'// a long comment\n'.repeat(580_000)}`
    }
    await node.addSources(info)
    await runCase()
    expect(linesOf(await node.coverage())).toBeGreaterThan(5)
    await expectExactGas()
  }, 60_000)
})

describe('a syntax tree', () => {
  it('may contain itself', () => {
    const file = new SourceFile('a.sol', 'contract A { function f() { x; } }')
    const block: Record<string, unknown> = { nodeType: 'Block', src: '27:6:0' }
    const tree: Record<string, unknown> = {
      nodeType: 'FunctionDefinition',
      name: 'f',
      kind: 'function',
      src: '13:19:0',
      body: block,
    }
    block.statements = [{ nodeType: 'ExpressionStatement', src: '29:2:0', expression: tree }, tree, block]
    tree.nodes = [tree, block]
    const found = coverableFile(file, tree, () => file)
    expect(found.functions.map(({ name }) => name)).toEqual(['f'])
    expect(found.statements).toHaveLength(1)
  })
})
