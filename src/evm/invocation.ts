/** The messages that have begun: each waits for the one that its frame requested, and the last may wait for something else. */
import type { Hex } from '../encoding/hex.ts'
import type { FrameMessage, FrameResult } from './call-message.ts'
import type { ChildRequest, Frame } from './frame.ts'
import type { FrameStart } from './tracing/tracer.ts'

/** A message that has begun and not ended. */
export interface Invocation {
  readonly message: FrameMessage
  /** The one whose frame made the call; `undefined` for the top-level message. */
  readonly parent: Invocation | undefined
  /** What that frame requested. */
  readonly child: ChildRequest | undefined
  /** The return data that it had. */
  readonly returnedBefore: Uint8Array
  /** Refund and number of destroyed contracts before. */
  readonly refundBefore: number
  readonly destroyedBefore: number
  /** What a tracer received of its start. */
  start: FrameStart | undefined
  /** Absent until its code runs. */
  frame: Frame | undefined
  /** Address of a creation, once it is known. */
  created: Hex | undefined
}

/** A message that cannot go on yet. */
export class Wait {
  /** The message that goes on after the wait. */
  readonly invocation: Invocation
  /** Ends the wait; with the result of an open message that ends without a frame, such as that of a precompiled contract. */
  readonly until: Promise<FrameResult | undefined>
  /** Was the message opened before the wait? If not, it is opened after it. */
  readonly isOpen: boolean

  constructor(invocation: Invocation, until: Promise<FrameResult | undefined>, isOpen: boolean) {
    this.invocation = invocation
    this.until = until
    this.isOpen = isOpen
  }
}
