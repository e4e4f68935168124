/** Secrets on a command line: neither errors nor the list of processes repeat them. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fillAnvilCommand } from '../../src/cli/anvil/command.ts'
import type { AnvilSettings } from '../../src/cli/anvil/flag-values.ts'
import { ANVIL_FLAGS } from '../../src/cli/anvil/flags.ts'
import { createRemote } from '../../src/cli/remote.ts'
import { beginningOf, shownAddress, shownCommandLine } from '../../src/cli/secrets.ts'
import { SETTINGS } from '../../src/cli/settings.ts'
import type { NodeWriters } from '../../src/cli/start.ts'
import { fillStartCommand } from '../../src/cli/start-command.ts'
import { fillTraceCommand } from '../../src/cli/trace.ts'
import { generateKey } from '../../src/transport/keys/api-key.ts'
import { startCommand } from '../support/command.ts'
import { servedNode } from '../support/served-node.ts'

describe('an address', () => {
  it.each([
    ['http://127.0.0.1:4444', 'http://127.0.0.1:4444'],
    ['https://gateway.example/v1/tandem_abc', 'https://gateway.example/***'],
    ['https://user:word@gateway.example/', 'https://gateway.example'],
    ['https://gateway.example/?key=tandem_abc', 'https://gateway.example'],
  ])('%s is shown as %s', (url, shown) => {
    expect(shownAddress(url)).toBe(shown)
  })

  it('is not repeated with its key in errors about it', async () => {
    const key = generateKey()
    const closed = createServer().listen(0)
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const served = await servedNode({}, { metricsPort: 0 })
    const words: string[] = []
    for (const url of [
      `http://127.0.0.1:${port}/${key}`,
      `${served.server.metricsUrl}/${key}`,
      `gateway/${key}`,
    ]) {
      const outcome = async () => createRemote(url).call('eth_chainId', [], z.string())
      words.push(await outcome().then(String, (error: Error) => error.message))
    }
    await served.close()
    expect(words).toEqual([
      `No node answers at http://127.0.0.1:${port}/***. Start one with tandem start, or name another with --url.`,
      'eth_chainId was refused: Method not allowed: use GET (-32600)',
      '--url expects an address such as http://127.0.0.1:4444.',
    ])
    expect(words.join()).not.toContain(key.slice(7, 20))
  })
})

/** A command as `tandem` has it. */
function filled(name: string, fill: (command: Command, writers: NodeWriters) => void): Command {
  const command = new Command(name)
  fill(command, { output: silent, errors: silent })
  return command
}

const silent: NodeWriters['output'] = { write() {}, later() {}, flush: async () => {} }
const SECRET = 'swordfish'
const secretSettings = Object.values(SETTINGS).filter(({ secret }) => secret)

describe('a command line', () => {
  const start = filled('start', fillStartCommand)
  const anvil = filled('anvil', fillAnvilCommand)
  const shown = (command: Command, ...args: string[]) =>
    shownCommandLine(['node', 'main.js', command.name(), ...args], command)

  it('is unchanged when it has no secret', () => {
    expect(shown(start, '--port', '0', '--api-keys', 'keys.json', '--no-wallet')).toBe(
      'node main.js start --port 0 --api-keys keys.json --no-wallet',
    )
  })

  it.each(secretSettings.map(({ flag }) => flag.replace(/ .*/, '')))('hides the value of %s', (flag) => {
    expect(shown(start, '--port', '0', flag, SECRET, '--memory')).toBe(
      `node main.js start --port 0 ${flag} *** --memory`,
    )
    expect(shown(start, `${flag}=${SECRET}`)).toBe(`node main.js start ${flag}=***`)
  })

  it('hides the values of all flags of Anvil that set a secret', () => {
    const hiding = new Set<string>()
    for (const { flags, aliases = [], apply } of ANVIL_FLAGS) {
      const settings = { node: {}, serve: {} } as AnvilSettings
      try {
        apply(SECRET, settings, 'flag')
      } catch {
        // It takes numbers or names alone.
      }
      const keys = [...Object.keys(settings.node), ...Object.keys(settings.serve)]
      const isSecret = keys.some((key) => SETTINGS[key]?.secret) || settings.mnemonicSeed !== undefined
      if (!isSecret) continue
      for (const flag of [...(flags.match(/--?[a-z][\w-]*/g) ?? []), ...aliases]) hiding.add(flag)
    }
    expect([...hiding]).toEqual([
      '-m',
      '--mnemonic',
      '--mnemonic-seed-unsafe',
      '-f',
      '--fork-url',
      '--rpc-url',
      '--fork-header',
      '--fork-headers',
    ])
    for (const flag of hiding) expect(shown(anvil, flag, SECRET)).toBe(`node main.js anvil ${flag} ***`)
    expect(shown(anvil, `-m${SECRET}`, `-f${SECRET}`)).toBe('node main.js anvil -m*** -f***')
    expect(shown(anvil, '-qm', SECRET)).toBe('node main.js anvil -qm ***')
  })

  it('hides the value of a misspelt flag and the address of a node, and nothing of another program', () => {
    expect(shown(start, `--mnemonik=${SECRET}`)).toBe('node main.js start --mnemonik=***')
    expect(shown(filled('trace', fillTraceCommand), '0x1', '--url', `http://h/${SECRET}`)).toBe(
      'node main.js trace 0x1 --url ***',
    )
    expect(shown(start, '--port', '0', '--', 'npm', '--url', 'x')).toBe(
      'node main.js start --port 0 -- npm --url x',
    )
  })

  it('is hidden after its first flag until the flags are known', () => {
    expect(beginningOf(['node', 'main.js', 'start', '-m', SECRET])).toBe('node main.js start ***')
    expect(beginningOf(['node', 'main.js', 'methods'])).toBe('node main.js methods')
  })

  it.skipIf(process.platform !== 'linux')('is hidden from the list of processes', async () => {
    const words = 'test test test test test test test test test test test junk'
    const running = await startCommand(['--memory', '--mnemonic', words])
    const listed = readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')
    await running.end('SIGTERM')
    expect(listed).toContain('start --json')
    expect(listed).toContain('--mnemonic ***')
    expect(listed).not.toContain('junk')
  })
})
