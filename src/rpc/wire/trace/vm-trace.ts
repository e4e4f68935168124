/** Executed opcodes with their effects: OpenEthereum's `vmTrace`, written as text while the transaction runs. */
import { z } from 'zod'
import { toHex } from '../../../encoding/hex.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { type VmEffect, type VmOperation, type VmSink, VmTracer } from '../../../evm/tracing/vm-tracer.ts'
import { RawJson } from '../../raw-json.ts'
import { DataText, QuantityText } from '../scalars.ts'
import { ETHEREUM_NAMES } from './struct-logger.ts'
import { TextBuffer } from './text-buffer.ts'

const count = z.int().nonnegative()

/** `ex` is null for an opcode that failed; `idx` is its path, counted from 0 in each frame. */
const VmTraceOp = z.strictObject({
  cost: count,
  ex: z
    .strictObject({
      mem: z.strictObject({ data: DataText, off: count }).nullable(),
      push: z.array(QuantityText),
      store: z.strictObject({ key: QuantityText, val: QuantityText }).nullable(),
      used: count,
    })
    .nullable(),
  pc: count,
  get sub() {
    return VmTrace.nullable()
  },
  op: z.string(),
  idx: z.string(),
})

/** A frame. */
export const VmTrace = z.strictObject({ code: DataText, ops: z.array(VmTraceOp) })
z.globalRegistry.add(VmTrace, {
  id: 'VmTrace',
  description: 'Executed opcodes of a frame (trace type vmTrace)',
})

/** The designated invalid opcode (EIP-141), which has no name on this chain. */
const NAMES: Readonly<Record<string, string>> = { ...ETHEREUM_NAMES, fe: 'INVALID' }

const quantity = (value: bigint) => `"0x${value.toString(16)}"`

function effectText({ gasLeft, pushed, memory, stored }: VmEffect): string {
  const mem = memory === undefined ? 'null' : `{"data":"${toHex(memory.bytes)}","off":${memory.offset}}`
  const store =
    stored === undefined ? 'null' : `{"key":${quantity(stored.slot)},"val":${quantity(stored.value)}}`
  return `{"mem":${mem},"push":[${pushed.map(quantity).join(',')}],"store":${store},"used":${gasLeft}}`
}

/** A frame that is being written; the outermost stands for what holds the transaction's own. */
interface OpenFrame {
  readonly outer: OpenFrame | undefined
  readonly path: string
  /** Number of opcodes that it has started. */
  started: number
  /** Has the running opcode created a frame? */
  made: boolean
}

/** Writes frames and opcodes; `text` once the transaction is over. Throws `limit-exceeded` beyond its budget. */
class VmTraceText implements VmSink {
  readonly #text: TextBuffer
  #frame: OpenFrame = { outer: undefined, path: '', started: 0, made: false }

  constructor(budget: TraceBudget) {
    this.#text = new TextBuffer(budget)
  }

  get text(): RawJson {
    return new RawJson(this.#text.chunks())
  }

  beginFrame(code: Uint8Array): void {
    const outer = this.#frame
    const isFirst = outer.outer === undefined
    outer.made = true
    const path = isFirst ? '' : `${outer.path}${outer.started - 1}-`
    this.#frame = { outer, path, started: 0, made: false }
    this.#text.append(`${isFirst ? '' : ',"sub":'}{"code":"${toHex(code)}","ops":[`)
  }

  endFrame(): void {
    this.#frame = this.#frame.outer ?? this.#frame
    this.#text.append(']}')
  }

  beginOperation({ pc, name, cost }: VmOperation): void {
    const frame = this.#frame
    const number = frame.started++
    frame.made = false
    const op = NAMES[name] ?? name
    this.#text.append(
      `${number > 0 ? ',' : ''}{"cost":${cost},"pc":${pc},"op":"${op}","idx":"${frame.path}${number}"`,
    )
  }

  endOperation(effect: VmEffect | undefined): number {
    const text = `${this.#frame.made ? '' : ',"sub":null'},"ex":${effect === undefined ? 'null' : effectText(effect)}}`
    this.#text.append(text)
    return text.length
  }
}

/** A `vmTrace` of one transaction. */
export function startVmTrace(budget: TraceBudget): { readonly tracer: VmTracer; text(): RawJson } {
  const sink = new VmTraceText(budget)
  return { tracer: new VmTracer(sink), text: () => sink.text }
}
