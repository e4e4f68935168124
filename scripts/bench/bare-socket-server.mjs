/**
 * The floor of a WebSocket server in this runtime: the package ws, and for each message a fixed reply with the id of the
 * request, by which the client assigns it. The argument is the port.
 */
import { WebSocketServer } from 'ws'

const ID = /"id":(\d+)/

const server = new WebSocketServer({
  host: '127.0.0.1',
  port: Number(process.argv[2]),
  perMessageDeflate: false,
})
server.on('connection', (socket) => {
  socket.on('message', (message) => {
    const [, id] = ID.exec(message.latin1Slice())
    socket.send(`{"jsonrpc":"2.0","id":${id},"result":"0x1388"}`)
  })
})
