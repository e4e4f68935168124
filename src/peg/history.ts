/** What became of the last peg-ins and peg-outs, by the logs of the Bridge. */
import { idOf } from '../bitcoin/chain/block.ts'
import type { BitcoinNode } from '../bitcoin/node-interface.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { LogView } from '../engine/model.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import { bridgeLogs, lossReason, peginReason, TOPIC, wordOf } from './bridge-logs.ts'
import { firstBlock } from './bridge-state.ts'
import { type ReleaseKind, releaseId, releaseOf } from './meaning.ts'
import { releasedIn } from './releases.ts'
import { paidToFederations } from './relevance.ts'

/** Blocks that are looked through, and entries at most. */
const BLOCKS = 1000
const MOST_ENTRIES = 20

/** A peg-in that was processed, or a transaction of the Bridge that was signed. Satoshi. */
export interface PegEvent {
  readonly kind: 'pegIn' | ReleaseKind
  readonly status: 'registered' | 'refunded' | 'lost' | 'released'
  readonly bitcoinTransaction: string
  /** `undefined` where Bitcoin does not have the transaction any more. */
  readonly satoshi: bigint | undefined
  /** Of this chain: the transaction and the block in which it happened. */
  readonly transaction: Hex
  readonly block: number
  /** In words, why a peg-in was rejected. */
  readonly reason: string | undefined
}

/** What a peg-in is looked up in. */
interface HistoryParts {
  readonly engine: Engine
  readonly node: BitcoinNode
  readonly bridge: BridgeState
}

async function rejected(
  { log, ...view }: LogView,
  lost: ReadonlyMap<Hex | undefined, LogView>,
  { node, bridge }: HistoryParts,
): Promise<PegEvent> {
  const hash = log.topics[1]
  const id = (hash ?? '0x').slice(2)
  const loss = lost.get(hash)
  const found = await node.transaction(id)
  return {
    kind: 'pegIn',
    status: loss === undefined ? 'refunded' : 'lost',
    bitcoinTransaction: id,
    satoshi: found && paidToFederations(found.transaction, bridge),
    transaction: view.transaction.hash,
    block: view.block.block.header.number,
    reason: loss === undefined ? peginReason(wordOf(log)) : lossReason(wordOf(log), wordOf(loss.log)),
  }
}

/** The logs of the Bridge that tell why it made these transactions, by the topic that has the id of each. */
async function createdBy(signed: readonly LogView[], engine: Engine): Promise<ReadonlyMap<Hex, LogView>> {
  const ids = signed.flatMap(({ log }): Hex[] => {
    const transaction = releasedIn(log)
    const id = transaction && releaseId(transaction)
    return id === undefined ? [] : [`0x${id}`]
  })
  if (ids.length === 0) return new Map()
  const logs = await bridgeLogs(engine, [[TOPIC.created], null, ids])
  return new Map(logs.map((view) => [view.log.topics[2] ?? '0x', view]))
}

async function released(
  view: LogView,
  logs: ReadonlyMap<Hex, LogView>,
  { engine }: HistoryParts,
): Promise<PegEvent | undefined> {
  const signed = releasedIn(view.log)
  const id = signed && releaseId(signed)
  if (signed === undefined || id === undefined) return undefined
  const created = logs.get(`0x${id}`)
  if (created === undefined) return undefined
  const { kind, satoshi } = await releaseOf(engine, created, signed)
  return {
    kind,
    status: 'released',
    bitcoinTransaction: idOf(signed),
    satoshi,
    transaction: view.transaction.hash,
    block: view.block.block.header.number,
    reason: undefined,
  }
}

function registered({ log, ...view }: LogView): PegEvent {
  return {
    kind: 'pegIn',
    status: 'registered',
    bitcoinTransaction: (log.topics[2] ?? '0x').slice(2),
    satoshi: wordOf(log),
    transaction: view.transaction.hash,
    block: view.block.block.header.number,
    reason: undefined,
  }
}

/** The last events, the latest first: 20 at most, of the last 1,000 blocks. */
export async function pegHistory(parts: HistoryParts): Promise<readonly PegEvent[]> {
  const { engine } = parts
  const from = Math.max(firstBlock(engine), engine.queries.head().block.header.number - BLOCKS)
  const { pegin, rejected: refused, released: signed, unrefundable } = TOPIC
  const logs = await bridgeLogs(engine, [[pegin, refused, signed, unrefundable]], from)
  const isOf = (topic: Hex) => (view: LogView) => view.log.topics[0] === topic
  const lost = new Map(logs.filter(isOf(unrefundable)).map((view) => [view.log.topics[1], view]))
  const last = logs.filter((view) => !isOf(unrefundable)(view)).slice(-MOST_ENTRIES)
  const created = await createdBy(last.filter(isOf(signed)), engine)
  const events = last.reverse().map((view) => {
    if (isOf(pegin)(view)) return registered(view)
    return isOf(refused)(view) ? rejected(view, lost, parts) : released(view, created, parts)
  })
  return (await Promise.all(events)).filter((event) => event !== undefined)
}
