/** A ledger to judge transactions by, senders, and heads. */
import { EMPTY_ACCOUNT } from '../../../src/chain/account.ts'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import type { Header } from '../../../src/chain/header.ts'
import { addressOf } from '../../../src/chain/signature.ts'
import {
  signTransaction,
  type Transaction,
  type UnsignedTransaction,
} from '../../../src/chain/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { keccak256 } from '../../../src/encoding/hash.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { NodeError } from '../../../src/errors.ts'
import type { StateReader } from '../../../src/state/model.ts'
import { blockOf, NO_PARENT } from '../../store/store-cases.ts'

export const CONFIG = CHAINS.regtest
export const RICH = 10n ** 24n

const KEYS = [0, 1, 2, 3].map((index) => keccak256(Uint8Array.of(index)))
/** Addresses of the senders 0 to 3. */
export const SENDERS: readonly Hex[] = KEYS.map(addressOf)

/** Balances and nonces that a test sets as it likes. */
export class Ledger implements StateReader {
  readonly accounts = new Map<Hex, { nonce: bigint; balance: bigint }>()

  constructor(balance = RICH) {
    for (const sender of SENDERS) this.accounts.set(sender, { nonce: 0n, balance })
  }

  set(sender: number, change: { nonce?: number; balance?: bigint }): void {
    const { nonce, balance } = this.of(sender)
    this.accounts.set(SENDERS[sender] as Hex, {
      nonce: change.nonce === undefined ? nonce : BigInt(change.nonce),
      balance: change.balance ?? balance,
    })
  }

  of(sender: number): { nonce: bigint; balance: bigint } {
    return this.accounts.get(SENDERS[sender] as Hex) ?? { nonce: 0n, balance: 0n }
  }

  account(address: Hex) {
    const found = this.accounts.get(address)
    return found && { ...EMPTY_ACCOUNT, ...found }
  }

  cell(): bigint {
    return 0n
  }

  storage(): bigint {
    return 0n
  }

  cells(): ReadonlyMap<bigint, bigint> {
    return new Map()
  }

  code(): Uint8Array {
    return EMPTY
  }
}

/** A signed transfer of one of the senders. */
export function tx(sender: number, nonce: number, change: Partial<UnsignedTransaction> = {}): Transaction {
  return signTransaction(
    {
      nonce: BigInt(nonce),
      gasPrice: 100n,
      gasLimit: 21_000n,
      to: '0x00000000000000000000000000000000000000aa',
      value: 1n,
      data: EMPTY,
      chainId: CONFIG.chainId,
      ...change,
    },
    KEYS[sender] as Uint8Array,
  )
}

/** A block at a height with these transactions. */
export function head(
  number = 1,
  transactions: readonly Transaction[] = [],
  change: Partial<Header> = {},
): ExecutedBlock {
  const made = blockOf(NO_PARENT, number, number, transactions)
  return {
    ...made,
    block: { ...made.block, header: { ...made.block.header, gasLimit: 7_500_000n, ...change } },
  }
}

/** The text of a refusal; fails when nothing, or something else, is thrown. */
export function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'transaction-refused') return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
