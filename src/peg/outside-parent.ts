/** The chain of a Bitcoin Core, as the engine knows it: it proves blocks, and goes back with no snapshot. */
import { type Block, transactionsRoot } from '../bitcoin/chain/block.ts'
import { coinbaseOf } from '../bitcoin/chain/coinbase.ts'
import { fromDisplayed } from '../bitcoin/displayed-hash.ts'
import type { BlockTemplate, CoreOperator } from '../bitcoin-rpc/core-operator.ts'
import type { Transaction } from '../chain/transaction.ts'
import { type OutsideRecord, outsideEntry, outsideRecordIn } from '../engine/outside-record.ts'
import {
  decodeEntries,
  encodeEntries,
  type ParentState,
  type ParentTemplate,
  type ProvenBlock,
} from '../engine/parent-chain.ts'
import { invalidParams } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Store } from '../store/level.ts'
import type { Write } from '../store/table.ts'
import { parentChainTable } from '../store/tables.ts'
import type { PegParent } from './bitcoin-side.ts'
import { FoundBlocks, type ProvingCoinbase, provingCoinbase } from './merged-block.ts'
import type { Outage } from './outage.ts'

/** What it is made of. */
export interface OutsideParentParts {
  readonly operator: CoreOperator
  readonly outage: Outage
  readonly store: Store
  readonly record: OutsideRecord
  /** Of the best block. */
  readonly height: number
  readonly blocksPer: number
  readonly logger: Logger
}

const CANNOT_GO_BACK =
  'Since then a peg-out was broadcast, and the chain of the Bitcoin node does not go back: the Bridge would spend the same coins again.'

function assembled(template: BlockTemplate, coinbase: ProvingCoinbase): Block {
  const { version, previousblockhash, curtime: time, bits, height, coinbasevalue: value } = template
  const parts = { ...coinbase, height, value, extraNonce: 0 }
  const transactions = [coinbaseOf(parts, template.transactions), ...template.transactions]
  const previous = fromDisplayed(previousblockhash)
  const header = { version, previous, merkleRoot: transactionsRoot(transactions), time, bits, nonce: 0 }
  return { header, transactions }
}

/** The parent chain of a node with `--bitcoin-rpc`. */
export class OutsideParent implements PegParent {
  readonly #parts: OutsideParentParts
  readonly #found: FoundBlocks
  #record: OutsideRecord
  /** Height of the best block that was seen last. */
  #seen: number
  /** Blocks on their way to the node. */
  #submitting: Promise<void> = Promise.resolve()
  turn: () => Promise<readonly Transaction[]> = async () => []

  constructor(parts: OutsideParentParts) {
    this.#parts = parts
    this.#found = new FoundBlocks(parts.blocksPer)
    this.#record = parts.record
    this.#seen = parts.height
  }

  get firstHeight(): number {
    return this.#record.firstHeight
  }

  /** Notes that a transaction of this chain's making was broadcast. Resolves when that is on disk. */
  async released(): Promise<void> {
    const { firstHeight, releases } = this.#record
    await this.#parts.store.batch(this.#become({ firstHeight, releases: releases + 1 }))
  }

  save(): ParentState {
    const record = this.#record
    return this.#stateOf(() => record)
  }

  /** After a reset the payments to the federation before it are those of another chain. */
  initial(): ParentState {
    const record = { firstHeight: this.#seen + 1, releases: 0 }
    return { ...this.#stateOf(() => record), restore: () => this.#become(record) }
  }

  decode(bytes: Uint8Array): ParentState {
    return this.#stateOf(() => {
      const record = outsideRecordIn(decodeEntries(bytes))
      if (record === undefined) throw new RangeError('it is simulated, and this node has --bitcoin-rpc')
      return record
    })
  }

  template(hash: Uint8Array, attempt: number): Promise<ParentTemplate | undefined> {
    return this.#parts.outage.attempt(async () => {
      await this.#submitting
      const template = await this.#parts.operator.template()
      this.#seen = template.height - 1
      return this.#found.templateOf(assembled(template, provingCoinbase(hash, attempt)))
    })
  }

  accept(blocks: readonly ProvenBlock[]): readonly Write[] {
    return this.#found.take(blocks).map((block) => ({ type: 'after', run: () => this.#submit(block) }))
  }

  async transactions(): Promise<readonly Transaction[]> {
    const turn = async () => {
      await this.#submitting
      return this.turn()
    }
    return (await this.#parts.outage.attempt(turn)) ?? []
  }

  /** The options refuse it in a cluster. */
  async follow(): Promise<void> {}

  async reload(): Promise<void> {}

  /** Resolves when the blocks found so far were handed in. */
  settled(): Promise<void> {
    return this.#submitting
  }

  #submit(block: Block): void {
    const { operator, outage, logger } = this.#parts
    this.#submitting = this.#submitting.then(async () => {
      const refusal = await outage.attempt(() => operator.submit(block))
      if (refusal !== undefined) logger.debug(`the Bitcoin node did not take a block: ${refusal}`)
    })
  }

  #stateOf(record: () => OutsideRecord): ParentState {
    return {
      restore: () => this.#restore(record()),
      encode: () => encodeEntries([outsideEntry(record())]),
    }
  }

  #restore(record: OutsideRecord): readonly Write[] {
    const { firstHeight, releases } = this.#record
    const isOfThis = record.firstHeight === firstHeight
    if (isOfThis && record.releases < releases) throw invalidParams(CANNOT_GO_BACK)
    return this.#become(record)
  }

  #become(record: OutsideRecord): Write[] {
    this.#record = record
    return [parentChainTable(this.#parts.store).put(...outsideEntry(record))]
  }
}
