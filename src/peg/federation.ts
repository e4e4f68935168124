/** The federation in the node: its members tell the Bridge about Bitcoin, sign what leaves, and broadcast it. */

import { idOf } from '../bitcoin/chain/block.ts'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import type { BitcoinNode } from '../bitcoin/node-interface.ts'
import { revealedScript } from '../bitcoin/redeem-input.ts'
import {
  type Transaction as BitcoinTransaction,
  decodeTransaction,
  hasWitness,
  txid,
} from '../bitcoin/transaction.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { intrinsicGas } from '../chain/intrinsic-gas.ts'
import type { Log } from '../chain/receipt.ts'
import { signTransaction, type Transaction } from '../chain/transaction.ts'
import { equal, toBigInt } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { ChainUpdate } from '../engine/model.ts'
import { NodeError } from '../errors.ts'
import type { Federation as FederationRecord } from '../evm/precompiles/bridge/federation/federation.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import {
  type BridgeCallRequest,
  coinbaseCall,
  headerCalls,
  missingSigners,
  needsUpdate,
  registrationCall,
  registrationKey,
  signatureCall,
  UPDATE_CALL,
} from './bridge-calls.ts'
import { bridgeAt } from './bridge-state.ts'
import { type MemberKey, Members } from './members.ts'
import { type Payment, Payments } from './payments.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge
/** Topic of `release_btc`, whose data is a fully signed transaction. */
const RELEASE_TOPIC = keccakHex(new TextEncoder().encode('release_btc(bytes32,bytes)'))
/** Blocks in which a new process looks for releases that were not broadcast. */
const RESUMED_BLOCKS = 1000
/** Gas of a byte of data of the Bridge. */
const GAS_PER_BYTE = 2n
/** Gas beyond what a call is known to take, for rules that charge more. */
const SPARE_GAS = 10_000n

/** A call and the member who sends it. */
interface Sending {
  readonly sender: MemberKey
  readonly call: BridgeCallRequest
}

/** A payment to the federation that the Bridge has not processed. Satoshi. */
export interface PendingPegIn {
  readonly bitcoinTransaction: string
  readonly satoshi: bigint
  readonly confirmations: number
}

/** What a federation works with. */
export interface FederationParts {
  readonly engine: Engine
  readonly node: BitcoinNode
  readonly mode: FederationMode
  readonly logger: Logger
}

/** The transaction that a log of `release_btc` has; `undefined` for another log. */
export function releasedIn({ address, topics, data }: Log): BitcoinTransaction | undefined {
  if (address !== BRIDGE || topics[0] !== RELEASE_TOPIC) return undefined
  const length = Number(toBigInt(data.subarray(32, 64)))
  return decodeTransaction(data.subarray(64, 64 + length))
}

/** The members of all federations whose keys the node has. */
export class Federation {
  readonly members = new Members()
  readonly #parts: FederationParts
  readonly #payments: Payments
  /** The transactions that registered what the Bridge has not marked as processed, by Bitcoin transaction and block. */
  readonly #sent = new Map<string, Hex>()
  #released: BitcoinTransaction[] = []
  /** Were the releases of an earlier process looked for? */
  #isResumed = false
  #broadcasting: Promise<void> = Promise.resolve()
  readonly #stop: () => void

  constructor(parts: FederationParts) {
    this.#parts = parts
    this.#payments = new Payments(parts.node)
    this.#stop = parts.engine.events.on('chain', (update) => this.#follow(update))
  }

  get mode(): FederationMode {
    return this.#parts.mode
  }

  /** The Bridge as a transaction in the next block finds it. */
  async bridge(): Promise<BridgeState> {
    const { queries, config } = this.#parts.engine
    const state = await queries.state({ tag: 'latest' })
    if (state === undefined) throw new Error('the head has no state')
    return bridgeAt(state, queries.head().block.header.number + 1, config)
  }

