/**
 * Records Anvil's call frames of the trace cases: `npm run record:anvil`, after `npm ci --prefix scripts/bench`, or
 * with the binary in ANVIL_PATH. Writes fixtures/traces/anvil/frames.json, and their replays to replies.json.gz.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { framesBy, repliesBy, replyShape, startAnvil } from '../test/support/anvil-frames.ts'
import { TRACE_CASES } from '../test/support/trace-cases.ts'

const PACKAGED = 'scripts/bench/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil'
const path = process.env.ANVIL_PATH ?? PACKAGED

const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).split('\n').slice(0, 2).join(', ')
const anvil = await startAnvil(path)
const frames: Record<string, unknown> = {}
for (const situation of TRACE_CASES.filter(({ asOnEthereum }) => asOnEthereum)) {
  frames[situation.name] = await framesBy(anvil.call, situation)
}
await anvil.close()
writeFileSync('fixtures/traces/anvil/frames.json', `${JSON.stringify({ version, frames }, null, 2)}\n`)

// On a new chain, so that accounts that a case makes are new in its replay.
const fresh = await startAnvil(path)
const replies: Record<string, unknown> = {}
for (const situation of TRACE_CASES.filter(({ asOnEthereum }) => asOnEthereum)) {
  replies[situation.name] = replyShape(await repliesBy(fresh.call, situation))
}
await fresh.close()
writeFileSync(
  'fixtures/traces/anvil/replies.json.gz',
  gzipSync(JSON.stringify({ version, replies }), { level: 9 }),
)
