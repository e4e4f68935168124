/** Compose files and the feature of dev containers, read and run as far as that needs no Docker. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SETTINGS, variableOf } from '../../src/cli/settings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DEPLOY = join(ROOT, 'scripts/deploy')
const FEATURE = join(ROOT, 'packages/devcontainer-feature/tandem')
const FILES = readdirSync(DEPLOY)

const variables = new Set(Object.values(SETTINGS).map(({ flag }) => variableOf(flag)))
const flags = new Set(Object.values(SETTINGS).map(({ flag }) => flag.replace(/ .*/, '')))

describe.each(FILES)('%s', (file) => {
  const text = readFileSync(join(DEPLOY, file), 'utf8')

  it('sets settings that there are', () => {
    const named = [...text.matchAll(/^\s+(TANDEM_\w+):/gm)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => name === undefined || !variables.has(name))).toEqual([])
    const commands = [...text.matchAll(/command: \[start, (.*)\]/g)].flatMap(([, words = '']) =>
      words.split(', '),
    )
    expect(commands.filter((word) => word.startsWith('--') && !flags.has(word))).toEqual([])
  })

  it('declares the volumes that its services use', () => {
    const used = [...text.matchAll(/volumes: \[(.*)\]/g)].flatMap(([, list = '']) =>
      [...list.matchAll(/"([\w-]+):/g)].map(([, name]) => name),
    )
    const declared = [...(/^volumes: \{(.*)\}/m.exec(text)?.[1] ?? '').matchAll(/([\w-]+): /g)].map(
      ([, name]) => name,
    )
    expect(new Set(declared)).toEqual(new Set(used))
  })
})

describe('the feature of dev containers', () => {
  const manifest = JSON.parse(readFileSync(join(FEATURE, 'devcontainer-feature.json'), 'utf8'))

  it('has the version of the package, and options that its script reads', () => {
    expect(manifest.version).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version)
    const script = readFileSync(join(FEATURE, 'install.sh'), 'utf8')
    for (const name of Object.keys(manifest.options)) expect(script).toContain(`\${${name.toUpperCase()}:-`)
  })

  it('installs the version that is asked for, and fails without npm', () => {
    const folder = mkdtempSync(join(tmpdir(), 'feature-'))
    const program = (name: string, text: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    program('npm', `if [ "$1" = prefix ]; then echo ${folder}/global; else echo "npm $*"; fi`)
    program('tandem', 'echo "tandem $*"')
    const run = (env: NodeJS.ProcessEnv) =>
      spawnSync('/bin/sh', [join(FEATURE, 'install.sh')], { env, encoding: 'utf8' })
    const { stdout, status } = run({ PATH: `${folder}:/bin:/usr/bin`, VERSION: '0.1.0' })
    expect([status, stdout]).toEqual([
      0,
      'npm install --global --no-audit --no-fund tandem@0.1.0\ntandem --version\n',
    ])
    expect(run({ PATH: '/nowhere' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('needs Node.js'),
    })
    rmSync(folder, { recursive: true })
  })
})
