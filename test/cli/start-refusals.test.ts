/** What `tandem start` cannot do is refused before anything runs, and a signal ends it whatever it is doing. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const refused = (code: number, stderr: string) => ({ code, stdout: '', stderr: `tandem: ${stderr}\n` })

describe('a start is refused', () => {
  it('when the state file cannot be written', async () => {
    const folder = temporaryFolder()
    const state = join(folder, 'missing', 'state.json')
    const sentence = `The state file ${state} cannot be written: there is no folder ${join(folder, 'missing')}.`
    expect(await runCommand(['start', '--port', '0', '--state', state])).toEqual(refused(2, sentence))
    expect(await runCommand(['anvil', '--port', '0', '--dump-state', state])).toEqual(refused(2, sentence))
    const { code, stderr } = await runCommand(['start', '--port', '0', '--state', '/proc/state.json'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^tandem: The state file \/proc\/state\.json cannot be written: ENOENT: .*\.\n$/),
    ])
  })

  it('when the data directory cannot be created', async () => {
    expect(await runCommand(['start', '--port', '0', '--data-dir', '/proc/a/b'])).toEqual(
      refused(
        1,
        'The data directory /proc/a/b cannot be made or opened: ENOENT: no such file or directory. Name another one with --data-dir.',
      ),
    )
  })

  it('when the working directory was removed', async () => {
    const cwd = join(temporaryFolder(), 'gone')
    mkdirSync(cwd)
    // The process removes its working directory, and becomes the command.
    const script = `rmdir "$PWD" && exec "${process.execPath}" "${MAIN}" start --port 0`
    const child = spawn('sh', ['-c', script], { cwd })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += chunk))
    const [code] = await once(child, 'close')
    expect([code, stderr]).toEqual([
      1,
      'tandem: The data directory .tandem/regtest cannot be made or opened: the working directory was removed.\n',
    ])
    expect(existsSync(cwd)).toBe(false)
  })
})

/** Accepts connections, and never answers. */
async function silentServer(): Promise<{ server: Server; port: number }> {
  const server = createServer(() => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

describe('a signal ends a start', () => {
  async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
    child.kill(signal)
    return once(child, 'exit')
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('that waits for the upstream of a fork, by %s', async (signal) => {
    const { server, port } = await silentServer()
    const child = spawn(process.execPath, [
      MAIN,
      'start',
      '--port',
      '0',
      '--fork',
      `http://127.0.0.1:${port}`,
    ])
    await once(server, 'connection')
    expect(await endOf(child, signal)).toEqual([null, signal])
  })

  it('that waits for its cluster', async () => {
    const { server, port } = await silentServer()
    const args = ['start', '--port', '0', '--memory', '--cluster', `nats://127.0.0.1:${port}`]
    const child = spawn(process.execPath, [MAIN, ...args])
    await once(server, 'connection')
    expect(await endOf(child, 'SIGTERM')).toEqual([null, 'SIGTERM'])
  })

  it('of a command that waits for its node', async () => {
    const { server, port } = await silentServer()
    const args = ['exec', '--fork', `http://127.0.0.1:${port}`, '--', 'true']
    const child = spawn(process.execPath, [MAIN, ...args])
    await once(server, 'connection')
    expect(await endOf(child, 'SIGTERM')).toEqual([null, 'SIGTERM'])
  })
})

describe('a port that is open to everybody', () => {
  it('is warned of', async () => {
    const warning =
      'listening on 0.0.0.0: anyone who reaches the port can use the accounts and move the chain'
    const node = await startCommand(['--memory', '--host', '0.0.0.0', '--unsafe-open', '--log-level', 'warn'])
    await node.end('SIGTERM')
    expect(node.output()).toContain(`"msg":"${warning}"`)
  })
})
