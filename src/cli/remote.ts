/** A JSON-RPC client over HTTP for the commands that read from a running node. */
import { z } from 'zod'
import { type BrokenRule, NodeError } from '../errors.ts'
import { shownAddress } from './secrets.ts'

/** Where a node listens by default. */
export const DEFAULT_URL = 'http://127.0.0.1:4444'

/** Calls methods of a node. */
export interface Remote {
  /** Its address without parts that may be a key. */
  readonly shown: string
  /** The result, checked by a schema. Throws `NodeError` with the node's error, or when it does not answer. */
  call<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>
}

/** A node at an address. */
export interface HttpRemote extends Remote {
  /** Sends a request as text and returns the text of the reply. Throws `NodeError` when no node answers. */
  exchange(text: string): Promise<string>
}

/** The data of a refused block. */
const Broken = z.object({
  rule: z.string(),
  height: z.int().exactOptional(),
  expected: z.string().exactOptional(),
  found: z.string().exactOptional(),
}) satisfies z.ZodType<BrokenRule, unknown>

const Reply = z.object({
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.int(),
      message: z.string(),
      // Other errors carry other data.
      data: Broken.optional().catch(undefined),
    })
    .optional(),
})

function failed(message: string): NodeError {
  return new NodeError('internal', message)
}

/** The JSON of the reply, parsed and as text. */
async function post(url: string, body: string): Promise<{ readonly value: unknown; readonly text: string }> {
  let response: Response
  try {
    response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  } catch {
    throw failed(
      `No node answers at ${shownAddress(url)}. Start one with tandem start, or name another with --url.`,
    )
  }
  try {
    const text = await response.text()
    return { value: JSON.parse(text), text }
  } catch {
    throw failed(`The server at ${shownAddress(url)} is not a node: HTTP ${response.status} without JSON.`)
  }
}

/** Throws `invalid-options` when the address is malformed. */
export function createRemote(url: string): HttpRemote {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new NodeError('invalid-options', `--url expects an address such as ${DEFAULT_URL}.`)
  }
  const shown = shownAddress(url)
  return {
    shown,
    exchange: async (text) => (await post(url, text)).text,
    async call(method, params, result) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const reply = Reply.safeParse((await post(url, body)).value)
      if (!reply.success) throw failed(`The server at ${shown} is not a node.`)
      const { error } = reply.data
      if (error !== undefined) {
        const message = `${method} was refused: ${error.message} (${error.code})`
        throw new NodeError(error.data === undefined ? 'internal' : 'invalid-block', message, error.data)
      }
      const checked = result.safeParse(reply.data.result)
      if (!checked.success) throw failed(`The answer to ${method} has an unknown form.`)
      return checked.data
    },
  }
}
