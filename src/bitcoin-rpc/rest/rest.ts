/** Answers requests of the REST interfaces. */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'
import { writeJson } from '../amount.ts'
import { RpcFailure } from '../rpc-failure.ts'
import { BLOCKBOOK_ROUTES } from './blockbook.ts'
import { ESPLORA_ROUTES } from './esplora.ts'
import type { RestAnswer, Route } from './route.ts'

const ROUTES: readonly Route[] = [...BLOCKBOOK_ROUTES, ...ESPLORA_ROUTES]

/** What is sent. */
export interface RestReply {
  readonly status: number
  readonly type: 'application/json' | 'text/plain'
  readonly body: string
}

function written({ status, value, text }: RestAnswer): RestReply {
  if (text !== undefined) return { status, type: 'text/plain', body: text }
  return { status, type: 'application/json', body: writeJson(value) }
}

/** The reply to a request; `undefined` for a path that is of neither interface. */
export function answerRest(
  bitcoin: Bitcoin,
  verb: string,
  path: string,
  body: string,
): RestReply | undefined {
  const route = ROUTES.find((one) => one.verb === verb && one.pattern.test(path))
  if (route === undefined) return undefined
  try {
    const parts = route.pattern.exec(path)?.slice(1) ?? []
    return written(route.answer(bitcoin, parts, body) ?? { status: 404, value: { error: 'Not found' } })
  } catch (error) {
    if (error instanceof RpcFailure) return written({ status: 400, value: { error: error.message } })
    throw error
  }
}
