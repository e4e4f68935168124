import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkAccess, checkDisk } from '../../src/cli/doctor/directory.ts'
import { checkKeyFile } from '../../src/cli/doctor/files.ts'
import { checkDocker, checkMemory, checkNativeCode, checkNodeRelease } from '../../src/cli/doctor/machine.ts'
import { checkPeer } from '../../src/cli/doctor/peers.ts'
import { checkPort } from '../../src/cli/doctor/ports.ts'
import { listen } from '../../src/transport/listen.ts'
import { runCommand, startCommand } from '../support/command.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'doctor-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const Findings = z.array(
  z.object({ check: z.string(), verdict: z.string(), found: z.string(), advice: z.string().optional() }),
)

async function doctor(...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json', ...args], {}, dir)
  expect(stderr).toBe('')
  const findings = Findings.parse(JSON.parse(stdout))
  return { code, of: (check: string) => findings.find((finding) => finding.check === check) }
}

/** A program that prints a text and ends with a code, in the place of Docker's. */
function program(name: string, script: string): string {
  const file = join(dir, name)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

describe('the command', () => {
  it('ends with 0 where a start would succeed, and with lines for people', async () => {
    const { code, stdout } = await runCommand(['doctor', '--port', '0'], { NO_COLOR: '1' }, dir)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok +Node\.js +Node\.js \d/)
    expect(stdout).toMatch(/There is no chain in \.tandem\/regtest yet/)
    expect(readdirSync(dir)).not.toContain('.tandem')
  })

  it('names the node that has the port and the data directory', async () => {
    const node = await startCommand(['--data-dir', 'chain'], { cwd: dir })
    const { port } = new URL(node.url)
    const busy = await doctor('--port', port, '--data-dir', 'chain')
    expect(busy.code).toBe(1)
    expect(busy.of(`port ${port}`)).toMatchObject({
      verdict: 'problem',
      found: expect.stringMatching(/in use by another process\. A node answers there: /),
      advice: expect.stringContaining('--port 0'),
    })
    expect(busy.of('data directory')?.found).toContain('in use by another running node')
    await node.end('SIGTERM')
    const free = await doctor('--port', port, '--data-dir', 'chain')
    expect(free.code).toBe(0)
    expect(free.of('data directory')?.found).toMatch(/holds the chain regtest \(chain id 33, .*whole/)
  })

  it('finds a damaged database', async () => {
    const node = await startCommand(['--data-dir', 'torn'], { cwd: dir })
    await node.end('SIGTERM')
    writeFileSync(join(dir, 'torn/tandem.json'), '{"format":5,"chain":"regtest","chainId":34}')
    const { code, of } = await doctor('--port', '0', '--data-dir', 'torn')
    expect(code).toBe(1)
    expect(of('data directory')).toEqual({
      check: 'data directory',
      verdict: 'problem',
      found: 'The database in torn is damaged: tandem.json was changed.',
      advice: expect.stringContaining('tandem verify --data-dir torn'),
    })
  })

  it('refuses settings that a start refuses', async () => {
    const { code, stderr } = await runCommand(['doctor', '--port', 'x'])
    expect([code, stderr]).toEqual([2, 'tandem: --port expects a whole number from 0 to 65535, not "x".\n'])
  })
})

describe('the checks', () => {
  it('compare releases of Node.js with the range of the package', () => {
    expect(checkNodeRelease('18.20.4', '>=20.19')).toMatchObject({ verdict: 'problem' })
    expect(checkNodeRelease('20.18.9', '>=20.19')).toMatchObject({ verdict: 'problem' })
    expect(checkNodeRelease('20.19.0', '>=20.19')).toMatchObject({ verdict: 'ok' })
    expect(checkNodeRelease('24.1.0', '>=20.19')).toMatchObject({ verdict: 'ok' })
  })

  it('name missing native code, little memory and little disk', async () => {
    const missing = () => {
      throw new Error('no such module')
    }
    expect(checkNativeCode(missing)).toMatchObject({ verdict: 'note' })
    expect(checkMemory(256 * 1024 * 1024)).toMatchObject({ verdict: 'warning' })
    expect(await checkDisk(dir, 1024)).toMatchObject({ verdict: 'problem' })
    expect(await checkDisk(dir, 100 * 1024 * 1024)).toMatchObject({ verdict: 'warning' })
    expect(await checkDisk(dir)).toMatchObject({ found: expect.stringContaining('MiB are free') })
  })

  it('tell a port that another program has from one of a node', async () => {
    const other = createServer((socket) => socket.destroy())
    const port = await listen(other, '127.0.0.1', 0)
    const { verdict, found, advice } = await checkPort({ host: '127.0.0.1', port, flag: '--port' })
    other.close()
    expect(verdict).toBe('problem')
    expect(found).not.toContain('node answers')
    expect(advice).toBe('Choose another with --port <number>, or any free one with --port 0.')
  })

  it.skipIf(process.getuid?.() === 0)(
    'find a directory that cannot be written (root can write to all)',
    async () => {
      mkdirSync(join(dir, 'closed'), { mode: 0o500 })
      expect(await checkAccess(join(dir, 'closed/chain'))).toMatchObject({ verdict: 'problem' })
    },
  )

  it('find a file in the place of the directory', async () => {
    writeFileSync(join(dir, 'file'), '')
    expect(await checkAccess(join(dir, 'file'))).toMatchObject({
      verdict: 'problem',
      found: expect.stringContaining('is a file'),
    })
  })

  it('warn of a key file that others may read', async () => {
    const file = join(dir, 'keys.json')
    const { code } = await runCommand(['keys', 'create', '--api-keys', file, '--name', 'me'])
    expect(code).toBe(0)
    expect(await checkKeyFile(file)).toMatchObject({ verdict: 'ok' })
    chmodSync(file, 0o644)
    expect(await checkKeyFile(file)).toMatchObject({ verdict: 'warning' })
    expect(await checkKeyFile(join(dir, 'none.json'))).toMatchObject({ verdict: 'problem' })
  })

  it('name a peer of another release, and none that is not installed', async () => {
    mkdirSync(join(dir, 'node_modules/ethers'), { recursive: true })
    writeFileSync(join(dir, 'node_modules/ethers/package.json'), '{"version":"5.7.2"}')
    mkdirSync(join(dir, 'below'))
    expect(await checkPeer(join(dir, 'below'), 'ethers', '^6.0.0')).toMatchObject({ verdict: 'warning' })
    expect(await checkPeer(dir, 'no-such-package', '^6.0.0')).toBeUndefined()
  })

  it("tell what is wrong with Docker by the client's own messages", async () => {
    const cannot =
      'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'
    const denied = 'permission denied while trying to connect to the Docker daemon socket'
    const check = (script: string) => checkDocker(program('docker', script))
    expect(await checkDocker(join(dir, 'nowhere'))).toMatchObject({ verdict: 'note' })
    expect(await check(`echo "${cannot}" >&2; exit 1`)).toMatchObject({
      verdict: 'warning',
      found: expect.stringContaining(cannot),
    })
    expect(await check(`echo "${denied}" >&2; exit 1`)).toMatchObject({
      advice: expect.stringContaining('group docker'),
    })
    expect(await check('echo 28.2.2')).toEqual({
      check: 'Docker',
      verdict: 'ok',
      found: 'Docker 28.2.2 answers.',
    })
  })
})
