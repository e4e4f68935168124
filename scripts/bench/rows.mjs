/**
 * All rows of the bench, in the order in which they are printed. A row has
 * - `name`, which `--rows` selects, alone or by what stands before its first `-`; `title`; `operation`: what one is
 * - `chain`: fresh (a new process for every sample), warm, long, traced, stepped (one process for all samples of such rows), or
 *   none: the row starts what it measures, and its `sample` gets the name of the node
 * - `nodes`: those that run it, unless all of `HTTP_NODES` do
 * - `prepare(scene)`: what is done once before the samples; `sample(scene)`: prepares a sample and returns its
 *   `operations` and their `work`, or the finished figures
 * - `unit`: ms unless it is named; `figure`: what is judged, `cpuMs` unless it is named; `rounds`, where fewer than usual do
 * - `limits`: the highest ratio (`most`) of `node` (tandem) to the best of the nodes `of` (all peers), in the row `row`
 *   (this one)
 */
import { BLOCK_ROWS, LONG_CHAIN_ROWS } from './rows/blocks.mjs'
import { EVM_ROWS } from './rows/evm.mjs'
import { IN_PROCESS_ROWS } from './rows/in-process.mjs'
import { PEG_ROWS } from './rows/peg.mjs'
import { PROCESS_ROWS } from './rows/processes.mjs'
import { READ_ROWS } from './rows/reads.mjs'
import { COVERAGE_ROW, SHORT_TESTS_ROW, SUITE_ROW } from './rows/suite.mjs'
import { TANDEM_ROWS } from './rows/tandem.mjs'
import { TRACE_ROWS } from './rows/traces.mjs'
import { TRANSACTION_ROWS } from './rows/transactions.mjs'

/** The last of `LONG_CHAIN_ROWS` makes its chain longer, so they are the last on such a chain. */
export const ROWS = [
  ...TRANSACTION_ROWS,
  ...IN_PROCESS_ROWS,
  ...BLOCK_ROWS,
  ...READ_ROWS,
  ...EVM_ROWS,
  ...TRACE_ROWS,
  ...TANDEM_ROWS,
  ...PEG_ROWS,
  ...PROCESS_ROWS,
  ...LONG_CHAIN_ROWS,
  SUITE_ROW,
  SHORT_TESTS_ROW,
  COVERAGE_ROW,
]

/**
 * The rows that a list of names selects; all without one. Throws on a name that selects nothing.
 * @param {string | undefined} names separated by commas
 */
export function select(names) {
  if (names === undefined) return ROWS
  const wanted = names.split(',')
  const matches = (row, name) => row.name === name || row.name.startsWith(`${name}-`)
  for (const name of wanted) {
    if (!ROWS.some((row) => matches(row, name))) {
      throw new Error(`no row is named ${name}; there are ${ROWS.map((row) => row.name).join(', ')}`)
    }
  }
  return ROWS.filter((row) => wanted.some((name) => matches(row, name)))
}
