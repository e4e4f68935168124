/** The variables of a function while it runs: its own, the message's, and those of the contract. */
import { toHex } from '../encoding/hex.ts'
import { opcodeAt } from '../evm/code-analysis.ts'
import { selectorOf } from '../source-level/stack/message-run.ts'
import type { FrameState } from './chapter.ts'
import type { Execution } from './execution.ts'
import type { Statement } from './function-scope.ts'
import type { LocalVariable } from './local-variable.ts'
import { CallDataReader, MemoryReader } from './memory-value.ts'
import type { MappedCode, SourceFrame, SourceSteps } from './source-steps.ts'
import { localsAt, type PlacedLocal } from './stack-layout.ts'
import { pointedValue, type StorageParts, stateValues } from './storage-value.ts'
import {
  bytesOfWord,
  isValueType,
  partedValue,
  plainValue,
  UNKNOWN_TEXT,
  type Value,
  valueText,
} from './value.ts'

const JUMPDEST = 0x5b
const JUMP = 0x56
const JUMPI = 0x57
const GAS = 0x5a
const LOG0 = 0xa0
const LOG4 = 0xa4
const CREATE = 0xf0
const ADDRESS_BYTES = 20
const SELECTOR_BYTES = 4

/** A frame at one of its steps. */
export interface FrameAt {
  readonly frame: SourceFrame
  /** Of the frame: where it has called another one, that of the call. */
  readonly step: number
  /** The statement that runs. */
  readonly statement: Statement | undefined
}

/** What the variables are read from. */
export interface VariableSources {
  readonly execution: Execution
  readonly steps: SourceSteps
  /** The step at which the execution stands. */
  readonly now: number
  /** The state of the open messages before a step, outermost first; `undefined` where it is not kept. */
  framesAt(step: number): readonly FrameState[] | undefined
}

/** The storage of the contract whose code a frame runs; without variables where its layout is not known. */
function storageOf({ frame }: FrameAt, { execution, now }: VariableSources): StorageParts | undefined {
  const { mapped, message } = frame
  const address = execution.parties(message)?.address
  if (mapped === undefined || address === undefined) return undefined
  return {
    layout: mapped.sources.layoutOf(mapped.code.name, mapped.code.path) ?? mapped.sources.types.layout(),
    read: (slot) => execution.storage(address, slot, now),
    membersOf: (key) => mapped.sources.types.membersOf(key),
    keysOf: (slot) => execution.keysOf(slot),
  }
}

/** The state variables of the contract whose code a frame runs, none where its layout is not known; and its constants. */
export function stateOf(at: FrameAt, sources: VariableSources): readonly Value[] {
  const { mapped } = at.frame
  const parts = storageOf(at, sources)
  const constants = mapped?.sources.constantsOf(mapped.code.name, mapped.code.path) ?? []
  return [
    ...(parts === undefined ? [] : stateValues(parts)),
    ...constants.map(({ name, type, text }) => plainValue(name, type, text)),
  ]
}

/** `msg` and `this`, and the arguments in the call data where the called function is known. */
export function messageValues({ frame }: FrameAt, { execution }: VariableSources): readonly Value[] {
  const { message, mapped } = frame
  const parties = execution.parties(message)
  if (parties === undefined) return []
  const isCreation = message.kind === 'create' || message.kind === 'create2'
  const data = isCreation ? new Uint8Array(0) : message.input
  const fields = new Map([
    ['sender', plainValue('sender', 'address', parties.sender)],
    ['value', plainValue('value', 'uint256', String(parties.value))],
    ['sig', plainValue('sig', 'bytes4', toHex(firstBytes(data, SELECTOR_BYTES)))],
    ['data', plainValue('data', 'bytes', toHex(data.subarray(0, 1024)) + (data.length > 1024 ? '…' : ''))],
  ])
  const sent = partedValue('msg', 'message', parties.sender, [...fields.keys()], (name) => fields.get(name))
  const own = parties.address === undefined ? [] : [plainValue('this', 'address', parties.address)]
  return [sent, ...own, ...(mapped && !isCreation ? argumentsOf(frame, mapped) : [])]
}

/** The first bytes of call data, which are zeros behind its end. */
function firstBytes(data: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  bytes.set(data.subarray(0, length))
  return bytes
}

function argumentsOf({ message }: SourceFrame, { code, sources }: MappedCode): readonly Value[] {
  const called = code.contract?.bySelector.get(selectorOf(message))
  const parameters = called && sources.scopeOf(called.range)?.parameters
  if (parameters === undefined || parameters.length === 0) return []
  const members = parameters.flatMap(({ name, type }, index) =>
    type === undefined ? [] : [{ name: name || String(index), type }],
  )
  if (members.length < parameters.length) return []
  const values = new CallDataReader(message.input, sources.types).tuple(members, BigInt(SELECTOR_BYTES))
  const names = values.map(({ name }) => name)
  return [
    partedValue('arguments', 'call data', called?.name ?? '', names, (name) =>
      values.find((value) => value.name === name),
    ),
  ]
}

/** Does an opcode end what an optimiser treats as one block? */
function endsBlock(opcode: number): boolean {
  return (
    opcode === JUMP ||
    opcode === JUMPI ||
    opcode === GAS ||
    (opcode >= LOG0 && opcode <= LOG4) ||
    opcode >= CREATE
  )
}

