/** What a transport needs of a node: JSON text in, JSON text out, and its load. */
import type { ChaosSwitch } from '../chaos/switch.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { OnCall } from '../options/options.ts'
import type { CallMeter } from '../rpc/call-meter.ts'
import type { LogProgress } from '../rpc/cluster-routes.ts'
import type { Load } from '../rpc/load.ts'
import type { AnyMethod } from '../rpc/method.ts'
import type { Session } from '../rpc/session.ts'

/** A reply that is never held in memory as a whole. */
export interface LongReply {
  /** Bytes of all pieces. */
  readonly length: number
  /** UTF-8, each made when it is asked for: to be sent one after another, as fast as the caller reads. */
  pieces(): Iterable<Uint8Array>
}

/** The dispatcher as transports see it. */
export interface TextDispatcher {
  /** Answers JSON text by JSON text; `undefined` when there is nothing to answer. */
  dispatchText(text: string, session: Session): Promise<string | undefined>
  /** The same, at once where the answer is there at once; a long reply in pieces. Absent where replies are never long. */
  dispatchPieces?(text: string, session: Session): MaybePromise<string | LongReply | undefined>
  /** The enabled methods of this node; absent for a dispatcher without a list. @internal */
  readonly methods?: readonly AnyMethod[]
  /** What is being answered; absent where nothing is limited. */
  readonly load?: Load
  /** How far a node of a cluster is; absent in a node of its own. @internal */
  readonly position?: (() => LogProgress | undefined) | undefined
  /** Whether messages are disturbed; absent where they cannot be. @internal */
  readonly chaos?: Pick<ChaosSwitch, 'current'> | undefined
  /** Calls back on each call from now on; the returned function stops it. */
  listen?(listener: OnCall): () => void
  /** Counts calls by method and key; absent for a dispatcher without a list of methods. */
  meter?(): CallMeter
}

/** Answers text by text or by its pieces. */
export function dispatchLong(
  dispatcher: TextDispatcher,
  text: string,
  session: Session,
): MaybePromise<string | LongReply | undefined> {
  return dispatcher.dispatchPieces === undefined
    ? dispatcher.dispatchText(text, session)
    : dispatcher.dispatchPieces(text, session)
}
