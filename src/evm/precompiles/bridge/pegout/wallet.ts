/** The outputs that a federation can spend, and the scripts that spend them. */
import { destinationOf } from '../../../../bitcoin/output-script.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { type Federation, flyoverRedeemScript } from '../federation/federation.ts'
import type { BridgeState } from '../method.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import type { Funds } from './fees.ts'

/** A federation's outputs, in the order of its cell. */
export interface Wallet {
  readonly federation: Federation
  readonly outputs: readonly SpendableOutput[]
  /** An output with the script that spends it. Throws a RangeError for an output that the federation cannot spend. */
  fund(output: SpendableOutput): Funds
}

/** A federation's wallet; its flyover outputs are found by the cells of their addresses. */
export function walletOf(
  { peg }: BridgeState,
  federation: Federation,
  outputs: readonly SpendableOutput[],
): Wallet {
  const redeemScriptOf = (scriptHash: Uint8Array): Uint8Array | undefined => {
    const origin = peg.flyoverOrigin(scriptHash)
    const isOwn = equal(origin?.federationHash ?? scriptHash, federation.scriptHash)
    if (!isOwn) return undefined
    return origin === undefined
      ? federation.redeemScript
      : flyoverRedeemScript(origin.derivationHash, federation)
  }
  return {
    federation,
    outputs: outputs.filter(({ isCoinbase }) => !isCoinbase),
    fund(output) {
      const destination = destinationOf(output.script)
      const redeemScript = destination?.kind === 'scriptHash' ? redeemScriptOf(destination.hash) : undefined
      if (redeemScript === undefined) throw new RangeError('an output that the federation cannot spend')
      return { output, redeemScript }
    },
  }
}

/** The active federation's wallet. Its list of outputs is written back. */
export function activeWallet(state: BridgeState): Wallet {
  const { federations } = state
  return walletOf(state, federations.active(), federations.activeOutputs().get())
}

/** Satoshi in a wallet. */
export function balanceOf({ outputs }: Pick<Wallet, 'outputs'>): bigint {
  return outputs.reduce((sum, { value }) => sum + value, 0n)
}
