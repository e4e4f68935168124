/** Requests and replies of the HTTP APIs, apart from sockets. */
import type { z } from 'zod'
import type { Hex } from '../encoding/hex.ts'
import { isHexDigits, lowerCaseHex } from '../encoding/hex.ts'
import { isTooComplex } from '../encoding/json-complexity.ts'
import type { Engine } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { Session } from '../rpc/session.ts'

/** A request that a transport has admitted. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** Without a key, for example `/api` or `/v2/contract/31/0x…`. */
  readonly path: string
  readonly query: URLSearchParams
  /** Of the `Content-Type` header, empty without one. */
  readonly contentType: string
  readonly body: string
  readonly session: Session
  /** Where the API was called, for links in answers: `http://localhost:4444`. */
  readonly origin: string
}

/** An answer: a status, and a body that is sent as JSON, or a text as it is. */
export interface ApiReply {
  readonly status: number
  readonly body: unknown
  /** The body is a text. */
  readonly isText?: boolean
}

/** The APIs of a node, as transports use them. */
export interface ApiAnswers {
  /** Answers a request to a path of `apiPath`. */
  answer(request: ApiRequest): Promise<ApiReply>
  /** The reply to a request that a transport refuses, in the words of the API: too large, no key, over a limit. */
  refusal(path: string, status: number, message: string): ApiReply
}

/** An error that an API reports in its own form; `status` is used by those that have HTTP statuses. */
export class ApiError extends Error {
  readonly status: number
  /** What a program may tell apart, for example `compiler_error`. */
  readonly code: string

  constructor(message: string, { status = 400, code = 'invalid_parameter' } = {}) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Milliseconds for which a read waits for the upstream of a fork. */
const READ_MS = 30_000

/** Runs a read on the current engine; on a fork it waits for what the upstream has to send. Throws `limit-exceeded`. */
export function read<T>(node: CurrentEngine, work: (engine: Engine) => Promise<T>): Promise<T> {
  return node.use(async (engine) => {
    const { fork } = engine
    if (fork === undefined) return work(engine)
    return fork.demand.query(() => work(engine), { deadline: Date.now() + READ_MS })
  })
}

/** An address in any case; `undefined` for other text. */
export function addressIn(text: string | null | undefined): Hex | undefined {
  const isAddress = text?.length === 42 && text.startsWith('0x') && isHexDigits(text.slice(2))
  return isAddress ? lowerCaseHex(text) : undefined
}

/** A hash of 32 bytes in any case; `undefined` for other text. */
export function hashIn(text: string | null | undefined): Hex | undefined {
  const isHash = text?.length === 66 && text.startsWith('0x') && isHexDigits(text.slice(2))
  return isHash ? lowerCaseHex(text) : undefined
}

/** The reply of an API that has HTTP statuses; `form` makes that of an `ApiError`. */
export async function repliedOr(
  work: () => Promise<ApiReply>,
  form: (error: ApiError) => ApiReply,
): Promise<ApiReply> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError) return form(error)
    throw error
  }
}

/** Deepest nesting of a body; compilers read far less. */
export const DEEPEST_INPUT = 128

/** JSON of a body. Throws `ApiError` of a status. */
export function jsonIn(body: string, status = 400): unknown {
  if (isTooComplex(body, DEEPEST_INPUT))
    throw new ApiError('The body is nested too deeply, or has too many lists and objects', { status })
  try {
    return JSON.parse(body)
  } catch {
    throw new ApiError('The body is not JSON', { status })
  }
}

/** A body by its schema. Throws `ApiError` that names the member. */
export function parsed<T>(schema: z.ZodType<T>, json: unknown): T {
  const read = schema.safeParse(json)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new ApiError(`${issue?.path.join('.') || 'The body'}: ${issue?.message}`)
}

/** The address of a request that names the chain of the node. Throws `ApiError`. */
export function addressOn(node: CurrentEngine, chain: string, text: string): Hex {
  const own = String(node.engine.config.chainId)
  if (chain !== own) {
    throw new ApiError(`The chain ${chain.slice(0, 20)} is not supported: this is ${own}`, {
      code: 'unsupported_chain',
    })
  }
  const address = addressIn(text)
  if (address === undefined) throw new ApiError(`Invalid address: ${text.slice(0, 64)}`)
  return address
}
