/** What became of a peg-in or a peg-out, by the logs of the Bridge. */
import { idOf } from '../bitcoin/chain/block.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { toBigInt } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogView } from '../engine/model.ts'
import { firstBlock, onDemand } from './bridge-state.ts'
import { releasedIn } from './releases.ts'

const topicOf = (signature: string): Hex => keccakHex(new TextEncoder().encode(signature))

const TOPIC = {
  pegin: topicOf('pegin_btc(address,bytes32,int256,int256)'),
  rejected: topicOf('rejected_pegin(bytes32,int256)'),
  unrefundable: topicOf('unrefundable_pegin(bytes32,int256)'),
  requested: topicOf('release_request_received(address,string,uint256)'),
  refused: topicOf('release_request_rejected(address,uint256,int256)'),
  batch: topicOf('batch_pegout_created(bytes32,bytes)'),
  released: topicOf('release_btc(bytes32,bytes)'),
} as const

/** Why the Bridge rejected a peg-in, by the number of its log. */
const PEGIN_REASONS: Readonly<Record<string, string>> = {
  1: 'the locking cap would be passed',
  2: 'the sender is a script of several keys',
  3: 'the sender cannot be determined',
  4: 'the instructions in it are malformed',
  5: 'an amount is below the minimum',
}
/** Why a rejected peg-in was not refunded. */
const UNREFUNDABLE_REASONS: Readonly<Record<string, string>> = {
  1: 'the sender cannot be determined',
  2: 'it names no address for a refund',
  3: 'an amount is below the minimum',
  4: 'it pays to federations of different types',
}
/** Why the Bridge rejected a peg-out. */
const PEGOUT_REASONS: Readonly<Record<string, string>> = {
  1: 'the amount is below the minimum',
  2: 'a contract asked for it',
  3: 'the fee on Bitcoin would be more than the amount',
}

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

function bridgeLogs(
  { queries }: Engine,
  from: number,
  topics: readonly (readonly Hex[] | null)[],
): Promise<readonly LogView[]> {
  const to = queries.head().block.header.number
  return queries.logs({
    range: { from, to },
    addresses: [PRECOMPILE_ADDRESS.bridge],
    topics,
    maxBlocks: 0,
    maxLogs: 0,
  })
}

const reasonOf = ({ log }: LogView, reasons: Readonly<Record<string, string>>, at = 0): string => {
  const code = toBigInt(log.data.subarray(at, at + 32))
  return reasons[String(code)] ?? `reason ${code}`
}

/** What the Bridge made of a peg-in. `id`: hash of the Bitcoin transaction. */
export async function pegInOutcome(
  engine: Engine,
  { id, satoshi }: { readonly id: string; readonly satoshi: bigint },
): Promise<PegInOutcome> {
  const known = { bitcoinTransaction: id, satoshi }
  const hash: Hex = `0x${id}`
  const [registered] = await bridgeLogs(engine, firstBlock(engine), [[TOPIC.pegin], null, [hash]])
  if (registered !== undefined) {
    return { ...known, status: 'registered', transaction: registered.transaction.hash }
  }
  const [rejected] = await bridgeLogs(engine, firstBlock(engine), [[TOPIC.rejected], [hash]])
  if (rejected === undefined) return { ...known, status: 'waiting' }
  const reason = reasonOf(rejected, PEGIN_REASONS)
  const transaction = rejected.transaction.hash
  const [lost] = await bridgeLogs(engine, firstBlock(engine), [[TOPIC.unrefundable], [hash]])
  if (lost === undefined) return { ...known, status: 'refunded', transaction, reason }
  const why = `${reason}; not refunded, since ${reasonOf(lost, UNREFUNDABLE_REASONS)}`
  return { ...known, status: 'lost', transaction, reason: why }
}

/** The hash of the transaction whose batch pays a request; `undefined` while there is none. */
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
    const code = toBigInt(refusal.data.subarray(32, 64))
    return { status: 'rejected', transaction, reason: PEGOUT_REASONS[String(code)] ?? `reason ${code}` }
  }
  if (!own.includes(TOPIC.requested)) {
    return { status: 'rejected', transaction, reason: 'the call of the Bridge failed' }
  }
  const batch = batchOf(await bridgeLogs(engine, from, [[TOPIC.batch]]), transaction)
  if (batch === undefined) return { status: 'waiting', transaction }
  const [released] = await bridgeLogs(engine, from, [[TOPIC.released], [batch.transaction.hash]])
  const paid = released && releasedIn(released.log)
  if (paid === undefined) return { status: 'waiting', transaction }
  return { status: 'released', transaction, bitcoinTransaction: idOf(paid) }
}
