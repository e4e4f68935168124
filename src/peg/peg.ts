/** The two-way peg in hand: the Bitcoin chain, the federation, and what moves coins between the two chains. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { bestBlock, blockAt } from '../bitcoin/chain/state.ts'
import { LocalBitcoinNode } from '../bitcoin/local-node.ts'
import { scriptOfAddress } from '../bitcoin/regtest-address.ts'
import { OP, push } from '../bitcoin/script.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import type { Transaction } from '../chain/transaction.ts'
import { counted } from '../counted.ts'
import { concat } from '../encoding/bytes.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { ParentChain } from '../engine/parent-chain.ts'
import { invalidParams } from '../errors.ts'
import { minimumPegin, WEI_PER_SATOSHI } from '../evm/precompiles/bridge/constants/network.ts'
import type { Logger } from '../logger.ts'
import type { FederationMode } from '../options/bitcoin-settings.ts'
import { FAUCET_SCRIPT, pay } from './faucet.ts'
import { Federation, type TurnRequest } from './federation.ts'
import { type PegInOutcome, type PegOutOutcome, pegInOutcome, pegOutOutcome } from './outcomes.ts'
import { type PegStatus, pegStatus } from './status.ts'

/** What a peg is made of. */
export interface PegParts {
  readonly bitcoin: Bitcoin
  /** The chain as the engine knows it; `turn` is what the federation sends for the next block. */
  readonly parent: ParentChain & { turn: () => Promise<readonly Transaction[]> }
  readonly mode: FederationMode
  readonly logger: Logger
  /** Resolves when all changes so far are on disk. Throws `storage`. */
  settled(): Promise<void>
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
  readonly bitcoin: Bitcoin
  readonly #parts: PegParts
  readonly #node: LocalBitcoinNode
  #attached: { readonly engine: Engine; readonly federation: Federation } | undefined

  constructor(parts: PegParts) {
    this.#parts = parts
    this.bitcoin = parts.bitcoin
    this.#node = new LocalBitcoinNode(parts.bitcoin)
  }

  /** The chain as the engine knows it. */
  get parentChain(): ParentChain {
    return this.#parts.parent
  }

  /** Lets the federation work for the chain of an engine. */
  attach(engine: Engine): void {
    const { mode, logger, parent } = this.#parts
    const federation = new Federation({ engine, node: this.#node, mode, logger })
    this.#attached = { engine, federation }
    if (mode === 'auto') parent.turn = () => federation.turn()
  }

  get federation(): Federation {
    return this.#open.federation
  }

  /** Mines Bitcoin blocks to an address, the node's own unless given; their hashes. */
  async mine(count: number, address?: string): Promise<readonly string[]> {
    checkCount(count, 'blocks')
    const script = address === undefined ? FAUCET_SCRIPT : scriptTo(address, 'address')
    const hashes = this.bitcoin.mine(count, script)
    await this.#parts.settled()
    return hashes
  }

  /** Sends coins of the node's own to a Bitcoin address and mines blocks; the transaction. Throws `transaction-refused`. */
  async faucet(address: string, satoshi: bigint, blocks = 1): Promise<string> {
    checkCount(blocks, 'blocks')
    const outputs = [{ value: satoshi, script: scriptTo(address, 'address') }]
    const id = await this.#node.broadcast(pay(this.bitcoin, outputs))
    await this.mine(blocks)
    return id
  }

  /**
   * Sends coins of the node's own to the federation for an account of this chain, and mines the Bitcoin blocks and the
   * block of this chain in which they arrive, unless `blocks` is 0. Throws `invalid-params` below the minimum.
   */
  async pegIn(receiver: Hex, satoshi: bigint, blocks?: number): Promise<PegInOutcome> {
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
    const id = await this.#node.broadcast(pay(this.bitcoin, outputs))
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
    checkCount(depth, 'depth')
    const { chain } = this.bitcoin
    const first = blockAt(chain.state, bestBlock(chain.state).height - depth + 1)
    if (depth === 0 || first === undefined || first.height === 0) {
      throw invalidParams(`depth: the Bitcoin chain does not have ${counted(depth, 'block')} to replace`)
    }
    chain.invalidate(first)
    return this.mine(depth + 1)
  }

  /** Lets the federation do all that it can at once, and mines what it sends in a block of this chain. */
  async flush(): Promise<number> {
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
    const { engine, federation } = this.#open
    if (federation.mode === 'off') return 0
    await federation.broadcast()
    const transactions = await federation.turn(federation.mode === 'manual' ? request : {})
    if (federation.mode === 'auto') await engine.commands.mine()
    else for (const transaction of transactions) await engine.commands.submit(transaction)
    return transactions.length
  }

  /** Heights of the Bitcoin chain, and of its headers in the Bridge. */
  async heights(): Promise<{ readonly height: number; readonly bridge: number }> {
    const { headers } = await this.#open.federation.bridge()
    return { height: bestBlock(this.bitcoin.chain.state).height, bridge: headers.best().height }
  }

  async status(): Promise<PegStatus> {
    const { engine, federation } = this.#open
    const height = engine.queries.head().block.header.number + 1
    return pegStatus(this.bitcoin, await federation.bridge(), federation, height)
  }

  /** Resolves when all changes so far are on disk. */
  settled(): Promise<void> {
    return this.#parts.settled()
  }

  async close(): Promise<void> {
    await this.#attached?.federation.close()
    await this.#parts.settled().catch(() => undefined)
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

  get #open() {
    if (this.#attached === undefined) throw new Error('the peg has no chain yet')
    return this.#attached
  }
}
