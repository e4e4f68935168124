/** `tandem exec` and `--ready-file`: real processes, their exit codes, signals and files. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { runCommand, startCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let running: ChildProcess | undefined
afterEach(() => {
  running?.kill('SIGKILL')
  running = undefined
})

/** Runs a script of Node.js by `tandem exec`. */
const exec = (script: string, flags: readonly string[] = []) =>
  runCommand(['exec', ...flags, '--', process.execPath, '-e', script])

/** The same, started; resolves once the script has printed its first text. */
async function started(script: string): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
  const child = spawn(process.execPath, [MAIN, 'exec', '--', process.execPath, '-e', script])
  running = child
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  return { child, ended }
}

const ASK = `fetch(process.env.RPC_URL, { method: 'POST', headers: { 'Content-Type': 'application/json' },
  body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' }).then((reply) => reply.json())`

describe('tandem exec', () => {
  it('gives the command a node and both variables, and leaves standard output to it', async () => {
    const script = `${ASK}.then(({ result }) => console.log(result, process.env.TANDEM_URL === process.env.RPC_URL))`
    expect(await exec(script, ['--chain-id', '97'])).toEqual({ code: 0, stdout: '0x61 true\n', stderr: '' })
  })

  it.each([
    ['process.exit(7)', 7],
    ["process.kill(process.pid, 'SIGKILL')", 128 + 9],
  ])('exits like its command: %s', async (script, code) => {
    expect((await exec(script)).code).toBe(code)
  })

  it.each([
    ['SIGTERM', 41],
    ['SIGINT', 42],
  ] as const)('forwards %s and waits for the end', async (signal, code) => {
    const { child, ended } = await started(
      `setInterval(() => {}, 1000); process.on('${signal}', () => process.exit(${code})); console.log('up')`,
    )
    child.kill(signal)
    expect(await ended).toEqual([code, null])
  })

  it('ends with 128 + n when the signal ends the command', async () => {
    const { child, ended } = await started("setInterval(() => {}, 1000); console.log('up')")
    child.kill('SIGTERM')
    expect(await ended).toEqual([128 + 15, null])
  })

  it('exits like a shell when the program does not exist or cannot be run', async () => {
    const { code, stderr } = await runCommand(['exec', '--', 'no-such-program'])
    expect([code, stderr]).toEqual([127, 'tandem: cannot run no-such-program: there is no such program.\n'])
    const file = join(temporaryFolder(), 'plain')
    writeFileSync(file, '', { mode: 0o644 })
    expect((await runCommand(['exec', '--', file])).code).toBe(126)
  })

  it('exits with 2 without a command and on wrong flags', async () => {
    expect(await runCommand(['exec'])).toMatchObject({
      code: 2,
      stderr: "tandem: missing required argument 'command'\n",
    })
    expect(await runCommand(['exec', '--port', 'x', '--', 'true'])).toMatchObject({ code: 2 })
  })
})

describe('--ready-file', () => {
  it('contains the URL while the command of exec runs', async () => {
    const file = join(temporaryFolder(), 'url')
    writeFileSync(file, 'of a killed node')
    const script = `console.log(require('fs').readFileSync(${JSON.stringify(file)}, 'utf8') === process.env.RPC_URL + '\\n')`
    expect(await exec(script, ['--ready-file', file])).toMatchObject({ code: 0, stdout: 'true\n' })
    expect(existsSync(file)).toBe(false)
  })

  it('contains the URL of a started node until it ends', async () => {
    const file = join(temporaryFolder(), 'url')
    const command = await startCommand(['--memory', '--ready-file', file])
    running = command.child
    expect(readFileSync(file, 'utf8')).toBe(`${command.url}\n`)
    expect(await command.end('SIGTERM')).toBe(0)
    expect(existsSync(file)).toBe(false)
  })

  it('is refused in a folder that does not exist', async () => {
    const file = join(temporaryFolder(), 'none', 'url')
    const { code, stderr } = await runCommand([
      'start',
      '--memory',
      '--port',
      '0',
      '--quiet',
      '--ready-file',
      file,
    ])
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        new RegExp(
          `^tandem: Cannot write the ready file ${file}: ENOENT: no such file or directory, open '\\S+\\.draft'\\.\n$`,
        ),
      ),
    ])
  })
})
