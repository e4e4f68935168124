/** Chaos on one node: a plan, a seed, and what they do to messages, calls, blocks and notifications. Loaded when it is set. */

import { setTimeout as delay } from 'node:timers/promises'
import { isHex } from '../encoding/hex.ts'
import { isTooComplex } from '../encoding/json-complexity.ts'
import { isObject } from '../encoding/json-object.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { IntervalTimer } from '../engine/mining/schedule.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { Agenda } from './agenda.ts'
import { BlockFiller } from './block-filler.ts'
import { ChaosBlocks } from './blocks.ts'
import { Decisions, type MessageFault } from './decisions.ts'
import { callOfFollower, readsHead, resultOfFollower } from './follower.ts'
import type { ActiveChaos, Caller, ChaosCall, Disturbance } from './model.ts'
import type { ChaosPlan } from './plan.ts'
import { answersPrice, withHigherPrices } from './prices.ts'
import { ChaosReport, type FaultName } from './report.ts'

/** The namespaces that a public endpoint has. Methods that control this node are in others, and are left alone. */
const PUBLIC = /^(eth|net|web3|rsk|debug|trace|txpool|alchemy|ots|erigon)_/
/** Methods whose result is the hash of a transaction that the pool has accepted. */
const SENDS = ['eth_sendRawTransaction', 'eth_sendTransaction', 'eth_sendRawTransactionConditional']
/** Methods that wait for a block, and how often what is due runs meanwhile, milliseconds. */
const WAITS = /^eth_send\w*Sync$/
const WAIT_MS = 5
/** Receipts whose polls are counted. */
const MOST_POLLED = 10_000
const MOST_DEPTH = 256

/** What chaos is made of. */
export interface ChaosParts {
  readonly plan: ChaosPlan
  readonly seed: string
  readonly node: CurrentEngine
  /** Is this the name of a method that is open on the node? */
  isOpen(method: string): boolean
  readonly logger: Logger
  /** Starts timers; those of the process unless given. */
  readonly startTimer?: IntervalTimer | undefined
}

/** The calls of a message. */
interface Calls {
  readonly methods: readonly string[]
  readonly isBatch: boolean
  readonly id: unknown
}

/** Reads a message; no calls where it is not JSON, or too complex to be one. */
function callsOf(text: string): Calls {
  const none = { methods: [], isBatch: false, id: null }
  if (isTooComplex(text, MOST_DEPTH)) return none
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return none
  }
  const calls = Array.isArray(message) ? message : [message]
  const methods = calls.flatMap((call: unknown) =>
    isObject(call) && typeof call.method === 'string' ? call.method : [],
  )
  return { methods, isBatch: Array.isArray(message), id: isObject(message) ? message.id : null }
}

/** The name of a fault of a message, and what it is counted with. */
function named(fault: MessageFault): readonly [FaultName, string | number] {
  switch (fault.kind) {
    case 'status':
      return ['status', fault.status]
    case 'too-large':
      return ['body-limit', fault.limit]
    case 'batch-limit':
      return ['batch-limit', fault.limit]
    case 'drop':
      return ['drop', fault.when]
    case 'stall':
      return ['stall', `${fault.ms}ms`]
    case 'truncate':
      return ['truncate', fault.share.toFixed(2)]
  }
}

/** Chaos on one node, from when it is set until it is replaced or turned off. */
export class Chaos implements ActiveChaos {
  readonly plan: ChaosPlan
  readonly seed: string
  readonly #parts: ChaosParts
  readonly #decisions: Decisions
  readonly #report: ChaosReport
  readonly #agenda: Agenda
  readonly #blocks: ChaosBlocks
  /** Polls of each receipt that are still answered null. */
  readonly #polls = new Map<string, number>()

