/** Serving the explorer: who gets the page, with which headers, behind keys, and where it is off. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node, type NodeOptions, type ServeOptions, serve } from '../../src/index.ts'
import { openExplorer } from '../../src/transport/explorer.ts'
import type { Server } from '../../src/transport/server.ts'
import { keyFile } from '../support/api-keys.ts'

const BUILT = fileURLToPath(new URL('../../dist/ui/', import.meta.url))
/** An import of another script, but not of one that is loaded later. */
const IMPORT = /(?:from|import)\s*"\.\/([^"]+)"/g
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let node: Node | undefined
let server: Server
afterEach(async () => {
  await server.close()
  await node?.close()
})

async function start(options: ServeOptions = {}, nodeOptions: NodeOptions = {}): Promise<void> {
  node = await createNode(nodeOptions)
  server = await serve(node, { port: 0, ...options })
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

function fetched(path: string, headers: Record<string, string> = { accept: BROWSER }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(new URL(path, server.url), { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({ status: response.statusCode, headers: response.headers, bytes, text: bytes.toString() })
      })
    }).on('error', reject)
  })
}

const assetsOf = (page: string) =>
  [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string)

describe('a local node', () => {
  beforeEach(() => start())

  it('serves the page to a GET that accepts HTML, and answers other callers as before', async () => {
    expect(server.explorerUrl).toBe(`${server.url}/`)
    expect(await fetched('/')).toMatchObject({ status: 200, text: expect.stringContaining('<title>Tandem') })
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'text/htmlx' }]) {
      const { status, text } = await fetched('/', headers as Record<string, string>)
      expect([status, JSON.parse(text).error.message]).toEqual([405, 'Method not allowed: use POST'])
    }
    expect((await fetched('/elsewhere')).status).toBe(404)
  })

  it('sends a policy without inline scripts, other hosts and frames, and with the hashes of its inline styles', async () => {
    const { headers, text } = await fetched('/')
    const policy = String(headers['content-security-policy'])
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(style).toContain('.top')
    expect(policy).toContain(
      `default-src 'none'; script-src 'self'; style-src 'self' 'sha256-${hash}'; img-src 'self'`,
    )
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:/)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(headers['set-cookie']).toBeUndefined()
  })

  it('serves its assets by their hash, all together below 150 kB when compressed', async () => {
    const { text } = await fetched('/')
    const built = readdirSync(BUILT).filter((name) => /\.(js|css|svg)$/.test(name))
    expect(built.map((name) => `ui/${name}`)).toEqual(expect.arrayContaining(assetsOf(text)))
    let bytes = gzipSync(text).length
    for (const name of built) {
      const answer = await fetched(`/ui/${name}`, {})
      expect(answer.status, name).toBe(200)
      expect(answer.headers['cache-control']).toContain('immutable')
      bytes += gzipSync(answer.text).length
    }
    expect(bytes).toBeLessThan(150_000)
    for (const path of ['/ui/', '/ui/index.html', '/ui/..%2findex.html', '/ui/../../package.json']) {
      expect((await fetched(path)).status, path).toBe(404)
    }
  })

  it('needs less than 100 kB for each page when compressed, with all scripts that it imports', async () => {
    const { text } = await fetched('/')
    const sizeOf = (name: string) => gzipSync(readFileSync(join(BUILT, name))).length
    const first = assetsOf(text).map((asset) => asset.replace('ui/', ''))
    const scripts = readdirSync(BUILT).filter((name) => name.endsWith('.js'))
    for (const page of scripts) {
      const needed = new Set([...first, page])
      for (const name of needed) {
        if (!name.endsWith('.js')) continue
        const script = readFileSync(join(BUILT, name), 'utf8')
        for (const [, imported = ''] of script.matchAll(IMPORT)) needed.add(imported)
      }
      const bytes = [...needed].reduce((sum, name) => sum + sizeOf(name), gzipSync(text).length)
      expect(bytes, page).toBeLessThan(100_000)
    }
  })

  it('sends compressed files to browsers that accept them', async () => {
    const { text } = await fetched('/')
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const path of ['/', ...assetsOf(text).map((asset) => `/${asset}`)]) {
      const plain = await fetched(path, { accept: BROWSER })
      expect([plain.headers['content-encoding'], plain.headers.vary], path).toEqual([
        undefined,
        'Accept-Encoding',
      ])
      for (const [accepted, coding] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip;q=0.5, br;q=0', 'gzip'],
      ] as const) {
        const { headers, bytes } = await fetched(path, { accept: BROWSER, 'accept-encoding': accepted })
        expect([headers['content-encoding'], headers.vary], path).toEqual([coding, 'Accept-Encoding'])
        expect(Number(headers['content-length'])).toBe(bytes.length)
        expect(decoders[coding](bytes).toString(), path).toBe(plain.text)
      }
    }
  })

  it('names the scripts of the first page, so that a browser asks for all at once', async () => {
    const { text } = await fetched('/')
    const preloaded = [...text.matchAll(/modulepreload" href="([^"]+)"/g)].map((match) => match[1] as string)
    const scripts = await Promise.all(
      preloaded.map(async (path) => [path, (await fetched(`/${path}`, {})).text] as const),
    )
    for (const [path, script] of scripts) {
      for (const [, imported] of script.matchAll(IMPORT)) {
        expect(assetsOf(text), path).toContain(`ui/${imported}`)
      }
    }
    expect(preloaded.some((path) => path.includes('overview'))).toBe(true)
  })

  it('checks Host and Origin as JSON-RPC does', async () => {
    for (const headers of [{ host: 'rebound.example' }, { origin: 'http://page.example' }]) {
      expect((await fetched('/', { accept: BROWSER, ...headers } as Record<string, string>)).status).toBe(403)
    }
  })
})

describe('the explorer turned off', () => {
  it('is off with ui: false', async () => {
    await start({ ui: false })
    expect(server.explorerUrl).toBeUndefined()
    expect((await fetched('/')).status).toBe(405)
  })

  it('is off in the hosted profile', async () => {
    await start({ unsafeOpen: true }, { profile: 'hosted' })
    expect((await fetched('/')).status).toBe(405)
  })
})

describe('the explorer behind keys', () => {
  let keys: ReturnType<typeof keyFile>
  beforeEach(() => {
    keys = keyFile()
  })
  afterEach(() => keys.remove())

  it('is at the path of a key, with its assets', async () => {
    const key = await keys.add('ci')
    await start({ ui: true, apiKeys: keys.file }, { profile: 'hosted' })
    expect(server.explorerUrl).toBe(`${server.url}/<key>/`)
    const { status, text } = await fetched(`/${key}/`)
    expect(status).toBe(200)
    for (const asset of assetsOf(text)) {
      expect((await fetched(`/${key}/${asset}`)).status, asset).toBe(200)
      expect((await fetched(`/${asset}`)).status, asset).toBe(401)
    }
    expect(await fetched(`/v1/${key}`)).toMatchObject({ status: 308, headers: { location: `${key}/` } })
    for (const path of ['/', '/wrong/', '/wrong']) expect((await fetched(path)).status, path).toBe(401)
  })
})

describe('a folder without a built explorer', () => {
  it('opens no explorer', async () => {
    node = undefined
    server = { close: async () => {} } as Server
    const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
    expect(openExplorer(folder)).toBeUndefined()
    expect(openExplorer(join(folder, 'missing'))).toBeUndefined()
    writeFileSync(join(folder, 'index.html'), '<!doctype html>')
    expect(openExplorer(folder)).toBeDefined()
    rmSync(folder, { recursive: true })
  })
})
