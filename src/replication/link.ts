/** The connection to NATS, the only user of the cluster's sockets. */
import { readFileSync } from 'node:fs'
import {
  JetStreamApiError,
  type JetStreamClient,
  JetStreamError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import { connect, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node'
import { NodeError } from '../errors.ts'

/** How NATS is reached. */
export interface LinkOptions {
  /** URLs such as `nats://host:4222` or `tls://user:password@host:4222`, separated by commas. */
  readonly url: string
  /** File of credentials: a JWT and the seed of its key. */
  readonly creds?: string | undefined
  /** File of a certificate authority, PEM, for servers with a certificate of their own. */
  readonly ca?: string | undefined
}

/** An open connection; it connects again by itself. */
export interface Link {
  readonly connection: NatsConnection
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  /** The same, with less time for an answer. */
  readonly quick: JetStreamManager
  /** False from the loss of the connection until it is back. */
  readonly isUp: boolean
  /** Bytes of a message, without headers. */
  readonly messageBytes: number
  /** An error of NATS as the `cluster` error of a node that does not start; any other one as it is. */
  refusal(error: unknown): unknown
  close(): Promise<void>
}

/** Largest message where the server's limit is above it: that of a server without settings. */
export const MESSAGE_BYTES = 1 << 20
/** Left of the message limit for headers. */
const HEADROOM = 4096
const RECONNECT_MS = 200
/** A server that does not answer two pings is lost. */
const PING_MS = 2_000
const CONNECT_MS = 5_000
const QUICK_MS = 700

/** The URLs without user and password, which the client takes apart from them. */
function serversOf(url: string): { servers: string[]; user?: string; pass?: string; token?: string } {
  const urls = url.split(',').map((each) => new URL(each.trim()))
  const [first] = urls
  const [user, pass] = [first?.username, first?.password].map((text) => decodeURIComponent(text ?? ''))
  const servers = urls.map((each) => `${each.protocol}//${each.host}`)
  if (!user) return { servers }
  return pass ? { servers, user, pass } : { servers, token: user }
}

function readOption(name: string, file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new NodeError('invalid-options', `The file of option "${name}" cannot be read: ${why}`)
  }
}

/** What an operator does about an error of the JetStream API, by its code. */
const ADVICE: Readonly<Record<number, string>> = {
  10005: 'choose a smaller --cluster-replicas, or start more servers',
  10047: 'choose a smaller --cluster-log-size, or give its JetStream more room',
  10074: 'choose --cluster-replicas 1, or servers that form a NATS cluster',
}

const isOfNats = (error: unknown): boolean =>
  [JetStreamApiError, JetStreamError, ...Object.values(errors)].some((kind) => error instanceof kind)

function reasonOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  const advice = error instanceof JetStreamApiError ? ADVICE[error.code] : undefined
  return advice === undefined ? why : `${why} (${advice})`
}

/** Connects. Throws `cluster` in a sentence when no server answers, refuses the credentials, or has no JetStream. */
export async function openLink({ url, creds, ca }: LinkOptions): Promise<Link> {
  const { servers, ...login } = serversOf(url)
  const authenticator = creds === undefined ? undefined : readOption('clusterCreds', creds)
  const authority = ca === undefined ? undefined : readOption('clusterCa', ca)
  const isTls = servers.some((server) => server.startsWith('tls://'))
  const refused = (error: unknown) =>
    new NodeError('cluster', `NATS at ${servers.join(', ')} cannot be used: ${reasonOf(error)}.`)
  const connection = await connect({
    servers,
    ...login,
    ...(authenticator !== undefined && { authenticator: credsAuthenticator(authenticator) }),
    ...((isTls || authority !== undefined) && {
      tls: authority === undefined ? {} : { ca: Buffer.from(authority).toString() },
    }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    timeout: CONNECT_MS,
  }).catch((error) => {
    throw refused(error)
  })
  let isUp = true
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') isUp = false
      else if (type === 'reconnect') isUp = true
    }
  })()
  try {
    const jsm = await jetstreamManager(connection, { timeout: CONNECT_MS })
    return {
      connection,
      js: jetstream(connection),
      jsm,
      quick: await jetstreamManager(connection, { timeout: QUICK_MS, checkAPI: false }),
      get isUp() {
        return isUp && !connection.isClosed()
      },
      messageBytes: Math.min(connection.info?.max_payload ?? MESSAGE_BYTES, MESSAGE_BYTES) - HEADROOM,
      refusal: (error) => (isOfNats(error) ? refused(error) : error),
      close: () => connection.close(),
    }
  } catch (error) {
    await connection.close()
    throw refused(error)
  }
}
