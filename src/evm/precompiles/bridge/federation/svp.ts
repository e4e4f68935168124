/**
 * The validation of a proposed federation (RSKIP-419): the active one pays to it, it spends that, and so has shown that it
 * can.
 */
import { baseScript, baseWitness } from '../../../../bitcoin/base-input.ts'
import { outputScript } from '../../../../bitcoin/output-script.ts'
import { parseRedeem } from '../../../../bitcoin/redeem-script-parser.ts'
import { FINAL_SEQUENCE, type Input, type Transaction, txid } from '../../../../bitcoin/transaction.ts'
import { EMPTY, equal } from '../../../../encoding/bytes.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import { type BridgeNetwork, FORMAT, SVP_FLYOVER_PREFIX } from '../constants/network.ts'
import { logFederationFailed } from '../events.ts'
import type { BridgeCall } from '../method.ts'
import { buildRelease } from '../pegout/builder.ts'
import { announce, settle } from '../pegout/settlement.ts'
import { activeWallet } from '../pegout/wallet.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import { feePerKb } from '../votes/settings.ts'
import { type Federation, flyoverHash, flyoverRedeemScript, pegoutSize } from './federation.ts'

/** What each of the two outputs to the proposed federation has, satoshi. */
function fundValue({ minimumPegout }: BridgeNetwork): bigint {
  return 2n * minimumPegout
}

function flyoverScript(proposed: Federation): Uint8Array {
  return outputScript({ kind: 'scriptHash', hash: flyoverHash(SVP_FLYOVER_PREFIX, proposed) })
}

/** Once the coming federation is old enough, its creation height is the active one's (RSKIP-186). */
export function updateCreationHeights({ federationCells, federations, env, isActive }: BridgeCall): void {
  if (!isActive('rskip186')) return
  const { activeCreationHeight, nextCreationHeight } = federationCells
  const next = nextCreationHeight.get()
  if (next === undefined || env.number < next + federations.activationAge) return
  activeCreationHeight.set(next)
  nextCreationHeight.set(undefined)
}

function giveUp({ env, peg, federationCells }: BridgeCall, proposed: Federation): void {
  logFederationFailed(env, [], [proposed.redeemScript, BigInt(env.number)])
  federationCells.proposed.set(undefined)
  peg.svpFundHash.set(undefined)
  peg.svpFund.set(undefined)
  peg.svpSpend.set(undefined)
  peg.svpSpendHash.set(undefined)
}

/** Pays to the proposed federation, to its address and to one that commits to a hash. Without enough coins nothing happens. */
function fund(call: BridgeCall, proposed: Federation, creationHash: Hex): void {
  const { peg, federations, network, isActive } = call
  const wallet = activeWallet(call)
  const value = fundValue(network)
  const release = buildRelease({
    wallet,
    payments: [
      { value, script: proposed.outputScript },
      { value, script: flyoverScript(proposed) },
    ],
    change: wallet.federation.outputScript,
    isPaidByReceivers: false,
    feePerKb: feePerKb(call),
    version: isActive('rskip201') ? 2 : 1,
  })
  if (typeof release === 'string') return
  peg.svpFundHash.set(txid(release.transaction))
  settle(call, federations.activeOutputs(), release, { creationHash, amount: 2n * value })
}

/** The first output of a transaction to a script; throws a RangeError without one. */
function outputTo(transaction: Transaction, script: Uint8Array): SpendableOutput {
  const index = transaction.outputs.findIndex((output) => equal(output.script, script))
  const output = transaction.outputs[index]
  if (output === undefined)
    throw new RangeError('the fund transaction does not pay to the proposed federation')
  return { ...output, hash: txid(transaction), index, height: 0, isCoinbase: false }
}

function spending({ hash, index }: SpendableOutput, script: Uint8Array, { format }: Federation): Input {
  const redeem = parseRedeem(script)
  if (redeem === undefined) throw new RangeError('a script that is no script of a federation')
  const unlocking = format === FORMAT.witness ? baseWitness(redeem) : baseScript(redeem)
  return { hash, index, sequence: FINAL_SEQUENCE, ...unlocking }
}

/** Of the transaction that spends both outputs: that of its estimated size, and a fifth more. */
function spendFee(call: BridgeCall, proposed: Federation): bigint {
  const size = Math.floor((pegoutSize(proposed, 2, 1) * 12) / 10)
  return (feePerKb(call) * BigInt(size)) / 1000n
}

/** Makes the transaction by which the proposed federation sends the coins back. */
function spend(call: BridgeCall, proposed: Federation, funds: Transaction, creationHash: Hex): void {
  const { peg, federations } = call
  const spent = [outputTo(funds, proposed.outputScript), outputTo(funds, flyoverScript(proposed))]
  const scripts = [proposed.redeemScript, flyoverRedeemScript(SVP_FLYOVER_PREFIX, proposed)]
  const value = spent.reduce((sum, output) => sum + output.value, -spendFee(call, proposed))
  const transaction = {
    version: 2,
    inputs: spent.map((output, i) => spending(output, scripts[i] ?? EMPTY, proposed)),
    outputs: [{ value, script: federations.active().outputScript }],
    lockTime: 0,
  }
  peg.svpSpendHash.set(txid(transaction))
  peg.svpSpend.set({ creationHash, transaction })
  peg.svpFund.set(undefined)
  announce(call, { transaction, spent }, { creationHash, amount: value })
}

/** Takes the validation a step further; gives it up when its time is over. */
export function updateSvp(call: BridgeCall, creationHash: Hex): void {
  const { peg, federations } = call
  const proposed = federations.proposed()
  if (proposed === undefined) return
  if (!federations.isValidating()) {
    giveUp(call, proposed)
    return
  }
  const isIdle = [peg.svpFundHash, peg.svpFund, peg.svpSpendHash].every((cell) => cell.get() === undefined)
  if (isIdle) fund(call, proposed, creationHash)
  const funds = peg.svpFund.get()
  if (funds !== undefined) spendOrWait(call, proposed, funds, creationHash)
}

/** A fund transaction without the two outputs is left as it is. */
function spendOrWait(call: BridgeCall, proposed: Federation, funds: Transaction, creationHash: Hex): void {
  const hasBoth = [proposed.outputScript, flyoverScript(proposed)].every((script) =>
    funds.outputs.some((output) => equal(output.script, script)),
  )
  if (hasBoth) spend(call, proposed, funds, creationHash)
}
