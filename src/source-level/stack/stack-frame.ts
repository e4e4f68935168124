/** Frames of a stack trace: what ran where, and how the last one failed. */
import type { Hex } from '../../encoding/hex.ts'
import type { CodeMap } from '../code-map.ts'
import type { FunctionKind, FunctionModel, SourceRange } from '../source-file.ts'

/** What a frame is. All but `call` and `internal call` are failures, which stand last. */
export type StackFrameKind =
  /** A call site: of a function, a contract or a creation. Without a place it is in a contract of unknown sources. */
  | 'call'
  /** A call site in code that the compiler generated. */
  | 'internal-call'
  /** REVERT: `require`, `revert`, or code without sources. */
  | 'revert'
  | 'custom-error'
  /** `Panic(uint256)`: assertions and checks of the compiler. */
  | 'panic'
  /** INVALID, by which assertions failed before Solidity 0.8. */
  | 'invalid-opcode'
  | 'function-not-payable'
  | 'fallback-not-payable'
  /** Value without data, where there is no function to receive it. */
  | 'fallback-not-payable-no-receive'
  | 'unknown-function'
  | 'no-fallback-or-receive'
  | 'invalid-arguments'
  /** A call returned less data than its type needs. */
  | 'return-data-size'
  | 'account-without-code'
  /** A call that never started: its value is more than the balance, or it is too deep. */
  | 'call-refused'
  | 'library-called-directly'
  | 'precompile'
  | 'code-too-large'
  | 'out-of-gas'
  /** A called contract ran out of gas, and the caller reverted without data. */
  | 'callee-out-of-gas'
  | 'failure'

/** Where a frame is. */
export interface Place {
  /** The contract that ran, which may have inherited the function; absent for a free function. */
  readonly contract?: string | undefined
  readonly function?: string | undefined
  readonly range: SourceRange
  /** The byte whose line is meant, where it is not the first of the range. */
  readonly at?: number
}

/** One frame. */
export interface StackFrame {
  readonly kind: StackFrameKind
  readonly place?: Place | undefined
  /** Of a `call`: what calls. */
  readonly functionKind?: FunctionKind
  /** Where no sources are known: the contract, or nothing for a creation. */
  readonly unknown?: { readonly address: Hex | undefined; readonly isCreation: boolean }
  /** Payload of a REVERT. */
  readonly output?: Uint8Array
  /** A custom error with its arguments, or the reason of a failure of the EVM. */
  readonly text?: string
  readonly panic?: bigint
  /** What the compiler checks there, in its own words (Vyper). */
  readonly check?: string
  /** Wei that could not be received. */
  readonly value?: bigint
  /** Address of a precompiled contract. */
  readonly precompile?: Hex
  /** The compiler names no place for the failure; this is the nearest one (solc 0.6.3 to 0.6.8). */
  readonly isNearest?: true
}

/** The place of a range, if it is inside a function; without a syntax tree any place will do. */
export function placeOf(code: CodeMap, range: SourceRange | undefined): Place | undefined {
  if (code.contract === undefined) return range && { contract: code.name, range }
  const around = range?.file.functionAround(range)
  if (range === undefined || around === undefined) return undefined
  return {
    ...(around.kind !== 'free function' && { contract: code.name }),
    function: around.name,
    range,
  }
}

/** The declaration of a function. */
export function startOf(code: CodeMap, { name, range }: FunctionModel): Place {
  return { contract: code.name, function: name, range }
}

/** The declaration of the contract, or `undefined` where it is not known. */
export function contractPlace(code: CodeMap): Place | undefined {
  return code.contract && { contract: code.name, range: code.contract.range }
}

/** The constructor, or the contract without one. Its range is that of the contract. */
export function constructorPlace(code: CodeMap): Place | undefined {
  const { contract } = code
  if (contract === undefined) return undefined
  const { constructor_: declared, range } = contract
  return {
    contract: code.name,
    function: 'constructor',
    range,
    ...(declared && { at: declared.range.start }),
  }
}
