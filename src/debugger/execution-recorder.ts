/**
 * Records an execution for a debugger: the program counter of each step, storage words, and the states before steps in
 * chapters. Where chapters exceed their budget, those that are the farthest from a wanted step are dropped: another run
 * records them.
 */
import type { Log } from '../chain/receipt.ts'
import { toBigInt } from '../encoding/bytes.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { SLOAD, SSTORE } from '../evm/opcodes/storage.ts'
import type { TraceBudget } from '../evm/tracing/trace-budget.ts'
import type { FrameEnd, FrameStart, FrameView, Tracer } from '../evm/tracing/tracer.ts'
import { MessageRecorder, type RecordedMessage } from '../source-level/message-recorder.ts'
import type { StateReader } from '../state/model.ts'
import { Chapter, type FrameState, memoryTarget, type RunAt, toldWords } from './chapter.ts'
import { Execution, type LoggedEvent, type MessageParties } from './execution.ts'
import { GrowingList } from './growing-list.ts'
import { NOTE_BYTES, StorageHistory } from './storage-history.ts'

/** Steps of a chapter, at least; a step back computes as many at most, some 2 ms, unless frames are large. */
const CHAPTER_STEPS = 4096
/** Bytes of the frames of a chapter that cost as much as a step. */
const BYTES_PER_STEP = 64
/** Memory of a step beside the chapters, bytes; counted for many at once. */
const STEP_BYTES = 4
const COUNTED_STEPS = 1024
/** Memory of a change of message, bytes. */
const SEGMENT_BYTES = 16
const SHA3 = 0x20
const WORD = 32
/** The longest key of a mapping that is noted, with the word of its slot, and how many are. */
const LONGEST_PREIMAGE = 288
const MOST_PREIMAGES = 4096

/** A frame as it was at its last step. */
interface Track {
  readonly message: RecordedMessage
  opcode: number
  sp: number
  offset: number
  length: number
  words: number
}

/** What a recorder is to keep. */
export interface RecorderOptions {
  readonly budget: TraceBudget
  /** Bytes of chapters. */
  readonly chapterBytes: number
  /** The step around which chapters are kept; the last one unless given. */
  readonly wanted?: number | undefined
}

