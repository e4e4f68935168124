/**
 * What compiled code and JavaScript agree on: where things are in the linear memory, in bytes; the functions that compiled
 * code exports and imports; why it returns.
 */

import { I32 } from '../../wasm/function-body.ts'
import { KECCAK_BYTES } from '../../wasm/keccak.ts'
import type { Signature } from '../../wasm/module.ts'

// At the start of the memory, what all frames share.

/** Where keccak-256 writes digests; what is before is its own. */
export const DIGEST_AT = KECCAK_BYTES
/** The place of the slot that was looked for last; how many writes are not in the state yet. */
export const PLACE_AT = DIGEST_AT + 32
export const WRITES_AT = PLACE_AT + 4
/** Storage cells that were used last: entries of 128 bytes, and the addresses of those that are not in the state yet. */
export const SLOTS_AT = 4096
export const SLOT_BITS = 10
export const SLOT_BYTES = 128
export const WRITTEN_AT = SLOTS_AT + (SLOT_BYTES << SLOT_BITS)
/** Where frames begin. */
export const FRAMES_AT = WRITTEN_AT + (4 << SLOT_BITS)

// Of an entry of a storage cell, from its address.

/** Whose cell it is, and until when that is valid: two numbers of 32 bits that a frame has as well. */
export const ENTRY_TAG_AT = 0
export const ENTRY_CONTRACT_AT = 4
/** Is its word not in the state yet? */
export const ENTRY_WRITTEN_AT = 8
/** Slot, and the word there. */
export const ENTRY_SLOT_AT = 16
export const ENTRY_VALUE_AT = 48

// Of a frame, from its base.

/** Gas left, a float; exact, since gas is a safe integer. */
export const GAS_AT = 0
/** Address of the end of the stack in use. */
export const STACK_END_AT = 8
/** Jumps until the scheduler is asked. */
export const TICKS_AT = 12
/** Bytes of EVM memory that are open. */
export const MEMORY_SIZE_AT = 16
/** Length and address of the call data, which zero bytes follow. */
export const INPUT_LENGTH_AT = 20
export const INPUT_ADDRESS_AT = 24
/** Is the frame static? */
export const STATIC_AT = 28
/** Words: what CALLER, ADDRESS and CALLVALUE answer. */
export const CALLER_AT = 32
export const ADDRESS_AT = 64
export const VALUE_AT = 96
/** The tag of the entries of its storage cells: the period in which they are valid, and a number for the contract. */
export const TAG_AT = 128
export const TAG_CONTRACT_AT = TAG_AT + 4
/** Bytes that its memory may grow to without being moved. */
export const ROOM_AT = 136
/** Bytes of return data. */
export const RETURNED_AT = 140
/** The stack: words of four 64-bit lanes, the lowest first, each little-endian. */
export const STACK_AT = 160
export const STACK_BYTES = 1024 * 32
/** The EVM's memory, to the end of what the frame has. */
export const MEMORY_AT = STACK_AT + STACK_BYTES

/** A compiled region, run at a frame's base. Its result is an `EXIT` and a program counter. */
export type RegionFunction = (base: number) => number

export const REGION_SIGNATURE: Signature = { parameters: [I32], results: [I32] }

/**
 * Runs an opcode of the frame at `base` on the operands below `end`, with the result in place of them. Not 0 when the
 * frame does not go on in compiled code.
 */
type RunOpcode = (base: number, end: number, opcode: number) => number

/**
 * What runs opcodes that are not written out: `call` calls, `finish` RETURN and REVERT, `load`, `store` and `hash` SLOAD,
 * SSTORE and SHA3, `run` any by its record. A region calls `load`, `store` and `hash` of its own module, which call the host
 * where they cannot do it.
 */
export type OpcodeRoutine = 'run' | 'call' | 'finish' | 'load' | 'store' | 'hash'

/** The functions that compiled code imports. */
export interface HostImports extends Readonly<Record<OpcodeRoutine, RunOpcode>> {
  /** Opens and pays the EVM's memory up to `end` bytes; 0 when the gas does not suffice. */
  readonly expand: (base: number, end: number) => number
  /** Writes keccak-256 of `length` bytes at `from`. */
  readonly keccak: (from: number, length: number, to: number) => void
  /** Counts a way through the code. Imported where ways are counted (`paths.ts`). */
  readonly path: (id: number) => void
}

/** The signature of `RunOpcode`. */
export const RUN_OPCODE: Signature = { parameters: [I32, I32, I32], results: [I32] }

export const HOST_SIGNATURES: Readonly<Record<keyof HostImports, Signature>> = {
  run: RUN_OPCODE,
  call: RUN_OPCODE,
  finish: RUN_OPCODE,
  load: RUN_OPCODE,
  store: RUN_OPCODE,
  hash: RUN_OPCODE,
  expand: { parameters: [I32, I32], results: [I32] },
  keccak: { parameters: [I32, I32, I32], results: [] },
  path: { parameters: [I32], results: [] },
}

/** Why compiled code returns: the high byte of the result; the program counter is in the rest. */
export const EXIT = {
  /** Code goes on at the program counter, which is known to be right. */
  JUMP: 0,
  /** A jump to a destination that is not checked yet. */
  DYNAMIC: 1,
  /** The opcode at the program counter is for the interpreter. */
  INTERPRET: 2,
  /** An opcode stopped the frame, requests a call, or used up the time; the program counter is behind it. */
  STATUS: 3,
} as const

export const EXIT_SHIFT = 24
export const PC_MASK = 0xff_ffff
