import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningCommand, runCommand, startCommand as spawnCommand } from '../support/command.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'command-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const started: RunningCommand[] = []
async function startCommand(args: readonly string[]): Promise<RunningCommand> {
  const command = await spawnCommand(args)
  started.push(command)
  return command
}
/** What a failed test left running. */
afterEach(async () => {
  for (const { child, end } of started.splice(0)) if (child.exitCode === null) await end('SIGKILL')
})

async function call({ url }: RunningCommand, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: unknown }).result
}

describe('the command', () => {
  it.each([
    [['start', '--prt', '1'], "tandem: unknown option '--prt' (Did you mean --port?)\n"],
    [['start', '--port', 'x'], 'tandem: --port expects a whole number from 0 to 65535, not "x".\n'],
    [['start', '--port'], "tandem: option '--port <number>' argument missing\n"],
    [['start', 'now'], "tandem: too many arguments for 'start'. Expected 0 arguments but got 1.\n"],
    [['strat'], "tandem: unknown command 'strat' (Did you mean start?)\n"],
    [
      ['start', '--mnemonic', `${'abandon '.repeat(11)}zoo`, '--memory'],
      'tandem: mnemonic: not 12, 15, 18, 21 or 24 words of the English BIP-39 list with a correct checksum\n',
    ],
    [['help', 'strat'], 'tandem: There is no command "strat".\n'],
    [[], 'tandem: Name a command, such as tandem start.\n'],
  ])('%j ends with a message and exit code 2', async (args, sentence) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect([code, stderr, stdout]).toEqual([2, sentence, ''])
  })

  it('refuses an unknown environment variable and an unknown key', async () => {
    const file = join(dir, 'bad.json')
    writeFileSync(file, '{"minning":"auto"}')
    expect(await runCommand(['start'], { TANDEM_MINNING: 'auto' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'tandem: There is no setting for the environment variable TANDEM_MINNING.\n',
    })
    expect(await runCommand(['start', '--config', file])).toEqual({
      code: 2,
      stdout: '',
      stderr: `tandem: There is no setting "minning", which ${file} names.\n`,
    })
  })

  it('prints its help', async () => {
    const help = await runCommand(['start', '--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('TANDEM_BLOCK_GAS_LIMIT')
    expect(await runCommand(['help', 'start'])).toEqual(help)
    expect((await runCommand(['help'])).stdout).toContain('drift')
    expect(await runCommand(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' })
  })

  it('ends with 1 when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    expect(await runCommand(['start', '--memory', '--port', `${port}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `tandem: Cannot listen on 127.0.0.1 port ${port}: the port is in use by another process.\n`,
    })
    other.close()
  })

  it('prints one line of JSON when it is ready, and nothing else with these flags', async () => {
    const node = await startCommand(['--memory', '--chain', 'devnet'])
    expect(node.output()).toMatch(/^\{.*\}\n$/)
    expect(JSON.parse(node.output())).toEqual({
      ready: true,
      url: node.url,
      ws: node.wsUrl,
      chainId: 32,
      head: 0,
      pid: node.child.pid,
    })
    expect(await call(node, 'eth_chainId')).toBe('0x20')
    expect(await node.end('SIGTERM')).toBe(0)
  })

  it('keeps its chain in its directory, which one process at a time opens', async () => {
    const data = join(dir, 'chain')
    const first = await startCommand(['--data-dir', data])
    await call(first, 'evm_mine')
    const hash = ((await call(first, 'eth_getBlockByNumber', '0x1', false)) as { hash: string }).hash
    const second = await runCommand(['start', '--port', '0', '--data-dir', data])
    expect(second).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `tandem: The data directory ${data} is in use by another running node. Stop that one, or choose another directory.\n`,
    })
    expect(await first.end('SIGINT')).toBe(0)
    const again = await startCommand(['--data-dir', data])
    expect(await call(again, 'eth_getBlockByNumber', '0x1', false)).toMatchObject({ hash })
    expect(await again.end('SIGTERM')).toBe(0)
  })

  it('closes its WebSockets at SIGTERM', async () => {
    const node = await startCommand(['--memory'])
    const socket = new WebSocket(node.wsUrl)
    await once(socket, 'open')
    const closed = once(socket, 'close')
    expect(await node.end('SIGTERM')).toBe(0)
    expect((await closed)[0]).toBe(1001)
  })
})
