/** What a Bitcoin transaction is to the peg. */
import { idOf } from '../bitcoin/chain/block.ts'
import { displayed } from '../bitcoin/displayed-hash.ts'
import { unsignedTxid } from '../bitcoin/redeem-input.ts'
import type { Transaction } from '../bitcoin/transaction.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogView } from '../engine/model.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { missingSignatures } from '../evm/precompiles/bridge/pegout/input-signatures.ts'
import { bridgeLogs, TOPIC, wordOf } from './bridge-logs.ts'
import { onDemand } from './bridge-state.ts'
import { type PegInOutcome, pegInOutcome } from './outcomes.ts'
import { known, paidToFederations, refusalOf, spendsFrom } from './relevance.ts'

/** What the Bridge makes a transaction for: peg-outs, a peg-in that goes back, a federation's coins, its validation. */
export type ReleaseKind = 'pegOut' | 'refund' | 'migration' | 'svpFund' | 'svpSpend'

/** A peg-in, or a transaction that the Bridge made. Satoshi. */
export type PegMeaning =
  | {
      readonly kind: 'pegIn'
      /** `ignored`: the members do not tell the Bridge of it. */
      readonly status: PegInOutcome['status'] | 'ignored'
      readonly satoshi: bigint
      /** Transaction of this chain in which the Bridge processed it. */
      readonly transaction?: Hex
      readonly reason?: string
      readonly needed: number
    }
  | {
      readonly kind: ReleaseKind
      readonly status: 'confirming' | 'signing' | 'released'
      /** What its log names: what peg-outs asked for, or what it moves. */
      readonly satoshi: bigint
      /** Transaction of this chain in which the Bridge made it. */
      readonly transaction: Hex
      /** Transactions of this chain that asked for the peg-outs that it pays. */
      readonly requests: readonly Hex[]
      /** While it waits: blocks that it has, or signatures that it lacks. */
      readonly confirmations?: number
      readonly needed?: number
      readonly missing?: number
    }

/** The hash by which the Bridge's logs name a transaction: without its signatures. `undefined` for one that it cannot have made. */
export function releaseId(transaction: Transaction): string | undefined {
  try {
    const id = unsignedTxid(transaction)
    return id && displayed(id)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The hashes in the log of a batch. */
function requestsIn(data: Uint8Array): Hex[] {
  const length = Number(wordOf({ data }, 1))
  return Array.from({ length: length / 32 }, (_, i) => toHex(data.subarray(64 + 32 * i, 96 + 32 * i)))
}

/** What the Bridge made a transaction for, by the log of that and the receipt that it is in. */
export async function releaseOf(
  engine: Engine,
  { log, transaction: { hash: transaction } }: LogView,
  { outputs }: Transaction,
): Promise<{ kind: ReleaseKind; satoshi: bigint; transaction: Hex; requests: readonly Hex[] }> {
  const id = log.topics[2]
  const satoshi = wordOf(log)
  const view = await onDemand(engine, () => engine.queries.receipt(transaction))
  const logs = view?.receipt.logs ?? []
  const batch = logs.find(({ topics }) => topics[0] === TOPIC.batch && topics[1] === id)
  const made = (kind: ReleaseKind, requests: readonly Hex[] = []) => ({
    kind,
    satoshi,
    transaction,
    requests,
  })
  if (batch !== undefined) return made('pegOut', requestsIn(batch.data))
  if (!logs.some(({ topics }) => topics[0] === TOPIC.updated)) return made('refund')
  if (outputs.length > 1) return made('svpFund')
  // The log of a migration names what it spends, that of a validation what it pays.
  return made(satoshi === outputs[0]?.value ? 'svpSpend' : 'migration')
}

/** Where a transaction that the Bridge made is: it waits in one of its cells, or was released. */
function progressOf({ peg, network }: BridgeState, id: string, height: number) {
  const waiting = peg.waiting.get().find(({ transaction }) => idOf(transaction) === id)
  if (waiting !== undefined) {
    const confirmations = height - waiting.creationBlock
    return { status: 'confirming', confirmations, needed: network.pegoutConfirmations } as const
  }
  const spend = peg.svpSpend.get()?.transaction
  const unsigned = [...peg.signing.get().values(), ...(spend === undefined ? [] : [spend])]
  const [input] = unsigned.find((one) => releaseId(one) === id)?.inputs ?? []
  if (input !== undefined) return { status: 'signing', missing: missingSignatures(input) } as const
  return { status: 'released' } as const
}

async function peginMeaning(
  engine: Engine,
  bridge: BridgeState,
  transaction: Transaction,
): Promise<PegMeaning | undefined> {
  const id = idOf(transaction)
  const paid = paidToFederations(transaction, bridge)
  const { bitcoinTransaction: _, ...outcome } = await pegInOutcome(engine, { id, satoshi: paid })
  const needed = bridge.network.peginConfirmations
  const [registered] =
    outcome.status === 'registered' ? await bridgeLogs(engine, [[TOPIC.pegin], null, [`0x${id}`]]) : []
  if (registered !== undefined) return { ...outcome, kind: 'pegIn', satoshi: wordOf(registered.log), needed }
  if (outcome.status !== 'waiting') return { ...outcome, kind: 'pegIn', needed }
  if (paid === 0n || spendsFrom(transaction, known(bridge.federations))) return undefined
  const reason = refusalOf(transaction, bridge)
  return reason === undefined
    ? { ...outcome, kind: 'pegIn', needed }
    : { ...outcome, kind: 'pegIn', status: 'ignored', reason, needed }
}

/** What a transaction is to the peg, with the Bridge as a transaction in the block of `height` finds it; `undefined` for nothing. */
export async function meaningOf(
  engine: Engine,
  bridge: BridgeState,
  transaction: Transaction,
  height: number,
): Promise<PegMeaning | undefined> {
  const id = releaseId(transaction)
  const [created] = id === undefined ? [] : await bridgeLogs(engine, [[TOPIC.created], null, [`0x${id}`]])
  if (id === undefined || created === undefined) return peginMeaning(engine, bridge, transaction)
  return { ...(await releaseOf(engine, created, transaction)), ...progressOf(bridge, id, height) }
}
