/**
 * `npm run bench`: Tandem beside the peers, by processor time of the server for one operation, with wall time beside it.
 * - `--rows transfer,snapshot` runs some rows (all of `transfer-…`); `--list` names them
 * - `--rounds 3` samples a row and node, 5 unless given; `--nodes tandem,anvil`
 */
import { parseArgs } from 'node:util'
import { available, missing, NODES } from './nodes.mjs'
import { limitLines, rowLines } from './report.mjs'
import { select } from './rows.mjs'
import { run } from './run.mjs'

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    nodes: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})

const rows = select(flags.rows)
if (flags.list) {
  for (const { name, title } of rows) console.log(`${name.padEnd(24)} ${title}`)
  process.exit()
}
const rounds = Number(flags.rounds)
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a number of at least 1')
const wanted = flags.nodes?.split(',') ?? available()
for (const name of wanted) if (NODES[name] === undefined) throw new Error(`no node is named ${name}`)
for (const { name, needs } of missing()) console.error(`${name} is not installed: ${needs}`)

const results = await run(rows, {
  nodes: wanted.filter((name) => available().includes(name)),
  rounds,
  nodeFlags: () => [],
  onRow: (row) => console.log(`${rowLines(row).join('\n')}\n`),
  onProgress: (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`),
})
console.log(limitLines(results).join('\n'))
