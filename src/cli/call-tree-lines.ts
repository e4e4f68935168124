/** A call tree as indented lines in colour: gas, caller, callee and input of each call, its events and its result. */
import pc from 'picocolors'
import type { AbiCodec } from '../abi/codec.ts'
import { CONSOLE_ADDRESS, consoleText } from '../abi/console.ts'
import { panicMessage } from '../abi/panic.ts'
import { type AbiRegistry, type DecodedCall, decodedText } from '../abi/registry.ts'
import { bytesText, valuesText } from '../abi/value-text.ts'
import type { Log } from '../chain/receipt.ts'
import { counted } from '../counted.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { revertReason } from '../evm/failure-message.ts'
import { PRECOMPILES } from '../evm/precompiles/table.ts'
import type { CallFrame } from '../evm/tracing/call-frame.ts'
import { coins, plain } from './terminal-text.ts'

/** What a tree is printed with. */
export interface TreeContext {
  readonly names: AbiRegistry
  /** Decodes calls of the console contract; without it they are printed as raw data. */
  readonly codec?: AbiCodec
  /** The code of a contract, to find its ABI by. */
  codeOf(address: Hex): Uint8Array | undefined
  /** What the sources say of a frame, by the indexes from the root to it. */
  sourceOf?(path: readonly number[]): CallSource | undefined
  /** Calls and events beyond this many lines are only counted. */
  readonly maxLines?: number
}

/** A frame at the level of sources. */
export interface CallSource {
  readonly contract?: string | undefined
  readonly function?: string | undefined
  /** The call site: `contracts/Vault.sol:42:9`. */
  readonly site?: string | undefined
}

/** Bytes shown of data that is not decoded. */
const SHOWN_BYTES = 36

const KIND_MARKS: Readonly<Partial<Record<CallFrame['kind'], string>>> = {
  callcode: 'callcode',
  delegatecall: 'delegatecall',
  staticcall: 'staticcall',
  create2: 'create2',
}

/** Does any frame of the tree call the console contract? */
export function callsConsole({ to, calls }: CallFrame): boolean {
  return to === CONSOLE_ADDRESS || calls.some(callsConsole)
}

function valueMark(value: bigint): string {
  return value === 0n ? '' : pc.yellow(`{value: ${coins(value)}}`)
}

/** A contract by name and, since two contracts may share a name, by address. */
export function contractText(address: Hex, { names, codeOf }: TreeContext): string {
  const precompile = PRECOMPILES.get(address)
  if (precompile !== undefined) return precompile.name
  const name = names.contractName(address, names.isEmpty ? undefined : codeOf(address))
  return name === undefined ? address : shortName(name, address)
}

function shortName(name: string, address: Hex): string {
  return `${plain(name)}@${address.slice(0, 8)}…${address.slice(-4)}`
}

function inputText(input: Uint8Array): string {
  if (input.length === 0) return '()'
  if (input.length < 4) return `(${toHex(input)})`
  const rest = input.length === 4 ? '' : bytesText(input.subarray(4), SHOWN_BYTES)
  return `.${toHex(input.subarray(0, 4))}(${rest})`
}

function callText(
  frame: CallFrame,
  call: DecodedCall | undefined,
  context: TreeContext,
  source: CallSource | undefined,
): string {
  const { kind, to, value, input, failure } = frame
  const colour = failure === undefined ? pc.green : pc.red
  const mark = KIND_MARKS[kind] === undefined ? '' : pc.dim(` [${KIND_MARKS[kind]}]`)
  if (kind === 'create' || kind === 'create2') {
    const made = context.names.creation(input)
    const at = to === undefined ? '' : pc.dim(` at ${to}`)
    const other = source?.contract === undefined ? 'contract' : plain(source.contract)
    const what = made === undefined ? `${other} (${input.length} bytes)` : plain(decodedText(made))
    return `${pc.yellow('new')} ${colour(what)}${valueMark(value)}${at}${mark}`
  }
  const where = to === undefined ? 'nobody' : contractText(to, context)
  if (call === undefined && source?.function !== undefined) {
    const owner = where === to && source.contract !== undefined ? shortName(source.contract, to) : where
    const args = input.length > 4 ? bytesText(input.subarray(4), SHOWN_BYTES) : ''
    return `${colour(`${owner}.${plain(source.function)}`)}${valueMark(value)}(${args})${mark}`
  }
  if (call === undefined) return `${colour(`${where}${inputText(input)}`)}${valueMark(value)}${mark}`
  const args = plain(valuesText(call.parameters, call.values))
  return `${colour(`${where}.${call.name}`)}${valueMark(value)}(${args})${mark}`
}

function failureText(frame: CallFrame, { names }: TreeContext): string {
  const { failure, output, to } = frame
  if (failure === undefined) return ''
  if (failure.kind !== 'reverted') return failure.reason
  const text = revertReason(output)
  if (text !== undefined) return `revert ${text}`
  const error = names.error(output, to)
  if (error !== undefined) return `revert ${decodedText(error)}`
  const panic = panicMessage(output)
  if (panic !== undefined) return `revert ${panic}`
  return output.length === 0 ? 'revert without a reason' : `revert ${bytesText(output)}`
}

