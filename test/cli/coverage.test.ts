/** `tandem coverage` and `tandem gas`: a command beside a node, nodes in its own process, a node that runs already. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CoverageMapObject } from '../../src/coverage/istanbul.ts'
import { GasReportObject } from '../../src/gas/gas-report.ts'
import { evm_coverage } from '../../src/rpc/methods/coverage.ts'
import { runCommand } from '../support/command.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The contract of the method's example: a build-info, its address, its code. */
const [added, coded] = evm_coverage.examples[0]?.after ?? []
const [buildInfo] = added?.params ?? []
const [to, code] = (coded?.params ?? []) as string[]

/** Sends a transaction to the contract twice by JSON-RPC, and calls it once. */
const SCRIPT = `
const ask = async (method, ...params) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'Content-Type': 'application/json' }
  const { result, error } = await (await fetch(process.env.RPC_URL, { method: 'POST', headers, body })).json()
  if (error) throw new Error(error.message)
  return result
}
const [from] = await ask('eth_accounts')
await ask('hardhat_setCode', '${to}', '${code}')
for (let i = 0; i < 2; i++) await ask('eth_sendTransaction', { from, to: '${to}', gas: '0x186a0' })
await ask('eth_call', { from, to: '${to}' })
`
/** The same on a node in its own process. */
const IN_PROCESS = `
import { openTestNode } from '${join(ROOT, 'dist/runners/test-node.js')}'
const { node, accounts: [sender], close } = await openTestNode({ abi: ['artifacts'] })
await node.request({ method: 'hardhat_setCode', params: ['${to}', '${code}'] })
await node.request({ method: 'eth_sendTransaction', params: [{ from: sender, to: '${to}', gas: '0x186a0' }] })
await close()
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tandem-'))
  mkdirSync(join(folder, 'artifacts/build-info'), { recursive: true })
  writeFileSync(join(folder, 'artifacts/build-info/counter.json'), JSON.stringify(buildInfo))
  writeFileSync(join(folder, 'test.mjs'), SCRIPT)
  writeFileSync(join(folder, 'both.mjs'), `${IN_PROCESS}${SCRIPT}`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...words: string[]) => runCommand(words, { NO_COLOR: '1' }, folder)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

describe('tandem coverage', () => {
  it('runs a command, prints a table and writes LCOV and JSON', async () => {
    const { code: exitCode, stdout, stderr } = await run('coverage', '--', process.execPath, 'test.mjs')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/Counter\.sol +100 +100 +100 +100\n/)
    expect(read('coverage/lcov.info')).toContain('DA:1,3\n')
    expect(
      CoverageMapObject.parse(JSON.parse(read('coverage/coverage-final.json')))['Counter.sol']?.s,
    ).toEqual({
      0: 3,
    })
  })

  it('records the kinds of runs that are named', async () => {
    await run('coverage', '--coverage', 'calls', '--out', 'calls', '--', process.execPath, 'test.mjs')
    expect(read('calls/lcov.info')).toContain('DA:1,1\n')
  })

  it('adds what nodes in the process of the command have run', async () => {
    const outcome = await run('coverage', '--out', 'both', '--', process.execPath, 'both.mjs')
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    expect(read('both/lcov.info')).toContain('DA:1,4\n')
  })

  it('leaves out what is excluded, and exits as the command does', async () => {
    const words = ['--exclude', 'Count*', '--out', 'none', '--', process.execPath, '-e', 'process.exit(3)']
    expect(await run('coverage', ...words)).toMatchObject({ code: 3 })
    expect(read('none/lcov.info')).toBe('')
  })

  it('needs a command or a node', async () => {
    expect(await run('coverage')).toMatchObject({ code: 2 })
    expect(await run('gas')).toMatchObject({ code: 2 })
  })
})

describe('tandem gas', () => {
  it('prints tables whose sum is the gas of the receipts, and writes three files', async () => {
    const { code: exitCode, stdout } = await run('gas', '--out', 'gas', '--', process.execPath, 'test.mjs')
    expect(exitCode).toBe(0)
    const report = GasReportObject.parse(JSON.parse(read('gas/gas.json')))
    const spent = report.stacks.reduce((sum, { gas }) => sum + gas, 0)
    expect(spent - report.refunds).toBe(report.gasUsed)
    expect(stdout).toContain(`2 transactions, ${report.gasUsed} gas`)
    expect(report.methods).toMatchObject([{ contract: 'Counter', function: '<fallback>', calls: 2 }])
    expect(report.lines).toMatchObject([{ file: 'Counter.sol', line: 1 }])
    expect(JSON.parse(read('gas/gas.speedscope.json')).exporter).toBe('tandem')
    expect(readFileSync(join(folder, 'gas/gas.pb.gz')).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
  })

  it('compares reports, and fails above a limit', async () => {
    const report = GasReportObject.parse(JSON.parse(read('gas/gas.json')))
    const [method] = report.methods
    if (method === undefined) throw new Error('no method')
    const cheaper = { ...report, methods: [{ ...method, total: Math.round(method.total / 1.03) }] }
    writeFileSync(join(folder, 'cheaper.json'), JSON.stringify(cheaper))
    const diff = ['gas', '--diff', 'cheaper.json', 'gas/gas.json', '--fail-above']
    expect(await run(...diff, '4%')).toMatchObject({ code: 0, stdout: expect.stringContaining('+3.0') })
    expect(await run(...diff, '2')).toMatchObject({ code: 1 })
    expect(await run(...diff, 'much')).toMatchObject({ code: 2 })
    expect(await run('gas', '--diff', 'test.mjs', 'gas/gas.json')).toMatchObject({ code: 2 })
  })
})

describe('a node that runs', () => {
  let t: ServedNode
  beforeAll(async () => {
    t = await servedNode()
    await t.call('evm_addSources', buildInfo)
  })
  afterAll(() => t.close())

  it('is asked for coverage and gas by its address', async () => {
    const beside = ['--url', t.url, '--out', 'remote', '--', process.execPath, 'test.mjs']
    expect(await run('coverage', ...beside)).toMatchObject({ code: 0, stderr: '' })
    expect(read('remote/lcov.info')).toContain('DA:1,3\n')
    expect(await run('gas', ...beside)).toMatchObject({ code: 0, stderr: '' })
    const { hash } = (await t.call('eth_getBlockByNumber', 'latest', true)).transactions[0]
    const one = await run('gas', '--url', t.url, '--transaction', hash, '--print', 'json')
    const report = GasReportObject.parse(JSON.parse(one.stdout))
    const { gasUsed } = await t.call('eth_getTransactionReceipt', hash)
    expect(report.gasUsed).toBe(Number(gasUsed))
    expect(GasReportObject.parse(JSON.parse(read('remote/gas.json'))).gasUsed).toBeGreaterThan(report.gasUsed)
  })
})
