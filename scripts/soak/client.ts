/** JSON-RPC over HTTP and over one WebSocket, every call timed, and a lost connection distinguished from a refusal. */
import { WebSocket } from 'ws'

/** The node could not be reached, or ended before it answered: the outcome of the call is unknown. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** The node answered with an error. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly code: number

  constructor(method: string, { code, message }: { code: number; message: string }) {
    super(`${method}: ${code} ${message}`)
    this.code = code
  }
}

/** Called with each answered call: the name it is counted under, and milliseconds. */
export type Timed = (kind: string, milliseconds: number) => void

/** One way to a node. Calls throw `Unreachable` and `RpcFailure`. */
export interface Caller {
  call<T>(method: string, params?: readonly unknown[], kind?: string): Promise<T>
  close(): void
}

/** A caller that can ask many things in one message. */
export interface BatchCaller extends Caller {
  /** The results of one method for many parameters, in their order. */
  batch<T>(method: string, params: readonly (readonly unknown[])[]): Promise<T[]>
}

/** A caller that is pushed to. */
export interface PushedCaller extends Caller {
  /** The notifications of a subscription since the last read. */
  take<T>(subscription: string): T[]
}

/** A call that is not answered for so long counts as a node that hangs. */
const PATIENCE_MS = 30_000

interface Reply {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { code: number; message: string }
  readonly params?: { subscription: string; result: unknown }
}

/** Requests in one batch: as many as a node takes. */
const BATCH = 50

/** Calls over HTTP, by as many connections as there are calls at once. */
export function httpCaller(url: string, timed: Timed): BatchCaller {
  let id = 0
  const request = (method: string, params: readonly unknown[]) => ({
    jsonrpc: '2.0',
    id: ++id,
    method,
    params,
  })

  async function post<T>(body: unknown, words: string): Promise<T> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      return (await response.json()) as T
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') throw new Error(`${words} is not answered`)
      throw new Unreachable(`${words}: ${(error as Error).message}`)
    }
  }

  return {
    async call<T>(method: string, params: readonly unknown[] = [], kind = method): Promise<T> {
      const start = performance.now()
      const { result, error } = await post<Reply>(request(method, params), method)
      timed(kind, performance.now() - start)
      if (error !== undefined) throw new RpcFailure(method, error)
      return result as T
    },
    async batch<T>(method: string, params: readonly (readonly unknown[])[]): Promise<T[]> {
      const results: T[] = []
      for (let at = 0; at < params.length; at += BATCH) {
        const replies = await post<Reply[]>(
          params.slice(at, at + BATCH).map((one) => request(method, one)),
          method,
        )
        for (const { result, error } of replies) {
          if (error !== undefined) throw new RpcFailure(method, error)
          results.push(result as T)
        }
      }
      return results
    },
    close() {},
  }
}

/** Opens a WebSocket and calls over it. */
export async function socketCaller(url: string, timed: Timed): Promise<PushedCaller> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, { settle: (reply: Reply) => void; reject: () => void }>()
  const pushed = new Map<string, unknown[]>()
  let id = 0
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', (error) => reject(new Unreachable(error.message)))
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject()
    waiting.clear()
  })
  socket.on('message', (data) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) {
      waiting.get(reply.id)?.settle(reply)
      waiting.delete(reply.id)
    } else if (reply.params !== undefined) {
      const { subscription, result } = reply.params
      const list = pushed.get(subscription)
      if (list === undefined) pushed.set(subscription, [result])
      else list.push(result)
    }
  })
  return {
    call<T>(method: string, params: readonly unknown[] = [], kind = method): Promise<T> {
      if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Unreachable(method))
      const start = performance.now()
      const own = ++id
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${method} is not answered`)), PATIENCE_MS)
        waiting.set(own, {
          settle({ result, error }) {
            clearTimeout(timer)
            timed(kind, performance.now() - start)
            if (error !== undefined) reject(new RpcFailure(method, error))
            else resolve(result as T)
          },
          reject() {
            clearTimeout(timer)
            reject(new Unreachable(method))
          },
        })
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: own, method, params }))
      })
    },
    take<T>(subscription: string): T[] {
      const list = (pushed.get(subscription) ?? []) as T[]
      pushed.delete(subscription)
      return list
    },
    close: () => socket.terminate(),
  }
}
