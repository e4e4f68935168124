/** A fresh project of viem or ethers, for Vitest and for the runner of Node.js: `tandem init` adds a test, which passes. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

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
  for (const name of packages)
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  if (packages.includes('vitest')) {
    symlinkSync(join(ROOT, 'node_modules/vitest/vitest.mjs'), join(folder, 'node_modules/.bin/vitest'))
  }
}

/** Without what this runner has set for its own processes. */
function inherited(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VITEST')))
}

describe('a fresh project of', () => {
  it.each([
    ['viem', ['viem', 'vitest'], /Tests +1 passed/],
    ['ethers', ['ethers', 'vitest'], /Tests +1 passed/],
    ['viem', ['viem'], /# pass 1/],
    ['ethers', ['ethers'], /# pass 1/],
  ])('%s (%j) passes its test after tandem init', async (_, packages, report) => {
    makeProject(packages)
    expect(await runCommand(['init', '--yes'], {}, folder)).toMatchObject({ code: 0, stderr: '' })
    const env = { ...inherited(), NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)('npm', ['test', '--silent'], { cwd: folder, env })
    expect(stdout).toMatch(report)
  })
})
