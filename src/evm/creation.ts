/** Creation of contracts: address, account, and the code at the end (docs/internals/protocol.md#63-calls-and-creations). */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH, withBalance } from '../chain/account.ts'
import { contractAddress } from '../chain/transaction.ts'
import { concat, EMPTY, fromBigIntFixed, oneByte } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { CreateMessage, FrameResult } from './call-message.ts'
import { EvmFailure, FAILURE, type FailureReason } from './failure.ts'
import { GAS } from './gas-schedule.ts'
import type { Journal } from './journal.ts'
import { bytesOf } from './memory-range.ts'
import type { FrameRules } from './rules.ts'
import { MAX_WORD } from './word.ts'

/** Longest code, bytes (EIP-170). */
const MAX_CODE_SIZE = 24_576

/** No code begins with this byte (EIP-3541, RSKIP-544). */
export const RESERVED_PREFIX = 0xef

/** A message that failed and took all its gas. */
export function allGasLost(gas: number, reason: FailureReason, created?: Hex): FrameResult {
  return { gasUsed: gas, output: EMPTY, failure: new EvmFailure(reason), created }
}

/** The address that CREATE or CREATE2 (EIP-1014) gives; the creator's nonce has grown already. */
export function addressOfCreation({ caller, salt, initcode }: CreateMessage, { state }: Journal): Hex {
  if (salt === undefined) return contractAddress(caller, (state.account(caller) ?? EMPTY_ACCOUNT).nonce - 1n)
  const parts = concat(oneByte(0xff), fromHex(caller), fromBigIntFixed(salt, 32), keccak256(initcode))
  return toHex(keccak256(parts).subarray(12))
}

/**
 * Moves the value and makes the account at `address`, with this nonce and no storage. The result where that already
 * ends the creation: by a collision, or because the value makes the balance too large.
 */
export function makeAccount(
  { caller, value, gas }: CreateMessage,
  address: Hex,
  nonce: bigint,
  { state }: Journal,
): FrameResult | undefined {
  if (value !== 0n) {
    const sender = state.account(caller) ?? EMPTY_ACCOUNT
    state.putAccount(caller, withBalance(sender, sender.balance - value))
  }
  const before: Account = state.account(address) ?? EMPTY_ACCOUNT
  if (before.nonce > 0n || before.codeHash !== EMPTY_CODE_HASH) {
    return allGasLost(gas, FAILURE.CREATE_COLLISION, address)
  }
  state.clearStorage(address)
  const balance = before.balance + value
  if (balance > MAX_WORD) return overflow(address)
  state.putAccount(address, { ...before, nonce, balance })
  return undefined
}

/** A message whose value makes a balance too large; only overridden balances are so large. */
export function overflow(created?: Hex): FrameResult {
  const failure = new EvmFailure(FAILURE.VALUE_OVERFLOW)
  return { gasUsed: 0, output: EMPTY, failure, created }
}

/** Pays for the code that a constructor returned, and stores it. `ended` is how the constructor ended. */
export function depositCode(
  ended: FrameResult,
  address: Hex,
  gas: number,
  { refusesEfCode }: FrameRules,
  { state }: Journal,
): FrameResult {
  const { failure } = ended
  if (failure !== undefined) return { ...ended, created: address }
  const code = bytesOf(ended.output)
  if (code.length > MAX_CODE_SIZE) {
    return allGasLost(gas, FAILURE.CODESIZE_EXCEEDS_MAXIMUM, address)
  }
  const gasUsed = ended.gasUsed + code.length * GAS.codeDepositByte
  if (gasUsed > gas) return allGasLost(gas, FAILURE.OUT_OF_GAS, address)
  if (refusesEfCode && code[0] === RESERVED_PREFIX) {
    return allGasLost(gas, FAILURE.INVALID_BYTECODE_RESULT, address)
  }
  if (code.length > 0) state.putCode(address, code)
  return { gasUsed, output: code, failure: undefined, created: address }
}
