/** What a door asks of the node behind it: text in, text out. */
import type { Session } from '../rpc/session.ts'

/** The dispatcher as doors see it. */
export interface TextDispatcher {
  /** Answers JSON text by JSON text; `undefined` when there is nothing to answer. */
  dispatchText(text: string, session: Session): Promise<string | undefined>
}
