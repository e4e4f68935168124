/** The two-way peg in hand: the Bitcoin chain, the federation, and what moves coins between the two chains. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { scriptOfAddress } from '../bitcoin/regtest-address.ts'
import { OP, push } from '../bitcoin/script.ts'
import type { Output } from '../bitcoin/transaction.ts'
import type { BitcoinReply, BitcoinRequest, BitcoinRequests } from '../bitcoin-rpc/requests.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { LOCAL_BALANCE } from '../chain/genesis.ts'
import { addressOf } from '../chain/signature.ts'
import { counted } from '../counted.ts'
import { concat } from '../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { AccountEdit } from '../engine/dev/state-edits.ts'
import type { Engine } from '../engine/engine.ts'
import type { ParentChain } from '../engine/parent-chain.ts'
import { createSerialQueue } from '../engine/serial-queue.ts'
import { invalidParams, NodeError } from '../errors.ts'
import { minimumPegin, WEI_PER_SATOSHI } from '../evm/precompiles/bridge/constants/network.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import type { BitcoinSide } from './bitcoin-side.ts'
import { type BitcoinTransactionDetails, bitcoinTransaction } from './bitcoin-transaction.ts'
import { onDemand } from './bridge-state.ts'
import { FAUCET_ADDRESS, pay } from './faucet.ts'
import { Federation, type TurnRequest } from './federation.ts'
import {
  type BitcoinProof,
  type FlyoverAddress,
  type FlyoverAgreement,
  flyoverAddress,
  proofOf,
} from './flyover.ts'
import type { MemberKeys } from './member-keys.ts'
import { type PegInOutcome, type PegOutOutcome, pegInOutcome, pegOutOutcome } from './outcomes.ts'
import { type PegStatus, pegStatus } from './status.ts'

/** What a peg is made of. */
export interface PegParts {
  readonly side: BitcoinSide
  readonly mode: FederationMode
  /** Keys of members that the node was given. */
  readonly keys: MemberKeys
  readonly logger: Logger
  /** What the first state of the chain has of a federation that replaces that of a fork's upstream. */
  readonly startEdits?: readonly AccountEdit[] | undefined
  /** Throws `overloaded` while another node of the cluster makes the changes. */
  readonly admit?: (() => void) | undefined
}

/** Most blocks that are mined at once, and blocks of this chain that a peg-out waits for at most. */
const MAX_BLOCKS = 1000
const MAX_PEGOUT_BLOCKS = 80

/** Version 1 of the instructions in a peg-in (RSKIP-170), before the receiver. */
const INSTRUCTIONS = fromHex('0x52534b5401')

function instructionsFor(receiver: Hex): Uint8Array {
  return concat(Uint8Array.of(OP.RETURN), push(concat(INSTRUCTIONS, fromHex(receiver))))
}

function scriptTo(address: string, name: string): Uint8Array {
  const script = scriptOfAddress(address)
  if (script === undefined)
    throw invalidParams(`${name}: expected a Bitcoin address of regtest, not ${address}`)
  return script
}

function checkCount(count: number, name: string): void {
  if (Number.isSafeInteger(count) && count >= 0 && count <= MAX_BLOCKS) return
  throw invalidParams(`${name}: expected a number of blocks from 0 to ${MAX_BLOCKS}`)
}

/** The peg of a node. */
export class Peg {
  readonly #parts: PegParts
  /** Payments, of which each must see what those before it have spent. */
  readonly #payments = createSerialQueue()
  #requests: BitcoinRequests | undefined
  #forward: ((request: BitcoinRequest) => Promise<unknown>) | undefined
  #attached: { readonly engine: Engine; readonly federation: Federation } | undefined

  constructor(parts: PegParts) {
    this.#parts = parts
  }

  /** The simulated Bitcoin chain. Throws `invalid-options` where the node has that of a Bitcoin Core. */
  get bitcoin(): Bitcoin {
    const { simulated } = this.#side
    if (simulated !== undefined) return simulated
    throw new NodeError(
      'invalid-options',
      'The Bitcoin chain of this node is that of a Bitcoin Core (--bitcoin-rpc), and not in this process.',
    )
  }

  /** The simulated Bitcoin chain; `undefined` where the node has that of a Bitcoin Core. */
  get simulated(): Bitcoin | undefined {
    return this.#side.simulated
  }

  /** Where the Bitcoin Core is, without user and password; `undefined` with the simulated chain. */
  get origin(): string | undefined {
    return this.#side.origin
  }

  /** Changes of a fork's first state; `undefined` where the federation replaces none. */
  get startEdits(): readonly AccountEdit[] | undefined {
    return this.#parts.startEdits
  }

  /** The chain as the engine knows it. */
  get parentChain(): ParentChain {
    return this.#side.parent
  }

  /** Lets the federation work for the chain of an engine. */
  attach(engine: Engine): void {
    const { mode, logger, side, keys } = this.#parts
    const isFollower = () => this.#isFollower()
    const federation = new Federation({ engine, side, mode, keys, logger, isFollower })
    this.#attached = { engine, federation }
    if (mode === 'auto') side.parent.turn = () => federation.turn()
  }

