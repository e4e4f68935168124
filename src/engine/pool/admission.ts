/** Validates transactions for the pool and for its runnable part: the pool's policy with head, account, book and quota. */
import type { Account } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { type ChainConfig, maxTransactionGas } from '../../chain/config.ts'
import type { IntrinsicParts } from '../../chain/intrinsic-gas.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { type VmRules, vmRulesOf } from '../../evm/rules.ts'
import type { HeaderOverrides } from '../model.ts'
import { costOf, type PolicyRules, refusalOf, replacementRefusal } from './policy.ts'
import { AccountQuota, type Quota } from './quota.ts'
import type { SenderBook } from './sender-book.ts'

/** What transactions are validated against. */
export interface AdmissionOptions {
  readonly config: ChainConfig
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Number of nonces, from the account's on, that a sender may use; the reference node's 16 unless given. */
  readonly accountSlots?: number
  /**
   * Apply the reference node's rate limit per sender (docs/internals/protocol.md#45-pool-admission); false unless given.
   */
  readonly accountQuota?: boolean
  /** Fixed fields of the next header; none unless given. */
  readonly headerOverrides?: () => HeaderOverrides
}

/** The admission rules of a pool. Reasons are the reference node's texts (docs/internals/rpc-reference.md#75-sending). */
export interface Admission {
  /** Why a transaction may not enter the pool, or `undefined`. */
  refusal(transaction: Transaction, account: Account | undefined, head: ExecutedBlock): string | undefined
  /**
   * Why a transaction that may enter may not become runnable, or replace a runnable one, or `undefined`. With quotas
   * each call spends the transaction's virtual gas.
   */
  lateRefusal(
    transaction: Transaction,
    account: Account,
    book: SenderBook,
    head: ExecutedBlock,
  ): string | undefined
  /** Maximum that a transaction costs its sender in a block on the head, wei. */
  cost(transaction: Transaction, head: ExecutedBlock): bigint
  /** Virtual gas of a sender; `undefined` without quotas or for an unknown sender. */
  quotaOf(sender: Hex): Readonly<Quota> | undefined
}

const NO_OVERRIDES: HeaderOverrides = {}

/** Rules by height that compute the intrinsic gas of a transaction once: its checks and its cost ask for it. */
function rememberingGas(rulesAt: (height: number) => VmRules): (height: number) => PolicyRules {
  const remembering = new WeakMap<VmRules, PolicyRules>()
  const make = ({ types, maxInitcodeSize, ...rules }: VmRules): PolicyRules => {
    const known = new WeakMap<IntrinsicParts, bigint>()
    const intrinsicGas = (transaction: IntrinsicParts): bigint => {
      const gas = known.get(transaction) ?? rules.intrinsicGas(transaction)
      known.set(transaction, gas)
      return gas
    }
    return { types, maxInitcodeSize, intrinsicGas }
  }
  return (height) => {
    const rules = rulesAt(height)
    const own = remembering.get(rules) ?? make(rules)
    remembering.set(rules, own)
    return own
  }
}

/** Makes the admission rules of one pool. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { config, accountSlots = 16, headerOverrides = () => NO_OVERRIDES } = options
  const rulesAt = rememberingGas(vmRulesOf(config))
  const quota = options.accountQuota === true ? new AccountQuota(options.now) : undefined
  const cost = (transaction: Transaction, { block: { header } }: ExecutedBlock) =>
    costOf(transaction, rulesAt(header.number + 1))

  return {
    refusal(transaction, account, head) {
      const { header } = head.block
      const { gasLimit, minimumGasPrice } = headerOverrides()
      return refusalOf(transaction, {
        minimumGasPrice: minimumGasPrice ?? header.minimumGasPrice,
        account,
        maxTransactionGas: gasLimit ?? maxTransactionGas(config, header),
        accountSlots,
        rules: rulesAt(header.number + 1),
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
      const total = book.cost - (replaced?.cost ?? 0n) + cost(transaction, head)
      return total > account.balance
        ? 'insufficient funds to pay for pending and new transactions'
        : undefined
    },
    cost,
    quotaOf: (sender) => quota?.of(sender),
  }
}
