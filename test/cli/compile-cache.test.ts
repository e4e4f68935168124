/** The cache of compiled code, by runs of the built command: used where Node has it, and only in a private folder. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Those of whoever runs the tests.
vi.stubEnv('NODE_COMPILE_CACHE', undefined)
vi.stubEnv('NODE_DISABLE_COMPILE_CACHE', undefined)

/** Node has it from 22.8 on. */
const isSupported = 'enableCompileCache' in module

/** The files below a folder; none where there is no such folder. */
function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** Runs a command whose user has this cache folder. */
async function runWith(home: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { code, stdout } = await runCommand(['methods'], { XDG_CACHE_HOME: home, ...env })
  expect(code).toBe(0)
  expect(stdout).toContain('eth_call')
}

it('is used exactly where Node has it, in a folder that only the user can access', async () => {
  const home = temporaryFolder()
  await runWith(home)
  const folder = join(home, 'tandem/compiled')
  expect(filesIn(folder).length > 0).toBe(isSupported)
  if (isSupported) expect(statSync(folder).mode & 0o777).toBe(0o700)
  await runWith(home)
})

it('is used from Node 22 on', () => {
  expect(isSupported).toBe(Number(process.versions.node.split('.')[0]) >= 22)
})

it('is not used where others can replace the folder or write to it', async () => {
  const open = temporaryFolder()
  chmodSync(open, 0o777)
  await runWith(open)
  expect(filesIn(open)).toEqual([])

  const shared = temporaryFolder()
  mkdirSync(join(shared, 'tandem/compiled'), { recursive: true })
  chmodSync(join(shared, 'tandem/compiled'), 0o770)
  await runWith(shared)
  expect(filesIn(shared)).toEqual([])
})

it.skipIf(process.platform !== 'linux')('is not used when its folder cannot be created', () =>
  runWith('/proc/tandem'),
)

it('is left to Node’s own variables when they are set', async () => {
  const home = temporaryFolder()
  await runWith(home, { NODE_DISABLE_COMPILE_CACHE: '1' })
  expect(existsSync(join(home, 'tandem'))).toBe(false)

  const chosen = temporaryFolder()
  await runWith(home, { NODE_COMPILE_CACHE: chosen })
  expect(existsSync(join(home, 'tandem'))).toBe(false)
  expect(filesIn(chosen).length > 0).toBe(isSupported)
})
