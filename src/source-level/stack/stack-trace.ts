/** The stack trace of a failed message: the call sites from the outermost on, and how the last frame failed. */
import type { AbiEntry } from '../../abi/entry.ts'
import type { Instruction } from '../code-map.ts'
import type { RecordedMessage, SentMessage } from '../message-recorder.ts'
import { type FunctionModel, isSameRange, type SourceRange } from '../source-file.ts'
import { adjusted, CODE_CHECK, CODE_CHECK_START } from './argument-checks.ts'
import { beforeRun } from './before-run.ts'
import {
  atCallSite,
  customErrorFrame,
  type ErrorText,
  failureFrame,
  revertFrame,
  withPanic,
} from './failure-frame.ts'
import { type CodeOf, lastSent, MessageRun, OP, selectorOf } from './message-run.ts'
import { withoutRedundant } from './redundant-frames.ts'
import {
  constructorPlace,
  contractPlace,
  type Place,
  placeOf,
  type StackFrame,
  startOf,
} from './stack-frame.ts'
import {
  failedByGasOfCallee,
  failsAtCallSite,
  forwards,
  hasCode,
  hasDataOf,
  isPassedOn,
  isPassedOnByProxy,
  refusedCall,
} from './submessages.ts'
import { mayBeUnmapped, unmappedRevert, unmappedRevertBeforeFunction } from './unmapped-revert.ts'
import { calledPlace, isPassedOnByVyper, vyperFailure } from './vyper-failure.ts'

/**
 * Internal calls that are open at once: each has its return address on the stack, which holds 1024 words. A map with more
 * is malformed.
 */
const MOST_OPEN = 1024
/** Frames of a trace; the outermost beyond are left out. */
const MOST_FRAMES = 1024

/** What a trace needs besides the message. */
export interface TraceSources {
  readonly codeOf: CodeOf
  readonly errorText: ErrorText
  /** Can the arguments of a function be decoded from call data? */
  fitsArguments(entry: AbiEntry, input: Uint8Array): boolean
}

interface Entry {
  readonly instruction: Instruction
  /** That of the caller in code that the compiler generated. */
  readonly active: FunctionModel | undefined
}

/** The internal calls that were open when a run ended. */
interface Walk {
  /** Their call sites. */
  readonly frames: readonly StackFrame[]
  /** Their first instructions, with the functions that they enter. */
  readonly entries: readonly Entry[]
  /** The function that ran at the end; `undefined` where it is not known. */
  readonly active: FunctionModel | undefined
  /** Was any function entered that the map knows? */
  readonly hasEntered: boolean
}

function callFrame(
  { code }: MessageRun,
  range: SourceRange | undefined,
  found: Place | undefined,
): StackFrame {
  if (range === undefined) return { kind: 'internal-call', place: contractPlace(code) }
  const place = found ?? { contract: code.name, range }
  return {
    kind: 'call',
    functionKind: place.range.file.functionAround(place.range)?.kind ?? 'function',
    place,
  }
}

/** The function that an instruction begins, as a call site. */
function entryFrame(run: MessageRun, { range }: Instruction): StackFrame {
  return callFrame(run, range, placeOf(run.code, range))
}

/** The call site at a number of a run. */
function siteFrame(run: MessageRun, index: number, active: FunctionModel | undefined): StackFrame {
  const place = run.placeAt(index, active)
  return callFrame(run, run.code.isVyper ? place?.range : run.at(index)?.range, place)
}

/** Is it an instruction of a part of a function, not of all of it? */
function isWithinFunction({ range }: Instruction): boolean {
  const around = range?.file.functionAround(range)
  return range !== undefined && around !== undefined && !isSameRange(around.range, range)
}