  get federation(): Federation {
    return this.#open.federation
  }

  /** Mines Bitcoin blocks to an address, the node's own unless given; their hashes. */
  async mine(count: number, address?: string): Promise<readonly string[]> {
    this.#admit()
    checkCount(count, 'blocks')
    if (address !== undefined) scriptTo(address, 'address')
    return this.#side.mine(count, address ?? FAUCET_ADDRESS)
  }

  /** Sends coins of the node's own to a Bitcoin address and mines blocks; the transaction. Throws `transaction-refused`. */
  async faucet(address: string, satoshi: bigint, blocks = 1): Promise<string> {
    this.#admit()
    checkCount(blocks, 'blocks')
    const outputs = [{ value: satoshi, script: scriptTo(address, 'address') }]
    const id = await this.#pay(outputs)
    await this.mine(blocks)
    return id
  }

  /**
   * Sends coins of the node's own to the federation for an account of this chain, and mines the Bitcoin blocks and the
   * block of this chain in which they arrive, unless `blocks` is 0. Throws `invalid-params` below the minimum.
   */
  async pegIn(receiver: Hex, satoshi: bigint, blocks?: number): Promise<PegInOutcome> {
    this.#admit()
    const { engine, federation } = this.#open
    const { federations, network, isActive } = await federation.bridge()
    const minimum = minimumPegin(isActive)
    if (satoshi < minimum) {
      throw invalidParams(
        `satoshi: a peg-in of ${satoshi} satoshi is below the minimum of ${minimum}: the Bridge would keep it without a refund`,
      )
    }
    const count = blocks ?? network.peginConfirmations
    checkCount(count, 'blocks')
    const script = federations.active().outputScript
    const outputs = [
      { value: satoshi, script },
      { value: 0n, script: instructionsFor(receiver) },
    ]
    const id = await this.#pay(outputs)
    await this.mine(count)
    if (count < network.peginConfirmations || federation.mode === 'off') {
      return { status: 'waiting', bitcoinTransaction: id, satoshi }
    }
    await this.#advance()
    return pegInOutcome(engine, { id, satoshi })
  }

  /**
   * Sends coins of a local account to the Bridge, and mines the blocks after which they have left it on Bitcoin and the
   * change is back, unless `mines` is false. Throws as a transaction does.
   */
  async pegOut(from: Hex, satoshi: bigint, mines = true): Promise<PegOutOutcome> {
    this.#admit()
    const { engine, federation } = this.#open
    const value = satoshi * WEI_PER_SATOSHI
    const { hash } = await engine.commands.send({ from, to: PRECOMPILE_ADDRESS.bridge, value, gas: 100_000n })
    for (let blocks = 0; ; blocks++) {
      const outcome = await pegOutOutcome(engine, hash)
      const isOver = outcome.status === 'rejected' || outcome.status === 'released'
      if (isOver || !mines || federation.mode === 'off' || blocks >= MAX_PEGOUT_BLOCKS) {
        if (outcome.status === 'released') await this.#confirm()
        return outcome
      }
      await this.#advance()
    }
  }

  /** Replaces the last Bitcoin blocks by one more than they are; their transactions return to the mempool. */
  async reorg(depth: number): Promise<readonly string[]> {
    this.#admit()
    checkCount(depth, 'depth')
    const { node } = this.#side
    const height = (await node.bestBlock()).height - depth + 1
    const first = depth === 0 || height < 1 ? undefined : await node.hashAt(height)
    if (first === undefined) {
      throw invalidParams(`depth: the Bitcoin chain does not have ${counted(depth, 'block')} to replace`)
    }
    return this.#side.replace(first, depth + 1)
  }

  /** Lets the federation do all that it can at once, and mines what it sends in a block of this chain. */
  async flush(): Promise<number> {
    this.#admit()
    const { federation } = this.#open
    await federation.broadcast()
    const sent = await this.updateBridge()
    if (federation.mode === 'manual') await this.#open.engine.commands.mine()
    await federation.broadcast()
    return sent
  }

  /**
   * Puts what the federation has to send into the pool, or into a block where it works for each block anyway; how many
   * transactions. A request is for the former. Throws `invalid-params` as `Federation.turn` does.
   */
  async updateBridge(request: TurnRequest = {}): Promise<number> {
    this.#admit()
    const { engine, federation } = this.#open
    if (federation.mode === 'off') return 0
    await federation.broadcast()
    const transactions = await federation.turn(federation.mode === 'manual' ? request : {})
    if (federation.mode === 'auto') await engine.commands.mine()
    else for (const transaction of transactions) await engine.commands.submit(transaction)
    return transactions.length
  }