/** The steps of a block around one: its first, and that before which its effects are complete. */
function blockAround(step: number, execution: Execution): readonly [number, number] {
  const { message, index } = execution.place(step)
  const { pcs, code = new Uint8Array(0) } = message
  const opcode = (at: number) => opcodeAt(code, pcs[at] ?? 0)
  let first = index
  while (first > 0 && opcode(first) !== JUMPDEST && !endsBlock(opcode(first - 1))) first--
  let last = index
  while (last + 1 < pcs.length && !endsBlock(opcode(last)) && (last === index || opcode(last) !== JUMPDEST))
    last++
  return [step - (index - first), step + (last - index)]
}

/** Words of the stack of a frame: those of a block that an optimiser has rewritten only where the block does not change them. */
function wordsOf(
  at: FrameAt,
  state: FrameState,
  sources: VariableSources,
): (position: number) => bigint | undefined {
  const { stack } = state
  if (at.frame.mapped?.sources.stack === 'exact') return (position) => stack[position]
  const { depth } = at.frame.message
  const [before, after] = blockAround(at.step, sources.execution).map(
    (step) => sources.framesAt(step)?.find(({ message }) => message.depth === depth)?.stack,
  )
  return (position) => {
    const word = before?.[position]
    return word !== undefined && word === after?.[position] && word === stack[position] ? word : undefined
  }
}

/** In optimised code, is a variable in scope where the block begins too, and where it was entered from? */
function isInScope({ kind, variable }: PlacedLocal, at: FrameAt, { execution }: VariableSources): boolean {
  const { mapped } = at.frame
  if (kind !== 'local' || mapped?.sources.stack !== 'optimized') return true
  const [first] = blockAround(at.step, execution)
  const { message, index } = execution.place(first)
  const isUsable = (number: number): boolean => {
    const instruction = mapped.code.at(message.pcs[number] ?? 0)
    if (instruction?.jump === 'out') return true
    const start = instruction?.range?.start
    return start !== undefined && variable.start <= start && start < variable.end
  }
  return isUsable(index) && index > 0 && isUsable(index - 1)
}

/** The variables of a function; `undefined` where their places on the stack are not known. */
export function localValues(at: FrameAt, sources: VariableSources): readonly Value[] | undefined {
  const { frame, statement, step } = at
  const { mapped } = frame
  if (mapped === undefined || mapped.sources.stack === 'none' || statement === undefined) return undefined
  const placed = localsAt(frame, statement, step, sources)
  const state = sources.framesAt(sources.now)?.find(({ message }) => message.depth === frame.message.depth)
  if (placed === undefined || state === undefined) return undefined
  const word = wordsOf(at, state, sources)
  const readers: Readers = {
    mapped,
    memory: new MemoryReader(state.memory, mapped.sources.types),
    callData: new CallDataReader(frame.message.input, mapped.sources.types),
    storage: storageOf(at, sources),
  }
  const shown = placed.filter((one) => isInScope(one, at, sources))
  return shown.flatMap(({ variable, position }) => {
    const words = Array.from({ length: variable.words }, (_, i) => word(position + i))
    const known = words.filter((one) => one !== undefined)
    return known.length < words.length ? [] : [localValue(variable, known, readers)]
  })
}

interface Readers {
  readonly mapped: MappedCode
  readonly memory: MemoryReader
  readonly callData: CallDataReader
  readonly storage: StorageParts | undefined
}

function localValue(
  { name, type: key, label, location }: LocalVariable,
  words: readonly bigint[],
  readers: Readers,
): Value {
  const { mapped, memory, callData, storage } = readers
  const type = key === undefined ? undefined : mapped.sources.types.typeOf(key)
  const [word = 0n, second = 0n] = words
  if (key === undefined || type === undefined) return plainValue(name, label, UNKNOWN_TEXT)
  if (isValueType(type)) return plainValue(name, type.label, stackText(key, words, readers))
  const named = (value: Value): Value => ({ ...value, type: label || value.type })
  if (location === 'memory') return named(memory.at(name, key, word))
  if (location === 'storage') {
    if (storage?.layout.types.has(key) !== true) return plainValue(name, label, UNKNOWN_TEXT)
    return named(pointedValue(name, key, word, storage))
  }
  if (location !== 'calldata') return plainValue(name, label, UNKNOWN_TEXT)
  if (type.kind === 'string' || type.kind === 'bytes')
    return named(callData.content(name, type.kind, word, second))
  if (type.kind === 'array' && type.length === undefined)
    return named(callData.elements(name, type, word, second))
  return named(callData.at(name, key, word))
}

/** The text of a value that is on the stack itself. */
function stackText(key: string, [word = 0n, second = 0n]: readonly bigint[], { mapped }: Readers): string {
  const type = mapped.sources.types.typeOf(key)
  if (type === undefined || !isValueType(type)) return UNKNOWN_TEXT
  if (key.startsWith('external ')) {
    const address = BigInt.asUintN(8 * ADDRESS_BYTES, word)
    return valueText(
      type,
      (address << BigInt(8 * SELECTOR_BYTES)) | BigInt.asUintN(8 * SELECTOR_BYTES, second),
    )
  }
  if (key.startsWith('internal ')) {
    const range = mapped.code.at(Number(BigInt.asUintN(32, word)))?.range
    const called = range?.file.functionAround(range)
    return called !== undefined && called.range.start === range?.start ? called.name : UNKNOWN_TEXT
  }
  return valueText(type, bytesOfWord(type, word), mapped.sources.types.membersOf(key))
}