/** Follows the jumps into functions and out of them, of the first instructions of a run. */
function walk(run: MessageRun, length = run.length): Walk {
  const frames: StackFrame[] = []
  const entries: Entry[] = []
  const called = calledFunction(run)
  let hasEntered = false
  // Before 0.5 functions that transactions call are entered by jumps of no kind.
  const countsStatements = !run.code.isSince(0, 5, 0)
  for (let index = 0; index < length; index++) {
    const instruction = run.at(index)
    if (instruction === undefined) continue
    hasEntered ||= countsStatements && isWithinFunction(instruction)
    if (instruction.jump === 'none') continue
    if (instruction.jump === 'out') {
      frames.pop()
      entries.pop()
      continue
    }
    const next = run.at(index + 1)
    if (next?.opcode !== OP.JUMPDEST || frames.length === MOST_OPEN) continue
    const caller = entries.length === 0 ? called : entries.at(-1)?.active
    frames.push(siteFrame(run, index, caller))
    const isOwn = next.range !== undefined && (caller === undefined || run.code.mayRunIn(caller, next.range))
    const entered = isOwn ? next.range?.file.functionAround(next.range) : undefined
    // A modifier runs the function that has it.
    entries.push({ instruction: next, active: entered?.kind === 'modifier' ? caller : (entered ?? caller) })
    hasEntered ||= next.range !== undefined
  }
  const active = entries.length === 0 ? called : entries.at(-1)?.active
  return { frames, entries, active, hasEntered }
}

/** The function that a call is for; `undefined` for a creation. */
function calledFunction({ code: { contract }, message, isCreation }: MessageRun): FunctionModel | undefined {
  if (isCreation) return undefined
  const isEmpty = message.input.length === 0
  const called = isEmpty ? contract?.receive : contract?.bySelector.get(selectorOf(message))
  return called ?? contract?.fallback
}

/** The frame of the constructor or function that began a run. */
function firstFrame(run: MessageRun): StackFrame | undefined {
  const { code } = run
  if (run.isCreation) return { kind: 'call', functionKind: 'constructor', place: constructorPlace(code) }
  const declared = calledFunction(run)
  return declared && { kind: 'call', functionKind: declared.kind, place: startOf(code, declared) }
}

/** A modifier that fails first has no call site: its function is put in front. */
function withFirst(run: MessageRun, frames: readonly StackFrame[]): StackFrame[] {
  const [first] = frames
  const before = first?.kind === 'call' && first.functionKind === 'modifier' ? firstFrame(run) : undefined
  return before === undefined ? [...frames] : [before, ...frames]
}

/** Makes traces by the sources that are known; each message's once. */
export class StackTracer {
  readonly #sources: TraceSources
  readonly #traced = new Map<RecordedMessage, readonly StackFrame[]>()

  constructor(sources: TraceSources) {
    this.#sources = sources
  }

  /** The frames of a failed message, outermost first, 1024 at most; none for one that succeeded. */
  trace(message: RecordedMessage): readonly StackFrame[] {
    let frames = this.#traced.get(message)
    if (frames === undefined) {
      frames = this.#trace(message).slice(-MOST_FRAMES)
      this.#traced.set(message, frames)
    }
    return frames
  }

  #trace(message: RecordedMessage): StackFrame[] {
    if (message.failure === undefined) return []
    if (message.isPrecompile) {
      const text = message.failure.reason
      return [{ kind: 'precompile', text, ...(message.to && { precompile: message.to }) }]
    }
    const code = this.#sources.codeOf(message)
    if (code === undefined) return this.#unknown(message)
    const run = new MessageRun(message, code)
    const early = code.isVyper ? undefined : beforeRun(run)
    if (early !== undefined) return [early]
    return adjusted(run, withoutRedundant(this.#afterRun(run)))
  }

  /** A contract without sources; the message that it passed on may have some. */
  #unknown(message: RecordedMessage): StackFrame[] {
    const isCreation = message.kind === 'create' || message.kind === 'create2'
    const unknown = { address: message.to, isCreation }
    const sent = lastSent(message)?.message
    if (sent?.failure !== undefined && hasDataOf(message, sent)) {
      return [{ kind: 'call', unknown }, ...this.trace(sent)]
    }
    return [{ ...failureFrame(message, undefined), unknown }]
  }

