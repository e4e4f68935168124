/**
 * The integration of each test runner, by a small suite that runs in that runner as a child process: two files side by
 * side, and in each a failing test before others that need a clean chain. Mocha and Jest are packages of
 * scripts/runners; Jest is of the oldest major version that is supported.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { describeWith, type Tool } from '../support/tools.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SUITES = 'test/runners/suites'
const RUNNERS = 'scripts/runners/node_modules'
const INSTALLED: Tool = {
  name: 'the packages of scripts/runners',
  isThere: existsSync(`${ROOT}/${RUNNERS}`),
  install: 'npm ci --prefix scripts/runners',
}

/** Where a runner starts: without what this runner has set, and without colours. */
function optionsOf(env: Readonly<Record<string, string>>) {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...inherited } = process.env
  const clean = Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('VITEST')))
  return { cwd: ROOT, env: { ...clean, NO_COLOR: '1', ...env } }
}

/** Runs Node.js to its end; all that it printed. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, optionsOf(env), (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

/** How often a suite's own text stands in what a runner printed. */
const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

describe('a suite of', () => {
  it.each(['yes', 'no'])('Vitest, isolated: %s', async (isolate) => {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', `${SUITES}/vitest.config.mjs`]
    const report = JSON.parse(
      (await run([...args, '--reporter=json', '--silent'], { ISOLATE: isolate })).trim(),
    )
    expect(report).toMatchObject({ numTotalTests: 14, numPassedTests: 12, numFailedTests: 2 })
    for (const { assertionResults } of report.testResults) {
      const failed = assertionResults.filter(({ status }: { status: string }) => status === 'failed')
      expect(failed.map(({ title }: { title: string }) => title)).toEqual(['fails'])
    }
  })

  it('Vitest in watch mode, where a changed file runs again on a new node', async () => {
    // Below the project, so that the suite finds the package and Vitest.
    const folder = mkdtempSync(join(ROOT, SUITES, 'watched-'))
    const suite = (value: string) => `
      import { test } from 'tandem/vitest'
      import { expect } from 'vitest'
      test.beforeAll(({ node }) => node.request({ method: 'evm_mine' }))
      test('fails', ({ node }) => node.request({ method: 'evm_mine' }).then(() => expect('${value}').toBe('good')))
      test('is clean', async ({ node }) => {
        expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x1')
      })`
    const file = join(folder, 'one.watched.mjs')
    writeFileSync(file, suite('bad'))
    const args = ['node_modules/vitest/vitest.mjs', 'watch', '--config', `${SUITES}/watch.config.mjs`]
    const child = spawn(process.execPath, args, optionsOf({ WATCHED: folder }))
    try {
      let printed = ''
      const until = (pattern: RegExp) =>
        new Promise<void>((resolve, reject) => {
          const check = () => {
            if (pattern.test(printed)) resolve()
          }
          check()
          child.stdout.on('data', check)
          child.once('exit', () => reject(new Error(printed)))
        })
      child.stdout.on('data', (chunk) => {
        printed += String(chunk)
      })
      await until(/Tests +1 failed \| 1 passed \(2\)[\s\S]*Watching for file changes/)
      printed = ''
      writeFileSync(file, suite('good'))
      await until(/Tests +2 passed \(2\)[\s\S]*Waiting for file changes/)
      child.kill('SIGINT')
      await once(child, 'exit')
    } finally {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    }
  })

  it('node:test', async () => {
    const files = ['one', 'two'].map((name) => `${SUITES}/${name}.node-test.mjs`)
    const printed = await run(['--test', '--test-reporter=tap', ...files])
    expect(printed).toContain('# tests 8\n')
    const passed = (title: string) => count(printed, new RegExp(`^ok \\d+ - ${title}`, 'gm'))
    expect([
      count(printed, /^not ok \d+ - fails/gm),
      passed('is clean after'),
      passed('checks changes'),
    ]).toEqual([2, 4, 2])
  })
})

describeWith(INSTALLED, 'a suite of a runner from npm:', () => {
  it.each(['--parallel', '--no-parallel'])('Mocha %s', async (mode) => {
    const files = ['one', 'two'].map((name) => `${SUITES}/${name}.mocha.mjs`)
    const printed = await run([`${RUNNERS}/mocha/bin/mocha.js`, mode, ...files])
    expect(printed).toMatch(/6 passing[\s\S]*2 failing/)
    expect([count(printed, /✔ is clean after/g), count(printed, /✔ checks changes/g)]).toEqual([4, 2])
  })

  it('Jest', async () => {
    const jest = `${ROOT}/${RUNNERS}/jest/bin/jest.js`
    const printed = await run([jest, '--config', `${SUITES}/jest.config.cjs`, '--verbose'])
    expect(printed).toMatch(/Tests: +2 failed, 6 passed, 8 total/)
    expect([count(printed, /✓ is clean after/g), count(printed, /✓ checks changes/g)]).toEqual([4, 2])
  })
})