  /**
   * What the members send for the next block, signed: nothing while earlier transactions of theirs wait in the pool.
   * Throws `upstream` where the Bitcoin node does not answer.
   */
  async turn(): Promise<readonly Transaction[]> {
    const { queries } = this.#parts.engine
    await this.#resume()
    const bridge = await this.bridge()
    const senders = this.#working(bridge.federations.live())
    const waits = senders.some(({ address }) => queries.pooledOf(address).pending.length > 0)
    const [sender] = senders
    if (sender === undefined || waits) return []
    const calls = [
      ...(await headerCalls(bridge, this.#parts.node)),
      ...(await this.#registrations(bridge)),
      ...(needsUpdate(bridge, queries.head().block.header.number + 1) ? [UPDATE_CALL] : []),
    ]
    const sendings = calls.map((call) => ({ sender, call }))
    return this.#signed([...sendings, ...this.#signatures(bridge)])
  }

  /** Payments to the live federations that the Bridge has yet to process; what they send themselves is none. */
  async pendingPegIns({ peg, federations }: BridgeState): Promise<readonly PendingPegIn[]> {
    const live = federations.live()
    const isOwn = (script: Uint8Array) => live.some(({ outputScript }) => equal(outputScript, script))
    const { height: best } = await this.#parts.node.bestBlock()
    const payments = await this.#payments.to(this.#watched(federations))
    return payments
      .filter((payment) => {
        const { transaction } = payment
        const isFromFederation = transaction.inputs.some((input) => {
          const script = revealedScript(input)
          return script !== undefined && live.some(({ redeemScript }) => equal(redeemScript, script))
        })
        return (
          !isFromFederation && peg.processedHeight(txid(transaction)) === undefined && !this.#isSent(payment)
        )
      })
      .map(({ transaction, block }) => ({
        bitcoinTransaction: idOf(transaction),
        satoshi: transaction.outputs.reduce(
          (sum, { value, script }) => (isOwn(script) ? sum + value : sum),
          0n,
        ),
        confirmations: best - block.height + 1,
      }))
  }

  /** Broadcasts the releases that were completed since the last time. */
  broadcast(): Promise<void> {
    this.#broadcasting = this.#broadcasting.then(() => this.#broadcastReleased())
    return this.#broadcasting
  }

  /** Stops following the chain, and waits for what it does. */
  async close(): Promise<void> {
    this.#stop()
    await this.#broadcasting
  }

  #follow({ removed, added }: ChainUpdate): void {
    if (this.#parts.mode === 'off') return
    if (removed.length > 0 && added.length === 0) this.#released = []
    for (const { receipts } of added) {
      for (const log of receipts.flatMap(({ logs }) => logs)) {
        const released = releasedIn(log)
        if (released !== undefined) this.#released.push(released)
      }
    }
    if (this.#parts.mode === 'auto' && this.#released.length > 0) void this.broadcast()
  }

  /** Broadcasts what an earlier process may have left: releases of the last blocks that Bitcoin does not know. */
  async #resume(): Promise<void> {
    if (this.#isResumed) return
    this.#isResumed = true
    const { engine, node } = this.#parts
    const to = engine.queries.head().block.header.number
    const logs = await engine.queries.logs({
      range: { from: Math.max(0, to - RESUMED_BLOCKS), to },
      addresses: [BRIDGE],
      topics: [[RELEASE_TOPIC]],
      maxBlocks: 0,
      maxLogs: 0,
    })
    for (const transaction of logs.flatMap(({ log }) => releasedIn(log) ?? [])) {
      if ((await node.transaction(idOf(transaction))) === undefined) this.#released.push(transaction)
    }
    if (this.#released.length > 0) await this.broadcast()
  }

  async #broadcastReleased(): Promise<void> {
    const { node, logger } = this.#parts
    const released = this.#released
    this.#released = []
    for (const transaction of released) {
      try {
        await node.broadcast(transaction)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        logger.warn(`a signed peg-out was not broadcast: ${error.message}`)
      }
    }
  }

  /** The members of these federations whose keys are here and whose nodes work, each once. */
  #working(federations: readonly FederationRecord[]): readonly MemberKey[] {
    const found = new Map<Hex, MemberKey>()
    for (const [btc, rsk] of federations.flatMap(({ members }) => members)) {
      const key = this.members.keyOf(rsk)
      if (key !== undefined && this.members.conductOf(btc) !== 'stopped') found.set(key.address, key)
    }
    return [...found.values()]
  }

  async #registrations(bridge: BridgeState): Promise<BridgeCallRequest[]> {
    const { peg, federations, network } = bridge
    const { height: best } = await this.#parts.node.bestBlock()
    const payments = await this.#payments.to(this.#watched(federations))
    const proven = new Set<string>()
    const calls: BridgeCallRequest[] = []
    for (const payment of payments) {
      const { transaction, block } = payment
      if (best - block.height + 1 < network.peginConfirmations) continue
      if (peg.processedHeight(txid(transaction)) !== undefined || this.#isSent(payment)) continue
      const isProven = proven.has(block.hash) || peg.witnessRoot(fromDisplayed(block.hash)) !== undefined
      if (hasWitness(transaction) && !isProven) {
        calls.push(coinbaseCall(block))
        proven.add(block.hash)
      }
      calls.push(registrationCall(payment))
    }
    return calls
  }

  /** The scripts of the federations whose transactions the Bridge has to learn of. */
  #watched(federations: BridgeState['federations']): readonly Uint8Array[] {
    const proposed = federations.proposed()
    const all = proposed === undefined ? federations.live() : [...federations.live(), proposed]
    return all.map(({ outputScript }) => outputScript)
  }

  #isSent(payment: Payment): boolean {
    const hash = this.#sent.get(registrationKey(payment))
    return hash !== undefined && this.#parts.engine.queries.transaction(hash) !== undefined
  }

  #signatures(bridge: BridgeState): readonly Sending[] {
    const { peg, federations } = bridge
    const live = federations.live()
    const sendings = [...peg.signing.get()].flatMap(([hash, release]) =>
      live.flatMap((federation) => this.#signaturesOf(bridge, release, hash, federation)),
    )
    const spend = peg.svpSpend.get()
    const proposed = federations.proposed()
    if (spend === undefined || proposed === undefined) return sendings
    return [...sendings, ...this.#signaturesOf(bridge, spend.transaction, spend.creationHash, proposed)]
  }

  #signaturesOf(
    bridge: BridgeState,
    release: BitcoinTransaction,
    creationHash: Hex,
    federation: FederationRecord,
  ): readonly Sending[] {
    const working = federation.members.filter(
      ([btc, rsk]) =>
        this.members.keyOf(btc) !== undefined &&
        this.members.keyOf(rsk) !== undefined &&
        this.members.conductOf(btc) !== 'stopped',
    )
    const { missing, keys } = missingSigners(
      bridge,
      release,
      working.map(([btc]) => btc),
    )
    const isWrong = (key: Uint8Array) => this.members.conductOf(key) === 'wrong'
    const signers = [...keys.filter(isWrong), ...keys.filter((key) => !isWrong(key)).slice(0, missing)]
    return working.flatMap(([btc, rsk]) => {
      const [key, sender] = [this.members.keyOf(btc), this.members.keyOf(rsk)]
      if (!signers.includes(btc) || key === undefined || sender === undefined) return []
      const signing = { publicKey: btc, secret: key.secret, isWrong: isWrong(btc) }
      return { sender, call: signatureCall(bridge, release, creationHash, signing) }
    })
  }

  #signed(sendings: readonly Sending[]): Transaction[] {
    const { config, queries } = this.#parts.engine
    const nonces = new Map<Hex, bigint>()
    const gasPrice = queries.head().block.header.minimumGasPrice
    return sendings.map(({ sender: { address, secret }, call: { data, gas, registers } }) => {
      const nonce = nonces.get(address) ?? queries.pendingNonce(address)
      nonces.set(address, nonce + 1n)
      const paid = intrinsicGas({ to: BRIDGE, data }) + gas + GAS_PER_BYTE * BigInt(data.length)
      const unsigned = {
        nonce,
        gasPrice,
        gasLimit: paid + SPARE_GAS,
        to: BRIDGE,
        value: 0n,
        data,
        chainId: config.chainId,
      }
      const transaction = signTransaction(unsigned, secret, address)
      if (registers !== undefined) this.#sent.set(registers, transaction.hash)
      return transaction
    })
  }
}
