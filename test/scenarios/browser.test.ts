/** A page in a real browser uses the node over HTTP and WebSocket, and is refused where its origin is not allowed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

/** Asks for the chain's id by both transports, and reports both outcomes to its own site. */
const page = (url: string, wsUrl: string) => `<!doctype html><script>
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const http = fetch(${JSON.stringify(url)}, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    .then((response) => response.json()).then(({ result }) => result, () => 'refused')
  const ws = new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(wsUrl)})
    socket.onopen = () => socket.send(body)
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).result)
    socket.onerror = () => resolve('refused')
  })
  Promise.all([http, ws]).then(([http, ws]) =>
    fetch('/report', { method: 'POST', body: JSON.stringify({ http, ws }) }))
</script>`

describeWith(CHROMIUM, 'a page in a browser', () => {
  let site: Server
  let origin: string
  let html: string
  let reported: (outcome: string) => void
  let served: ServedNode | undefined

  beforeEach(async () => {
    site = createServer(async (request, response) => {
      if (request.url === '/report') reported(await text(request))
      response.setHeader('content-type', 'text/html').end(html)
    })
    await once(site.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    await served?.close()
    site.closeAllConnections()
    site.close()
  })

  /** What the page found, by transport. */
  async function browse(node: ServedNode): Promise<unknown> {
    html = page(node.url, node.wsUrl)
    const report = new Promise<string>((resolve) => {
      reported = resolve
    })
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
    const browser = spawn(CHROMIUM.path, [...flags, `--user-data-dir=${temporaryFolder()}`, origin])
    let printed = ''
    browser.stderr.on('data', (chunk) => (printed += chunk))
    const closed = once(browser, 'close')
    try {
      const ended = closed.then(() => Promise.reject(new Error(`the browser ended: ${printed}`)))
      return JSON.parse(await Promise.race([report, ended]))
    } finally {
      browser.kill()
      await closed
    }
  }

  it('of an allowed origin is answered', async () => {
    served = await servedNode({}, { cors: [origin] })
    expect(await browse(served)).toEqual({ http: '0x21', ws: '0x21' })
  })

  it('of another origin is refused', async () => {
    served = await servedNode({}, { cors: ['http://127.0.0.1:1'] })
    expect(await browse(served)).toEqual({ http: 'refused', ws: 'refused' })
  })
})
