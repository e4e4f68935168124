/**
 * Compares the answers of this node with those of the reference node, field by field: `npm run compare:node`. Sends the
 * requests of the transcripts in fixtures/reference-node/rpc to a node in process that imported their blocks. With
 * `-- <url>`, sends them to that node too, which holds the same blocks, and compares with its answers instead of the
 * recorded ones; then only the transcript `all` is sent, which changes nothing, unless `--transcript` names others.
 * Ends with 1 when a difference is not in docs/differences.md.
 */
import { parseArgs } from 'node:util'
import {
  type Answer,
  answersOf,
  differencesOf,
  isTraced,
  listedDifferences,
  methodOf,
  nodeWithReferenceBlocks,
  readTranscript,
  replay,
  rowOf,
  TRANSCRIPTS,
  type Transcript,
} from '../test/support/reference-answers.ts'

const { values, positionals } = parseArgs({
  options: { transcript: { type: 'string', multiple: true } },
  allowPositionals: true,
})
const [url] = positionals
const known = Object.keys(TRANSCRIPTS) as Transcript[]
const wanted = values.transcript ?? (url === undefined ? known : ['all'])
const names = known.filter((name) => wanted.includes(name))
if (names.length < wanted.length) {
  console.error(`compare-node: --transcript expects some of ${known.join(', ')}.`)
  process.exit(2)
}

/** The built package, which finds its files by relative paths. */
const built = new URL('../../dist/index.js', import.meta.url).href
const { createNode }: typeof import('../src/index.ts') = await import(built)

/** Answers of a node over HTTP. */
function answersAt(address: string): Answer {
  return async (body) => {
    const headers = { 'Content-Type': 'application/json' }
    return (await fetch(address, { method: 'POST', headers, body })).text()
  }
}

interface Line {
  readonly method: string
  readonly difference: string
  readonly why: string
  answers: number
}

const TRACED = 'test/rpc/reference-traces.test.ts'
const UNLISTED = 'not listed'

const rows = listedDifferences()
const lines = new Map<string, Line>()
const counts: string[] = []
for (const name of names) {
  const exchanges = readTranscript(name)
  const node = await nodeWithReferenceBlocks(createNode, name)
  const ours = await replay(exchanges, answersOf(node))
  await node.close()
  const theirs =
    url === undefined ? exchanges.map(([, answer]) => answer) : await replay(exchanges, answersAt(url))
  let equal = 0
  for (const [index, exchange] of exchanges.entries()) {
    const method = methodOf(exchange)
    const differences = differencesOf(theirs[index], ours[index])
    if (differences.length === 0) equal++
    for (const difference of differences) {
      const listed = isTraced(exchange) ? TRACED : rowOf(rows, method, difference)?.why
      const line = { method, difference, why: listed ?? UNLISTED, answers: 0 }
      const key = JSON.stringify(line)
      const counted = lines.get(key) ?? line
      counted.answers++
      lines.set(key, counted)
    }
  }
  counts.push(`${name}: ${exchanges.length} exchanges, ${equal} equal, ${exchanges.length - equal} different`)
}

const table = [...lines.values()].sort((a, b) => (a.method < b.method ? -1 : 1))
const width = (of: 'method' | 'difference') => Math.max(0, ...table.map((line) => line[of].length))
for (const { method, difference, answers, why } of table) {
  const columns = [method.padEnd(width('method')), difference.padEnd(width('difference'))]
  console.log(`${columns.join('  ')}  ${String(answers).padStart(4)}  ${why}`)
}
console.log(counts.join('\n'))
if (table.some(({ why }) => why === UNLISTED)) process.exitCode = 1
