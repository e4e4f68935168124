/** The same transports over TLS, with a certificate that can be renewed while they are open. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectBare } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { saying } from '../support/refusals.ts'
import { type EchoNode, serveEcho } from './echo-node.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const read = (name: string) => readFileSync(fixture(name), 'utf8')

let dir: string
let node: EchoNode | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tls-'))
  install('first')
})
afterEach(async () => {
  await node?.close()
  node = undefined
  rmSync(dir, { recursive: true })
})

const files = () => ({ tlsCert: join(dir, 'cert.pem'), tlsKey: join(dir, 'key.pem') })

function install(name: 'first' | 'second'): void {
  copyFileSync(fixture(`${name}.cert.pem`), files().tlsCert)
  copyFileSync(fixture(`${name}.key.pem`), files().tlsKey)
}

function post(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', ca, agent: false, headers: { 'Content-Type': 'application/json' } }
    const call = request(url, options, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
    call.on('error', reject).end('x')
  })
}

describe('a server with a certificate', () => {
  it('serves https and wss, and reports their URLs', async () => {
    node = await serveEcho(files())
    const { url, wsUrl } = node.server
    expect([url.slice(0, 8), wsUrl.slice(0, 6)]).toEqual(['https://', 'wss://'])
    expect(await post(url, read('first.cert.pem'))).toBe('echo:x')
    const socket = new WebSocket(wsUrl, { ca: read('first.cert.pem') })
    const answer = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
    socket.once('open', () => socket.send('y'))
    expect(await answer).toBe('echo:y')
    socket.terminate()
  })

  it('loads a new certificate while it runs', async () => {
    node = await serveEcho(files())
    install('second')
    node.server.reloadCertificate?.()
    expect(await post(node.server.url, read('second.cert.pem'))).toBe('echo:x')
    await expect(post(node.server.url, read('first.cert.pem'))).rejects.toThrow(/self-signed|certificate/)
  })

  it('keeps the old certificate when the new one is not valid', async () => {
    node = await serveEcho(files())
    copyFileSync(fixture('second.key.pem'), files().tlsKey)
    node.server.reloadCertificate?.()
    writeFileSync(files().tlsCert, 'no certificate')
    node.server.reloadCertificate?.()
    rmSync(files().tlsKey)
    node.server.reloadCertificate?.()
    expect(await post(node.server.url, read('first.cert.pem'))).toBe('echo:x')
  })

  it('disconnects a client without TLS', async () => {
    node = await serveEcho(files())
    const socket = connectBare(node.server.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {}).end('POST / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await closed
    expect(node.seen).toEqual([])
  })

  it('answers a request that offers HTTP/2', async () => {
    node = await serveEcho(files())
    const socket: TLSSocket = connect({
      port: node.server.port,
      ca: read('first.cert.pem'),
      host: 'localhost',
    })
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    const wish = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.write(`${head}${wish}Content-Length: 1\r\n\r\nz`)
    expect(await answer).toContain('HTTP/1.1 200')
    socket.destroy()
  })

  it('closes without waiting for unfinished handshakes', async () => {
    node = await serveEcho(files())
    const silent = connectBare(node.server.port, '127.0.0.1')
    silent.on('error', () => {})
    await new Promise((resolve) => silent.once('connect', resolve))
    // Another connection that is served shows that the silent one has been taken in.
    expect(await post(node.server.url, read('first.cert.pem'))).toBe('echo:x')
    const hungUp = new Promise((resolve) => silent.once('close', resolve))
    await node.server.close({ graceMs: 600_000 })
    await hungUp
  })

  it.each([
    ['a certificate that is none', 'tlsCert', 'no certificate'],
    ['a key that is none', 'tlsKey', 'no key'],
  ] as const)('does not start with %s', async (_what, option, text) => {
    writeFileSync(files()[option], text)
    // The reason behind the colon is OpenSSL's.
    const { tlsCert, tlsKey } = files()
    await expect(serveEcho({ tlsCert, tlsKey })).rejects.toThrow(
      new RegExp(
        `^The certificate ${tlsCert} and the private key ${tlsKey} cannot be used together: error:.*\\.$`,
      ),
    )
  })

  it('does not start with a key of another certificate, or with none', async () => {
    copyFileSync(fixture('second.key.pem'), files().tlsKey)
    await expect(serveEcho(files())).rejects.toMatchObject({ kind: 'invalid-options' })
    rmSync(files().tlsKey)
    const { tlsKey } = files()
    await expect(serveEcho(files())).rejects.toThrow(
      saying(`Cannot read the private key ${tlsKey}: ENOENT: no such file or directory, open '${tlsKey}'.`),
    )
  })
})
