/** Struct logs in the shape of the chain's node: `rskTracer`, its default (docs/rpc-reference.md#69-struct-logs). */
import { EMPTY } from '../../../encoding/bytes.ts'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import type { Frame } from '../../../evm/frame.ts'
import type { FrameFailure } from '../../../evm/tracing/call-frame.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import type { FrameEnd, FrameStart, TraceEnd, Tracer } from '../../../evm/tracing/tracer.ts'
import { asciiJson, rawJson } from '../../raw-json.ts'
import { toRpcSender } from '../transaction.ts'
import type { TracePlace } from './call-tracer.ts'
import type { TraceOptions } from './options.ts'
import { quotedWord, type StepFormat, StepRecorder, type StepTexts } from './step-recorder.ts'

/** Slots told of at the beginning and at the end. */
const MOST_SLOTS = 10_000

const bare = (hex: Hex): string => hex.slice(2)
const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const addressWord = (address: Hex): string => bare(toRpcSender(address)).padStart(64, '0')

function entry({ name, depth, pc, gas, cost, memory, stack, storage }: StepTexts): string {
  let text = `{"op":"${name}","depth":${depth},"pc":${pc},"gas":${gas},"gasCost":${cost}`
  if (memory !== undefined) text += `,"memory":[${memory}]`
  if (stack !== undefined) text += `,"stack":[${stack}]`
  if (storage !== undefined) text += `,"storage":{${storage}}`
  return `${text}}`
}

function formatOf({ flags }: TraceOptions): StepFormat {
  return {
    memory: !flags.disableMemory,
    stack: !flags.disableStack,
    storage: !flags.disableStorage,
    returnData: false,
    limit: 0,
    word: quotedWord,
    entry,
  }
}

/** A call without code, as the node tells of it. */
interface Transfer {
  readonly programInvoke: null
  readonly transferInvoke: {
    readonly ownerAddress: string
    readonly callerAddress: string
    readonly gas: number
    readonly callValue: string
    readonly msgData: string
  }
  readonly subtraces: Transfer[]
  readonly result: null
  readonly error: null
  readonly reverted: false
}

function transferOf({ from, to, value, gas, input, depth }: FrameStart): Transfer {
  return {
    programInvoke: null,
    transferInvoke: {
      ownerAddress: to === undefined ? '' : addressWord(to),
      callerAddress: addressWord(from),
      gas: depth === 0 ? 0 : Number(gas),
      callValue: word(value),
      msgData: bare(toHex(input)),
    },
    subtraces: [],
    result: null,
    error: null,
    reverted: false,
  }
}

/** Records the node's object. Its storage is that of the slots that were touched: the others cannot be listed. */
export class RskTracer implements Tracer {
  readonly #steps: StepRecorder
  /** Values of the contract's slots when first touched. */
  readonly #initial = new Map<bigint, bigint>()
  #contract: Hex | undefined
  #runsCode = false
  #transfer: Transfer | undefined
  #failure: FrameFailure | undefined
  #end: TraceEnd | undefined
  #depth = 0

  constructor(options: TraceOptions, budget: TraceBudget) {
    const touch = (frame: Frame, slot: bigint) => this.#touch(frame, slot)
    this.#steps = new StepRecorder({ ...formatOf(options), touch }, budget)
  }

  step(frame: Frame, opcode: number): void {
    this.#steps.step(frame, opcode)
  }

  stepped(frame: Frame, cost: number, failure: string | undefined): void {
    this.#steps.stepped(frame, cost, failure)
  }

  enter(start: FrameStart): void {
    if (this.#depth === 0) {
      this.#contract = start.to
      this.#runsCode = start.runsCode
      if (!start.runsCode) this.#transfer = transferOf(start)
    } else {
      this.#transfer?.subtraces.push(transferOf(start))
    }
    this.#depth++
  }

  exit({ created, failure }: FrameEnd): void {
    this.#depth--
    if (this.#depth > 0) return
    this.#contract ??= created
    this.#failure = failure
  }

  finish(end: TraceEnd): void {
    this.#end = end
  }

  /** The whole answer; the transaction must be over. */
  result({ transactionHash }: TracePlace): unknown {
    if (!this.#runsCode && this.#transfer !== undefined) return this.#transfer
    const contract = this.#contract
    const after = this.#end?.after
    const slots = [...this.#initial].slice(0, MOST_SLOTS)
    const initStorage = this.#storage(slots)
    const current = this.#storage(
      contract === undefined || after === undefined
        ? []
        : slots.map(([slot]) => [slot, after.storage(contract, slot)] as const),
    )
    const { kind, exception } = this.#failure ?? {}
    const error = exception === undefined ? '' : `class ${exception.name}: ${exception.message}`
    const head = {
      contractAddress: contract === undefined ? '' : bare(contract),
      initStorage,
    }
    const tail = {
      result: bare(toHex(this.#end?.output ?? EMPTY)),
      error: error.replace('{tx}', transactionHash),
      reverted: kind === 'reverted',
      storageSize: Object.keys(initStorage).length,
      currentStorage: current,
    }
    return rawJson(
      `${asciiJson(head).slice(0, -1)},"structLogs":[`,
      this.#steps.entries(),
      `],${asciiJson(tail).slice(1)}`,
    )
  }

  #touch(frame: Frame, slot: bigint): void {
    // A creation's address is known by its first frame.
    this.#contract ??= frame.depth === 0 ? frame.address : undefined
    if (frame.address !== this.#contract || this.#initial.has(slot)) return
    this.#initial.set(slot, frame.session.journal.state.storage(frame.address, slot))
  }

  /** Slots without a value are not there. */
  #storage(slots: readonly (readonly [bigint, bigint])[]): Readonly<Record<string, string>> {
    return Object.fromEntries(
      slots.filter(([, value]) => value !== 0n).map(([slot, value]) => [word(slot), word(value)]),
    )
  }
}
