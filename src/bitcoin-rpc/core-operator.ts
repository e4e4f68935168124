/** What is asked of a Bitcoin Core beside its chain: to mine, to drop blocks, the coins of a script, templates of blocks. */
import { z } from 'zod'
import { type Block, encodeBlock } from '../bitcoin/chain/block.ts'
import { COIN, REGTEST } from '../bitcoin/chain/regtest.ts'
import { digitsOf } from '../bitcoin/displayed-hash.ts'
import { decodeTransaction, MAX_MONEY } from '../bitcoin/transaction.ts'
import { Bytes, type CoreConnection, Hash } from './core-connection.ts'

/** For mining and scans, milliseconds. */
const LONG_MS = 120_000

/** Coins with eight decimals, fewer than a double has. */
const Satoshi = z
  .number()
  .min(0)
  .max(Number(MAX_MONEY / COIN))
  .transform((coins) => BigInt(Math.round(coins * Number(COIN))))
const Scan = z.object({
  unspents: z.array(z.object({ txid: Hash, vout: z.number().int().nonnegative() })),
})
const Unspent = z
  .object({
    confirmations: z.number().int(),
    value: Satoshi,
    coinbase: z.boolean(),
    scriptPubKey: z.object({ hex: Bytes }),
  })
  .nullable()
/** Fields of a header or a coinbase, in four bytes. */
const Int32 = z
  .number()
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1)
const Uint32 = z
  .number()
  .int()
  .min(0)
  .max(2 ** 32 - 1)
/** Of regtest, which never changes it: a block with a harder one would be searched for without end. */
const BITS = REGTEST.bits
const Template = z.object({
  version: Int32,
  previousblockhash: Hash,
  transactions: z.array(z.object({ data: Bytes })),
  /** Satoshi. */
  coinbasevalue: z.number().int().nonnegative().max(Number(MAX_MONEY)).transform(BigInt),
  curtime: Uint32,
  bits: z.literal(BITS.toString(16), 'bits: not those of regtest').transform(() => BITS),
  height: Int32.positive(),
})

/** An output that can be spent, also by the mempool. */
export interface CoreCoin {
  readonly id: string
  readonly index: number
  /** Satoshi. */
  readonly value: bigint
  readonly script: Uint8Array
  readonly isCoinbase: boolean
  readonly confirmations: number
}

/** The next block of a node, without its coinbase. */
export type BlockTemplate = Awaited<ReturnType<CoreOperator['template']>>

/** These calls. Methods throw a `NodeError` `upstream`. */
export class CoreOperator {
  readonly #connection: CoreConnection

  constructor(connection: CoreConnection) {
    this.#connection = connection
  }

  /** Mines blocks on regtest; their hashes. */
  mine(count: number, address: string): Promise<readonly string[]> {
    return this.#connection.call('generatetoaddress', [count, address], z.array(Hash), LONG_MS)
  }

  /** Declares a block invalid, and all that follow it. */
  async invalidate(hash: string): Promise<void> {
    await this.#connection.call('invalidateblock', [hash], z.unknown(), LONG_MS)
  }

  /** The coins of an address, as they are asked for. */
  async *coins(address: string): AsyncGenerator<CoreCoin> {
    const { unspents } = await this.#connection.call(
      'scantxoutset',
      ['start', [`addr(${address})`]],
      Scan,
      LONG_MS,
    )
    for (const { txid: id, vout: index } of unspents) {
      const found = await this.#connection.call('gettxout', [id, index, true], Unspent)
      if (found === null) continue
      const { value, confirmations, coinbase: isCoinbase, scriptPubKey } = found
      yield { id, index, value, script: scriptPubKey.hex, isCoinbase, confirmations }
    }
  }

  /** What the next block is built from. */
  async template() {
    const found = await this.#connection.call('getblocktemplate', [{ rules: ['segwit'] }], Template)
    const transactions = this.#connection.read(() =>
      found.transactions.map(({ data }) => decodeTransaction(data)),
    )
    return { ...found, transactions }
  }

  /** Hands in a block; `undefined` where it is taken, else why not. */
  async submit(block: Block): Promise<string | undefined> {
    const hex = digitsOf(encodeBlock(block))
    return (await this.#connection.call('submitblock', [hex], z.string().nullable())) ?? undefined
  }
}
