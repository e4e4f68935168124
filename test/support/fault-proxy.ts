/** An HTTP proxy in front of a node, which answers like a failing upstream: each fault is used for one request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call or reply of JSON-RPC. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into and change what passes
export type Message = any

/** One request on its way. */
export interface Passing {
  /** The body: a call, or a list of calls. */
  readonly body: Message
  readonly headers: IncomingMessage['headers']
  readonly response: ServerResponse
  /** The answer of the node. */
  forward(): Promise<Message>
}

/** A replacement for the answer to a request. */
export type Fault = (passing: Passing) => Promise<void> | void

/** The proxy. */
export interface FaultProxy {
  readonly url: string
  /** The bodies of all requests, in order. */
  readonly bodies: Message[]
  /** The methods of all calls, in order. */
  methods(): string[]
  /** The next requests meet these faults, one each. */
  push(...faults: Fault[]): void
  /** Every request meets this fault from now on, if no other is waiting. */
  always(fault: Fault | undefined): void
  /** Resolves with the next request. */
  nextRequest(): Promise<void>
  close(): Promise<void>
}

function send(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Passes a request on. */
const passOn: Fault = async ({ forward, response }) => send(response, await forward())

/** Too many requests, with or without a time to wait. */
export function tooMany(retryAfter?: string): Fault {
  return ({ response }) =>
    send(response, { error: 'slow down' }, 429, retryAfter === undefined ? {} : { 'Retry-After': retryAfter })
}

/** Another status and body. */
export function answering(body: unknown, status = 200): Fault {
  return ({ response }) => send(response, body, status)
}

/** The node's reply, changed. A batch is a list. */
export function changed(change: (reply: Message, request: Message) => Message): Fault {
  return async ({ forward, response, body }) => send(response, change(await forward(), body))
}

/** Of a batch, the calls at these places are refused for too many requests, as services do with status 200. */
export function tooManyInBatch(
  places: readonly number[],
  error: Message = { code: 429, message: 'Too Many Requests' },
): Fault {
  return changed((reply) =>
    reply.map(({ jsonrpc, id, ...rest }: Message, place: number) =>
      places.includes(place) ? { jsonrpc, id, error } : { jsonrpc, id, ...rest },
    ),
  )
}

/** Closes the connection without an answer. */
export const reset: Fault = ({ response }) => {
  response.socket?.resetAndDestroy()
}

/** Half of the node's answer, and the end of the connection. */
export const cutOff: Fault = async ({ forward, response }) => {
  const text = JSON.stringify(await forward())
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length })
  response.write(text.slice(0, text.length >> 1), () => response.socket?.destroy())
}

/** Half of the node's answer as if it were complete. */
export const halved: Fault = async ({ forward, response }) => {
  const text = JSON.stringify(await forward())
  send(response, text.slice(0, text.length >> 1))
}

/** The beginning of an answer, and never more. */
export const hanging: Fault = ({ response }) => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.write('[')
}

async function readBody(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** Stands in front of `target`, a URL, or answers each request by a function of its body. */
export async function faultProxy(
  target: string | ((body: Message) => Message | Promise<Message>),
): Promise<FaultProxy> {
  const faults: Fault[] = []
  const bodies: Message[] = []
  let usual: Fault | undefined
  let waiting: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    bodies.push(body)
    const forward = async () => {
      if (typeof target !== 'string') return target(body)
      const reply = await fetch(target, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      return reply.json()
    }
    const fault = faults.shift() ?? usual ?? passOn
    await fault({ body, headers: request.headers, response, forward })
    for (const resolve of waiting) resolve()
    waiting = []
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    methods: () => bodies.flat().map(({ method }: Message) => method),
    push: (...more) => faults.push(...more),
    always(fault) {
      usual = fault
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
