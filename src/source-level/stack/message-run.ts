/** A recorded message with the map of its code: what ran, and where it stands in the sources. */
import type { CodeMap, Instruction } from '../code-map.ts'
import type { RecordedMessage, SentMessage } from '../message-recorder.ts'
import { type FunctionModel, isSameRange, type SourceRange } from '../source-file.ts'
import { type Place, placeOf, startOf } from './stack-frame.ts'

/** The opcodes by which compilers' code is recognised. */
export const OP = {
  LT: 0x10,
  ISZERO: 0x15,
  CALLDATASIZE: 0x36,
  CODESIZE: 0x38,
  CODECOPY: 0x39,
  EXTCODESIZE: 0x3b,
  RETURNDATACOPY: 0x3e,
  JUMP: 0x56,
  JUMPI: 0x57,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  CREATE: 0xf0,
  CALL: 0xf1,
  DELEGATECALL: 0xf4,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
} as const

/** Most instructions of a merged block that are passed over. */
const MERGED = 200

/** Finds the map of the code that a message ran. */
export type CodeOf = (message: RecordedMessage) => CodeMap | undefined

/** Was the message never started? */
export function isRefused({ failure }: RecordedMessage): boolean {
  return failure?.kind === 'refused'
}

/** The last message that really started. */
export function lastSent({ sent }: RecordedMessage): SentMessage | undefined {
  return sent.findLast(({ message }) => message.kind !== 'selfdestruct' && !isRefused(message))
}

/** The last four bytes of the selector as hex digits; shorter when there are fewer. */
export function selectorOf({ input }: RecordedMessage): string {
  return Buffer.from(input.subarray(0, 4)).toString('hex')
}

/** A message whose code has a map. */
export class MessageRun {
  readonly message: RecordedMessage
  readonly code: CodeMap
  readonly isCreation: boolean

  constructor(message: RecordedMessage, code: CodeMap) {
    this.message = message
    this.code = code
    this.isCreation = message.kind === 'create' || message.kind === 'create2'
  }

  /** Instructions that ran. */
  get length(): number {
    return this.message.pcs.length
  }

  /** The instruction at a number of the run; negative ones count from its end. */
  at(index: number): Instruction | undefined {
    const pc = this.message.pcs[index < 0 ? this.length + index : index]
    return pc === undefined ? undefined : this.code.at(pc)
  }

  /** The last instruction, unless the run ended with a message that never came back. */
  get last(): Instruction | undefined {
    return this.at(-1)
  }

  get hasReverted(): boolean {
    return this.message.failure?.kind === 'reverted'
  }

  /** Did these opcodes run at these numbers, counted from the end, with no message in between? */
  endsWith(opcodes: ReadonlyMap<number, number>): boolean {
    const first = this.length + Math.min(...opcodes.keys())
    if (first < 0 || (lastSent(this.message)?.after ?? 0) > first) return false
    return [...opcodes].every(([index, opcode]) => this.at(index)?.opcode === opcode)
  }

  /** Are all instructions from a number on at this range, as far as they have one? */
  staysAt(range: SourceRange, from: number): boolean {
    if ((lastSent(this.message)?.after ?? 0) > from) return false
    for (let index = from; index < this.length; index++) {
      const here = this.at(index)?.range
      if (here !== undefined && !isSameRange(here, range)) return false
    }
    return true
  }

  /** The number of the last instruction with a range, after the last message. */
  lastMapped(): number | undefined {
    const from = lastSent(this.message)?.after ?? 0
    for (let index = this.length - 1; index >= from; index--) {
      if (this.at(index)?.range !== undefined) return index
    }
    return undefined
  }

  /**
   * The place of an instruction. Where it cannot be a part of the function that runs, since the optimiser merged equal code,
   * it is that of the last instruction before that can, or the function itself.
   */
  placeAt(index: number, active: FunctionModel | undefined): Place | undefined {
    if (this.code.isVyper) return this.#nearestPlace(index < 0 ? this.length + index : index)
    const range = this.at(index)?.range
    const place = placeOf(this.code, range)
    if (range === undefined || active === undefined || this.code.mayRunIn(active, range)) return place
    const from = lastSent(this.message)?.after ?? 0
    const at = index < 0 ? this.length + index : index
    for (let before = at - 1; before >= from && before >= at - MERGED; before--) {
      const near = this.at(before)?.range
      const isInside = near?.file.functionAround(near) !== undefined && !isSameRange(near, active.range)
      if (isInside && this.code.mayRunIn(active, near)) return placeOf(this.code, near)
    }
    return startOf(this.code, active)
  }

  /** The place of an instruction by Vyper, which maps few: that of the last one up to there in the same function. */
  #nearestPlace(index: number): Place | undefined {
    if (this.code.isReordered) return placeOf(this.code, this.at(this.#checking(index))?.range)
    let returned = 0
    for (let at = index; at >= 0; at--) {
      const instruction = this.at(at)
      if (at < index && instruction?.jump === 'out') returned++
      else if (at < index && instruction?.jump === 'in') {
        if (returned === 0) return undefined
        returned--
      } else if (returned === 0) {
        const place = placeOf(this.code, instruction?.range)
        if (place?.function !== undefined) return place
      }
    }
    return undefined
  }

  /** In front of the end of a run, the jump that a check makes to code that checks share. */
  #checking(index: number): number {
    const isMapped = this.at(index)?.range !== undefined
    if (isMapped || index !== this.length - 1) return index
    for (let at = index; at > index - 8; at--) if (this.at(at)?.opcode === OP.JUMPI) return at
    return index
  }

  /**
   * In optimised code, is nothing of the function that runs in what ran from a number on, but for the range of a call before it?
   * Code of the compiler has the range of the contract, or that of another function that it was made for first.
   */
  leavesOnly(range: SourceRange, from: number, active: FunctionModel | undefined): boolean {
    for (let index = from; index < this.length; index++) {
      const here = this.at(index)?.range
      if (here === undefined || isSameRange(here, range)) continue
      if (active === undefined || here.file.functionAround(here) === undefined) continue
      if (this.code.mayRunIn(active, here)) return false
    }
    return true
  }

  /** The last place inside a function, of those that can be a part of the one that runs. */
  lastPlace(active?: FunctionModel): Place | undefined {
    let checked: SourceRange | undefined
    for (let index = this.length - 1; index >= 0; index--) {
      const range = this.at(index)?.range
      if (range === undefined || (checked !== undefined && isSameRange(checked, range))) continue
      const place = placeOf(this.code, range)
      const isPossible = active === undefined || this.code.mayRunIn(active, range)
      if (place !== undefined && isPossible) return place
      checked = range
    }
    return undefined
  }
}
