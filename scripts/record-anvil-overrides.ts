/**
 * Records what Anvil answers to calls with overrides: `npm run record:anvil`, after `npm ci --prefix scripts/bench`, or
 * with the binary in ANVIL_PATH. Writes fixtures/overrides/anvil.json.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { startAnvil } from '../test/support/anvil-frames.ts'
import { CALLED, OVERRIDE_CASES, REFUSED_OVERRIDES } from '../test/support/override-cases.ts'

const PACKAGED = 'scripts/bench/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil'
const path = process.env.ANVIL_PATH ?? PACKAGED

const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).split('\n').slice(0, 2).join(', ')
const { call, close } = await startAnvil(path)
const outputs: Record<string, unknown> = {}
for (const { name, call: request, stateOverrides, blockOverrides = {} } of OVERRIDE_CASES) {
  outputs[name] = await call('eth_call', [
    { to: CALLED, ...request },
    'latest',
    stateOverrides,
    blockOverrides,
  ])
}
const refusals: Record<string, string> = {}
for (const { name, stateOverrides, blockOverrides = {} } of REFUSED_OVERRIDES) {
  try {
    await call('eth_call', [{ to: CALLED }, 'latest', stateOverrides, blockOverrides])
  } catch (error) {
    refusals[name] = (error as Error).message
  }
}
await close()
writeFileSync('fixtures/overrides/anvil.json', `${JSON.stringify({ version, outputs, refusals }, null, 2)}\n`)
