/** The least gas with which a message succeeds: its peak usage if that suffices, otherwise found by bisection. */
import { ZERO_ADDRESS } from '../chain/account.ts'
import { NodeError } from '../errors.ts'
import { failureError } from '../evm/failure-message.ts'
import { GAS } from '../evm/gas-schedule.ts'
import { cappedGas, messageCall, type Simulation, type SimulationParts } from './message-call.ts'

/** Bisection ends within this fraction of the answer: one thousandth. */
const PRECISION = 1000n

const STIPEND = BigInt(GAS.callStipend)

/** What estimating needs; the cap also limits the gas of the request. */
export interface EstimateParts extends Omit<SimulationParts, 'overrides'> {
  /** Refuse what the sender cannot pay; yes unless given. */
  readonly checksFunds?: boolean
  /** Called with the run with all the gas if that fails, before the error is thrown. */
  readonly onFailure?: (failed: Simulation) => void
}

/**
 * Gas for a transaction that does what the request does. Throws `insufficient-funds` when the sender cannot pay,
 * `reverted` with the payload or the name of the failure, `limit-exceeded` when all attempts together exceed the time limit.
 */
export async function estimateGas(parts: EstimateParts): Promise<bigint> {
  const { request, state, gasCap, deadlineMs, checksFunds = true, onFailure } = parts
  const { value = 0n, gasPrice = 0n, from = ZERO_ADDRESS } = request
  const balance = state.account(from)?.balance ?? 0n
  if (checksFunds) checkFunds(balance, value)

  const end = deadlineMs === undefined ? undefined : performance.now() + deadlineMs
  const attempt = (gas: bigint) =>
    messageCall({
      ...parts,
      request: { ...request, gas },
      ...(end !== undefined && { deadlineMs: end - performance.now() }),
    })

  const cap = cappedGas(request, gasCap)
  const first = await attempt(cap)
  if (first.failure !== undefined) {
    onFailure?.(first)
    throw failureError(first.failure)
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

  if (checksFunds) checkFunds(balance, value + gas * gasPrice)
  return gas
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
