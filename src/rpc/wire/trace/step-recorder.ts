/** Writes the steps of a transaction as JSON while it runs, so that they are never all there as objects. */
import { type Hex, toHex } from '../../../encoding/hex.ts'
import type { Frame } from '../../../evm/frame.ts'
import { CHAIN_RULES } from '../../../evm/rules.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../../evm/tracing/tracer.ts'
import { RawJson } from '../../raw-json.ts'
import { TextBuffer } from './text-buffer.ts'

const SLOAD = 0x54
const SSTORE = 0x55
/** Opcodes that write to memory; what they open of it shows in its size. */
const WRITES_MEMORY: ReadonlySet<number> = new Set([
  0x37, 0x39, 0x3c, 0x3e, 0x52, 0x53, 0x5e, 0xf1, 0xf2, 0xf4, 0xfa,
])

/** Characters that take as long to write as a step takes to run; memory may be megabytes of them, step by step. */
const CHARACTERS_PER_TICK = 4096

/** What of a step is wanted, and how it is written. */
export interface StepFormat {
  readonly memory: boolean
  readonly stack: boolean
  readonly storage: boolean
  readonly returnData: boolean
  /** Steps to write at most; the rest runs unseen. 0 is no limit. */
  readonly limit: number
  /** A word of the stack, with its quotes. */
  word(value: bigint): string
  /** One step. */
  entry(step: StepTexts): string
  /** Hears that a slot of the frame's contract is about to be read or written. */
  touch?(frame: Frame, slot: bigint): void
}

/** One step in pieces of JSON; what is not wanted is `undefined`. Good until the next step. */
export interface StepTexts {
  readonly opcode: number
  readonly name: string
  /** 0 is the transaction's own frame. */
  readonly depth: number
  readonly pc: number
  readonly gas: number
  readonly cost: number
  /** Gas to give back so far. */
  readonly refund: number
  /** Arrays without their brackets. */
  readonly memory: string | undefined
  readonly stack: string | undefined
  /** Members of an object: slots that this contract has touched so far; on steps that touch one, else empty. */
  readonly storage: string | undefined
  /** Hex without prefix. */
  readonly returnData: string | undefined
  /** The library's word. */
  readonly failure: string | undefined
}

/** What is at hand of an open frame, so that a step costs what it changed. */
interface View {
  readonly frame: Frame
  readonly words: bigint[]
  readonly texts: string[]
  memory: string | undefined
  memoryWords: number
}

/** A word as 64 hex digits in quotes. */
export function quotedWord(value: bigint): string {
  return `"${value.toString(16).padStart(64, '0')}"`
}

function memoryText({ memory, memoryWords }: Frame): string {
  const digits = toHex(memory.subarray(0, memoryWords * 32))
  const words: string[] = []
  for (let at = 2; at < digits.length; at += 64) words.push(`"${digits.slice(at, at + 64)}"`)
  return words.join(',')
}

/** The step that is running; one object serves all. */
class RunningStep implements StepTexts {
  isWanted = false
  opcode = 0
  name = ''
  depth = 0
  pc = 0
  gas = 0
  cost = 0
  refund = 0
  memory: string | undefined
  stack: string | undefined
  storage: string | undefined
  returnData: string | undefined
  failure: string | undefined
  /** The slot that it reads or writes, and the word. */
  slot: bigint | undefined
  value = 0n
}

/** Records steps; `entries` are parted by commas. Throws `limit-exceeded` beyond its budget. */
export class StepRecorder implements Pick<Tracer, 'step' | 'stepped'> {
  readonly #format: StepFormat
  readonly #text: TextBuffer
  readonly #views: View[] = []
  /** Slots touched, and as JSON, by contract. */
  readonly #slots = new Map<Hex, { readonly values: Map<bigint, bigint>; text: string | undefined }>()
  readonly #step = new RunningStep()
  #count = 0

  constructor(format: StepFormat, budget: TraceBudget) {
    this.#format = format
    this.#text = new TextBuffer(budget)
  }

  step(frame: Frame, opcode: number): void {
    const format = this.#format
    const step = this.#step
    step.isWanted = format.limit === 0 || this.#count < format.limit
    if (!step.isWanted) return
    const view = this.#viewOf(frame)
    step.opcode = opcode
    step.pc = frame.pc
    step.gas = frame.gas
    if (format.memory) step.memory = this.#memoryOf(view)
    if (format.stack) step.stack = this.#stackOf(view)
    if (format.returnData) step.returnData = toHex(frame.returned).slice(2)
    step.slot = undefined
    if (opcode === SLOAD || opcode === SSTORE) this.#lookAtSlot(frame, opcode)
    if (WRITES_MEMORY.has(opcode)) view.memory = undefined
  }

  stepped(frame: Frame, cost: number, failure: string | undefined): void {
    const step = this.#step
    if (!step.isWanted) return
    const { opcode, slot } = step
    if (slot !== undefined && failure === undefined) this.#touch(frame.address, slot, step.value)
    step.name = CHAIN_RULES.opcodes.names[opcode] ?? opcode.toString(16).padStart(2, '0')
    step.depth = frame.depth
    step.cost = cost
    step.refund = frame.session.journal.refund
    step.failure = failure
    if (this.#format.storage) step.storage = slot === undefined ? '' : this.#storageOf(frame.address)
    const entry = this.#format.entry(step)
    this.#text.append(this.#count === 0 ? entry : `,${entry}`)
    frame.session.clock.ticks -= entry.length / CHARACTERS_PER_TICK
    this.#count++
  }

  /** The entries so far. */
  entries(): RawJson {
    return new RawJson(this.#text.chunks())
  }

  #lookAtSlot(frame: Frame, opcode: number): void {
    const { stack, sp, session, address } = frame
    if (sp < (opcode === SLOAD ? 1 : 2)) return
    const slot = stack[sp - 1] as bigint
    this.#format.touch?.(frame, slot)
    this.#step.slot = slot
    this.#step.value =
      opcode === SLOAD ? session.journal.state.storage(address, slot) : (stack[sp - 2] as bigint)
  }

  #viewOf(frame: Frame): View {
    const known = this.#views[frame.depth]
    if (known?.frame === frame) return known
    const view: View = { frame, words: [], texts: [], memory: undefined, memoryWords: 0 }
    this.#views[frame.depth] = view
    this.#views.length = frame.depth + 1
    return view
  }

  #stackOf({ frame, words, texts }: View): string {
    const { stack, sp } = frame
    for (let i = 0; i < sp; i++) {
      const word = stack[i] as bigint
      if (words[i] === word) continue
      words[i] = word
      texts[i] = this.#format.word(word)
    }
    words.length = sp
    texts.length = sp
    return texts.join(',')
  }

  #memoryOf(view: View): string {
    const { frame } = view
    if (view.memory === undefined || view.memoryWords !== frame.memoryWords) {
      view.memory = memoryText(frame)
      view.memoryWords = frame.memoryWords
    }
    return view.memory
  }

  #touch(contract: Hex, slot: bigint, value: bigint): void {
    const known = this.#slots.get(contract) ?? { values: new Map<bigint, bigint>(), text: undefined }
    this.#slots.set(contract, known)
    if (known.values.get(slot) === value) return
    known.values.set(slot, value)
    known.text = undefined
  }

  #storageOf(contract: Hex): string {
    const known = this.#slots.get(contract)
    if (known === undefined) return ''
    known.text ??= [...known.values]
      .map(([slot, value]) => `${quotedWord(slot)}:${quotedWord(value)}`)
      .join(',')
    return known.text
  }
}
