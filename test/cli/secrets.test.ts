/** Secrets on a command line: neither errors nor the list of processes repeat them. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRemote } from '../../src/cli/remote.ts'
import { shownAddress, shownCommandLine } from '../../src/cli/secrets.ts'
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

  it('is not repeated with its key by what goes wrong there', async () => {
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
    expect(words[0]).toMatch(/^No node answers at http:\/\/127\.0\.0\.1:\d+\/\*\*\*\. /)
    expect(words[1]).toContain('Method not allowed')
    expect(words[2]).toMatch(/^--url expects an address such as/)
    expect(words.join()).not.toContain(key.slice(7, 20))
  })
})

describe('a command line', () => {
  it('is left alone where it holds no secret', () => {
    expect(
      shownCommandLine(['node', 'main.js', 'start', '--port', '0', '--api-keys', 'keys.json']),
    ).toBeUndefined()
  })

  it('hides the values of the flags that may', () => {
    const words = ['node', 'main.js', 'start', '--redis', 'redis://:pw@h', '--mnemonic=a b c', '--port', '0']
    expect(shownCommandLine(words)).toBe('node main.js start --redis *** --mnemonic=*** --port 0')
    expect(shownCommandLine(['tandem', 'trace', '0x1', '--url', 'http://h/tandem_k'])).toBe(
      'tandem trace 0x1 --url ***',
    )
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
