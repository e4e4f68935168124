/** What an opcode of the library sees of the frame that it runs in. */
import { EVMError, type EVMOpts } from '@ethereumjs/evm'
import type { EvmRun } from '../evm/evm.ts'
import { GAS, MEMORY_QUADRATIC_BITS } from '../evm/gas-schedule.ts'
import { wordToAddress } from '../evm/word.ts'
import { ChainEvm } from './chain-evm.ts'

/** An opcode that is added, replaced, or (without a name) removed. */
export type CustomOpcode = NonNullable<EVMOpts['customOpcodes']>[number]
/** An opcode with what it does. */
export type Opcode = Extract<CustomOpcode, { opcodeName: string }>
/** A frame of the library. */
export type RunState = Parameters<Opcode['logicFunction']>[0]
/** Computes the gas of an opcode from the frame and its base fee. */
export type GasFunction = NonNullable<Opcode['gasFunction']>

/** The EVM of a frame. */
export function evmOf(runState: RunState): ChainEvm {
  const evm = runState.interpreter._evm
  if (!(evm instanceof ChainEvm)) throw new Error("an opcode of the chain runs outside the chain's EVM")
  return evm
}

/** The run that a frame belongs to. */
export function runOf(runState: RunState): EvmRun {
  return evmOf(runState).run
}

/** Ends the frame with a failure. */
export function fail(error: EVMError['error']): never {
  throw new EVMError(error)
}

/** Is there no account at the address in the low 20 bytes of a word? */
export function isMissing(runState: RunState, word: bigint): boolean {
  return runOf(runState).session.journal.state.account(wordToAddress(word)) === undefined
}

/** Gas to open memory up to `offset + length`; the library's own function is not exported. */
export function memoryGas(runState: RunState, offset: bigint, length: bigint): bigint {
  if (length === 0n) return 0n
  const words = (offset + length + 31n) / 32n
  if (words <= runState.memoryWordCount) return 0n
  runState.memoryWordCount = words
  const cost = words * BigInt(GAS.memoryWord) + ((words * words) >> BigInt(MEMORY_QUADRATIC_BITS))
  const paid = runState.highestMemCost
  runState.highestMemCost = cost
  return cost - paid
}
