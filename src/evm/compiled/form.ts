/** How an opcode is compiled, which is part of its record (`opcodes/operation.ts`). */
import type { OpcodeRoutine } from './protocol.ts'
import type { RegionWriter } from './region-writer.ts'

/**
 * What follows an opcode in a region:
 * - `next`: the next opcode, whose gas and stack are checked with those of this one.
 * - `checked`: the next opcode, behind a new check of gas and stack: this one pays or reads gas, or takes long.
 * - `call`: the same, once the callee has ended.
 * - `jump`, `jump-if`: the code at the destination.
 * - `create`, `end`: nothing; the frame waits for a creation, or has ended.
 * - `interpret`: nothing; the region leaves the opcode to the interpreter.
 */
export type Flow = 'next' | 'checked' | 'call' | 'jump' | 'jump-if' | 'create' | 'end' | 'interpret'

export interface CompiledForm {
  readonly flow: Flow
  /** Writes the opcode out; false, with nothing written, where `routine` runs it after all. */
  readonly write?: (writer: RegionWriter) => boolean
  /** What runs it where it is not written out. */
  readonly routine: OpcodeRoutine
}

export const INTERPRETED: CompiledForm = { flow: 'interpret', routine: 'run' }

/** Runs from the table: costs its fee and no more, and takes no longer than a few opcodes that are written out. */
export const FROM_TABLE: CompiledForm = { flow: 'next', routine: 'run' }

/** Runs from the table: pays or reads gas, or takes long. */
export const CHECKED: CompiledForm = { flow: 'checked', routine: 'run' }

/** Runs from the table and ends the frame. */
export const ENDING: CompiledForm = { flow: 'end', routine: 'run' }

/** Is written out. */
export function written(
  write: (writer: RegionWriter) => void,
  flow: 'next' | 'checked' = 'next',
): CompiledForm {
  return writtenWhere((writer) => {
    write(writer)
    return true
  }, flow)
}

/** Is written out where `write` can; otherwise it runs from the table. */
export function writtenWhere(
  write: (writer: RegionWriter) => boolean,
  flow: 'next' | 'checked' = 'next',
): CompiledForm {
  return { flow, write, routine: 'run' }
}
