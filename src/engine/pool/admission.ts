/** May this transaction come in, and may it run next? The pool's policy held against head, account, book and quota. */
import type { Account } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { type ChainConfig, maxTransactionGas } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { HeaderOverrides } from '../dev/block-overrides.ts'
import { costOf, refusalOf, replacementRefusal } from './policy.ts'
import { AccountQuota, type Quota } from './quota.ts'
import type { SenderBook } from './sender-book.ts'

/** What transactions are held against. */
export interface AdmissionOptions {
  readonly config: ChainConfig
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** How many nonces, from the account's on, a sender may use; the real node's 16 unless told otherwise. */
  readonly accountSlots?: number
  /**
   * Keep the real node's limit on what a sender may send in a time (docs/protocol.md#45-pool-admission); off
   * unless told otherwise.
   */
  readonly accountQuota?: boolean
  /** What the next block was asked to be like, beside what follows from the head; nothing unless told otherwise. */
  readonly asked?: () => HeaderOverrides
}

/** The judge at a pool's door. Refusals are the node's words (docs/rpc-reference.md#75-sending). */
export interface Admission {
  /** Why a transaction may not even wait, or `undefined`. */
  refusal(transaction: Transaction, account: Account | undefined, head: ExecutedBlock): string | undefined
  /**
   * Why one that may wait may not run next, or in place of one that does, or `undefined`; where quotas are kept, its
   * price is paid by asking.
   */
  lateRefusal(
    transaction: Transaction,
    account: Account,
    book: SenderBook,
    head: ExecutedBlock,
  ): string | undefined
  /** The virtual gas that a sender has, where quotas are kept and it is remembered. */
  quotaOf(sender: Hex): Readonly<Quota> | undefined
}

const NOTHING_ASKED: HeaderOverrides = {}

/** Makes the judge of one pool. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { config, accountSlots = 16, asked = () => NOTHING_ASKED } = options
  const quota = options.accountQuota === true ? new AccountQuota(options.now) : undefined

  return {
    refusal(transaction, account, head) {
      const { header } = head.block
      const { gasLimit, minimumGasPrice } = asked()
      return refusalOf(transaction, {
        minimumGasPrice: minimumGasPrice ?? header.minimumGasPrice,
        account,
        maxTransactionGas: gasLimit ?? maxTransactionGas(config, header),
        accountSlots,
      })
    },
    lateRefusal(transaction, account, book, head) {
      const replaced = transaction.nonce < book.next ? book.at(transaction.nonce) : undefined
      if (replaced !== undefined) {
        const low = replacementRefusal(transaction.gasPrice, replaced.transaction.gasPrice)
        if (low !== undefined) return low
      }
      const withinQuota = quota?.accept(transaction, {
        blockGasLimit: head.block.header.gasLimit,
        accountNonce: account.nonce,
        replacedPrice: replaced?.transaction.gasPrice,
      })
      if (withinQuota === false) return 'account exceeds quota'
      const cost = book.cost - (replaced?.cost ?? 0n) + costOf(transaction)
      return cost > account.balance ? 'insufficient funds to pay for pending and new transactions' : undefined
    },
    quotaOf: (sender) => quota?.of(sender),
  }
}
