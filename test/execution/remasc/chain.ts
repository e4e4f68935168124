/** A chain of bare headers with the rewards of each block carried out on one state, for tests of the payout. */
import { type ChainConfig, PRECOMPILE_ADDRESS } from '../../../src/chain/config.ts'
import { type Header, headerHash } from '../../../src/chain/header.ts'
import type { Log } from '../../../src/chain/receipt.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { AncestorBlock } from '../../../src/evm/precompiles/precompile.ts'
import { applyRemascTransaction } from '../../../src/execution/remasc/remasc-transaction.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import { REMASC_SLOT } from '../../../src/state/remasc-storage.ts'
import { headerWith } from '../../chain/headers.ts'
import { ENVIRONMENT, NOTHING } from '../../support/execution.ts'

/** What a block brings to the chain. */
export interface NextBlock {
  readonly coinbase?: Hex
  /** Wei. */
  readonly paidFees?: bigint
  readonly minimumGasPrice?: bigint
  readonly uncles?: readonly Header[]
}

/** Blocks from height 1 on, over an empty state. */
export class RemascChain {
  state = new Overlay(NOTHING)
  readonly blocks: AncestorBlock[] = []
  /** Depths that were asked for while the last block was carried out. */
  asked: number[] = []
  readonly #config: ChainConfig

  constructor(config: ChainConfig) {
    this.#config = config
    const genesis = headerWith({ number: 0 })
    this.blocks.push({ header: genesis, hash: headerHash(genesis, config), uncles: [], totalDifficulty: 1n })
  }

  /** Adds a block and returns the logs of its REMASC transaction. */
  add({
    coinbase = ENVIRONMENT.coinbase,
    paidFees = 0n,
    minimumGasPrice = 0n,
    uncles = [],
  }: NextBlock = {}): readonly Log[] {
    const number = this.blocks.length
    this.asked = []
    const env = {
      ...ENVIRONMENT,
      number,
      minimumGasPrice,
      ancestor: (depth: number) => {
        this.asked.push(depth)
        return this.blocks[number - 1 - depth]
      },
    }
    const { logs } = applyRemascTransaction(this.state, env, paidFees, this.#config)
    const header = headerWith({ number, coinbase, paidFees, minimumGasPrice, uncleCount: uncles.length })
    this.blocks.push({ header, hash: headerHash(header, this.#config), uncles, totalDifficulty: 1n })
    return logs
  }

  /** Takes the state as given, so that its changes are those of the blocks to come. */
  settle(): void {
    this.state = new Overlay(this.state)
  }

  cell(name: keyof typeof REMASC_SLOT): bigint {
    return this.state.storage(PRECOMPILE_ADDRESS.remasc, REMASC_SLOT[name])
  }

  /** Wei; `undefined` where there is no account. */
  balance(address: Hex): bigint | undefined {
    return this.state.account(address)?.balance
  }
}
