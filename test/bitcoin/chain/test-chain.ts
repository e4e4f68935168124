/** A node with a wallet of one key, for tests of the chain. */
import { type Bitcoin, type BitcoinOptions, createBitcoin } from '../../../src/bitcoin/bitcoin.ts'
import { type Coin, outputOf } from '../../../src/bitcoin/chain/coin.ts'
import { fromDisplayed } from '../../../src/bitcoin/displayed-hash.ts'
import { publicKeyOf } from '../../../src/bitcoin/private-key.ts'
import type { Output, Transaction } from '../../../src/bitcoin/transaction.ts'
import { type AddressType, scriptForKey } from '../../../src/bitcoin/wallet/model.ts'
import { signerOf, signInput } from '../../../src/bitcoin/wallet/signing.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'

export const KEY = { secret: new Uint8Array(32).fill(7), isCompressed: true }
export const SIGNER = signerOf([KEY], [])
export const START = 1_700_000_000

/** The script of an address type for the key. */
export const scriptOf = (type: AddressType): Uint8Array => scriptForKey(publicKeyOf(KEY), type).script

/** A node whose clock goes a second further with every reading. */
export function newNode(options: Partial<BitcoinOptions> = {}): Bitcoin {
  let time = START
  return createBitcoin({ clock: () => time++, seed: new Uint8Array(32).fill(1), ...options })
}

/** An output to spend. */
export interface Spent {
  readonly key: string
  readonly coin: Pick<Coin, 'value' | 'script'>
  readonly sequence?: number
}

/** A signed transaction. */
export function spend(spent: readonly Spent[], outputs: readonly Output[], lockTime = 0): Transaction {
  const inputs = spent.map(({ key, sequence = 0xffffffff }) => {
    const { id, index } = outputOf(key)
    return { hash: fromDisplayed(id), index, script: EMPTY, sequence, witness: [] }
  })
  const unsigned: Transaction = { version: 2, inputs, outputs, lockTime }
  return spent.reduce((signed, { coin }, i) => signInput(signed, i, coin, SIGNER, 1), unsigned)
}

/** The coins of the node, with their keys, that may be spent in the next block and pay to the key. */
export function spendable({ chain: { state } }: Bitcoin): { readonly key: string; readonly coin: Coin }[] {
  const height = state.active.size
  return [...state.coins.entries()]
    .filter(([, coin]) => !coin.isCoinbase || height - coin.height >= 100)
    .map(([key, coin]) => ({ key, coin }))
    .sort((a, b) => a.coin.height - b.coin.height)
}

/** Satoshi of all coins. */
export function coinsInTotal({ chain: { state } }: Bitcoin): bigint {
  return [...state.coins.values()].reduce((sum, { value }) => sum + value, 0n)
}
