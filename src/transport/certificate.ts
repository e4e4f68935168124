/** The TLS certificate of a server, reloaded when its files change. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import { createSecureContext } from 'node:tls'
import { messageOf, NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/** How often the files are checked, milliseconds: renewals are rare, and the old certificate is still valid then. */
const LOOK_MS = 5000

/** PEM texts. */
interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** A certificate with its key, on disk. */
export interface Certificate {
  /** Reads the files again and passes a changed pair to all servers; an invalid one is logged, and the old pair stays. */
  reload(): void
  /** A server that accepts TLS only, with the pair that was read last. */
  createServer(options: ServerOptions, onRequest: RequestListener): Server
  close(): void
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new NodeError('invalid-options', `Cannot read the ${what} ${file}: ${messageOf(error)}.`)
  }
}

/** Throws `invalid-options` when a file is missing, is not PEM, or does not belong to the other. */
function readPair(certFile: string, keyFile: string): KeyPair {
  const pair = { cert: readText(certFile, 'certificate'), key: readText(keyFile, 'private key') }
  try {
    createSecureContext(pair)
  } catch (error) {
    const message = `The certificate ${certFile} and the private key ${keyFile} cannot be used together`
    throw new NodeError('invalid-options', `${message}: ${messageOf(error)}.`)
  }
  return pair
}

/** Opens the files. Throws `invalid-options` when they are no certificate with its key. */
export function openCertificate(certFile: string, keyFile: string, logger: Logger): Certificate {
  let pair = readPair(certFile, keyFile)
  const servers: Server[] = []

  function reload(): void {
    try {
      const read = readPair(certFile, keyFile)
      if (read.cert === pair.cert && read.key === pair.key) return
      pair = read
    } catch (error) {
      logger.warn('the certificate has changed but is not valid; the old one stays', { error })
      return
    }
    for (const server of servers) server.setSecureContext(pair)
    logger.info('the certificate has changed; new connections use the new one')
  }

  const files = [certFile, keyFile]
  for (const file of files) watchFile(file, { interval: LOOK_MS, persistent: false }, reload)
  return {
    reload,
    createServer(options, onRequest) {
      const server = createServer({ ...options, ...pair }, onRequest)
      servers.push(server)
      return server
    },
    close() {
      for (const file of files) unwatchFile(file, reload)
    },
  }
}
