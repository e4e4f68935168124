/** The outcome of tests whose tool is missing: a run of such a file, with the tool's place set to an empty one. */
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const TOOLS = fileURLToPath(new URL('tools.ts', import.meta.url))
const PROBE = `
  import { expect, it } from 'vitest'
  import { describeWith, REDIS_SERVER } from ${JSON.stringify(TOOLS)}
  it('needs nothing', () => expect(1).toBe(1))
  describeWith(REDIS_SERVER, 'limits', () => it('needs a server', () => expect(1).toBe(1)))`

/** Runs the probe in a new folder; the exit code and its output. */
async function runProbe(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; printed: string }> {
  const folder = temporaryFolder()
  symlinkSync(MODULES, join(folder, 'node_modules'), 'dir')
  writeFileSync(join(folder, 'probe.test.ts'), PROBE)
  const child = spawn(process.execPath, [join(MODULES, 'vitest/vitest.mjs'), 'run', '--root', folder], {
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  child.stderr.on('data', (chunk) => (printed += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, printed })))
}

it('are run when the tool is at the configured path', async () => {
  const { code, printed } = await runProbe({ CI: 'true', REDIS_SERVER_PATH: process.execPath })
  expect(code, printed).toBe(0)
  expect(printed).toMatch(/Tests\s+2 passed/)
})

it('fail under CI=true', async () => {
  const { code, printed } = await runProbe({ CI: 'true', REDIS_SERVER_PATH: '/nonexistent' })
  expect(code, printed).toBe(1)
  expect(printed).toContain(
    'redis-server is missing (apt-get install redis-server, or set REDIS_SERVER_PATH)',
  )
  expect(printed).toMatch(/Tests\s+1 failed \| 1 passed/)
})

it('are skipped elsewhere, with a message', async () => {
  const { code, printed } = await runProbe({ CI: '', REDIS_SERVER_PATH: '/nonexistent' })
  expect(code, printed).toBe(0)
  expect(printed).toContain('skipped: "limits", because redis-server is missing')
  expect(printed).toMatch(/Tests\s+1 passed \| 1 skipped/)
})
