/** The executed opcodes of a transaction as plain records, one after the other. */
import type { Hex } from '../../encoding/hex.ts'

/** The frame that a step belongs to: a live view, so values that outlast the sink's call must be copied. */
export interface StepFrame {
  /** 0 is the transaction's own frame. */
  readonly depth: number
  /** The contract whose storage the frame uses. */
  readonly address: Hex
  /** Entries at and above `sp` are stale. */
  readonly stack: readonly bigint[]
  /** Stack pointer: the number of entries. */
  readonly sp: number
  /** Bytes beyond the used words are not part of the memory. */
  readonly memory: Uint8Array
  /** 32-byte words of memory in use. */
  readonly memoryWords: number
  /** Return data of the last call. */
  readonly returned: Uint8Array
}

/** Slots of one contract, as a step lists them. */
export interface ListedSlots {
  readonly values: ReadonlyMap<bigint, bigint>
  /** Increases with every change of `values`. */
  readonly version: number
}

/** A step before its opcode runs. Gas in gas. One object serves all steps. */
export interface StepStart {
  readonly frame: StepFrame
  readonly opcode: number
  readonly pc: number
  readonly gas: number
  /** May the opcode change bytes of memory that is in use? */
  readonly writesMemory: boolean
}

/** The same step after its opcode has run. */
export interface Step extends StepStart {
  /** The opcode's name on this chain, if it has one. */
  readonly name: string | undefined
  /** With the gas that a call passes to its callee. */
  readonly cost: number
  /** Refund counter. */
  readonly refund: number
  /** The frame's failure, when the opcode caused one: the EVM's own name for it. */
  readonly failure: string | undefined
  /** Slots of the contract; which ones, and at which steps, is the recorder's choice. */
  readonly slots: ListedSlots | undefined
}

/** Receives steps. What it throws ends the run. */
export interface StepSink {
  begin(step: StepStart): void
  /** Returns the number of characters written: long texts count as running time. */
  end(step: Step): number
}
