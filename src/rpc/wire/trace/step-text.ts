/** Writes the steps of a transaction as JSON text while it runs, without creating objects for them. */
import { z } from 'zod'
import { toHex } from '../../../encoding/hex.ts'
import type { ListedSlots, Step, StepFrame, StepSink, StepStart } from '../../../evm/tracing/step.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { RawJson } from '../../raw-json.ts'
import { TextBuffer } from './text-buffer.ts'

/** Result: 32 bytes as 64 hex digits without prefix. */
export const WordText = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'Word', description: '32 bytes as 64 hex digits without prefix' })
/** Result: storage slots, keys and values without prefix. */
export const SlotsObject = z.lazy(() => z.record(WordText, WordText))

/** Which parts of a step are written, and how. */
export interface StepFormat {
  readonly memory: boolean
  readonly stack: boolean
  readonly storage: boolean
  readonly returnData: boolean
  /** JSON of a word of the stack. */
  word(value: bigint): string
  /** JSON of one step. */
  entry(step: Step, texts: StepTexts): string
}

/** Parts of a step as JSON; `undefined` when not requested. Valid until the next step. */
export interface StepTexts {
  /** Arrays without their brackets. */
  readonly memory: string | undefined
  readonly stack: string | undefined
  /** Members of a JSON object: the slots that the step lists; may be empty. */
  readonly storage: string | undefined
  /** Hex without prefix. */
  readonly returnData: string | undefined
}

/** Texts of an open frame, reused by the steps that do not change them. */
interface FrameTexts {
  readonly frame: StepFrame
  readonly words: bigint[]
  readonly texts: string[]
  memory: string | undefined
  memoryWords: number
}

/** A word as 64 hex digits in quotes. */
export function quotedWord(value: bigint): string {
  return `"${value.toString(16).padStart(64, '0')}"`
}

function memoryText({ memory, memoryWords }: StepFrame): string {
  const digits = toHex(memory.subarray(0, memoryWords * 32))
  const words: string[] = []
  for (let at = 2; at < digits.length; at += 64) words.push(`"${digits.slice(at, at + 64)}"`)
  return words.join(',')
}

/** Collects steps as text; `entries` are separated by commas. Throws `limit-exceeded` beyond its budget. */
export class StepText implements StepSink {
  readonly #format: StepFormat
  readonly #text: TextBuffer
  /** By depth. */
  readonly #open: FrameTexts[] = []
  readonly #slots = new WeakMap<ListedSlots, { readonly version: number; readonly text: string }>()
  readonly #texts: { -readonly [K in keyof StepTexts]: StepTexts[K] } = {
    memory: undefined,
    stack: undefined,
    storage: undefined,
    returnData: undefined,
  }
  #isFirst = true

  constructor(format: StepFormat, budget: TraceBudget) {
    this.#format = format
    this.#text = new TextBuffer(budget)
  }

  begin({ frame, writesMemory }: StepStart): void {
    const format = this.#format
    const texts = this.#texts
    const open = this.#openFrame(frame)
    if (format.memory) texts.memory = this.#memoryOf(open)
    if (format.stack) texts.stack = this.#stackOf(open)
    if (format.returnData) texts.returnData = toHex(frame.returned).slice(2)
    if (writesMemory) open.memory = undefined
  }

  end(step: Step): number {
    const format = this.#format
    if (format.storage) this.#texts.storage = step.slots === undefined ? '' : this.#slotsOf(step.slots)
    const entry = format.entry(step, this.#texts)
    this.#text.append(this.#isFirst ? entry : `,${entry}`)
    this.#isFirst = false
    return entry.length
  }

  /** The entries so far. */
  entries(): RawJson {
    return new RawJson(this.#text.chunks())
  }

  #openFrame(frame: StepFrame): FrameTexts {
    const known = this.#open[frame.depth]
    if (known?.frame === frame) return known
    const opened: FrameTexts = { frame, words: [], texts: [], memory: undefined, memoryWords: 0 }
    this.#open[frame.depth] = opened
    this.#open.length = frame.depth + 1
    return opened
  }

  #stackOf({ frame, words, texts }: FrameTexts): string {
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

  #memoryOf(open: FrameTexts): string {
    const { frame } = open
    if (open.memory === undefined || open.memoryWords !== frame.memoryWords) {
      open.memory = memoryText(frame)
      open.memoryWords = frame.memoryWords
    }
    return open.memory
  }

  #slotsOf(slots: ListedSlots): string {
    const known = this.#slots.get(slots)
    if (known?.version === slots.version) return known.text
    const text = [...slots.values]
      .map(([slot, value]) => `${quotedWord(slot)}:${quotedWord(value)}`)
      .join(',')
    this.#slots.set(slots, { version: slots.version, text })
    return text
  }
}
