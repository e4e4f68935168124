/** Records the messages of a transaction with the gas that was left before every instruction that ran. */
import type { Hex } from '../encoding/hex.ts'
import type { FrameFailure, FrameKind } from '../evm/tracing/call-frame.ts'
import type { FrameEnd, FrameStart, FrameView, Tracer } from '../evm/tracing/tracer.ts'
import type { RecordedMessage } from '../source-level/message-recorder.ts'

/** Bytes of the record of one transaction; the gas of what runs beyond them is that of the last instruction before. */
const MOST_BYTES = 128 << 20
/** A pc and the gas. */
const STEP_BYTES = 12
/** Estimated memory of a message beside its payloads, bytes. */
const MESSAGE_BYTES = 512
const FIRST_STEPS = 256
const NOTHING = new Uint8Array(0)

/** A message with its gas. */
export class GasMessage implements RecordedMessage {
  readonly kind: FrameKind
  readonly depth: number
  to: Hex | undefined
  readonly value: bigint
  readonly input: Uint8Array
  output: Uint8Array = NOTHING
  readonly isPrecompile: boolean
  failure: FrameFailure | undefined
  code: Uint8Array | undefined
  readonly sent: { readonly after: number; readonly message: GasMessage }[] = []
  /** Gas that it was given, and that it used, with that of the messages that it sent. */
  readonly gas: number
  gasUsed = 0
  #pcs = new Uint32Array(0)
  #left = new Float64Array(0)
  #count = 0

  constructor({ kind, depth, to, value, input, isPrecompile, gas }: FrameStart) {
    this.kind = kind
    this.depth = depth
    this.to = to
    this.value = value
    this.input = input
    this.isPrecompile = isPrecompile
    this.gas = Number(gas)
  }

  get pcs(): Uint32Array {
    return this.#pcs.subarray(0, this.#count)
  }

  /** Instructions that were recorded. */
  get length(): number {
    return this.#count
  }

  /** Gas left before an instruction by its number; behind the last one what was left at the end. */
  left(index: number): number {
    return index < this.#count ? (this.#left[index] ?? 0) : this.gas - this.gasUsed
  }

  /** Adds an instruction, and returns by how many bytes the record grew. */
  push(pc: number, left: number): number {
    let grown = 0
    if (this.#count === this.#pcs.length) {
      const room = Math.max(FIRST_STEPS, 2 * this.#count)
      grown = STEP_BYTES * (room - this.#count)
      const [pcs, lefts] = [new Uint32Array(room), new Float64Array(room)]
      pcs.set(this.#pcs)
      lefts.set(this.#left)
      this.#pcs = pcs
      this.#left = lefts
    }
    this.#pcs[this.#count] = pc
    this.#left[this.#count++] = left
    return grown
  }
}

/** Records messages; `root` is complete once the transaction is over. */
export class GasRecorder implements Tracer {
  readonly #mostBytes: number
  readonly #open: GasMessage[] = []
  #root: GasMessage | undefined
  #bytes = 0

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** The transaction's own message; `undefined` where nothing ran. */
  get root(): GasMessage | undefined {
    return this.#root
  }

  /** Memory that the record takes. */
  get bytes(): number {
    return this.#bytes
  }

  enter(start: FrameStart): void {
    const sender = this.#open.at(-1)
    const hasRoom = this.#bytes < this.#mostBytes
    this.#bytes += MESSAGE_BYTES + start.input.length
    const message = new GasMessage(start)
    this.#open.push(message)
    if (sender === undefined) this.#root ??= message
    // The gas of a message that is left out is that of the instruction that sent it.
    else if (hasRoom) sender.sent.push({ after: sender.length, message })
  }

  exit({ gasUsed, output, failure, created }: FrameEnd): void {
    const message = this.#open.pop()
    if (message === undefined) throw new Error('no message is open')
    message.gasUsed = Number(gasUsed)
    message.output = output
    message.failure = failure
    if (created !== undefined) message.to = created
  }

  step(frame: FrameView): void {
    const message = this.#open.at(-1)
    if (message === undefined) throw new Error('no message is open')
    message.code ??= frame.code
    if (this.#bytes < this.#mostBytes) this.#bytes += message.push(frame.pc, frame.gas)
  }
}
