/** Records the messages of a transaction with the program counter of every instruction that ran. */
import type { Hex } from '../encoding/hex.ts'
import type { FrameFailure, FrameKind } from '../evm/tracing/call-frame.ts'
import type { TraceBudget } from '../evm/tracing/trace-budget.ts'
import type { FrameEnd, FrameStart, FrameView, Tracer } from '../evm/tracing/tracer.ts'

/** Estimated memory of a message beside its payloads, bytes. */
const MESSAGE_BYTES = 512
const PC_BYTES = 4
const FIRST_PCS = 256

/** A message that another one sent. */
export interface SentMessage {
  /** How many instructions of the sender had run; the last of them sent it. */
  readonly after: number
  readonly message: RecordedMessage
}

/** A call or creation that ran. */
export interface RecordedMessage {
  readonly kind: FrameKind
  /** 0 is the transaction's own. */
  readonly depth: number
  /** The contract whose code ran, or the created contract if its address was computed. */
  readonly to: Hex | undefined
  /** Wei. */
  readonly value: bigint
  /** Call data, or init code. */
  readonly input: Uint8Array
  /** Returned bytes, or the payload of a REVERT. */
  readonly output: Uint8Array
  readonly isPrecompile: boolean
  readonly failure: FrameFailure | undefined
  /** The code; absent where none ran. */
  readonly code: Uint8Array | undefined
  /** Of the instructions that ran, in order. */
  readonly pcs: Uint32Array
  /** In order, as a call tracer lists them: those that were refused, and self-destructs, included. */
  readonly sent: readonly SentMessage[]
}

class OpenMessage implements RecordedMessage {
  readonly kind: FrameKind
  readonly depth: number
  to: Hex | undefined
  readonly value: bigint
  readonly input: Uint8Array
  output: Uint8Array
  readonly isPrecompile: boolean
  failure: FrameFailure | undefined
  code: Uint8Array | undefined
  readonly sent: SentMessage[] = []
  #pcs = new Uint32Array(0)
  count = 0

  constructor({ kind, depth, to, value, input, isPrecompile }: MessageStart) {
    this.kind = kind
    this.depth = depth
    this.to = to
    this.value = value
    this.input = input
    this.output = new Uint8Array(0)
    this.isPrecompile = isPrecompile
  }

  get pcs(): Uint32Array {
    return this.#pcs.subarray(0, this.count)
  }

  /** Adds a pc; returns by how many bytes the list grew. */
  push(pc: number): number {
    let grown = 0
    if (this.count === this.#pcs.length) {
      const more = new Uint32Array(Math.max(FIRST_PCS, 2 * this.count))
      more.set(this.#pcs)
      grown = PC_BYTES * (more.length - this.#pcs.length)
      this.#pcs = more
    }
    this.#pcs[this.count++] = pc
    return grown
  }
}

type MessageStart = Pick<RecordedMessage, 'kind' | 'depth' | 'to' | 'value' | 'input' | 'isPrecompile'>

/** Records messages; `root` is complete once the transaction is over. Throws `limit-exceeded` beyond its budget. */
export class MessageRecorder implements Tracer {
  readonly #budget: TraceBudget
  readonly #open: OpenMessage[] = []
  #root: OpenMessage | undefined

  constructor(budget: TraceBudget) {
    this.#budget = budget
  }

  /** The transaction's own message; `undefined` where nothing ran. */
  get root(): RecordedMessage | undefined {
    return this.#root
  }

  /** The innermost message that has not ended. */
  get current(): RecordedMessage | undefined {
    return this.#open.at(-1)
  }

  enter(start: FrameStart): void {
    this.#begin(start)
  }

  exit(end: FrameEnd): void {
    const message = this.#open.pop()
    if (message === undefined) throw new Error('no message is open')
    this.#budget.take(end.output.length)
    message.output = end.output
    message.failure = end.failure
    if (end.created !== undefined) message.to = end.created
  }

  selfDestruct(_contract: Hex, beneficiary: Hex, balance: bigint): void {
    this.#begin({
      kind: 'selfdestruct',
      depth: this.#open.length,
      to: beneficiary,
      value: balance,
      input: new Uint8Array(0),
      isPrecompile: false,
    })
    this.#open.pop()
  }

  step(frame: FrameView): void {
    const message = this.#open.at(-1)
    if (message === undefined) throw new Error('no message is open')
    message.code ??= frame.code
    const grown = message.push(frame.pc)
    if (grown > 0) this.#budget.take(grown)
  }

  #begin(start: MessageStart): void {
    this.#budget.take(MESSAGE_BYTES + start.input.length)
    const message = new OpenMessage(start)
    const sender = this.#open.at(-1)
    if (sender === undefined) this.#root ??= message
    else sender.sent.push({ after: sender.count, message })
    this.#open.push(message)
  }
}
