/** The federation in the node: its members tell the Bridge about Bitcoin, sign what leaves, and broadcast it. */

import { idOf } from '../bitcoin/chain/block.ts'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import { type Transaction as BitcoinTransaction, hasWitness, txid } from '../bitcoin/transaction.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { intrinsicGas } from '../chain/intrinsic-gas.ts'
import { signTransaction, type Transaction } from '../chain/transaction.ts'
import { equal } from '../encoding/bytes.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { ChainUpdate } from '../engine/model.ts'
import { invalidParams } from '../errors.ts'
import type { Federation as FederationRecord } from '../evm/precompiles/bridge/federation/federation.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
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
import { bridgeAt, onDemand } from './bridge-state.ts'
import type { MemberKeys } from './member-keys.ts'
import { type MemberKey, Members } from './members.ts'
import { type Payment, Payments } from './payments.ts'
import { Releases } from './releases.ts'
import { isRelevant, known, paidToFederations, refusalOf, spendsFrom } from './relevance.ts'

const BRIDGE = PRECOMPILE_ADDRESS.bridge
/** Gas of a byte of data of the Bridge. */
const GAS_PER_BYTE = 2n
/** Gas beyond what a call is known to take, for rules that charge more. */
const SPARE_GAS = 10_000n

/** First four bytes of the data of `addSignature(bytes,bytes[],bytes)`. */
const SIGNATURE_SELECTOR = fromHex('0xf10b9c59')
const isSignature = ({ data }: Transaction) => equal(data.subarray(0, 4), SIGNATURE_SELECTOR)

/** What a turn is for. */
export interface TurnRequest {
  /** It was asked for: an update is sent even where the peg has nothing to do, as the reference node does. */
  readonly isAsked?: boolean
  /** Account of the member who sends everything but signatures; any that works unless given. */
  readonly member?: Hex | undefined
}

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
  /** In words, why the members do not tell the Bridge of it. */
  readonly ignored: string | undefined
}

/** What a federation works with. */
export interface FederationParts {
  readonly engine: Engine
  readonly side: Pick<BitcoinSide, 'node' | 'firstHeight' | 'released'>
  readonly mode: FederationMode
  /** Keys that the node was given. */
  readonly keys: MemberKeys
  readonly logger: Logger
  /** Does another node of the cluster work in this one's place? */
  isFollower(): boolean
}

/** The members of all federations whose keys the node has. */
export class Federation {
  readonly members: Members
  readonly #parts: FederationParts
  readonly #payments: Payments
  /** The transactions that registered what the Bridge has not marked as processed, by Bitcoin transaction and block. */
  readonly #sent = new Map<string, Hex>()
  readonly #releases: Releases
  readonly #stop: () => void

