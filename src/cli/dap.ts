/** `tandem dap`: a debug adapter for editors, over standard input and output or TCP. */
import { createServer } from 'node:net'
import type { Command } from 'commander'
import { NodeError } from '../errors.ts'
import { NodeDebugSession } from './dap/adapter.ts'
import type { Writers } from './start.ts'

interface DapOptions {
  readonly port?: string
  readonly host: string
}

const LAST_PORT = 65_535

/** Throws `invalid-options` unless the text is a port; 0 takes a free one. */
function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= LAST_PORT) return port
  throw new NodeError('invalid-options', `--port expects a number up to ${LAST_PORT}, not "${text}".`)
}

/** Serves an editor until it disconnects. */
function serveStandardStreams(): Promise<void> {
  const session = new NodeDebugSession()
  return new Promise((resolve) => {
    process.stdin.once('close', resolve)
    session.start(process.stdin, process.stdout)
  })
}

/** Serves each connection as a session of its own. Throws `invalid-options` when it cannot listen. */
function serveTcp(port: number, host: string, { output }: Writers): Promise<void> {
  return new Promise((_, reject) => {
    const server = createServer((socket) => {
      const session = new NodeDebugSession()
      session.setRunAsServer(true)
      socket.on('error', () => socket.destroy())
      session.start(socket, socket)
    })
    server.once('error', (error) => {
      reject(new NodeError('invalid-options', `tandem dap cannot listen: ${error.message}`))
    })
    server.listen(port, host, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      output.write(`Debug adapter listening on ${host}:${bound}`)
    })
  })
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillDapCommand(command: Command, writers: Writers): void {
  command
    .option('--port <port>', 'listen on a TCP port in place of standard input and output; 0 takes a free one')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .action(({ port, host }: DapOptions) =>
      port === undefined ? serveStandardStreams() : serveTcp(portOf(port), host, writers),
    )
}