  /**
   * Takes in the key of a member of a federation, which from then on works like the others; its public key and account,
   * which gets coins for its transactions where it has none. Throws `invalid-params` for a secret that is none.
   */
  async importKey(secret: Uint8Array): Promise<{ readonly publicKey: Hex; readonly address: Hex }> {
    this.#admit()
    const { engine, federation } = this.#open
    const publicKey = federation.members.add(secret)
    await this.#parts.keys.put(publicKey, secret)
    const address = addressOf(secret)
    const state = await engine.queries.state({ tag: 'latest' })
    const account = await onDemand(engine, () => state?.account(address))
    if ((account?.balance ?? 0n) === 0n) await engine.dev.editState([{ address, balance: LOCAL_BALANCE }])
    return { publicKey: toHex(publicKey), address }
  }

  /** Heights of the Bitcoin chain, unless its node is down, and of its headers in the Bridge. */
  async heights(): Promise<{ readonly height?: number; readonly bridge: number }> {
    const { headers } = await this.#open.federation.bridge()
    const height = await this.#side.height()
    return { ...(height !== undefined && { height }), bridge: headers.best().height }
  }

  /**
   * Answers a request of the port of Bitcoin's own interfaces; `undefined` for a path of none. Another node of the cluster
   * answers where it makes the changes. Throws `overloaded` where none does.
   */
  async answer(request: BitcoinRequest, isGone: () => boolean): Promise<BitcoinReply | undefined> {
    this.#requests ??= await this.#openRequests()
    try {
      return await this.#requests.answer(request, isGone)
    } catch (error) {
      const isElsewhere = error instanceof NodeError && error.kind === 'overloaded'
      if (!isElsewhere || this.#forward === undefined) throw error
      const { parseReply } = await import('../bitcoin-rpc/requests.ts')
      return parseReply(await this.#forward(request))
    }
  }

  /** Passes requests that change something to the leader of the cluster by this. */
  forwardBy(forward: (request: BitcoinRequest) => Promise<unknown>): void {
    this.#forward = forward
  }

  async #openRequests(): Promise<BitcoinRequests> {
    const { BitcoinRequests } = await import('../bitcoin-rpc/requests.ts')
    const report = (method: string, error: unknown) =>
      this.#parts.logger.error('a call of the Bitcoin node failed', { method, error })
    return new BitcoinRequests({ bitcoin: this.bitcoin, report, settled: () => this.settled() })
  }

  async status(): Promise<PegStatus> {
    const { engine, federation } = this.#open
    const { node, origin } = this.#side
    const where = { node, origin, takesOver: this.startEdits !== undefined }
    return pegStatus(where, await federation.bridge(), federation, engine)
  }

  /**
   * A Bitcoin transaction by its hash (64 hex digits), with the coins that it spends and what it is to the peg; `undefined`
   * where neither Bitcoin nor the Bridge has it. Throws `invalid-params` for another text.
   */
  async transaction(id: string): Promise<BitcoinTransactionDetails | undefined> {
    if (!/^[0-9a-f]{64}$/.test(id))
      throw invalidParams(`hash: expected 64 hex digits in lower case, not ${id.slice(0, 80)}`)
    const { engine, federation } = this.#open
    const bridge = await federation.bridge()
    const height = engine.queries.head().block.header.number + 1
    return bitcoinTransaction(id, { engine, node: this.#side.node, bridge, height })
  }

  /** The federation's address for a flyover peg-in (RSKIP-176). Throws `invalid-params`. */
  async flyoverAddress(agreement: FlyoverAgreement): Promise<FlyoverAddress> {
    return flyoverAddress(await this.#open.federation.bridge(), agreement)
  }

  /** What proves a Bitcoin transaction to the Bridge, by its hash; `undefined` where it is in no block of the best chain. */
  proof(id: string): Promise<BitcoinProof | undefined> {
    return proofOf(this.#side.node, id)
  }

  /** Resolves when all changes so far are on disk. */
  settled(): Promise<void> {
    return this.#side.settled()
  }

  async close(): Promise<void> {
    await this.#attached?.federation.close()
    await this.#side.close()
  }

  /** The Bitcoin blocks after which the Bridge takes a transaction's change back, and the block in which it does. */
  async #confirm(): Promise<void> {
    const { network } = await this.federation.bridge()
    await this.mine(network.peginConfirmations)
    await this.#advance()
  }

  /** One block of this chain with what the federation sends. */
  async #advance(): Promise<void> {
    const { engine, federation } = this.#open
    if (federation.mode === 'manual') await this.updateBridge()
    await engine.commands.mine()
    await federation.broadcast()
  }

  /** Throws `overloaded` while another node of the cluster makes the changes. */
  #admit(): void {
    this.#parts.admit?.()
  }

  #isFollower(): boolean {
    try {
      this.#admit()
      return false
    } catch {
      return true
    }
  }

  /** Broadcasts a payment of the faucet; its transaction. */
  #pay(outputs: readonly Output[]): Promise<string> {
    return this.#payments.enqueue(async () =>
      this.#side.node.broadcast(await pay(this.#side.coins(), outputs)),
    )
  }

  get #side(): BitcoinSide {
    return this.#parts.side
  }

  get #open() {
    if (this.#attached === undefined) throw new Error('the peg has no chain yet')
    return this.#attached
  }
}