  #afterRun(run: MessageRun): StackFrame[] {
    const walked = walk(run)
    return (
      this.#bySubmessage(run, walked) ??
      byVyper(run, walked) ??
      this.#byRefusal(run, walked) ??
      byCodeCheck(run, walked) ??
      this.#byLastInstruction(run, walked) ??
      byMissingCode(run, walked) ??
      byUnmappedRevert(run, walked) ?? [
        ...walked.frames,
        failureFrame(run.message, failurePlace(run, walked)),
      ]
    )
  }

  #bySubmessage(run: MessageRun, walked: Walk): StackFrame[] | undefined {
    const sent = lastSent(run.message)
    if (sent === undefined || run.at(sent.after - 1) === undefined) return undefined
    const isOwn =
      sent.message.failure === undefined
        ? failsAtCallSite(run, sent)
        : isPassedOn(run, sent) ||
          isPassedOnByVyper(run, sent) ||
          isPassedOnByProxy(run, sent, this.#sources.codeOf)
    if (isOwn) return this.#ofSubmessage(run, sent, walked)
    // Optimised code fails in code that the compiler shares between call sites.
    const atSite = run.code.isOptimized ? walk(run, sent.after) : undefined
    return atSite && failsBehindSite(run, sent, atSite) ? this.#ofSubmessage(run, sent, atSite) : undefined
  }

  /** The frames of a failure because of a message, or of what it returned. */
  #ofSubmessage(run: MessageRun, sent: SentMessage, { frames, active }: Walk): StackFrame[] {
    const site = siteFrame(run, sent.after - 1, active)
    if (sent.message.failure === undefined) {
      const kind = hasCode(sent.message) ? 'return-data-size' : 'account-without-code'
      return withFirst(run, [...frames, { kind, place: site.place }])
    }
    const inner = [...this.trace(sent.message)]
    if (failedByGasOfCallee(run, sent)) {
      inner.push({ kind: 'callee-out-of-gas', place: inner.pop()?.place })
    }
    return withFirst(run, [...frames, site, ...inner])
  }

  #byRefusal(run: MessageRun, walked: Walk): StackFrame[] | undefined {
    const sent = run.message.sent.at(-1)
    const { frames, active } = run.code.isOptimized && sent ? walk(run, sent.after) : walked
    const refused = refusedCall(run, active)
    return refused && withFirst(run, [...frames, refused])
  }

  #byLastInstruction(run: MessageRun, walked: Walk): StackFrame[] | undefined {
    const reverted = this.#byRevert(run, walked)
    if (reverted !== undefined || run.isCreation || walked.hasEntered) return reverted
    const { last, code } = run
    if (last === undefined || !run.hasReverted) return undefined
    const failing = last.range?.file.functionAround(last.range)
    const isPossible = last.range && (!walked.active || code.mayRunIn(walked.active, last.range))
    if (failing !== undefined && !isPossible) return [revertFrame(run, run.placeAt(-1, walked.active))]
    if (failing !== undefined) {
      const isUnnamed = failing === code.contract?.fallback || failing === code.contract?.receive
      const isInside = isUnnamed && last.opcode === OP.REVERT
      return [revertFrame(run, isInside ? placeOf(code, last.range) : startOf(code, failing))]
    }
    return this.#beforeFunction(run)
  }

  /** REVERT and INVALID inside a function, and those with data. */
  #byRevert(run: MessageRun, walked: Walk): StackFrame[] | undefined {
    const { last, code, message } = run
    if (last === undefined || (last.opcode !== OP.REVERT && last.opcode !== OP.INVALID)) return undefined
    const isInside = last.range !== undefined && (walked.hasEntered || run.isCreation)
    const found = run.placeAt(-1, walked.active)
    const failing = isInside ? found?.range.file.functionAround(found.range) : undefined
    const frames = [...walked.frames]
    if (failing?.kind === 'modifier') {
      const entry = walked.entries.at(-1)
      const before = entry === undefined ? firstFrame(run) : entryFrame(run, entry.instruction)
      if (before !== undefined) frames.push(before)
    }
    const panicking = withPanic(run, frames, found, walked.active)
    if (panicking !== undefined) return withFirst(run, panicking)
    const custom = customErrorFrame(run, found ?? run.lastPlace(walked.active), this.#sources.errorText)
    if (custom !== undefined) return withFirst(run, [...frames, custom])
    if (isInside) {
      const site = failing === undefined && code.isOptimized ? frames.at(-1) : undefined
      // Code that the compiler made belongs to its call.
      if (site?.kind === 'call' && site.place?.function !== undefined) {
        return withFirst(run, [...frames.slice(0, -1), revertFrame(run, site.place)])
      }
      // Optimised code may belong to no function.
      const called = code.contract?.bySelector.get(selectorOf(message))
      const start = run.isCreation ? constructorPlace(code) : called && startOf(code, called)
      const place = failing === undefined && code.contract !== undefined ? start : found
      if (place === undefined) return undefined
      const shared = code.isOptimized ? atCallSite(frames, place) : { frames, place }
      return withFirst(run, [...shared.frames, revertFrame(run, shared.place)])
    }
    if (last.range !== undefined || message.output.length === 0) return undefined
    return withFirst(run, [...frames, revertFrame(run, contractPlace(code))])
  }

  /** A revert before any function was entered: of arguments that cannot be decoded, or of another check. */
  #beforeFunction(run: MessageRun): StackFrame[] {
    const { code, message } = run
    const called = code.contract?.bySelector.get(selectorOf(message))
    const entry = code.entry('function', selectorOf(message))
    if (called !== undefined && entry !== undefined && !this.#sources.fitsArguments(entry, message.input)) {
      return [{ kind: 'invalid-arguments', place: startOf(code, called) }]
    }
    const unmapped = mayBeUnmapped(run) ? unmappedRevertBeforeFunction(run) : undefined
    // Optimised code enters functions without a jump into them.
    const start = called !== undefined && code.isOptimized ? startOf(code, called) : contractPlace(code)
    return [unmapped ?? failureFrame(message, start ?? placeOf(code, run.last?.range))]
  }
}

