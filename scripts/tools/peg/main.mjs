/**
 * The official integration tests of the peg against Tandem:
 *
 *     npm run build && node scripts/tools/peg/main.mjs <folder of the tests> [--waits <divisor>] [<part of a file name>…]
 *
 * The folder is a checkout of github.com/rsksmart/rootstock-integration-tests (2026-07-23) with its dependencies
 * (`npm install --ignore-scripts`; six of them are tags of GitHub repositories, of which tarballs do as well). The tests run
 * unchanged. They start bitcoind once and a Java node for each of twelve federation members; `stand-in.sh` takes the
 * place of both programs: it opens no chain, and this process answers at the ports that it is started with. All of them
 * are fronts of one node, which has the keys of the members that run.
 *
 * The tests wait for real nodes between their steps. Nothing has to be waited for here: a front answers when the members
 * have done what they do after a block. `preload.cjs` ends those waits, and asks again what the tests poll, when no request is
 * under way; it divides other timeouts by 20 (`--waits 1` leaves all as they are), and gives the tests compilers from npm in
 * place of those that they load from the web.
 *
 * Prints what passed by file; exit code 1 when a test fails. Names run some files: later files build on the chain that
 * earlier ones leave, so name those as well.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createNode } from '../../../dist/index.js'
import { installTools } from '../install.mjs'
import { Fronts } from './fronts.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const STAND_IN = join(HERE, 'stand-in.sh')
const began = performance.now()

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { waits: { type: 'string', default: '20' } },
})
const [given, ...names] = positionals
if (given === undefined || !existsSync(join(given, 'test.js'))) {
  console.error(
    'usage: node scripts/tools/peg/main.mjs <folder of rootstock-integration-tests> [--waits <divisor>] [names]',
  )
  process.exit(2)
}
const folder = resolve(given)

/** Runs the tests; their results by file. */
async function runTests(control, temporary, signal) {
  const results = join(temporary, 'results.json')
  mkdirSync(join(temporary, 'bitcoin'))
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/mocha/bin/mocha.js'),
      ...['--timeout', '1200000', '--exit', '--no-config'],
      ...['--require', join(HERE, 'preload.cjs'), '--reporter', join(HERE, 'reporter.cjs')],
      'test.js',
    ],
    {
      cwd: folder,
      signal,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        BITCOIND_BIN_PATH: STAND_IN,
        JAVA_BIN_PATH: STAND_IN,
        POWPEG_NODE_JAR_PATH: STAND_IN,
        BITCOIN_DATA_DIR: join(temporary, 'bitcoin'),
        LOG_HOME: join(temporary, 'logs'),
        STAND_IN_CONTROL: control,
        STAND_IN_RESULTS: results,
        STAND_IN_WAITS: values.waits,
        ...(names.length > 0 && { INCLUDE_CASES: names.join() }),
      },
    },
  )
  await once(child, 'exit')
  return existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : []
}

function print(files, seconds) {
  const width = Math.max(...files.map(({ file }) => file.length))
  const line = (name, ...cells) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
  const sum = (key) => files.reduce((total, file) => total + file[key], 0)
  console.log(`\n${line('file', 'passed', 'failed', 'skipped', 's')}`)
  for (const { file, passed, failed, skipped, seconds: time } of files)
    console.log(line(file, passed, failed, skipped, time.toFixed(1)))
  console.log(line('all', sum('passed'), sum('failed'), sum('skipped'), seconds.toFixed(1)))
}

installTools()
const temporary = mkdtempSync(join(tmpdir(), 'tandem-peg-'))
const { btc, federations } = createRequire(import.meta.url)(join(folder, 'config/regtest-all-keyfiles.js'))
const members = Object.values(federations).flatMap((federation) => federation.members)
const fronts = new Fronts({ user: btc.rpcUser, password: btc.rpcPassword })
const stop = new AbortController()
try {
  const control = await fronts.listen()
  // The tests take seconds to load their modules; the node is there before they start a stand-in.
  const tests = runTests(control, temporary, stop.signal)
  const node = createNode({ bitcoin: true, bitcoinBlocksPer: 0, federation: 'manual', mining: 'manual' })
  const [files] = await Promise.all([tests, fronts.open(node, members)])
  await fronts.close()
  await (await node).close()
  if (files.length === 0) throw new Error('the tests have no results')
  print(files, (performance.now() - began) / 1000)
  if (files.some(({ failed }) => failed > 0)) process.exitCode = 1
} finally {
  stop.abort()
  rmSync(temporary, { recursive: true, force: true })
}
