/** What became of a peg-in or a peg-out, by the logs of the Bridge. */
import { idOf } from '../bitcoin/chain/block.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogView } from '../engine/model.ts'
import { bridgeLogs, lossReason, peginReason, pegoutReason, TOPIC, wordOf } from './bridge-logs.ts'
import { onDemand } from './bridge-state.ts'
import { releasedIn } from './releases.ts'

/** Satoshi; hashes of Bitcoin without `0x`. */
export interface PegInOutcome {
  /** `waiting`: the Bridge has not processed it. `refunded`: the refund waits to be signed. */
  readonly status: 'waiting' | 'registered' | 'refunded' | 'lost'
  readonly bitcoinTransaction: string
  readonly satoshi: bigint
  /** Transaction of this chain in which the Bridge processed it. */
  readonly transaction?: Hex
  /** In words, where it was rejected. */
  readonly reason?: string
}

/** The same for a peg-out. */
export interface PegOutOutcome {
  /** `waiting`: in the queue, for confirmations, or for signatures. */
  readonly status: 'pending' | 'waiting' | 'rejected' | 'released'
  /** Transaction of this chain that asked for it. */
  readonly transaction: Hex
  readonly reason?: string
  /** The signed transaction that pays it, where it was released. */
  readonly bitcoinTransaction?: string
}

/** What the Bridge made of a peg-in. `id`: hash of the Bitcoin transaction. */
export async function pegInOutcome(
  engine: Engine,
  { id, satoshi }: { readonly id: string; readonly satoshi: bigint },
): Promise<PegInOutcome> {
  const known = { bitcoinTransaction: id, satoshi }
  const hash: Hex = `0x${id}`
  const [registered] = await bridgeLogs(engine, [[TOPIC.pegin], null, [hash]])
  if (registered !== undefined) {
    return { ...known, status: 'registered', transaction: registered.transaction.hash }
  }
  const [rejected] = await bridgeLogs(engine, [[TOPIC.rejected], [hash]])
  if (rejected === undefined) return { ...known, status: 'waiting' }
  const code = wordOf(rejected.log)
  const transaction = rejected.transaction.hash
  const [lost] = await bridgeLogs(engine, [[TOPIC.unrefundable], [hash]])
  return lost === undefined
    ? { ...known, status: 'refunded', transaction, reason: peginReason(code) }
    : { ...known, status: 'lost', transaction, reason: lossReason(code, wordOf(lost.log)) }
}

/** The log of the batch that pays a request; `undefined` while there is none. */
function batchOf(logs: readonly LogView[], request: Hex): LogView | undefined {
  const wanted = request.slice(2)
  return logs.find(({ log }) => Buffer.from(log.data).toString('hex').includes(wanted))
}

/** What the Bridge made of a peg-out that a transaction asked for. */
export async function pegOutOutcome(engine: Engine, transaction: Hex): Promise<PegOutOutcome> {
  const view = await onDemand(engine, () => engine.queries.receipt(transaction))
  if (view === undefined) return { status: 'pending', transaction }
  const from = view.block.block.header.number
  const own = view.receipt.logs.map((log) => log.topics[0])
  const refusal = view.receipt.logs.find(({ topics }) => topics[0] === TOPIC.refused)
  if (refusal !== undefined) {
    return { status: 'rejected', transaction, reason: pegoutReason(wordOf(refusal, 1)) }
  }
  if (!own.includes(TOPIC.requested)) {
    return { status: 'rejected', transaction, reason: 'the call of the Bridge failed' }
  }
  const batch = batchOf(await bridgeLogs(engine, [[TOPIC.batch]], from), transaction)
  if (batch === undefined) return { status: 'waiting', transaction }
  const [released] = await bridgeLogs(engine, [[TOPIC.released], [batch.transaction.hash]], from)
  const paid = released && releasedIn(released.log)
  if (paid === undefined) return { status: 'waiting', transaction }
  return { status: 'released', transaction, bitcoinTransaction: idOf(paid) }
}
