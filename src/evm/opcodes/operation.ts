/**
 * The record of an opcode: its price, its use of the stack, what it does, how the interpreter's loop and compiled code do
 * it, and what tracers ask about it. Whatever treats an opcode in its own way finds that here.
 */
import type { RuleName } from '../../chain/consensus-rules.ts'
import { type CompiledForm, INTERPRETED } from '../compiled/form.ts'
import type { ChildRequest, Frame } from '../frame.ts'

/** Stands for every opcode that the rules do not define (EIP-141). */
export const INVALID = 0xfe

/** Words that the stack of a frame holds. */
export const STACK_LIMIT = 1024

/** The memory that an opcode reads or writes, by positions of its operands, of which 0 is the top of the stack. */
export interface MemoryOperands {
  readonly offset: number
  /** A position, or a number of bytes. */
  readonly length: number | { readonly bytes: number }
  readonly access: 'read' | 'write'
}

/** What not every opcode has. */
interface Traits {
  /** How it is compiled; by default the interpreter does it. */
  readonly compiled: CompiledForm
  /** The rule that brings it; the others are there from genesis on. */
  readonly since: RuleName | undefined
  /** The call or creation that it makes. */
  readonly requests: ChildRequest['kind'] | undefined
  /** Does its price depend on its operands, or on what they refer to? */
  readonly hasDynamicGas: boolean
  readonly memory: MemoryOperands | undefined
}

/** One opcode. Whoever runs it charges `fee` and checks the stack before. */
export interface Operation extends Traits {
  readonly code: number
  /** As the chain's own traces name it (docs/internals/protocol.md#61-opcodes). */
  readonly name: string
  /** Gas whatever the operands; `run` charges the rest. */
  readonly fee: number
  /** Words that it takes off the stack. */
  readonly pops: number
  /** Words that it leaves there. */
  readonly pushes: number
  /** Words that may at most be on the stack before. */
  readonly room: number
  readonly run: (frame: Frame) => void
  /** Its case in the interpreter's loop: the opcode itself, or `NO_CASE` where the loop calls `run`. */
  readonly loopCase: number
}

/** Of an opcode that the interpreter's loop does not have written out; no opcode has this number. */
export const NO_CASE = 0x0c

/** What makes an opcode other than a plain one, which the interpreter runs from the table. */
export interface OperationTraits extends Partial<Traits> {
  /** Does the interpreter's loop have a case for it? */
  readonly isInLoop?: boolean
}

/** Makes a record. */
export function operation(
  code: number,
  name: string,
  fee: number,
  pops: number,
  pushes: number,
  run: (frame: Frame) => void,
  traits: OperationTraits = {},
): Operation {
  const { compiled = INTERPRETED, isInLoop = false, since, requests, hasDynamicGas = false, memory } = traits
  const room = STACK_LIMIT - Math.max(pushes - pops, 0)
  const loopCase = isInLoop ? code : NO_CASE
  return {
    code,
    name,
    fee,
    pops,
    pushes,
    room,
    run,
    loopCase,
    compiled,
    since,
    requests,
    hasDynamicGas,
    memory,
  }
}

/** Does an opcode call code? */
export function isCall({ requests }: Operation): boolean {
  return requests !== undefined && requests !== 'create' && requests !== 'create2'
}

/** A set of opcodes, by number. */
export type OpcodeTable = readonly (Operation | undefined)[]

/** Jumps that take about as long as the first read of a part of the state. */
export const STATE_TICKS = 16
