/**
 * Suites and tools of others against Tandem: `npm run test:tools`, or `-- <part of a name>…` for some of them. Prints a
 * table at the end; exit code 1 when a check fails that the rules of the chain do not make fail. With `--replay` the
 * sessions of their nodes are recorded, and each is repeated: its replies and events have to be equal.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installTools } from './install.mjs'
import { differenceOf, installed, recordSessions, takeRecordings } from './nodes.mjs'
import { missing } from './suite.mjs'

/** Name, file, exported function, and the package without which it does not run (programs of one platform). */
const SUITES = [
  ['Hardhat 2, its own network (control)', 'hardhat', 'hardhatControl'],
  ['Hardhat 2, --preset hardhat', 'hardhat', 'hardhatPreset'],
  ['Hardhat Ignition, --preset hardhat', 'hardhat', 'ignition'],
  ['Hardhat 2, the plugin', 'hardhat-plugin', 'hardhat2Plugin'],
  ['Hardhat 3, the plugin', 'hardhat-plugin', 'hardhat3Plugin'],
  ['viem test client, mode hardhat', 'viem', 'viemHardhat'],
  ['viem test client, mode anvil', 'viem', 'viemAnvil'],
  ['viem test client, mode ganache', 'viem', 'viemGanache'],
  ['ethers, --preset hardhat', 'ethers', 'ethersHardhat'],
  ['ethers, --preset anvil', 'ethers', 'ethersAnvil'],
  ['web3.js, --preset anvil', 'web3', 'web3'],
  ['clients by their defaults: typed transactions', 'typed', 'typedDefaults'],
  ['bitcoin-core, pmt-builder, bridges-core-sdk, --bitcoin', 'peg', 'pegClients'],
  ['hardhat-verify 2', 'verify', 'hardhat2Verify'],
  ['hardhat-verify 3', 'verify', 'hardhat3Verify'],
  ['forge verify-contract', 'verify', 'forgeVerify', '@foundry-rs/forge-linux-amd64'],
  ['Etherscan and Sourcify clients', 'explorer-clients', 'explorerClients'],
  ['Otterscan', 'otterscan', 'otterscan'],
  ['Ponder', 'ponder', 'ponder'],
  ['Ponder, --chaos', 'ponder', 'ponderUnderChaos'],
  ['Subsquid', 'subsquid', 'subsquid'],
  ['prool, tandem anvil', 'prool', 'prool'],
  ['cast, tandem anvil', 'foundry', 'cast', '@foundry-rs/cast-linux-amd64'],
  ['forge test --fork-url, tandem anvil', 'foundry', 'forgeFork', '@foundry-rs/forge-linux-amd64'],
  ['forge create, script, tandem anvil', 'foundry', 'forgeBroadcast', '@foundry-rs/forge-linux-amd64'],
].map(([name, file, run, needs]) => ({ name, file, run, needs }))

/** One suite's row; a suite that cannot run counts as one failure. */
async function rowOf({ name, file, run, needs }) {
  const began = performance.now()
  const row = (outcome) => ({ name, seconds: (performance.now() - began) / 1000, ...outcome })
  if (needs !== undefined && !existsSync(installed(needs))) return row(missing(needs))
  try {
    const suite = await import(`./suites/${file}.mjs`)
    return row(await suite[run]())
  } catch (error) {
    const surprising = [error?.stack ?? String(error)]
    return row({ passed: [], failed: [], expected: [], surprising })
  }
}

/** The row of a suite's recordings, each repeated; those of forks are left out, whose upstreams have ended. */
async function replayRow(name) {
  const began = performance.now()
  const passed = []
  const failed = []
  for (const file of takeRecordings()) {
    const [header, ...lines] = readFileSync(file, 'utf8').split('\n')
    if (header !== '' && JSON.parse(header).masked.includes('fork')) continue
    const title = `${name}: a session of ${lines.length} lines is equal when it is repeated`
    const error = await differenceOf(file)
    if (error === undefined) passed.push(title)
    else failed.push({ title, error: `${file}\n${error}` })
  }
  const seconds = (performance.now() - began) / 1000
  return { name: `${name}: replayed`, seconds, passed, failed, expected: [], surprising: [] }
}

function print({ failed, surprising }) {
  for (const { title, error } of failed) console.error(`failed: ${title}\n${error.replace(/^/gm, '    ')}`)
  for (const text of surprising) console.error(`failed: ${text}`)
}

const COLUMNS = ['passed', 'failed', 'by rule', 's']

function table(rows) {
  const width = Math.max(...rows.map(({ name }) => name.length))
  const line = (name, cells) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  const cellsOf = ({ passed, failed, surprising, expected, seconds }) => [
    passed.length,
    failed.length + surprising.length,
    expected.length,
    seconds.toFixed(0),
  ]
  const sums = rows
    .map(cellsOf)
    .reduce((sum, cells) => sum.map((total, i) => Number(total) + Number(cells[i])))
  return [
    line('suite', COLUMNS),
    ...rows.map((row) => line(row.skipped ? `${row.name} (skipped)` : row.name, cellsOf(row))),
    line('all', sums),
  ].join('\n')
}

installTools()
const given = process.argv.slice(2)
const asked = given.filter((text) => text !== '--replay')
const isReplayed = given.includes('--replay')
const recordings = isReplayed ? mkdtempSync(join(tmpdir(), 'tandem-replays-')) : undefined
if (recordings !== undefined) recordSessions(recordings)
const rows = []
for (const suite of SUITES) {
  if (asked.length > 0 && !asked.some((part) => suite.name.toLowerCase().includes(part.toLowerCase())))
    continue
  console.log(suite.name)
  const found = [await rowOf(suite), ...(isReplayed ? [await replayRow(suite.name)] : [])]
  for (const row of found) print(row)
  rows.push(...found)
}
const hasFailed = rows.some(({ failed, surprising }) => failed.length + surprising.length > 0)
// The recordings of failures stay.
if (recordings !== undefined && !hasFailed) rmSync(recordings, { recursive: true })
if (rows.length === 0) {
  console.error(`no suite is named so; there are: ${SUITES.map(({ name }) => name).join('; ')}`)
  process.exitCode = 2
} else {
  console.log(`\n${table(rows)}`)
  if (hasFailed) process.exitCode = 1
}
