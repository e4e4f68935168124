/**
 * Gas of opcodes and refunds (docs/internals/protocol.md#62-gas-schedule). The intrinsic gas of a transaction is in
 * `chain/transaction.ts`, that of a precompiled contract in `precompiles/table.ts`.
 */
import { INITCODE_WORD_GAS } from '../chain/intrinsic-gas.ts'

/** Gas; per byte, word (32 bytes) or topic where the name ends in one of these. */
export const GAS = {
  zero: 0,
  base: 2,
  veryLow: 3,
  low: 5,
  mid: 8,
  high: 10,
  jumpDestination: 1,

  exp: 10,
  expByte: 50,
  keccak256: 30,
  keccak256Word: 6,
  copyWord: 3,
  memoryWord: 3,

  balance: 400,
  externalCode: 700,
  externalCodeHash: 400,
  blockHash: 20,

  storageLoad: 200,
  /** SSTORE of a word other than 0 over 0. */
  storageSet: 20_000,
  /** Any other SSTORE. */
  storageReset: 5_000,
  transientStorage: 100,
  log: 375,
  logTopic: 375,
  logByte: 8,

  call: 700,
  callValue: 9_000,
  /** Gas that a callee receives with value. */
  callStipend: 2_300,
  newAccount: 25_000,
  create: 32_000,
  initcodeWord: INITCODE_WORD_GAS,
  codeDepositByte: 200,
  selfDestruct: 5_000,
} as const

/** Gas given back at the end of a transaction. */
export const REFUND = {
  storageClear: 15_000,
  selfDestruct: 24_000,
} as const

/** Bytes of memory beyond which no gas suffices: an access that ends behind them is out of gas. */
export const MEMORY_LIMIT = 2 ** 30

/** The square of the number of words of memory is divided by 2 to the power of it. */
export const MEMORY_QUADRATIC_BITS = 9
const MEMORY_DIVISOR = 2 ** MEMORY_QUADRATIC_BITS

/** Gas of `words` words of memory: linear, and quadratic above some hundred words. */
export function memoryGas(words: number): number {
  return words * GAS.memoryWord + Math.floor((words * words) / MEMORY_DIVISOR)
}
