/** The documents of the package at a node's address, and llms.txt. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyFile } from '../support/api-keys.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SHIPPED = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('internals'))
  .map((name) => `docs/${name}`)

describe('documents', () => {
  let served: ServedNode
  beforeAll(async () => {
    served = await servedNode()
  })
  afterAll(() => served.close())

  const get = (path: string) => fetch(new URL(path, served.url))

  it('are listed in llms.txt, and each is served as it is at its own address', async () => {
    const response = await get('/llms.txt')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await response.text()
    expect(text).toMatch(/^# Tandem\n\n> /)
    const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, link]) => link)
    expect(links.sort()).toEqual(['README.md', ...SHIPPED].sort())
    for (const link of links) {
      const page = await get(`/${link}`)
      expect(page.headers.get('content-type'), link).toBe('text/markdown; charset=utf-8')
      expect(await page.text(), link).toBe(readFileSync(`${ROOT}${link}`, 'utf8'))
    }
  })

  it.each([
    '/docs/nothing.md',
    '/docs/internals/architecture.md',
    '/docs/..%2fpackage.json',
    '/docs/../package.json',
  ])('do not include %s', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  it('leave POST to JSON-RPC', async () => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    expect((await served.post(call, {}, '/llms.txt')).body.result).toBe('0x21')
  })
})

it('documents need a key where keys are in use', async () => {
  const keys = keyFile()
  const key = await keys.add('reader')
  const served = await servedNode({}, { apiKeys: keys.file })
  const status = async (path: string) => (await fetch(new URL(path, served.url))).status
  expect(await status('/llms.txt')).toBe(401)
  expect(await status('/docs/guides/agents.md')).toBe(401)
  expect(await status(`/${key}/llms.txt`)).toBe(200)
  expect(await status(`/${key}/docs/guides/agents.md`)).toBe(200)
  expect(await status(`/${key}/README.md`)).toBe(200)
  await served.close()
  keys.remove()
})