/** Did optimised code revert behind a message, with nothing of the function that sent it in between? */
function failsBehindSite(run: MessageRun, sent: SentMessage, { active }: Walk): boolean {
  if (run.last?.opcode !== OP.REVERT || run.message.output.length > 0) return false
  // A later one never started.
  if (run.message.sent.at(-1) !== sent) return false
  const site = run.at(sent.after - 1)?.range
  if (site === undefined || !run.leavesOnly(site, sent.after, active)) return false
  return sent.message.failure === undefined || forwards(run, sent)
}

/** Where the EVM reports a failure: at the last place, but of new code at the constructor, which had ended. */
function failurePlace(run: MessageRun, { active }: Walk): Place | undefined {
  const cause = run.message.failure?.cause?.kind
  const isOfCode =
    run.isCreation && (cause === 'other' || cause === 'deposit-out-of-gas' || cause === 'code-prefix')
  return isOfCode ? constructorPlace(run.code) : run.lastPlace(active)
}

/** REVERT and INVALID in code by Vyper. */
function byVyper(run: MessageRun, { frames }: Walk): StackFrame[] | undefined {
  const isCheck = run.last?.opcode === OP.REVERT || run.last?.opcode === OP.INVALID
  if (!run.code.isVyper || !isCheck) return undefined
  const failure = vyperFailure(run)
  if (failure.place !== undefined) return [...frames, failure]
  if (frames.length === 0) return [{ ...failure, place: calledPlace(run) }]
  // In a module of which no syntax tree is known.
  return [...frames.slice(0, -1), { ...failure, place: frames.at(-1)?.place }]
}

/** The check of solc in front of a call: without code at the account it reverts. */
function byCodeCheck(run: MessageRun, { frames }: Walk): StackFrame[] | undefined {
  if (!run.endsWith(CODE_CHECK)) return undefined
  const place = placeOf(run.code, run.at(CODE_CHECK_START)?.range) ?? run.lastPlace()
  return withFirst(run, [...frames, { kind: 'account-without-code', place }])
}

/** EXTCODESIZE gave 0. */
function byMissingCode(run: MessageRun, { frames }: Walk): StackFrame[] | undefined {
  const index = run.lastMapped()
  if (index === undefined || index === 0 || run.at(index)?.opcode !== OP.ISZERO) return undefined
  if (run.at(index - 1)?.opcode !== OP.EXTCODESIZE) return undefined
  return [...frames, { kind: 'account-without-code', place: run.lastPlace() }]
}

function byUnmappedRevert(run: MessageRun, { frames }: Walk): StackFrame[] | undefined {
  if (!mayBeUnmapped(run)) return undefined
  const found = unmappedRevert(run)
  return found === undefined ? undefined : [...frames, found]
}
