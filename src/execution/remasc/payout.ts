/**
 * REMASC at the end of each block: adds the mature fees to its reward balance, and pays a part of that balance
 * (docs/internals/protocol.md#54-remasc-payout).
 */
import { EMPTY_ACCOUNT, withBalance } from '../../chain/account.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Log } from '../../chain/receipt.ts'
import { fromBigInt, toBigInt } from '../../encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex } from '../../encoding/hex.ts'
import { frameStrings } from '../../encoding/rlp-frame.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Overlay } from '../../state/overlay.ts'
import { NO_SIBLINGS, REMASC_SLOT, readCell, writeCell, writeFlag } from '../../state/remasc-storage.ts'
import { dividePayout, type Payment } from './division.ts'
import { votedFederators } from './federators.ts'
import { ancestorAt, breaksSelectionRule, readAncestors, siblingsAt } from './siblings.ts'

const TOPIC = toFixedHex(toBigInt(new TextEncoder().encode('mining_fee_topic')), 32)

/**
 * Pays what is due in the block of `env` and returns the logs, one per payment. The contract must already have the
 * block's own fees. Reads the block that matures and the seven above it. Throws an Error when one of them is unknown.
 * `onPayment` is called after each payment.
 */
export function payRemasc(
  state: Overlay,
  env: BlockEnvironment,
  config: ChainConfig,
  onPayment: (payment: Payment, log: Log) => void = () => {},
): readonly Log[] {
  const { maturity, syntheticSpan, labsAddressAt, minimumGasAt, federators } = config.reward
  if (config.reward.isPaidAt !== undefined) {
    if (!config.reward.isPaidAt(env.number)) return []
    readAncestors(env, env.number - maturity)
  }
  writeCell(state, REMASC_SLOT.siblings, NO_SIBLINGS)
  const height = env.number - maturity
  if (height < 1) return []

  const mature = ancestorAt(env, height)
  const pot = readCell(state, REMASC_SLOT.rewardBalance) + mature.header.paidFees
  if (height < syntheticSpan) {
    writeCell(state, REMASC_SLOT.rewardBalance, pot)
    return []
  }
  const siblings = siblingsAt(env, height, config)
  const punished = readCell(state, REMASC_SLOT.brokenSelectionRule) !== 0n
  // Written before the decision to pay: a reward too small to be paid does not end the punishment.
  writeFlag(
    state,
    REMASC_SLOT.brokenSelectionRule,
    siblings.length > 0 && breaksSelectionRule(mature, siblings),
  )
  const reward = pot / BigInt(syntheticSpan)
  const minimumGas = minimumGasAt(env.number)
  if (reward < env.minimumGasPrice * minimumGas.payout) {
    writeCell(state, REMASC_SLOT.rewardBalance, pot)
    return []
  }
  const { payments, burned, federationBalance } = dividePayout(reward, {
    labs: labsAddressAt(env.number),
    federators: votedFederators(state, { config, number: env.number, paidNumber: height }) ?? federators,
    federationBalance: readCell(state, REMASC_SLOT.federationBalance),
    leastFederatorPay: env.minimumGasPrice * minimumGas.federator,
    miner: mature.header.coinbase,
    siblings,
    punished,
  })
  writeCell(state, REMASC_SLOT.rewardBalance, pot - reward)
  writeCell(state, REMASC_SLOT.federationBalance, federationBalance)
  writeCell(state, REMASC_SLOT.burnedBalance, readCell(state, REMASC_SLOT.burnedBalance) + burned)
  return payments.map((payment) => {
    const log = logOf(mature.hash, payment)
    pay(state, payment)
    onPayment(payment, log)
    return log
  })
}

/** Transfers the amount; creates the payee's account even for an amount of 0. */
function pay(state: Overlay, { to, amount }: Payment): void {
  const payee = state.account(to)
  if (amount === 0n) {
    if (payee === undefined) state.putAccount(to, EMPTY_ACCOUNT)
    return
  }
  addBalance(state, PRECOMPILE_ADDRESS.remasc, -amount)
  addBalance(state, to, amount)
}

function addBalance(state: Overlay, address: Hex, amount: bigint): void {
  const account = state.account(address) ?? EMPTY_ACCOUNT
  state.putAccount(address, withBalance(account, account.balance + amount))
}

function logOf(blockHash: Hex, { to, amount }: Payment): Log {
  return {
    address: PRECOMPILE_ADDRESS.remasc,
    topics: [TOPIC, `0x${to.slice(2).padStart(64, '0')}`],
    data: frameStrings([fromHex(blockHash), fromBigInt(amount)]),
  }
}
