/** The recorded run in docs/internals/bench: JSON for the next run to compare with, Markdown and a picture for readers. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chart } from './chart.mjs'
import { markdown } from './markdown.mjs'
import { NODES, versionOf } from './nodes.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(ROOT, 'docs/internals/bench')
const JSON_FILE = join(FOLDER, 'results.json')

const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()

/** The run that was recorded last; undefined when none was. */
export function recorded() {
  return existsSync(JSON_FILE) ? JSON.parse(readFileSync(JSON_FILE, 'utf8')) : undefined
}

/** Six digits are more than any figure has, and short in a file. */
const rounded = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value)

/**
 * Writes a run to docs/internals/bench.
 * @param {object[]} rows of `run`
 * @param {{ rounds: number, minutes: number }} how
 * @param {object | undefined} earlier the run recorded before
 */
export function record(rows, { rounds, minutes }, earlier) {
  const changed = git('status', '--porcelain', '--', 'src', 'package.json') !== ''
  const result = {
    recorded: new Date().toISOString(),
    commit: `${git('rev-parse', '--short=12', 'HEAD')}${changed ? ' with changes' : ''}`,
    machine: {
      processors: `${availableParallelism()} of ${cpus()[0].model}`,
      memoryGb: Math.round(totalmem() / 1e9),
      runtime: `Node.js ${process.version}`,
    },
    rounds,
    minutes,
    nodes: Object.fromEntries(
      Object.entries(NODES).map(([name, node]) => [
        name,
        { version: versionOf(node), settings: node.settings },
      ]),
    ),
    rows: rows.map(({ nodes, ...row }) => ({ ...row, nodes: withoutWindows(nodes) })),
  }
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(JSON_FILE, `${JSON.stringify(result, rounded, 1)}\n`)
  writeFileSync(join(FOLDER, 'results.md'), markdown(result, earlier))
  writeFileSync(join(FOLDER, 'results.svg'), chart(result.rows))
}

/** When a sample was taken is of no use later. */
function withoutWindows(nodes) {
  const strip = ({ list, ...summary }) => ({
    ...summary,
    list: list.map(({ window, ...figures }) => figures),
  })
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, strip(node)]))
}
