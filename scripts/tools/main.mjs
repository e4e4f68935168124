/**
 * Suites and tools of others against Tandem: `npm run test:tools`, or `-- <part of a name>…` for some of them. Prints a
 * table at the end; exit code 1 when a check fails that the rules of the chain do not make fail.
 */
import { existsSync } from 'node:fs'
import { installTools } from './install.mjs'
import { installed } from './nodes.mjs'
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
const asked = process.argv.slice(2)
const rows = []
for (const suite of SUITES) {
  if (asked.length > 0 && !asked.some((part) => suite.name.toLowerCase().includes(part.toLowerCase())))
    continue
  console.log(suite.name)
  const row = await rowOf(suite)
  for (const { title, error } of row.failed)
    console.error(`failed: ${title}\n${error.replace(/^/gm, '    ')}`)
  for (const text of row.surprising) console.error(`failed: ${text}`)
  rows.push(row)
}
if (rows.length === 0) {
  console.error(`no suite is named so; there are: ${SUITES.map(({ name }) => name).join('; ')}`)
  process.exitCode = 2
} else {
  console.log(`\n${table(rows)}`)
  if (rows.some(({ failed, surprising }) => failed.length + surprising.length > 0)) process.exitCode = 1
}
