/** Failures that follow from the message itself: value that nobody takes, a function that nobody has. */
import { isSameRange, type SourceRange } from '../source-file.ts'
import { type MessageRun, OP, selectorOf } from './message-run.ts'
import { constructorPlace, contractPlace, type Place, type StackFrame, startOf } from './stack-frame.ts'

/** Value and data that the contract cannot take, without a function for the selector. */
function withoutFunction(run: MessageRun): StackFrame | undefined {
  const { code, message } = run
  const { contract } = code
  if (contract === undefined) return undefined
  const { fallback, receive } = contract
  const isEmpty = message.input.length === 0
  if (isEmpty && receive !== undefined) return undefined
  // Functions that only receive came with 0.6.
  const couldReceive = isEmpty && code.isSince(0, 6, 0)
  if (fallback === undefined) {
    return { kind: couldReceive ? 'no-fallback-or-receive' : 'unknown-function', place: contractPlace(code) }
  }
  if (message.value === 0n || fallback.isPayable) return undefined
  const kind = couldReceive ? 'fallback-not-payable-no-receive' : 'fallback-not-payable'
  return { kind, place: startOf(code, fallback), value: message.value }
}

function beforeCall(run: MessageRun): StackFrame | undefined {
  const { code, message } = run
  const { contract } = code
  if (contract === undefined) return undefined
  const called = contract.bySelector.get(selectorOf(message))
  if (contract.isLibrary && message.depth === 0) {
    // Code of libraries reverts calls that are no delegate calls, but for functions that only read.
    if (called?.changesState === false) return undefined
    return { kind: 'library-called-directly', place: called ? startOf(code, called) : contractPlace(code) }
  }
  if (called === undefined) return withoutFunction(run)
  if (message.value === 0n || called.isPayable || contract.isLibrary) return undefined
  return { kind: 'function-not-payable', place: startOf(code, called), value: message.value }
}

/** Did the constructor read its arguments, and nothing else, before it reverted? */
function failedAtArguments(run: MessageRun, place: Place): boolean {
  const { code, message } = run
  const { contract } = code
  const declared = contract?.constructor_
  // Before 0.5.9 arguments were not checked.
  if (contract === undefined || declared === undefined || !code.isSince(0, 5, 9)) return false
  if (run.last?.opcode !== OP.REVERT || run.last.range !== undefined || message.sent.length > 0) return false
  let readsSize = false
  for (let index = 0; index < run.length; index++) {
    const instruction = run.at(index)
    const range = instruction?.range
    const isOwn = (own: SourceRange) => range === undefined || isSameRange(own, range)
    if (!isOwn(place.range) && !isOwn(declared.range)) return false
    if (instruction?.opcode === OP.CODESIZE) readsSize = true
  }
  return readsSize
}

function beforeCreation(run: MessageRun): StackFrame | undefined {
  const { code, message } = run
  const declared = code.contract?.constructor_
  const place = constructorPlace(code)
  if (declared === undefined || place === undefined) return undefined
  if (message.value !== 0n && !declared.isPayable) {
    return { kind: 'function-not-payable', place, value: message.value }
  }
  return failedAtArguments(run, place) ? { kind: 'invalid-arguments', place } : undefined
}

/** The failure that a message without return data must end with. */
export function beforeRun(run: MessageRun): StackFrame | undefined {
  // The first compilers used INVALID for their checks.
  const hasReverted = run.hasReverted || run.last?.opcode === OP.INVALID
  if (!hasReverted || run.message.output.length > 0) return undefined
  return run.isCreation ? beforeCreation(run) : beforeCall(run)
}
