/** The peg at a moment: both chains, the federations, what waits. */
import { idOf } from '../bitcoin/chain/block.ts'
import { outputScript } from '../bitcoin/output-script.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { type Hex, toFixedHex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { minimumPegin } from '../evm/precompiles/bridge/constants/network.ts'
import type { Federation as FederationRecord } from '../evm/precompiles/bridge/federation/federation.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { missingSignatures } from '../evm/precompiles/bridge/pegout/input-signatures.ts'
import { feePerKb, lockingCap } from '../evm/precompiles/bridge/votes/settings.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import type { Federation, PendingPegIn } from './federation.ts'
import { type PegEvent, pegHistory } from './history.ts'
import type { MemberConduct } from './members.ts'

/** A federation, and what its members' nodes do. */
export interface FederationStatus {
  readonly address: string
  readonly threshold: number
  readonly creationBlock: number
  readonly members: readonly {
    readonly key: Hex
    readonly hasKey: boolean
    readonly conduct: MemberConduct
  }[]
}

/** A peg-out that the Bridge has not let go. Amounts in satoshi. */
export type WaitingPegOut =
  | {
      readonly stage: 'requested'
      readonly receiver: string
      readonly satoshi: bigint
      readonly transaction: Hex | undefined
    }
  | {
      readonly stage: 'confirming'
      readonly bitcoinTransaction: string
      readonly confirmations: number
      readonly needed: number
    }
  | { readonly stage: 'signing'; readonly bitcoinTransaction: string; readonly missing: number }

/** The peg. Amounts in satoshi. */
export interface PegStatus {
  readonly bitcoin: {
    readonly height: number
    readonly hash: string
    readonly mempool: number
    /** Where the Bitcoin Core is that has the chain; `undefined` for the simulated chain. */
    readonly origin: string | undefined
  }
  /** On a fork: the federation replaced that of the upstream. */
  readonly takesOver: boolean
  /** The best Bitcoin block that the Bridge knows. */
  readonly bridge: { readonly height: number; readonly hash: string }
  readonly active: FederationStatus
  readonly retiring: FederationStatus | undefined
  readonly proposed: FederationStatus | undefined
  /** What the federations can spend, by the Bridge. */
  readonly locked: bigint
  readonly lockingCap: bigint
  readonly feePerKb: bigint
  readonly minimumPegIn: bigint
  readonly minimumPegOut: bigint
  readonly pegInConfirmations: number
  readonly pegIns: readonly PendingPegIn[]
  readonly pegOuts: readonly WaitingPegOut[]
  /** What became of the last ones, the latest first. */
  readonly history: readonly PegEvent[]
}

function federationStatus(record: FederationRecord, { members }: Federation): FederationStatus {
  const { address, threshold, creationBlock } = record
  return {
    address,
    threshold,
    creationBlock,
    members: record.members.map(([btc]) => ({
      key: toHex(btc),
      hasKey: members.keyOf(btc) !== undefined,
      conduct: members.conductOf(btc),
    })),
  }
}

function waitingPegOuts({ peg, network }: BridgeState, height: number): WaitingPegOut[] {
  const requests = peg.requests.get().map(({ receiver, amount, requestHash }) => ({
    stage: 'requested' as const,
    receiver: addressOf(outputScript({ kind: 'publicKeyHash', hash: receiver })) ?? '',
    satoshi: amount,
    transaction: requestHash && toHex(requestHash),
  }))
  const confirming = peg.waiting.get().map(({ transaction, creationBlock }) => ({
    stage: 'confirming' as const,
    bitcoinTransaction: idOf(transaction),
    confirmations: height - creationBlock,
    needed: network.pegoutConfirmations,
  }))
  const signing = [...peg.signing.get().values()].map((transaction) => ({
    stage: 'signing' as const,
    bitcoinTransaction: idOf(transaction),
    missing: transaction.inputs[0] === undefined ? 0 : missingSignatures(transaction.inputs[0]),
  }))
  return [...requests, ...confirming, ...signing]
}

function lockedIn({ federations }: BridgeState): bigint {
  const outputs = [...federations.activeOutputs().get(), ...(federations.retiringOutputs()?.get() ?? [])]
  return outputs.reduce((sum, { value }) => sum + value, 0n)
}

/** The peg, with the Bridge as a transaction in the next block finds it. */
export async function pegStatus(
  { node, origin, takesOver }: Pick<BitcoinSide, 'node' | 'origin'> & { readonly takesOver: boolean },
  bridge: BridgeState,
  federation: Federation,
  engine: Engine,
): Promise<PegStatus> {
  const height = engine.queries.head().block.header.number + 1
  const history = await pegHistory({ engine, node, bridge })
  const best = await node.bestBlock()
  const mempool = (await node.mempool()).length
  const known = bridge.headers.best()
  const { federations, network, isActive } = bridge
  const statusOf = (record: FederationRecord | undefined) => record && federationStatus(record, federation)
  return {
    bitcoin: { height: best.height, hash: best.hash, mempool, origin },
    takesOver,
    bridge: { height: known.height, hash: toFixedHex(known.hash, 32).slice(2) },
    active: federationStatus(federations.active(), federation),
    retiring: statusOf(federations.retiring()),
    proposed: statusOf(federations.proposed()),
    locked: lockedIn(bridge),
    lockingCap: lockingCap(bridge),
    feePerKb: feePerKb(bridge),
    minimumPegIn: minimumPegin(isActive),
    minimumPegOut: network.minimumPegout,
    pegInConfirmations: network.peginConfirmations,
    pegIns: await federation.pendingPegIns(bridge),
    pegOuts: waitingPegOuts(bridge, height),
    history,
  }
}
