/** Binds a port, with an error message for the operator when that fails. */
import { isIPv6, type Server } from 'node:net'

/** The address cannot be bound; the message is a sentence for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another process',
  EACCES: 'the port is reserved for privileged processes',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host name',
}

/** Listens and returns the port, which the system chooses for 0. Throws `ListenError`. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = LISTEN_FAILURES[error.code ?? ''] ?? error.message
      reject(new ListenError(`Cannot listen on ${host} port ${port}: ${why}.`))
    })
    server.listen({ host, port }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** The host by which a client on this machine reaches a bound address. */
export function callableHost(bound: string): string {
  if (bound === '0.0.0.0') return '127.0.0.1'
  if (bound === '::') return '[::1]'
  return isIPv6(bound) ? `[${bound}]` : bound
}
