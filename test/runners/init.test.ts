/** A fresh project of viem or ethers, for each test runner: `tandem init` adds a test, which passes. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { describeWith, type Tool } from '../support/tools.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A runner: where it is, its program, and a package that npm installs with it at the top. */
interface Installed {
  readonly place: string
  readonly program?: string
  readonly brings?: string
}

const RUNNERS: Readonly<Record<string, Installed>> = {
  vitest: { place: 'node_modules', program: 'vitest/vitest.mjs' },
  mocha: { place: 'scripts/runners/node_modules', program: 'mocha/bin/mocha.js' },
  jest: {
    place: 'scripts/runners/node_modules',
    program: 'jest/bin/jest.js',
    brings: 'jest-environment-node',
  },
}
const INSTALLED: Tool = {
  name: 'the packages of scripts/runners',
  isThere: existsSync(join(ROOT, 'scripts/runners/node_modules')),
  install: 'npm ci --prefix scripts/runners',
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fresh-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A new project with its packages, of which npm would install the same. */
function makeProject(packages: readonly string[]): void {
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '*']))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', devDependencies }))
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules/tandem'))
  for (const name of packages) {
    const { place, program, brings }: Installed = RUNNERS[name] ?? { place: 'node_modules' }
    symlinkSync(join(ROOT, place, name), join(folder, 'node_modules', name))
    if (program !== undefined)
      symlinkSync(join(ROOT, place, program), join(folder, 'node_modules/.bin', name))
    if (brings !== undefined) symlinkSync(join(ROOT, place, brings), join(folder, 'node_modules', brings))
  }
}

/** Without what this runner has set for its own processes. */
function inherited(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VITEST')))
}

/** `tandem init`, and then the tests of the project, for what they print. */
async function testAfterInit(packages: readonly string[]): Promise<string> {
  makeProject(packages)
  expect(await runCommand(['init', '--yes'], {}, folder)).toMatchObject({ code: 0, stderr: '' })
  const env = { ...inherited(), NO_COLOR: '1' }
  const { stdout, stderr } = await promisify(execFile)('npm', ['test', '--silent'], { cwd: folder, env })
  return stdout + stderr
}

describe('a fresh project of', () => {
  it.each([
    ['viem', 'vitest', /Tests +1 passed/],
    ['ethers', 'vitest', /Tests +1 passed/],
    ['viem', undefined, /# pass 1/],
    ['ethers', undefined, /# pass 1/],
  ])('%s (%s) passes its test after tandem init', async (client, runner, report) => {
    expect(await testAfterInit([client, ...(runner === undefined ? [] : [runner])])).toMatch(report)
  })
})

describeWith(INSTALLED, 'a fresh project of', () => {
  it.each([
    ['viem', 'mocha', /1 passing/],
    ['ethers', 'mocha', /1 passing/],
    ['viem', 'jest', /Tests: +1 passed/],
  ])('%s (%s) passes its test after tandem init', async (client, runner, report) => {
    expect(await testAfterInit([client, runner])).toMatch(report)
  })
})
