/**
 * `npm run bench`: Tandem beside the peers, by processor time of the server for one operation, with wall time beside it.
 * - `--rows transfer,snapshot` runs some rows (all of `transfer-…`); `--list` names them
 * - `--rounds 3` samples a row and node, 5 unless given (a suite 1); `--nodes tandem,anvil`
 * - `--record` writes the run to docs/internals/bench: all rows, all nodes
 * - `--suite <folder>` runs the tests of a project on each node instead, `--command "npm test"` if not by Hardhat; see suite.mjs
 * - `--profile <row>` runs that row once on Tandem, leaves CPU profiles in .build/profiles and prints self time by module;
 *   with `--suite`, `--profile tandem` does so with the tests of the project
 */
import { parseArgs } from 'node:util'
import { available, missing, NODES } from './nodes.mjs'
import { prepareProfile, profileLines } from './profile.mjs'
import { record, recorded } from './recording.mjs'
import { changeLines, limitLines, rowLines } from './report.mjs'
import { select } from './rows.mjs'
import { run } from './run.mjs'
import { compareSuite, profileSuite } from './suite.mjs'

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string' },
    rounds: { type: 'string' },
    nodes: { type: 'string' },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    profile: { type: 'string' },
    suite: { type: 'string' },
    command: { type: 'string' },
  },
})

const onProgress = (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`)
const onRow = (row) => console.log(`${rowLines(row).join('\n')}\n`)

/** The number of rounds that was asked for. */
function roundsOf(text) {
  const rounds = Number(text)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a number of at least 1')
  return rounds
}

/** The nodes that were asked for and are installed; names those that are not. */
function nodesOf(text) {
  const wanted = text?.split(',') ?? Object.keys(NODES)
  for (const name of wanted) {
    if (NODES[name] === undefined)
      throw new Error(`no node is named ${name}; there are ${Object.keys(NODES)}`)
  }
  const absent = missing().filter(({ name }) => wanted.includes(name))
  for (const { name, needs } of absent) console.error(`${name} is not installed: ${needs}`)
  if (flags.record && (wanted.length < Object.keys(NODES).length || absent.length > 0)) {
    throw new Error('--record takes all nodes')
  }
  return wanted.filter((name) => available().includes(name))
}

async function compareNodes() {
  if (flags.record && flags.rows !== undefined) throw new Error('--record takes all rows')
  const began = performance.now()
  const rounds = roundsOf(flags.rounds ?? '5')
  const nodes = nodesOf(flags.nodes)
  const rows = await run(select(flags.rows), { nodes, rounds, nodeFlags: () => [], onRow, onProgress })
  const earlier = recorded()
  console.log(limitLines(rows).join('\n'))
  if (earlier !== undefined) console.log(changeLines(rows, earlier).join('\n'))
  if (flags.record) {
    record(rows, { rounds, minutes: Math.ceil((performance.now() - began) / 60_000) }, earlier)
  }
}

async function profile(name) {
  const row = select(name).find((one) => one.name === name)
  if (row === undefined) throw new Error('--profile takes the whole name of a row')
  const { folder, nodeFlags } = await prepareProfile(name)
  const rounds = 1
  const [result] = await run([row], {
    nodes: ['tandem'],
    rounds,
    nodeFlags: () => nodeFlags,
    onRow,
    onProgress,
  })
  const windows = Object.values(result.nodes).flatMap(({ list }) => list.map(({ window }) => window))
  console.log(`Self time while the row was measured; the profiles are in ${folder}`)
  console.log(profileLines(folder, windows).join('\n'))
}

if (flags.list) {
  for (const { name, title } of select(flags.rows)) console.log(`${name.padEnd(24)} ${title}`)
} else if (flags.suite !== undefined && flags.profile !== undefined) {
  await profileSuite(flags.suite, flags.profile, { command: flags.command, onProgress })
} else if (flags.profile !== undefined) await profile(flags.profile)
else if (flags.suite !== undefined) {
  await compareSuite(flags.suite, {
    command: flags.command,
    names: flags.nodes?.split(','),
    rounds: roundsOf(flags.rounds ?? '1'),
    onProgress,
  })
} else await compareNodes()
