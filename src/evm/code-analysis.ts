/** Analysis of code as it runs: jump destinations, pushed words, where it starts. Kept per code array. */
import { toBigInt } from '../encoding/bytes.ts'

/** Of one piece of code. */
export interface CodeAnalysis {
  readonly code: Uint8Array
  /**
   * 1 where a JUMPDEST is that no push data hides, as far as the code has been looked through: where it is not 1,
   * `isJumpDestination` looks on.
   */
  readonly jumpDestinations: Uint8Array
  /** Place of the opcode up to which the code has been looked through. */
  lookedTo: number
  /** The word that a push at this pc pushes, computed at its first use. */
  readonly pushes: (bigint | undefined)[]
  /** How often a jump went to each pc, or a JUMPI went on to it; wraps at 2^15. */
  readonly counts: Int16Array
  /** Bytes of the modules that were compiled of it, those that are no longer kept included. */
  compiledBytes: number
  /** Is it code of a single simulation, which no cache keeps? */
  readonly isPassing: boolean
  /** Where execution begins: 0, or behind a code header (docs/internals/protocol.md#64-code-header). */
  readonly start: number
}

// The opcodes that the format of code knows.
export const JUMPDEST = 0x5b
export const PUSH0 = 0x5f
const PUSH32 = PUSH0 + 32
const HEADER = 0xfc

const analyses = new WeakMap<Uint8Array, CodeAnalysis>()
const passing = new WeakSet<Uint8Array>()

/** Marks code as that of a single simulation; returns it. */
export function passingCode(code: Uint8Array): Uint8Array {
  passing.add(code)
  return code
}

/** The same record for the same array. `hasHeaders`: does 0xfc in front mark a code header? */
export function analyse(code: Uint8Array, hasHeaders: boolean): CodeAnalysis {
  let analysis = analyses.get(code)
  const start = hasHeaders ? headerLength(code) : 0
  if (analysis === undefined || analysis.start !== start) {
    analysis = {
      code,
      jumpDestinations: new Uint8Array(code.length),
      lookedTo: start,
      pushes: [],
      counts: new Int16Array(code.length + 1),
      compiledBytes: 0,
      isPassing: passing.has(code),
      start,
    }
    analyses.set(code, analysis)
  }
  return analysis
}

/** The opcode at a place; behind the end of the code is STOP. */
export function opcodeAt(code: Uint8Array, pc: number): number {
  return code[pc] ?? 0
}

/** Bytes of an opcode with the word that it pushes. */
export function sizeOf(opcode: number): number {
  return opcode > PUSH0 && opcode <= PUSH32 ? opcode - PUSH0 + 1 : 1
}

/** Length of the code header: 4 and the extension's length, or 0 without one (docs/internals/protocol.md#64-code-header). */
function headerLength(code: Uint8Array): number {
  const extension = code[3]
  return code[0] === HEADER && extension !== undefined ? 4 + extension : 0
}

/** The word pushed by the `size` bytes after `pc`; bytes past the end are 0. */
export function pushedWord(code: Uint8Array, pc: number, size: number): bigint {
  const bytes = code.subarray(pc + 1, pc + 1 + size)
  return toBigInt(bytes) << BigInt(8 * (size - bytes.length))
}

/**
 * Is there a JUMPDEST at this pc, which may be any number, that no push data hides? Looks through the code no further
 * than to there: behind a constructor lies the code that it deploys, which may never run.
 */
export function isJumpDestination(analysis: CodeAnalysis, pc: number): boolean {
  const { code, jumpDestinations } = analysis
  if (pc >= analysis.lookedTo && pc < code.length) {
    let i = analysis.lookedTo
    while (i <= pc) {
      const opcode = opcodeAt(code, i)
      if (opcode === JUMPDEST) jumpDestinations[i] = 1
      i += sizeOf(opcode)
    }
    analysis.lookedTo = i
  }
  return jumpDestinations[pc] === 1
}
