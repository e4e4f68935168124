/** The account whose transactions take the gas that full blocks have left; nobody else uses it. */
import { sublistLimits } from '../chain/config.ts'
import { nextGasLimit, nextMinimumGasPrice } from '../chain/next-header.ts'
import { addressOf } from '../chain/signature.ts'
import { signTransaction, type Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { seededBytes } from '../engine/randomness.ts'

/** Creates a contract by INVALID, which fails and uses all of its gas. */
const INVALID = Uint8Array.of(0xfe)
/** Gas below which such a transaction is not valid (a transaction and a creation, EIP-2), and some for its data. */
const LEAST_GAS = 53_100n

/** What the next block has room for. */
export interface Room {
  /** Gas that the transactions of the block may ask for. */
  readonly gas: bigint
  /** The account's transaction that asks for so much gas; `undefined` where that is too little. */
  filling(gas: bigint): Transaction | undefined
}

/** The account of a seed. */
export class BlockFiller {
  readonly address: Hex
  readonly #key: Uint8Array

  constructor(seed: string) {
    this.#key = seededBytes(seed, 'chaos filler', 0)
    this.address = addressOf(this.#key)
  }

  /** The room of the block after the head. Where gas has a price, the account is given what all of it costs. */
  async roomIn(engine: Engine): Promise<Room> {
    const { config, queries, dev, fork } = engine
    const { header } = queries.head().block
    const overrides = dev.headerOverrides()
    const gasPrice = overrides.minimumGasPrice ?? nextMinimumGasPrice(header, config)
    const gasLimit = overrides.gasLimit ?? nextGasLimit(header, config)
    const gas = overrides.gasLimit ?? sublistLimits(config, gasLimit, header.number + 1).sequential
    if (gasPrice > 0n) await dev.addBalance(this.address, gas * gasPrice)
    const read = () => queries.pendingNonce(this.address)
    const nonce = BigInt(fork === undefined ? read() : await fork.demand.query(async () => read()))
    const unsigned = { nonce, gasPrice, to: null, value: 0n, data: INVALID, chainId: config.chainId }
    return {
      gas,
      filling: (gasLimit) =>
        gasLimit < LEAST_GAS
          ? undefined
          : signTransaction({ ...unsigned, gasLimit }, this.#key, this.address),
    }
  }
}
