/**
 * `npm run bench:chains`: what a clean chain costs each test, and a dump and a load of a long chain. Prints figures and
 * judges nothing. Flags: --tests <count> a suite, --blocks <count> of the dumped chain, --only tests|files
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createNode } from '../../dist/index.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HARDHAT = join(ROOT, 'scripts/tools/node_modules/hardhat/internal/cli/bootstrap.js')
const { values: flags } = parseArgs({
  options: {
    tests: { type: 'string', default: '300' },
    blocks: { type: 'string', default: '50000' },
    only: { type: 'string' },
  },
})
const TESTS = Number(flags.tests)
const BLOCKS = Number(flags.blocks)

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const SEND = `{ method: 'eth_sendTransaction', params: [{ from: '${FROM}', to: '${TO}', value: '0x1' }] }`

/** The work of each test: a transfer, whose block has to be the second one of a clean chain. */
const check = (request) => `
    await ${request(SEND)}
    expect(await ${request("{ method: 'eth_blockNumber' }")}).toBe('0x2')`

const inProcess = check((call) => `node.request(${call})`)

/** Suites of Vitest: how each makes a chain with one block for each test. */
const SUITES = {
  'tandem/vitest, a node a file and a snapshot a test': `
import { createTest } from 'tandem/vitest'
import { expect } from 'vitest'
const test = createTest({ preset: 'hardhat' })
test.beforeAll(({ node }) => node.request(${SEND}))
for (let i = 0; i < ${TESTS}; i++) test('test ' + i, async ({ node }) => {${inProcess}
})`,
  'a fresh createNode a test': `
import { createNode } from 'tandem'
import { expect, test } from 'vitest'
for (let i = 0; i < ${TESTS}; i++) test('test ' + i, async () => {
    const node = await createNode({ preset: 'hardhat' })
    await node.request(${SEND})${inProcess}
    await node.close()
})`,
  'evm_snapshot and evm_revert over HTTP': `
import { createNode, serve } from 'tandem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
let node, server, id
const rpc = async ({ method, params = [] }) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(server.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  return (await response.json()).result
}
beforeAll(async () => {
  node = await createNode({ preset: 'hardhat' })
  server = await serve(node, { port: 0 })
  await rpc(${SEND})
})
beforeEach(async () => { id = await rpc({ method: 'evm_snapshot' }) })
afterEach(() => rpc({ method: 'evm_revert', params: [id] }))
afterAll(async () => { await server.close(); await node.close() })
for (let i = 0; i < ${TESTS}; i++) test('test ' + i, async () => {${check((call) => `rpc(${call})`)}
})`,
}

const HARDHAT_SUITE = `
const { network } = require('hardhat')
const { loadFixture } = require('@nomicfoundation/hardhat-network-helpers')
const { expect } = require('chai')
const first = () => network.provider.request(${SEND})
describe('suite', () => {
  for (let i = 0; i < ${TESTS}; i++) it('test ' + i, async () => {
    await loadFixture(first)
    await network.provider.request(${SEND})
    expect(await network.provider.request({ method: 'eth_blockNumber' })).to.equal('0x2')
  })
})`

function run(args, cwd, env = {}) {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 1 << 28 }
  const { stdout, stderr, status } = spawnSync(process.execPath, args, options)
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

const print = (name, figure) => console.log(`  ${name.padEnd(56)} ${figure}`)
const perTest = (milliseconds) => `${(milliseconds / TESTS).toFixed(2)} ms a test`

/** Time of the tests and their hooks, without the start of the runner. */
function vitest(folder, name, text) {
  const file = join(folder, `${name.replace(/\W+/g, '-')}.bench.mjs`)
  writeFileSync(file, text)
  const config = join(folder, 'vitest.config.mjs')
  writeFileSync(
    config,
    `export default { test: { include: ['*.bench.mjs'], root: ${JSON.stringify(folder)} } }\n`,
  )
  const args = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    config,
    '--reporter=json',
    file,
  ]
  const { testResults } = JSON.parse(run(args, ROOT).trim())
  return testResults[0].endTime - testResults[0].startTime
}

function hardhat(folder) {
  const [report, config] = [join(folder, 'report.json'), join(folder, 'hardhat.config.cjs')]
  writeFileSync(join(folder, 'package.json'), '{}')
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test/suite.js'), HARDHAT_SUITE)
  const mocha = `{ reporter: 'json', reporterOptions: { output: ${JSON.stringify(report)} } }`
  writeFileSync(config, `module.exports = { solidity: '0.8.24', mocha: ${mocha} }\n`)
  run([HARDHAT, '--config', config, 'test', '--no-compile'], folder, {
    HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
  })
  return JSON.parse(readFileSync(report, 'utf8')).stats.duration
}

function tests() {
  console.log(`A clean chain for each of ${TESTS} tests, which send a transaction and read the head:`)
  // Below the project, so that the suites find the packages.
  mkdirSync(join(ROOT, '.build'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.build/bench-chains-'))
  try {
    for (const [name, text] of Object.entries(SUITES)) print(name, perTest(vitest(folder, name, text)))
  } finally {
    rmSync(folder, { recursive: true })
  }
  if (!existsSync(HARDHAT))
    return print('loadFixture', 'Hardhat is not installed: npm ci --prefix scripts/tools')
  const project = mkdtempSync(join(ROOT, 'scripts/tools/bench-'))
  try {
    print('loadFixture on the network of Hardhat 2', perTest(hardhat(project)))
  } finally {
    rmSync(project, { recursive: true })
  }
}

async function timed(name, work) {
  const began = performance.now()
  const result = await work()
  print(name, `${((performance.now() - began) / 1000).toFixed(2)} s`)
  return result
}

async function files() {
  console.log(`\nA chain of ${BLOCKS} blocks:`)
  const folder = mkdtempSync(join(tmpdir(), 'bench-chains-'))
  const dataDir = join(folder, 'data')
  try {
    const node = await createNode({ dataDir, rpcTimeoutMs: 0, frozenClock: true })
    await timed('mined', async () => {
      // One request mines as many as the node allows at once.
      for (let left = BLOCKS; left > 0; left -= 1000) {
        await node.request({ method: 'hardhat_mine', params: [`0x${Math.min(left, 1000).toString(16)}`] })
      }
    })
    await node.close()
    const main = join(ROOT, 'dist/cli/main.js')
    for (const file of [join(folder, 'chain.json'), join(folder, 'chain.json.gz')]) {
      const name = file.endsWith('.gz') ? 'compressed' : 'plain'
      await timed(`tandem dump --history, ${name}`, () =>
        run([main, 'dump', file, '--history', '--data-dir', dataDir], folder),
      )
      print(`its file, ${name}`, `${(statSync(file).size / 1e6).toFixed(1)} MB`)
      await timed(`tandem load, ${name}`, () =>
        run([main, 'load', file, '--data-dir', join(folder, name)], folder),
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (flags.only !== 'files') tests()
if (flags.only !== 'tests') await files()
