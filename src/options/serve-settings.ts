/** Settings of the transports: addresses, TLS, authentication and limits. */
import { addressRanges } from './addresses.ts'
import { BITCOIN_RPC_SETTINGS } from './bitcoin-settings.ts'
import { BYTES, LONGEST_INTERVAL, listOf, redisUrl, same, splitList, text, whole, yesOrNo } from './kinds.ts'
import { MCP_SETTINGS } from './mcp-settings.ts'
import { setting } from './setting.ts'

/** The settings of the transports. */
export const SERVE_SETTINGS = {
  host: setting(text, {
    flag: '--host <address>',
    help: 'address to listen on',
    fallback: '127.0.0.1',
    rskjKeys: { 'rpc.providers.web.http.bind_address': same },
  }),
  port: setting(whole(0, 65_535), {
    flag: '--port <number>',
    help: 'port of HTTP and WebSocket; 0 takes a free one',
    fallback: 4444,
    rskjKeys: { 'rpc.providers.web.http.port': same },
  }),
  tlsCert: setting(text, {
    flag: '--tls-cert <file>',
    help: 'certificate (PEM, with its chain) to serve https and wss with, in place of http and ws',
    fallback: undefined,
    fallbackText: 'none',
  }),
  tlsKey: setting(text, {
    flag: '--tls-key <file>',
    help: 'private key (PEM) of that certificate',
    fallback: undefined,
    fallbackText: 'none',
  }),
  unsafeOpen: setting(yesOrNo, {
    flag: '--unsafe-open',
    help: 'listen beyond this machine though anyone who reaches the port may use every open method',
    fallback: false,
  }),
  apiKeys: setting(text, {
    flag: '--api-keys <file>',
    help: 'file of API keys, made by tandem keys; every request needs one of them as the last segment of its path',
    fallback: undefined,
    fallbackText: 'none: no key is needed',
  }),
  maxSocketsPerKey: setting(whole(1, 1_000_000), {
    flag: '--max-sockets-per-key <count>',
    help: 'maximum number of open WebSockets of one API key',
    fallback: 100,
  }),
  redis: setting(redisUrl, {
    flag: '--redis <url>',
    help: 'Redis in which nodes count the limits of their keys together',
    fallback: undefined,
    fallbackText: 'none: each node counts for itself',
    secret: true,
  }),
  trustedProxies: setting(addressRanges, {
    flag: '--trusted-proxies <addresses>',
    help: 'addresses and ranges of reverse proxies whose X-Forwarded-For is trusted',
    fallback: [],
    fallbackText: 'none',
  }),
  cors: setting(
    listOf(
      /^(\*|local|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/i,
      'origins such as http://localhost:3000, local or *',
    ),
    {
      flag: '--cors <origins>',
      help: 'origins of web pages that may use the node, local for all pages of this machine, or * for all',
      fallback: [],
      fallbackText: 'none',
      // The reference node's default is the bare word localhost, which no Origin header equals.
      rskjKeys: {
        'rpc.providers.web.cors': (origins) =>
          typeof origins === 'string'
            ? splitList(origins).filter((origin) => origin !== 'localhost')
            : origins,
      },
    },
  ),
  hosts: setting(listOf(/^(\*|[^\s/:]+)$/, 'host names without port, or *'), {
    flag: '--hosts <names>',
    help: 'further host names under which the node may be called, or * for all',
    fallback: [],
    fallbackText: 'localhost and IP addresses; beyond loopback all',
    rskjKeys: { 'rpc.providers.web.http.hosts': same },
  }),
  ipc: setting(text, {
    flag: '--ipc <path>',
    help: 'Unix socket that serves JSON-RPC as well, to the user who started the node and without keys',
    fallback: undefined,
    fallbackText: 'none',
  }),
  pool: setting(whole(1, 10_000), {
    flag: '--pool <count>',
    help: 'serve up to this many further chains in memory at /c/<name>: each is made by its first request, as a copy of the chain at /, and dropped by DELETE',
    fallback: undefined,
    fallbackText: 'none: every path is the chain itself',
  }),
  maxBodyBytes: setting(whole(1, BYTES), {
    flag: '--max-body-size <bytes>',
    help: 'largest HTTP body or WebSocket message, in bytes',
    fallback: 5_242_880,
    rskjKeys: { 'rpc.providers.web.http.max_aggregated_frame_size': same },
  }),
  maxBufferedBytes: setting(whole(1, 1024 * BYTES), {
    flag: '--max-buffered-size <bytes>',
    help: 'most bytes of requests that are arriving or being answered, and of answers not read yet; beyond it large ones get status 503',
    fallback: 268_435_456,
  }),
  maxSockets: setting(whole(1, 1_000_000), {
    flag: '--max-sockets <count>',
    help: 'maximum number of connections, HTTP and WebSocket; further ones are closed on arrival',
    fallback: 10_000,
  }),
  maxSocketBuffer: setting(whole(1, BYTES), {
    flag: '--max-socket-buffer <bytes>',
    help: 'most bytes of notifications that wait for a WebSocket client before it is closed as too slow',
    fallback: 33_554_432,
  }),
  fastHttp: setting(yesOrNo, {
    flag: '--no-fast-http',
    help: 'answer every HTTP request by node:http and Express; otherwise plain JSON-RPC POSTs on connections that stay open take a shorter path in front of them, which is invisible to instrumentation of node:http',
    fallback: true,
  }),
  headerTimeoutMs: setting(whole(1, LONGEST_INTERVAL * 1000), {
    flag: '--header-timeout <ms>',
    help: 'milliseconds for the header of a request to arrive, and before it for the TLS handshake',
    fallback: 10_000,
  }),
  transferTimeoutMs: setting(whole(1, LONGEST_INTERVAL * 1000), {
    flag: '--transfer-timeout <ms>',
    help: 'milliseconds for a request to arrive completely, and to wait while a caller reads nothing of a large answer',
    fallback: 60_000,
  }),
  pingIntervalMs: setting(whole(1, LONGEST_INTERVAL * 1000), {
    flag: '--ping-interval <ms>',
    help: 'milliseconds between pings to a WebSocket client; one that has not answered by the next is disconnected',
    fallback: 30_000,
  }),
  ui: setting(yesOrNo, {
    flag: '--no-ui',
    help: 'serve no explorer; the hosted profile serves it with --ui only, at /<key>/',
    fallback: true,
    hosted: false,
  }),
  explorerApi: setting(yesOrNo, {
    flag: '--no-explorer-api',
    help: 'serve no APIs of explorers and verifiers (/api, /v2/…); the hosted profile serves them with --explorer-api only, to keys that allow explorer',
    fallback: true,
    hosted: false,
  }),
  metricsPort: setting(whole(0, 65_535), {
    flag: '--metrics-port <number>',
    help: 'port of its own for /metrics, /healthz and /readyz, without keys; 0 takes a free one',
    fallback: undefined,
    fallbackText: 'none: /metrics is on the port of the rest, behind the keys if there are any',
  }),
  metricsHost: setting(text, {
    flag: '--metrics-host <address>',
    help: 'address to listen on with that port',
    fallback: undefined,
    fallbackText: '127.0.0.1',
  }),
  ...MCP_SETTINGS,
  ...BITCOIN_RPC_SETTINGS,
}

/** The settings of JSON-RPC as a handler in another app, which has its own port, TLS and authentication. */
export const RPC_HANDLER_SETTINGS = {
  trustedProxies: SERVE_SETTINGS.trustedProxies,
  cors: SERVE_SETTINGS.cors,
  hosts: SERVE_SETTINGS.hosts,
  maxBodyBytes: SERVE_SETTINGS.maxBodyBytes,
  maxBufferedBytes: SERVE_SETTINGS.maxBufferedBytes,
  transferTimeoutMs: SERVE_SETTINGS.transferTimeoutMs,
}
