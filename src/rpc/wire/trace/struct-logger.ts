/** Struct logs in geth's shape, with Ethereum's names of opcodes: `structLogger`. */
import { toHex } from '../../../encoding/hex.ts'
import type { Frame } from '../../../evm/frame.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import type { TraceEnd, Tracer } from '../../../evm/tracing/tracer.ts'
import { asciiJson, type RawJson, rawJson } from '../../raw-json.ts'
import type { TraceOptions } from './options.ts'
import { type StepFormat, StepRecorder, type StepTexts } from './step-recorder.ts'

/** Ethereum's names where the chain has its own. */
const ETHEREUM_NAMES: Readonly<Record<string, string>> = { SHA3: 'KECCAK256', SUICIDE: 'SELFDESTRUCT' }

function entry(step: StepTexts): string {
  const { name, depth, pc, gas, cost, refund, memory, stack, storage, returnData, failure } = step
  const op = ETHEREUM_NAMES[name] ?? name
  let text = `{"pc":${pc},"op":"${op}","gas":${gas},"gasCost":${cost},"depth":${depth + 1}`
  if (refund > 0) text += `,"refund":${refund}`
  if (failure !== undefined) text += `,"error":${asciiJson(failure)}`
  if (stack !== undefined) text += `,"stack":[${stack}]`
  if (memory !== undefined) text += `,"memory":[${memory}]`
  if (storage !== undefined && storage !== '') text += `,"storage":{${storage}}`
  if (returnData !== undefined && returnData !== '') text += `,"returnData":"0x${returnData}"`
  return `${text}}`
}

/** Memory and return data only on demand; `limit` steps at most. */
function formatOf({ flags, limit }: TraceOptions): StepFormat {
  return {
    memory: flags.enableMemory && !flags.disableMemory,
    stack: !flags.disableStack,
    storage: !flags.disableStorage,
    returnData: flags.enableReturnData,
    limit,
    word: (value) => `"0x${value.toString(16)}"`,
    entry,
  }
}

/** Records `{ gas, failed, returnValue, structLogs }`. */
export class StructLogger implements Tracer {
  readonly #steps: StepRecorder
  #end: TraceEnd | undefined

  constructor(options: TraceOptions, budget: TraceBudget) {
    this.#steps = new StepRecorder(formatOf(options), budget)
  }

  step(frame: Frame, opcode: number): void {
    this.#steps.step(frame, opcode)
  }

  stepped(frame: Frame, cost: number, failure: string | undefined): void {
    this.#steps.stepped(frame, cost, failure)
  }

  finish(end: TraceEnd): void {
    this.#end = end
  }

  /** The whole answer; the transaction must be over. */
  result(): RawJson {
    const { gasUsed = 0n, succeeded = false, output = new Uint8Array(0) } = this.#end ?? {}
    const head = `{"gas":${gasUsed},"failed":${!succeeded},"returnValue":"${toHex(output)}","structLogs":[`
    return rawJson(head, this.#steps.entries(), ']}')
  }
}
