/** Calls methods of a node by JSON-RPC text, of this process or of another one. */
import { z } from 'zod'
import { NodeError } from '../errors.ts'

/** Sends the text of a request and returns that of its reply. Throws `NodeError` when no node answers. */
export type Exchange = (text: string) => Promise<string | undefined>

/** The `error` of a reply, as the node sent it. */
export interface RefusedCall {
  readonly code: number
  readonly message: string
  readonly [member: string]: unknown
}

/** What a call gave: its result, or the error that it was refused with. */
export type CallOutcome = { readonly result: unknown } | { readonly error: RefusedCall }

/** Calls methods. */
export interface NodeCaller {
  /** The outcome of a call. Throws `NodeError` when no node answers. */
  call(method: string, params: readonly unknown[]): Promise<CallOutcome>
  /** The result of a call; `undefined` where it was refused. */
  resultOf(method: string, params: readonly unknown[]): Promise<unknown>
}

const Reply = z.object({
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
})

/** Makes the caller of a node. */
export function createNodeCaller(exchange: Exchange): NodeCaller {
  async function call(method: string, params: readonly unknown[]): Promise<CallOutcome> {
    const text = await exchange(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const reply = Reply.safeParse(JSON.parse(text ?? 'null'))
    if (!reply.success) throw new NodeError('internal', 'The reply is not JSON-RPC.')
    const { result, error } = reply.data
    return error === undefined ? { result } : { error }
  }

  return {
    call,
    async resultOf(method, params) {
      const outcome = await call(method, params)
      return 'result' in outcome ? outcome.result : undefined
    },
  }
}
