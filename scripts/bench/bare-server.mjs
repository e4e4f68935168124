/** The floor of a server in this runtime: node:http, a request read to its end, a fixed reply. The argument is the port. */
import { createServer } from 'node:http'

const REPLY = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0x1388"}')
const HEADERS = { 'Content-Type': 'application/json', 'Content-Length': REPLY.length }

const server = createServer((request, response) => {
  request.on('end', () => response.writeHead(200, HEADERS).end(REPLY))
  request.resume()
})
server.listen(Number(process.argv[2]), '127.0.0.1')
