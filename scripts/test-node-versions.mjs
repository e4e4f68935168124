/**
 * Runs the built package and end-to-end tests on newer releases of Node.js, which npm brings as packages:
 * `npm run test:node-versions`.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RELEASES = join(ROOT, 'scripts/node-versions')

/** The end-to-end tests: the command, clients over sockets, reorganisations, and the native modules. */
const TESTS = [
  'chain/signature',
  'cli/command',
  'cli/compile-cache',
  'cli/v8-settings',
  'scenarios/clients',
  'scenarios/determinism',
  'scenarios/foundry',
  'scenarios/provider',
  'scenarios/reorg',
  'scenarios/viem-events',
  'store/level',
]

/** Runs a program to its end with inherited output; returns whether it succeeded. */
function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (error !== undefined) console.error(String(error))
  return status === 0
}

function main() {
  if (!run('npm', ['ci', '--silent', '--prefix', RELEASES]))
    return ['the releases of Node.js could not be installed']
  const { dependencies } = JSON.parse(readFileSync(join(RELEASES, 'package.json'), 'utf8'))
  const failures = []
  for (const [name, source] of Object.entries(dependencies)) {
    const node = join(RELEASES, 'node_modules', name, 'bin/node')
    const version = source.replace(/^.*@/, '')
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const passed =
      run(node, [join(RELEASES, 'check.mjs')], env) &&
      run(node, [vitest, 'run', ...TESTS.map((test) => `test/${test}.test.ts`)], env)
    if (!passed) failures.push(`failed on Node.js ${version}`)
  }
  return failures
}

const failures = main()
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