/** Records one transaction or call. */
export class ExecutionRecorder implements Tracer {
  readonly #options: RecorderOptions
  readonly #messages: MessageRecorder
  readonly #parties = new Map<RecordedMessage, MessageParties>()
  readonly #history = new StorageHistory()
  /** Keys of mappings by the slot of the mapping. */
  readonly #keys = new Map<bigint, Map<string, Uint8Array>>()
  #preimages = 0
  readonly #events: LoggedEvent[] = []
  /** Last steps of messages that failed. */
  readonly #failures: number[] = []
  readonly #segmentStarts = new GrowingList()
  readonly #segmentFirsts = new GrowingList()
  readonly #segmentMessages: RecordedMessage[] = []
  readonly #stackPointers = new GrowingList()
  readonly #tracks: Track[] = []
  readonly #chapters: Chapter[] = []
  #chapterBytes = 0
  #isFull = false
  #count = 0
  #before: StateReader | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#messages = new MessageRecorder(options.budget)
  }

  /** What was recorded, once the run is over; `undefined` where nothing ran. */
  execution(): Execution | undefined {
    const { root } = this.#messages
    if (root === undefined) return undefined
    return new Execution({
      root,
      length: this.#count,
      parties: this.#parties,
      history: this.#history,
      keys: this.#keys,
      events: this.#events,
      failures: this.#failures,
      segments: { starts: this.#segmentStarts, firsts: this.#segmentFirsts, messages: this.#segmentMessages },
      stackPointers: this.#stackPointers,
      chapters: this.#chapters,
      before: this.#before,
    })
  }

  wrapState(before: StateReader): StateReader {
    this.#before = before
    return before
  }

  enter(start: FrameStart): void {
    const sender = this.#messages.current
    this.#messages.enter(start)
    const message = this.#messages.current
    if (message === undefined) return
    const caller = sender && this.#parties.get(sender)
    const isDelegated = start.kind === 'delegatecall' && caller !== undefined
    this.#parties.set(message, {
      sender: isDelegated ? caller.sender : start.from,
      value: isDelegated ? caller.value : start.value,
      address: undefined,
    })
    this.#history.enter()
  }

  exit(end: FrameEnd): void {
    const message = this.#messages.current
    this.#messages.exit(end)
    this.#history.exit(this.#count, end.failure !== undefined)
    if (this.#tracks.at(-1)?.message === message) this.#tracks.pop()
    const hasRun = message !== undefined && message.pcs.length > 0
    if (end.failure !== undefined && hasRun && this.#failures.at(-1) !== this.#count - 1) {
      this.#failures.push(this.#count - 1)
    }
  }

  selfDestruct(contract: Hex, beneficiary: Hex, balance: bigint): void {
    this.#messages.selfDestruct(contract, beneficiary, balance)
  }

  log(log: Log): void {
    this.#events.push({ step: this.#count - 1, log })
  }

  step(frame: FrameView, opcode: number): void {
    this.#messages.step(frame)
    const message = this.#messages.current
    if (message === undefined) return
    const step = this.#count++
    if (this.#segmentMessages.at(-1) !== message) this.#beginSegment(step, message, frame)
    this.#stackPointers.push(frame.sp)
    this.#noteAccess(frame, opcode, step)
    this.#noteEffects(message, frame, opcode, step)
  }

  #beginSegment(step: number, message: RecordedMessage, frame: FrameView): void {
    this.#options.budget.take(SEGMENT_BYTES)
    this.#segmentStarts.push(step)
    this.#segmentFirsts.push(message.pcs.length - 1)
    this.#segmentMessages.push(message)
    const parties = this.#parties.get(message)
    if (parties !== undefined) parties.address ??= frame.address
  }

  /** Notes slots and keys before an opcode that uses them. */
  #noteAccess(frame: FrameView, opcode: number, step: number): void {
    if (opcode !== SLOAD.code && opcode !== SSTORE.code && opcode !== SHA3) return
    const { stack, sp, address } = frame
    if ((opcode === SLOAD.code && sp > 0) || (opcode === SSTORE.code && sp > 1)) {
      const slot = stack[sp - 1] as bigint
      const isNew = this.#history.read(address, slot, frame.storageAt(slot))
      if (isNew) this.#options.budget.take(NOTE_BYTES)
      if (opcode === SLOAD.code) return
      this.#options.budget.take(NOTE_BYTES)
      this.#history.write(step + 1, address, slot, stack[sp - 2] as bigint)
    } else if (opcode === SHA3 && sp > 1) this.#noteKey(frame)
  }

  /** Notes what is hashed where it may be a key with the slot of its mapping. */
  #noteKey({ stack, sp, memory, memoryWords }: FrameView): void {
    const length = Number(stack[sp - 2] as bigint)
    const offset = Number(stack[sp - 1] as bigint)
    const end = offset + length
    if (length < WORD || length > LONGEST_PREIMAGE || end > memoryWords * WORD) return
    if (this.#preimages >= MOST_PREIMAGES) return
    const key = memory.slice(offset, end - WORD)
    const slot = toBigInt(memory.subarray(end - WORD, end))
    let keys = this.#keys.get(slot)
    if (keys === undefined) {
      keys = new Map()
      this.#keys.set(slot, keys)
    }
    const text = toHex(key)
    if (keys.has(text)) return
    keys.set(text, key)
    this.#preimages++
  }

  /** Notes what the last opcode of the frame did, and prepares for this one. */
  #noteEffects(message: RecordedMessage, frame: FrameView, opcode: number, step: number): void {
    if (this.#isFull) return
    if (step % COUNTED_STEPS === 0) this.#options.budget.take(COUNTED_STEPS * STEP_BYTES)
    let track = this.#tracks.at(-1)
    const isFirst = track?.message !== message
    if (track === undefined || isFirst) {
      track = { message, opcode: 0, sp: 0, offset: 0, length: 0, words: 0 }
      this.#tracks.push(track)
    }
    const { sp, memoryWords } = frame
    const told = isFirst ? 0 : toldWords(track.opcode, track.sp, sp)
    const chapter = this.#chapterFor(frame, step, told !== undefined)
    if (chapter.first !== step && told !== undefined) {
      if (track.length > 0) {
        chapter.tellWrite(frame.memory.slice(track.offset, track.offset + track.length))
      }
      for (let index = sp - told; index < sp; index++) chapter.tellWord(frame.stack[index] as bigint)
      if (memoryWords !== track.words) chapter.tellGrowth(step, memoryWords)
    }
    chapter.gas.push(frame.gas)
    const target = memoryTarget(opcode, frame.stack, sp)
    track.opcode = opcode
    track.sp = sp
    track.offset = target.offset
    track.length = target.length
    track.words = memoryWords
  }

  /** The chapter for a step: a new one where the last is long enough, or cannot tell what has happened since. */
  #chapterFor(frame: FrameView, step: number, isTold: boolean): Chapter {
    const last = this.#chapters.at(-1)
    if (last !== undefined && isTold) {
      const most = Math.max(CHAPTER_STEPS, last.frameBytes / BYTES_PER_STEP)
      if (last.length < most) return last
    }
    const chapter = new Chapter(step, this.#framesBefore(last, frame, step))
    if (last !== undefined) this.#chapterBytes += last.bytes
    this.#chapters.push(chapter)
    this.#drop()
    return chapter
  }

  #framesBefore(last: Chapter | undefined, frame: FrameView, step: number): readonly FrameState[] {
    const message = this.#messages.current
    if (message === undefined) throw new Error('no message is open')
    return [
      ...this.#callersBefore(last, message, step),
      {
        message,
        pc: frame.pc,
        stack: frame.stack.slice(0, frame.sp),
        memory: frame.memory.slice(0, frame.memoryWords * WORD),
      },
    ]
  }

  /** The frames that wait for a message. Those of one that was open already where the last chapter begins are as they were there. */
  #callersBefore(last: Chapter | undefined, message: RecordedMessage, step: number): readonly FrameState[] {
    if (last === undefined || message.depth === 0) return []
    const wasOpen = last.frames.some((one) => one.message === message)
    const frames = wasOpen ? last.frames : last.framesAt(step - 1, this.#runAt)
    return frames.filter((one) => one.message.depth < message.depth)
  }

  readonly #runAt: RunAt = (step) => {
    const segment = this.#segmentStarts.lastUpTo(step)
    const message = this.#segmentMessages[segment]
    if (message === undefined) throw new Error(`there is no step ${step}`)
    const next = segment + 1
    return {
      message,
      index: this.#segmentFirsts.at(segment) + step - this.#segmentStarts.at(segment),
      end: next < this.#segmentStarts.length ? this.#segmentStarts.at(next) : this.#count,
    }
  }

  /** Drops chapters beyond the budget: the oldest ones that end before the wanted step, and else whatever follows. */
  #drop(): void {
    const { chapterBytes, wanted = Number.POSITIVE_INFINITY } = this.#options
    while (this.#chapterBytes > chapterBytes) {
      const [oldest, next] = this.#chapters
      if (oldest === undefined || next === undefined) return
      if (next.first > wanted) {
        this.#chapters.pop()
        this.#isFull = true
        return
      }
      this.#chapterBytes -= oldest.bytes
      this.#chapters.shift()
    }
  }
}
