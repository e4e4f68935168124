/** A server that does the same small piece of work for each request, so that a slower answer shows a busy machine. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const WORK = Buffer.alloc(1 << 20, 7)

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const result = createHash('sha256').update(WORK).digest('hex')
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