/** How a call ended; `undefined` when it returned nothing. */
function endText(frame: CallFrame, call: DecodedCall | undefined, context: TreeContext): string | undefined {
  const { kind, failure, output } = frame
  if (failure !== undefined) return pc.red(`← ${plain(failureText(frame, context))}`)
  if (kind === 'create' || kind === 'create2') return pc.dim(`← ${output.length} bytes of code`)
  if (output.length === 0) return undefined
  const returned = call && context.names.returned(call, output)
  return `${pc.dim('←')} ${returned === undefined ? bytesText(output, 64) : plain(returned)}`
}

function logText(log: Log, { names }: TreeContext, isKept: boolean): string {
  const event = names.event(log)
  const text = event === undefined ? undefined : plain(decodedText(event))
  const raw = `(${[...log.topics, ...(log.data.length > 0 ? [bytesText(log.data, SHOWN_BYTES)] : [])].join(', ')})`
  return `${pc.magenta('emit')} ${text ?? raw}${isKept ? '' : pc.dim(' (reverted)')}`
}

/** Frames and logs of one call in the order of execution. */
function* inside({ logs, calls }: CallFrame): Generator<CallFrame | CallFrame['logs'][number]> {
  let next = 0
  for (const [index, call] of calls.entries()) {
    for (; next < logs.length && (logs[next]?.position ?? 0) <= index; next++) {
      yield logs[next] as CallFrame['logs'][number]
    }
    yield call
  }
  yield* logs.slice(next)
}

/** How many calls and events a frame holds, itself included. */
function sizeOf(frame: CallFrame): { readonly calls: number; readonly events: number } {
  const size = { calls: 1, events: frame.logs.length }
  for (const { calls, events } of frame.calls.map(sizeOf)) {
    size.calls += calls
    size.events += events
  }
  return size
}

function selfDestructText({ from, to, value }: CallFrame): string {
  return `${pc.yellow('selfdestruct')} ${from}, ${coins(value)} to ${to ?? 'nobody'}`
}

/** Where a line is in the tree: the indentation of its frame, and whether it is the last line of the frame. */
interface Place {
  readonly lead: string
  readonly isLast: boolean
}

/** Makes the lines of one tree. */
class TreeLines {
  readonly #context: TreeContext
  readonly #indent: string
  readonly #maxLines: number
  readonly #lines: string[] = []
  /** Calls and events that are counted, not printed. */
  readonly #left = { calls: 0, events: 0 }

  constructor(root: CallFrame, context: TreeContext, indent: string) {
    this.#context = context
    this.#indent = indent
    this.#maxLines = context.maxLines ?? Number.POSITIVE_INFINITY
    this.#write(root, undefined, [])
  }

  /** All lines, with the counts of what is left out. */
  all(): string[] {
    const { calls, events } = this.#left
    const more = [
      ...(calls > 0 ? [counted(calls, 'more call')] : []),
      ...(events > 0 ? [counted(events, 'more event')] : []),
    ]
    return more.length === 0
      ? this.#lines
      : [...this.#lines, `${this.#indent}${pc.dim(`… and ${more.join(', ')}`)}`]
  }

  get #isFull(): boolean {
    return this.#lines.length >= this.#maxLines
  }

  /** `place` is undefined for the root. */
  #add(text: string, place: Place | undefined): void {
    const branch = place && `${pc.dim(`${place.lead}${place.isLast ? '└─' : '├─'}`)} `
    this.#lines.push(`${this.#indent}${branch ?? ''}${text}`)
  }

  #consoleLine(frame: CallFrame): string | undefined {
    const { codec } = this.#context
    if (frame.to !== CONSOLE_ADDRESS || codec === undefined) return undefined
    return `${pc.magenta('console.log')} ${plain(consoleText(frame.input, codec))}`
  }

  #write(frame: CallFrame, place: Place | undefined, path: readonly number[]): void {
    if (this.#isFull) {
      const { calls, events } = sizeOf(frame)
      this.#left.calls += calls
      this.#left.events += events
      return
    }
    const text = frame.kind === 'selfdestruct' ? selfDestructText(frame) : this.#consoleLine(frame)
    if (text === undefined) this.#writeCall(frame, place, path)
    else this.#add(text, place)
  }

  #writeCall(frame: CallFrame, place: Place | undefined, path: readonly number[]): void {
    const isCreation = frame.kind === 'create' || frame.kind === 'create2'
    const call =
      isCreation || frame.isPrecompile ? undefined : this.#context.names.call(frame.input, frame.to)
    const source = this.#context.sourceOf?.(path)
    const site = source?.site === undefined ? '' : `  ${pc.dim(plain(source.site))}`
    this.#add(`${pc.dim(`[${frame.gasUsed}]`)} ${callText(frame, call, this.#context, source)}${site}`, place)
    const lead = place === undefined ? '' : `${place.lead}${place.isLast ? '   ' : '│  '}`
    const entries = [...inside(frame)]
    const end = endText(frame, call, this.#context)
    let calls = 0
    for (const [index, entry] of entries.entries()) {
      const inner = { lead, isLast: end === undefined && index === entries.length - 1 }
      if (!('log' in entry)) this.#write(entry, inner, [...path, calls++])
      else if (this.#isFull) this.#left.events++
      else this.#add(logText(entry.log, this.#context, entry.index !== undefined), inner)
    }
    if (end !== undefined) this.#add(end, { lead, isLast: true })
  }
}

/** The lines of a tree, without control characters of names and texts in it. */
export function callTreeLines(root: CallFrame, context: TreeContext, indent = ''): string[] {
  return new TreeLines(root, context, indent).all()
}
