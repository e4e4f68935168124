/** The messages that have begun: each waits for the one that its frame requested, and the last may wait for something else. */
import type { Hex } from '../encoding/hex.ts'
import type { FrameMessage, FrameResult } from './call-message.ts'
import type { ChildRequest, Frame } from './frame.ts'
import type { FrameStart } from './tracing/tracer.ts'

/** A message that has begun and not ended. */
export interface Activation {
  readonly message: FrameMessage
  /** The one whose frame made the call; `undefined` for the top-level message. */
  readonly parent: Activation | undefined
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
  /** What goes on then: a message that waits for its result, or one that is not open yet or has a frame to run. */
  readonly activation: Activation
  /** Gives the result of that message, if it ends without running a frame. */
  readonly until: Promise<FrameResult | undefined>
  readonly isOpen: boolean

  constructor(activation: Activation, until: Promise<FrameResult | undefined>, isOpen: boolean) {
    this.activation = activation
    this.until = until
    this.isOpen = isOpen
  }
}
