/** The least gas with which a message succeeds: its peak usage if that suffices, otherwise found by bisection. */
import { EMPTY_CODE_HASH, ZERO_ADDRESS } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { failureError } from '../evm/failure-message.ts'
import { GAS } from '../evm/gas-schedule.ts'
import type { StateReader } from '../state/model.ts'
import { cappedGas, messageCall, type Simulation, type SimulationParts } from './message-call.ts'
import type { CallRequest } from './request.ts'

/** Bisection ends within this fraction of the answer: one thousandth. */
const PRECISION = 1000n

const STIPEND = BigInt(GAS.callStipend)

/**
 * What an estimate asks of the sender's balance: `cost` that it pays value and gas; `allowance`, as Anvil, that it pays
 * the value, and no more gas is tried than it pays, while plain transfers are free; `none` nothing.
 */
export type FundsRule = 'cost' | 'allowance' | 'none'

/** What estimating needs; the cap also limits the gas of the request. */
export interface EstimateParts extends SimulationParts {
  /** `cost` unless given. */
  readonly fundsRule?: FundsRule
  /** Called with the run with all the gas if that fails, before the error is thrown. */
  readonly onFailure?: (failed: Simulation) => void
}

/**
 * Gas for a transaction that does what the request does. Throws `insufficient-funds` when the sender cannot pay,
 * `reverted` with the payload or the name of the failure, `limit-exceeded` when all attempts together exceed the time limit.
 */
export async function estimateGas(parts: EstimateParts): Promise<bigint> {
  const { request, state, gasCap, deadlineMs, fundsRule = 'cost', onFailure } = parts
  const { value = 0n, gasPrice = 0n, from = ZERO_ADDRESS } = request
  const balance = state.account(from)?.balance ?? 0n
  if (fundsRule === 'cost') checkFunds(balance, value)

  const end = deadlineMs === undefined ? undefined : performance.now() + deadlineMs
  const attempt = (gas: bigint) =>
    messageCall({
      ...parts,
      request: { ...request, gas },
      ...(end !== undefined && { deadlineMs: end - performance.now() }),
    })

  const most = cappedGas(request, gasCap)
  const cap = fundsRule === 'allowance' ? allowance(request, state, most) : most
  const first = await attempt(cap)
  if (first.failure !== undefined) {
    onFailure?.(first)
    throw failureError({ ...first.failure, allowance: cap })
  }

  const suffices = async (gas: bigint): Promise<boolean> =>
    gas === cap || (await attempt(gas)).failure === undefined
  const peak = first.gasUsed
  // A call with value needs the stipend as well, which it returns unused.
  const withStipend = first.valueCallSeen ? least(peak + STIPEND, cap) : peak
  let gas: bigint
  if (await suffices(peak)) gas = peak
  else if (withStipend > peak && (await suffices(withStipend))) gas = withStipend
  else gas = await bisect(withStipend, cap, suffices)

  if (fundsRule === 'cost') checkFunds(balance, value + gas * gasPrice)
  return gas
}

/**
 * The gas of `most` that Anvil tries: all of it for a plain transfer or without a price, otherwise what the sender can pay
 * beside the value. Throws `insufficient-funds` for the value, and without a sender for all the gas.
 */
function allowance(request: CallRequest, state: StateReader, most: bigint): bigint {
  const { from, to = null, value = 0n, gasPrice = 0n, data = EMPTY } = request
  const codeOf = (address: Hex) => state.account(address)?.codeHash ?? EMPTY_CODE_HASH
  const isTransfer = to !== null && data.length === 0 && codeOf(to) === EMPTY_CODE_HASH
  if (isTransfer) return most
  const balance = state.account(from ?? ZERO_ADDRESS)?.balance ?? 0n
  checkFunds(balance, from === undefined ? value + most * gasPrice : value)
  return gasPrice === 0n ? most : least(most, (balance - value) / gasPrice)
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** Bisects between gas that fails and gas that succeeds; first by doubling steps, since the answer is mostly near the lower end. */
async function bisect(
  fails: bigint,
  succeeds: bigint,
  suffices: (gas: bigint) => Promise<boolean>,
): Promise<bigint> {
  let low = fails
  let high = succeeds
  for (let step = fails / 64n + STIPEND; low + step < high; step *= 2n) {
    if (await suffices(low + step)) high = low + step
    else low += step
  }
  while (high - low > 1n && (high - low) * PRECISION > high) {
    const middle = (low + high) / 2n
    if (await suffices(middle)) high = middle
    else low = middle
  }
  return high
}

function checkFunds(balance: bigint, needed: bigint): void {
  if (balance < needed) throw new NodeError('insufficient-funds', 'insufficient funds for transfer')
}
