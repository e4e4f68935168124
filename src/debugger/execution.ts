/** An execution that was recorded: its steps, the states before them, storage, events and failures. */
import type { Log } from '../chain/receipt.ts'
import type { Hex } from '../encoding/hex.ts'
import type { RecordedMessage } from '../source-level/message-recorder.ts'
import type { StateReader } from '../state/model.ts'
import type { Chapter, FrameState, StepRun } from './chapter.ts'
import type { GrowingList } from './growing-list.ts'
import type { StorageHistory } from './storage-history.ts'

/** An event that an execution logged. */
export interface LoggedEvent {
  /** Of the LOG opcode. */
  readonly step: number
  readonly log: Log
}

/** Who a message is from, and whose storage its code uses. */
export interface MessageParties {
  /** `msg.sender` */
  readonly sender: Hex
  /** `msg.value`, wei. */
  readonly value: bigint
  /** `this`; absent where no code ran. */
  address: Hex | undefined
}

/** Runs of steps of one message, by the number of their first step. */
export interface Segments {
  readonly starts: GrowingList
  /** Numbers of the first steps among those of their messages. */
  readonly firsts: GrowingList
  readonly messages: readonly RecordedMessage[]
}

/** What a recorder gives. */
export interface ExecutionParts {
  readonly root: RecordedMessage
  /** Steps. */
  readonly length: number
  readonly parties: ReadonlyMap<RecordedMessage, MessageParties>
  readonly history: StorageHistory
  readonly keys: ReadonlyMap<bigint, ReadonlyMap<string, Uint8Array>>
  readonly events: readonly LoggedEvent[]
  readonly failures: readonly number[]
  readonly segments: Segments
  readonly stackPointers: GrowingList
  /** In order, and without gaps. */
  readonly chapters: readonly Chapter[]
  readonly before: StateReader | undefined
}

/** Memory of a step beside the chapters, bytes: its program counter, the stack pointer, and a stop that may begin there. */
const STEP_BYTES = 16

/** A step in its message. */
export interface StepInMessage {
  readonly message: RecordedMessage
  /** Its number among the steps of the message. */
  readonly index: number
  readonly pc: number
}

/** The steps of one transaction or call, from 0 on. */
export class Execution {
  readonly root: RecordedMessage
  readonly length: number
  readonly events: readonly LoggedEvent[]
  /** Last steps of messages that failed, in order. */
  readonly failures: readonly number[]
  readonly segments: Segments
  readonly #parts: ExecutionParts
  /** The segment that was asked for last. */
  #segment = 0

  constructor(parts: ExecutionParts) {
    this.#parts = parts
    this.root = parts.root
    this.length = parts.length
    this.events = parts.events
    this.failures = parts.failures
    this.segments = parts.segments
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#parts.chapters.reduce((sum, { bytes }) => sum + bytes, STEP_BYTES * this.length)
  }

  /** The message, its step and the program counter of a step. */
  place(step: number): StepInMessage {
    const { starts, firsts, messages } = this.segments
    let segment = this.#segment
    const isWithin =
      starts.at(segment) <= step && (segment + 1 >= starts.length || starts.at(segment + 1) > step)
    if (!isWithin) segment = starts.lastUpTo(step)
    this.#segment = Math.max(0, segment)
    const message = messages[segment]
    if (message === undefined || step >= this.length) throw new Error(`there is no step ${step}`)
    const index = firsts.at(segment) + step - starts.at(segment)
    return { message, index, pc: message.pcs[index] ?? 0 }
  }

  #runAt(step: number): StepRun {
    const { message, index } = this.place(step)
    const { starts } = this.segments
    const next = this.#segment + 1
    return { message, index, end: next < starts.length ? starts.at(next) : this.length }
  }

  /** The last step of a message; `undefined` where none of its code ran. */
  lastStepOf(message: RecordedMessage): number | undefined {
    const { starts, messages } = this.segments
    const segment = messages.lastIndexOf(message)
    if (segment === -1) return undefined
    return (segment + 1 < starts.length ? starts.at(segment + 1) : this.length) - 1
  }

  /** Words on the stack before a step. */
  stackPointer(step: number): number {
    return this.#parts.stackPointers.at(step)
  }

  /** Gas left before a step; `undefined` where its chapter was dropped. */
  gas(step: number): number | undefined {
    const chapter = this.#chapterOf(step)
    return chapter?.gas[step - chapter.first]
  }

  /** The open frames before a step, outermost first; `undefined` where its chapter was dropped. */
  frames(step: number): readonly FrameState[] | undefined {
    return this.#chapterOf(step)?.framesAt(step, (at) => this.#runAt(at))
  }

  /** Is the state before a step known? */
  isKept(step: number): boolean {
    return this.#chapterOf(step) !== undefined
  }

  /** Who a message is from, and whose storage its code uses. */
  parties(message: RecordedMessage): MessageParties | undefined {
    return this.#parts.parties.get(message)
  }

  /** What a slot holds before a step, also of one that the execution does not touch. Reads the state, which may throw. */
  storage(address: Hex, slot: bigint, step: number): bigint {
    return this.#parts.history.at(address, slot, step) ?? this.#parts.before?.storage(address, slot) ?? 0n
  }

  /** The slots of an account that the execution reads or writes. */
  touchedSlots(address: Hex): readonly bigint[] {
    return this.#parts.history.slotsOf(address)
  }

  /** The keys, as they are hashed, that were used with a mapping at a slot. */
  keysOf(slot: bigint): Iterable<Uint8Array> {
    return this.#parts.keys.get(slot)?.values() ?? []
  }

  #chapterOf(step: number): Chapter | undefined {
    const { chapters } = this.#parts
    let [low, high] = [-1, chapters.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((chapters[middle]?.first ?? 0) <= step) low = middle
      else high = middle - 1
    }
    const found = chapters[low]
    return found !== undefined && step - found.first < found.length ? found : undefined
  }
}
