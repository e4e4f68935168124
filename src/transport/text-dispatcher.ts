/** What a door asks of the node behind it: text in, text out, and how it is. */
import type { OnCall } from '../options/options.ts'
import type { Load } from '../rpc/load.ts'
import type { AnyMethod } from '../rpc/method.ts'
import type { Session } from '../rpc/session.ts'

/** A reply that is never there as a whole. */
export interface LongReply {
  /** Bytes of all pieces. */
  readonly length: number
  /** UTF-8, each made when its turn comes: to be sent one after another, at the pace of whoever reads. */
  pieces(): Iterable<Uint8Array>
}

/** The dispatcher as doors see it. */
export interface TextDispatcher {
  /** Answers JSON text by JSON text; `undefined` when there is nothing to answer. */
  dispatchText(text: string, session: Session): Promise<string | undefined>
  /** The same; a long reply in pieces. Absent where replies are never long. */
  dispatchPieces?(text: string, session: Session): Promise<string | LongReply | undefined>
  /** The methods that are open on this node; absent for what has none. */
  readonly methods?: readonly Pick<AnyMethod, 'name' | 'aliases'>[]
  /** What is under way; absent where nothing is bounded. */
  readonly load?: Load
  /** Hears of each call from now on; the returned function stops it. */
  listen?(listener: OnCall): () => void
}

/** Answers text by text or by its pieces. */
export function dispatchLong(
  dispatcher: TextDispatcher,
  text: string,
  session: Session,
): Promise<string | LongReply | undefined> {
  return dispatcher.dispatchPieces?.(text, session) ?? dispatcher.dispatchText(text, session)
}
