/**
 * The files of `tandem gas` and `tandem coverage`, read by programs of others: speedscope in a browser, and the schema of its
 * files; pprof-format; istanbul's libraries, whose LCOV and totals have to be the same.
 *
 *   npm ci --ignore-scripts && node formats.mjs
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { Ajv } from 'ajv'
import libCoverage from 'istanbul-lib-coverage'
import libReport from 'istanbul-lib-report'
import reports from 'istanbul-reports'
import { chromium } from 'playwright-core'
import { Profile } from 'pprof-format'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const CHROMIUM = '/usr/bin/chromium'
const require = createRequire(import.meta.url)
const SPEEDSCOPE = join(require.resolve('speedscope/package.json'), '..', 'dist', 'release')
const GUIDE = readFileSync(new URL('../../../docs/guides/gas.md', import.meta.url), 'utf8')

const checks = [
  ['speedscope has a schema that the file fits', fitsSchema],
  ['speedscope opens the file', opensInSpeedscope],
  ['pprof-format reads the profile, with all gas', readsPprof],
  ['istanbul makes the same LCOV', sameLcov],
]

/** The example of the guide in a folder, and the files that the commands make of it. */
function makeFiles(folder) {
  for (const [, name, text] of GUIDE.matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)\n```/g)) {
    const path = join(folder, name)
    spawnSync('mkdir', ['-p', join(path, '..')])
    writeFileSync(path, text)
  }
  for (const words of [['gas', '--out', 'gas'], ['coverage']]) {
    const { status, stderr } = spawnSync(
      process.execPath,
      [MAIN, ...words, '--', process.execPath, 'counter.mjs'],
      { cwd: folder, encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
  }
}

const read = (folder, name) => readFileSync(join(folder, name))
const report = (folder) => JSON.parse(read(folder, 'gas/gas.json'))

function fitsSchema(folder) {
  const schema = JSON.parse(readFileSync(join(SPEEDSCOPE, 'file-format-schema.json'), 'utf8'))
  const fits = new Ajv({ strict: false, logger: false }).compile(schema)
  assert.equal(fits(JSON.parse(read(folder, 'gas/gas.speedscope.json'))), true, JSON.stringify(fits.errors))
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

async function opensInSpeedscope(folder) {
  const server = createServer(({ url }, response) => {
    const path = url === '/' ? '/index.html' : new URL(url, 'http://a').pathname
    response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream')
    try {
      response.end(
        path === '/gas.json' ? read(folder, 'gas/gas.speedscope.json') : readFileSync(join(SPEEDSCOPE, path)),
      )
    } catch {
      response.writeHead(404).end()
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const base = `http://127.0.0.1:${server.address().port}`
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(`${base}/#profileURL=${encodeURIComponent(`${base}/gas.json`)}`)
    await page.waitForFunction(() => document.title.includes(' gas'), undefined, { timeout: 30_000 })
    assert.match(await page.title(), /counter\.mjs: \d+ gas/)
  } finally {
    await browser.close()
    server.close()
  }
}

function readsPprof(folder) {
  const profile = Profile.decode(gunzipSync(read(folder, 'gas/gas.pb.gz')))
  const text = (index) => profile.stringTable.strings[Number(index)]
  const { gasUsed, refunds, frames, stacks } = report(folder)
  assert.deepEqual(
    profile.sampleType.map(({ type, unit }) => [text(type), text(unit)]),
    [['gas', 'gas']],
  )
  const names = new Map(profile.function.map(({ id, name }) => [Number(id), text(name)]))
  const functions = new Map(
    profile.location.map(({ id, line }) => [Number(id), names.get(Number(line[0].functionId))]),
  )
  const found = profile.sample.map(({ locationId, value }) => [
    [...locationId].map((id) => functions.get(Number(id))).reverse(),
    Number(value[0]),
  ])
  assert.deepEqual(
    found,
    stacks.map((stack) => [stack.frames.map((index) => frames[index].name), stack.gas]),
  )
  assert.equal(found.reduce((sum, [, gas]) => sum + gas, 0) - refunds, gasUsed)
}

function sameLcov(folder) {
  const map = libCoverage.createCoverageMap(JSON.parse(read(folder, 'coverage/coverage-final.json')))
  const dir = join(folder, 'istanbul')
  reports.create('lcovonly').execute(libReport.createContext({ dir, coverageMap: map }))
  assert.equal(read(folder, 'istanbul/lcov.info').toString(), read(folder, 'coverage/lcov.info').toString())
  assert.equal(map.getCoverageSummary().lines.covered, 1)
}

const folder = mkdtempSync(join(tmpdir(), 'formats-'))
try {
  makeFiles(folder)
  for (const [title, check] of checks) {
    try {
      await check(folder)
      console.log(`passed: ${title}`)
    } catch (error) {
      console.error(`failed: ${title}\n${error.stack}`)
      process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
