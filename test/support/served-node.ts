/** A node behind real sockets, and a client that returns complete replies. */
import { createNode, type NodeOptions, type ServeOptions, serve } from '../../src/index.ts'

/** The body of a reply; most results are one string. */
export interface RpcReply<T = string, D = string> {
  readonly jsonrpc: string
  readonly id: number | string | null
  readonly result: T
  readonly error: {
    readonly code: number
    readonly message: string
    readonly data?: D
    /** Of a transaction that was mined. */
    readonly transactionHash?: string
  }
}

/** A JSON-RPC reply over HTTP. */
export interface HttpReply<Body = RpcReply> {
  readonly status: number
  readonly body: Body
  readonly text: string
}

/** Serves a fresh node on a free port. */
export async function servedNode(options: NodeOptions = {}, serveOptions: ServeOptions = {}) {
  const node = await createNode(options)
  const server = await serve(node, { port: 0, ...serveOptions })
  let id = 0

  async function post<Body = RpcReply>(
    body: string,
    headers: Record<string, string> = {},
    path = '/',
  ): Promise<HttpReply<Body>> {
    const response = await fetch(new URL(path, server.url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), text }
  }

  return {
    node,
    server,
    url: server.url,
    wsUrl: server.wsUrl,
    post,
    /** The whole reply to one call. */
    async reply<T = string, D = string>(method: string, params?: unknown) {
      return (await post<RpcReply<T, D>>(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }))).body
    },
    /** The result of one call; throws the error as `code message`. */
    // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
    async call(method: string, ...params: unknown[]): Promise<any> {
      const { body } = await post(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }))
      if (body.error !== undefined) throw new Error(`${body.error.code} ${body.error.message}`)
      return body.result
    },
    async close() {
      await server.close()
      await node.close()
    },
  }
}

/** The result of `servedNode`. */
export type ServedNode = Awaited<ReturnType<typeof servedNode>>