  constructor(parts: ChaosParts) {
    const { plan, seed, node, logger } = parts
    this.plan = plan
    this.seed = seed
    this.#parts = parts
    this.#decisions = new Decisions(plan, seed)
    this.#report = new ChaosReport(logger)
    this.#agenda = new Agenda(plan.idleMs, logger, parts.startTimer)
    this.#blocks = new ChaosBlocks({
      plan,
      node,
      decisions: this.#decisions,
      agenda: this.#agenda,
      report: this.#report,
      filler: new BlockFiller(seed),
    })
    this.#blocks.start()
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#report.counts
  }

  touches(method: string, { isCalm }: Pick<Caller, 'isCalm'>): boolean {
    return isCalm !== true && PUBLIC.test(method) && this.#parts.isOpen(method)
  }

  message(text: string, caller: Caller): Disturbance | undefined {
    const { methods, isBatch, id = null } = callsOf(text)
    if (methods.length === 0 || !methods.every((name) => this.touches(name, caller))) return undefined
    const { fault, latencyMs } = this.#decisions.message({ methods, isBatch, bytes: Buffer.byteLength(text) })
    if (fault === undefined && latencyMs === 0) return undefined
    const notes: string[] = []
    const affected = { ...caller, noteChaos: (what: string) => void notes.push(what) }
    const about = methods.length > 3 ? `${methods.length} calls` : methods.join(', ')
    if (latencyMs > 0) this.#report.add('latency', `${latencyMs}ms`, about, affected)
    if (fault !== undefined) this.#report.add(...named(fault), about, affected)
    return {
      latencyMs,
      fault,
      notes,
      errorText: (code, message) => JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }),
    }
  }

  async inProcess({ name, params, session }: ChaosCall, run: () => Promise<unknown>): Promise<unknown> {
    const message = this.touches(name, session)
      ? this.message(JSON.stringify({ method: name, params }), session)
      : undefined
    if (message === undefined) return run()
    const { latencyMs, fault } = message
    const isLost = fault !== undefined
    // A reply that is cut off or dropped was made: the call took place.
    const isMade = !isLost || fault.kind === 'truncate' || (fault.kind === 'drop' && fault.when === 'after')
    const result = isMade ? await run() : undefined
    if (latencyMs > 0) await delay(latencyMs)
    if (!isLost) return result
    if (fault.kind === 'status' && fault.status === 429)
      throw new NodeError('rate-limited', 'Too Many Requests')
    throw new NodeError('overloaded', `The connection failed (chaos: ${named(fault).join('=')})`)
  }

  async call({ name, params, session }: ChaosCall, run: (params: unknown) => unknown): Promise<unknown> {
    const decision = this.#decisions.call({ reads: readsHead(name), prices: answersPrice(name) })
    this.#checkLogRange(name, params, session)
    const { blocksBehind, priceFactor } = decision
    try {
      if (blocksBehind > 0) return await this.#asFollower({ name, params, session }, blocksBehind, run)
      const result = WAITS.test(name) ? await this.#whileWaiting(run(params)) : await run(params)
      if (SENDS.includes(name) && typeof result === 'string' && isHex(result)) await this.#blocks.sent(result)
      if (name === 'eth_getTransactionReceipt') return this.#polled(params, result, session)
      if (priceFactor === 1) return result
      this.#report.add('gas-price', `x${priceFactor}`, name, session)
      return withHigherPrices(result, priceFactor)
    } finally {
      await this.#agenda.advance()
    }
  }

  copiesOfNext(caller: Caller): number {
    if (caller.isCalm === true) return 1
    const copies = this.#decisions.copiesOfNext('subscription')
    if (copies !== 1) this.#reportCopies(copies, 'a notification', { label: caller.label })
    return copies
  }

  changesOf<T>(entries: readonly T[], caller: Caller): readonly T[] {
    if (caller.isCalm === true) return entries
    return entries.flatMap((entry) => {
      const copies = this.#decisions.copiesOfNext('filter')
      if (copies !== 1) this.#reportCopies(copies, 'an entry of a filter', caller)
      return Array.from({ length: copies }, () => entry)
    })
  }

  async close(isClosing = false): Promise<void> {
    await this.#agenda.close()
    const { node } = this.#parts
    const isWaiting = this.#blocks.stop() && node.engine.queries.poolSize().pending > 0
    if (isWaiting && !isClosing) await node.engine.commands.mine()
  }

  #reportCopies(copies: number, about: string, caller: Caller): void {
    this.#report.add(copies === 0 ? 'gap' : 'duplicate', copies, about, caller)
  }

  /** A call that waits for a block: no other call may come for it. */
  async #whileWaiting(work: unknown): Promise<unknown> {
    const settled = Promise.resolve(work)
    let isWaiting = true
    const end = () => {
      isWaiting = false
    }
    settled.then(end, end)
    while (isWaiting) {
      await Promise.race([settled.catch(() => {}), new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
      await this.#agenda.advance()
    }
    return settled
  }

  async #asFollower(
    { name, params, session }: ChaosCall,
    blocksBehind: number,
    run: (params: unknown) => unknown,
  ): Promise<unknown> {
    const height = this.#parts.node.engine.queries.head().block.header.number
    const head = Math.max(0, height - blocksBehind)
    this.#report.add('stale', height - head, name, session)
    const call = callOfFollower(name, params, head)
    if (!('result' in call)) return resultOfFollower(name, await run(call.params), head)
    // The node still refuses what it would refuse: a key that may not call the method, malformed parameters.
    await run(params)
    return call.result
  }

  /** A receipt, or null while its first polls are answered so. */
  #polled(params: unknown, receipt: unknown, session: Caller): unknown {
    if (receipt === null || !Array.isArray(params)) return receipt
    const hash = String(params[0])
    const left = this.#polls.get(hash) ?? this.#decisions.hiddenPolls()
    const [oldest] = this.#polls.keys()
    if (this.#polls.size >= MOST_POLLED && oldest !== undefined) this.#polls.delete(oldest)
    this.#polls.set(hash, Math.max(0, left - 1))
    if (left === 0) return receipt
    this.#report.add('receipt', 'null', hash, session)
    return null
  }

  /** Throws `log-limit` for a range of more blocks than the plan allows. */
  #checkLogRange(name: string, params: unknown, session: Caller): void {
    const most = this.plan.limits?.logBlocks
    if (most === undefined || name !== 'eth_getLogs' || !Array.isArray(params)) return
    const [filter] = params
    if (!isObject(filter) || filter.blockHash !== undefined) return
    const head = this.#parts.node.engine.queries.head().block.header.number
    const heightOf = (value: unknown) => {
      if (value === 'earliest') return 0
      const height = typeof value === 'string' && value.startsWith('0x') ? Number(value) : head
      return Number.isNaN(height) ? head : height
    }
    if (heightOf(filter.toBlock) - heightOf(filter.fromBlock) < most) return
    this.#report.add('log-limit', most, name, session)
    throw new NodeError('log-limit', `This endpoint answers logs of at most ${most} blocks at once.`)
  }
}
