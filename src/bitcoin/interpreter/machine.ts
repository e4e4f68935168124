/** The state of a script's execution: stacks, conditions, limits. */

import { RULE } from './flags.ts'
import { demand, ScriptFailure, type ScriptFailureName } from './script-failure.ts'
import { decodeNumber, encodeNumber, isTrue } from './script-number.ts'
import type { SignatureChecker } from './signature-checker.ts'

/** Most items on both stacks. */
const MAX_STACK = 1000

/** Most operations of a script that are no pushes. */
export const MAX_OPERATIONS = 201

const TRUE = Uint8Array.of(1)
const FALSE = new Uint8Array(0)

/** What a script runs with. */
export interface Surroundings {
  /** The rules that apply, bits of `RULE`. */
  readonly rules: number
  readonly checker: SignatureChecker
  /** Is it the script of a witness? */
  readonly isWitness: boolean
}

/** One script that runs on a stack, which it changes. */
export class Machine {
  readonly stack: Uint8Array[]
  readonly alternate: Uint8Array[] = []
  /** One for each open OP_IF: does its branch run? */
  readonly conditions: boolean[] = []
  readonly surroundings: Surroundings
  readonly script: Uint8Array
  /** Where signatures begin to sign: behind the last OP_CODESEPARATOR. */
  codeStart = 0
  /** The place behind the operation that runs. */
  next = 0
  #operations = 0

  constructor(script: Uint8Array, stack: Uint8Array[], surroundings: Surroundings) {
    this.script = script
    this.stack = stack
    this.surroundings = surroundings
  }

  has(rule: number): boolean {
    return (this.surroundings.rules & rule) !== 0
  }

  /** Do all open branches run? */
  get isRunning(): boolean {
    return !this.conditions.includes(false)
  }

  /** Counts operations against the limit. */
  count(operations: number): void {
    this.#operations += operations
    demand(this.#operations <= MAX_OPERATIONS, 'OP_COUNT')
  }

  /** Throws unless the stack has so many items. */
  need(items: number): void {
    demand(this.stack.length >= items, 'INVALID_STACK_OPERATION')
  }

  /** The item so far below the top, which is 1. */
  peek(depth = 1): Uint8Array {
    const item = this.stack[this.stack.length - depth]
    if (item === undefined) throw new ScriptFailure('INVALID_STACK_OPERATION')
    return item
  }

  pop(): Uint8Array {
    const item = this.stack.pop()
    if (item === undefined) throw new ScriptFailure('INVALID_STACK_OPERATION')
    return item
  }

  push(...items: readonly Uint8Array[]): void {
    this.stack.push(...items)
  }

  /** Takes the item so far below the top out. */
  remove(depth: number): Uint8Array {
    const item = this.peek(depth)
    this.stack.splice(this.stack.length - depth, 1)
    return item
  }

  number(bytes: Uint8Array, most = 4): bigint {
    return decodeNumber(bytes, this.has(RULE.MINIMALDATA), most)
  }

  popNumber(): bigint {
    const value = this.number(this.peek())
    this.stack.pop()
    return value
  }

  pushNumber(value: bigint): void {
    this.stack.push(encodeNumber(value))
  }

  pushBoolean(value: boolean): void {
    this.stack.push(value ? TRUE : FALSE)
  }

  /** Takes a truth value, which must be true. */
  verify(failure: ScriptFailureName): void {
    demand(isTrue(this.peek()), failure)
    this.stack.pop()
  }

  checkSize(): void {
    demand(this.stack.length + this.alternate.length <= MAX_STACK, 'STACK_SIZE')
  }
}

/** What an opcode does. */
export type Handler = (machine: Machine) => void
