/** Where the parts of a frame are in the linear memory of compiled code, in bytes from the frame's base. */

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
/** Words: what CALLER, ADDRESS and CALLVALUE answer. */
export const CALLER_AT = 32
export const ADDRESS_AT = 64
export const VALUE_AT = 96
/** The stack: words of four 64-bit lanes, the lowest first, each little-endian. */
export const STACK_AT = 128
export const STACK_BYTES = 1024 * 32
/** The EVM's memory, to the end of what the frame has. */
export const MEMORY_AT = STACK_AT + STACK_BYTES

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