  constructor(parts: FederationParts) {
    this.#parts = parts
    this.members = new Members(parts.keys)
    this.#payments = new Payments(parts.side.node)
    this.#releases = new Releases(parts)
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
   * What the members send for the next block, signed: nothing that waits in the pool already. Throws `upstream` where the
   * Bitcoin node does not answer, `invalid-params` where the member is none of a live federation or does not work.
   */
  async turn({ isAsked = false, member }: TurnRequest = {}): Promise<readonly Transaction[]> {
    const { queries } = this.#parts.engine
    await this.#releases.resume()
    const bridge = await this.bridge()
    const senders = this.#working(bridge.federations.live())
    const sender = member === undefined ? senders[0] : senders.find(({ address }) => address === member)
    if (sender === undefined && member !== undefined) {
      throw invalidParams(`member: ${member} is no working member of a live federation`)
    }
    const waits = senders.some(({ address }) => this.#waits(address, (one) => !isSignature(one)))
    const isNeeded = isAsked || (!waits && needsUpdate(bridge, queries.head().block.header.number + 1))
    const calls = [
      ...(waits ? [] : await headerCalls(bridge, this.#parts.side.node)),
      ...(waits ? [] : await this.#registrations(bridge)),
      ...(isNeeded ? [UPDATE_CALL] : []),
    ]
    const sendings = sender === undefined ? [] : calls.map((call) => ({ sender, call }))
    return this.#signed([...sendings, ...this.#signatures(bridge)])
  }

  /** The signatures that members have to give for the next block and that do not wait in the pool. */
  async signatures(): Promise<readonly Transaction[]> {
    return this.#signed(this.#signatures(await this.bridge()))
  }

  /** Payments to the live federations that the Bridge has yet to process; what they send themselves is none. */
  async pendingPegIns(bridge: BridgeState): Promise<readonly PendingPegIn[]> {
    const { peg, federations } = bridge
    const live = federations.live()
    const { height: best } = await this.#parts.side.node.bestBlock()
    const pending: PendingPegIn[] = []
    for (const payment of await this.#unprocessed(peg, federations)) {
      const { transaction, block } = payment
      if (spendsFrom(transaction, live)) continue
      pending.push({
        bitcoinTransaction: idOf(transaction),
        satoshi: paidToFederations(transaction, bridge),
        confirmations: best - block.height + 1,
        ignored: refusalOf(transaction, bridge),
      })
    }
    return pending
  }

  /** Broadcasts the releases that were completed since the last time. */
  broadcast(): Promise<void> {
    return this.#releases.broadcast()
  }

  /** Stops following the chain, and waits for what it does. */
  async close(): Promise<void> {
    this.#stop()
    await this.#releases.idle()
  }

  #follow(update: ChainUpdate): void {
    const { mode } = this.#parts
    if (mode === 'off') return
    if (this.#parts.isFollower()) this.#releases.forget()
    else if (this.#releases.follow(update) && mode === 'auto') void this.broadcast()
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
    const { height: best } = await this.#parts.side.node.bestBlock()
    const payments = await this.#unprocessed(peg, federations)
    const proven = new Set<string>()
    const calls: BridgeCallRequest[] = []
    for (const payment of payments) {
      const { transaction, block } = payment
      if (best - block.height + 1 < network.peginConfirmations) continue
      if (!isRelevant(transaction, bridge)) continue
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
    return known(federations).map(({ outputScript }) => outputScript)
  }

  /** The payments to federations of which the Bridge was not told yet. */
  async #unprocessed(
    peg: BridgeState['peg'],
    federations: BridgeState['federations'],
  ): Promise<readonly Payment[]> {
    const first = this.#parts.side.firstHeight()
    const found: Payment[] = []
    for (const payment of await this.#payments.to(this.#watched(federations), first)) {
      const isProcessed = peg.processedHeight(txid(payment.transaction)) !== undefined
      if (!isProcessed && !(await this.#isSent(payment))) found.push(payment)
    }
    return found
  }

  async #isSent(payment: Payment): Promise<boolean> {
    const { engine } = this.#parts
    const hash = this.#sent.get(registrationKey(payment))
    if (hash === undefined) return false
    return (await onDemand(engine, () => engine.queries.transaction(hash))) !== undefined
  }

  /** Has a member's account such a transaction in the pool? */
  #waits(address: Hex, isMeant: (transaction: Transaction) => boolean): boolean {
    return this.#parts.engine.queries.pooledOf(address).pending.some(isMeant)
  }

  #signatures(bridge: BridgeState): readonly Sending[] {
    const all = this.#allSignatures(bridge)
    return all.filter(({ sender: { address } }) => !this.#waits(address, isSignature))
  }

  #allSignatures(bridge: BridgeState): readonly Sending[] {
    const { peg, federations } = bridge
    const live = federations.live()
    const sendings = [...peg.signing.get()].flatMap(([hash, release]) =>
      live.flatMap((federation) => this.#signaturesOf(bridge, release, hash, federation)),
    )
    const spend = peg.svpSpend.get()
    const proposed = federations.proposed()
    if (spend === undefined || proposed === undefined || !this.#isConfirmed(spend.creationHash, bridge)) {
      return sendings
    }
    return [...sendings, ...this.#signaturesOf(bridge, spend.transaction, spend.creationHash, proposed)]
  }

  /** Has a transaction of this chain as many blocks on top as the members wait for? The Bridge itself does not wait. */
  #isConfirmed(hash: Hex, { network }: BridgeState): boolean {
    const { queries } = this.#parts.engine
    const mined = queries.transaction(hash)?.block?.block.header.number
    const head = queries.head().block.header.number
    return mined !== undefined && head - mined >= network.pegoutConfirmations
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
