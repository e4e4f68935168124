/** The interface of precompiled contracts: code of this node at a fixed address, with its gas and its result. */
import type { Header } from '../../chain/header.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'

/** An ancestor of the executing block, as the block header contract reads it. */
export interface AncestorBlock {
  readonly header: Header
  readonly hash: Hex
  readonly uncles: readonly Header[]
  /** Total difficulty of the chain up to and with this block, uncles counted. */
  readonly totalDifficulty: bigint
}

/** The storage cells of a contract's own account: byte strings, of which a word is the minimal big-endian form. */
export interface PrecompileStorage {
  /** A cell as a word; 0 where there is none. */
  get(slot: bigint): bigint
  /** A cell's bytes; empty where there is none. */
  bytes(slot: bigint): Uint8Array
  /**
   * Sets a cell; no bytes remove it. Possible in a static call too, as in the reference node
   * (docs/internals/protocol.md#66-bridge).
   */
  setBytes(slot: bigint, bytes: Uint8Array): void
}

/** How a precompiled contract is called. A plain call from code that may not write counts as `staticcall`. */
export type PrecompileCallKind = 'call' | 'callcode' | 'delegatecall' | 'staticcall'

/** Where a precompiled contract is called from. */
export interface PrecompileEnvironment {
  /** Depth of the frame that calls: 0 for the code a transaction starts, and for a transaction straight to the contract. */
  readonly depth: number
  readonly caller: Hex
  /** Wei that come with the call. */
  readonly value: bigint
  readonly isStatic: boolean
  readonly kind: PrecompileCallKind
  /** Does a transaction, and no code, call? */
  readonly isTop: boolean
  /** Is all of this a simulation (`eth_call` and estimates), its sender unproven and its changes dropped? */
  readonly isLocal: boolean
  /** The signed transaction that calls; `undefined` when code calls, and in a simulation. */
  readonly transaction: Transaction | undefined
  /** Hash of the signed transaction that started all of this; `undefined` in a simulation. */
  readonly originHash: Hex | undefined
  /** Hash of the transaction or internal transaction that calls (evm/internal-transaction.ts); `undefined` in a simulation. */
  callHash(): Hex | undefined
  /** Height of the executing block. */
  readonly number: number
  /** Of the executing block, Unix seconds. */
  readonly timestamp: number
  readonly storage: PrecompileStorage
  /** Adds a log of the contract's own address. */
  emit(topics: readonly Hex[], data: Uint8Array): void
  /** Wei of the contract's own account. */
  balance(): bigint
  /** Moves wei from the contract's own account, whose balance may fall below zero. */
  transfer(to: Hex, wei: bigint): void
  /** 0 is the parent of the executing block; `undefined` when there is no such block. */
  ancestor(depth: number): AncestorBlock | undefined
}

/** Work that may take long, in chunks of about a millisecond at most; it ends with the output. */
export type Chunks = Generator<undefined, Uint8Array, undefined>

/**
 * Gas charged before a precompiled contract runs, also when it then fails
 * (docs/internals/protocol.md#65-precompiled-contracts, RSKIP-197).
 */
export type PrecompileGas = (input: Uint8Array, env: PrecompileEnvironment) => bigint

/** What a precompiled contract does. It keeps nothing between calls; no function waits for anything. */
export interface PrecompileCode {
  /** The output; throws PrecompileFailure on an execution error. Called only when the gas is paid. */
  run(input: Uint8Array, env: PrecompileEnvironment): Uint8Array
  /** The same as `run` for long work: the caller may pause between two chunks. */
  chunks?(input: Uint8Array): Chunks
  /** Bytes of input that arrive when contract code calls; the rest is cut off (RSKIP-516). A transaction is not cut. */
  readonly maxInputFromContract?: number
}

/** A precompiled contract: a row of `table.ts` but for its address. */
export interface Precompile extends PrecompileCode {
  /** As call trees name it. */
  readonly name: string
  readonly requiredGas: PrecompileGas
  /** The account whose storage, coins and logs it uses, where that is not its address: of one that a simulation moved. */
  readonly account?: Hex
}

/** Both ways to run a contract that works in chunks. */
export function inChunks(chunks: (input: Uint8Array) => Chunks): Pick<PrecompileCode, 'run' | 'chunks'> {
  return {
    chunks,
    run(input) {
      const work = chunks(input)
      for (;;) {
        const chunk = work.next()
        if (chunk.done) return chunk.value
      }
    },
  }
}

/** An execution error of a precompiled contract: the call fails, its state is undone, only the required gas is lost. */
export class PrecompileFailure extends Error {
  /** Would the real chain have done something here that this node leaves out? Then the operator gets a notice. */
  readonly isNotSimulated: boolean

  constructor(message: string, { isNotSimulated = false } = {}) {
    super(message)
    this.name = 'PrecompileFailure'
    this.isNotSimulated = isNotSimulated
  }
}

/** `length` bytes of input from `offset`, as if zero bytes followed the input for ever. Do not write to the result. */
export function inputSlice(input: Uint8Array, offset: number, length: number): Uint8Array {
  const part = input.subarray(offset, offset + length)
  if (part.length === length) return part
  const padded = new Uint8Array(length)
  padded.set(part)
  return padded
}
