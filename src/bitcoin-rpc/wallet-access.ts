/** The wallet that a call is about, and what calls do with it. */
import { POLICY_RULES } from '../bitcoin/interpreter/flags.ts'
import { ScriptFailure } from '../bitcoin/interpreter/script-failure.ts'
import { SignatureChecker } from '../bitcoin/interpreter/signature-checker.ts'
import { verifySpending } from '../bitcoin/interpreter/verification.ts'
import type { Output, Transaction } from '../bitcoin/transaction.ts'
import { type Candidate, type Funded, type Funding, fund } from '../bitcoin/wallet/coin-selection.ts'
import type { Wallet } from '../bitcoin/wallet/model.ts'
import { type Signer, signInput } from '../bitcoin/wallet/signing.ts'
import { type WalletCoin, walletCoins } from '../bitcoin/wallet/wallet-coins.ts'
import type { Context } from './method.ts'
import { CODE, RpcFailure } from './rpc-failure.ts'

/** The wallet of a call: the path's, or the only one. Throws a failure with code -18 or -19. */
export function walletOf({ bitcoin, wallet: name }: Context): Wallet {
  const { loaded } = bitcoin.wallets
  if (name !== undefined) {
    const named = loaded.find((wallet) => wallet.name === name)
    if (named !== undefined) return named
    throw new RpcFailure(CODE.WALLET_NOT_FOUND, 'Requested wallet does not exist or is not loaded')
  }
  const [only] = loaded
  if (only === undefined) {
    const advice = 'Load a wallet using loadwallet or create a new one with createwallet.'
    const note = '(Note: A default wallet is no longer automatically created)'
    throw new RpcFailure(CODE.WALLET_NOT_FOUND, `No wallet is loaded. ${advice} ${note}`)
  }
  if (loaded.length === 1) return only
  throw new RpcFailure(
    CODE.WALLET_NOT_SPECIFIED,
    'Wallet file not specified (must request wallet RPC through /wallet/<filename> uri-path).',
  )
}

/** Throws a failure with code -13 while the wallet is locked, with code -4 when it has no private keys. */
export function requireKeys({ bitcoin }: Context, wallet: Wallet): void {
  if (!wallet.hasPrivateKeys)
    throw new RpcFailure(CODE.WALLET, 'Error: Private keys are disabled for this wallet')
  if (bitcoin.wallets.isLocked(wallet, bitcoin.clock()))
    throw new RpcFailure(
      CODE.WALLET_UNLOCK_NEEDED,
      'Error: Please enter the wallet passphrase with walletpassphrase first.',
    )
}

/** The wallet's coins. */
export function coinsOf({ bitcoin }: Context, wallet: Wallet): readonly WalletCoin[] {
  return walletCoins(bitcoin.chain.state, bitcoin.wallets.state, wallet)
}

/** A coin as coin selection takes it. */
export function candidateOf({ id, index, coin, owner }: WalletCoin): Candidate {
  return { id, index, output: coin, redeem: owner.redeem }
}

/** Fee where the caller names none, satoshi for 1,000 virtual bytes: `-fallbackfee` of Bitcoin Core's regtest set-ups. */
export const FALLBACK_FEE = 20_000n

/** The transaction of outputs. Throws a failure with code -6 when the coins do not suffice. */
export function fundWith(funding: Funding): Funded {
  const funded = fund(funding)
  if (funded !== undefined) return funded
  throw new RpcFailure(CODE.INSUFFICIENT_FUNDS, 'Insufficient funds')
}

/** The coins that a wallet may spend now. */
export function spendableCoins(
  context: Context,
  wallet: Wallet,
  isWithWatched: boolean,
): readonly WalletCoin[] {
  return coinsOf(context, wallet).filter(
    ({ isMature, isTrusted, owner }) => isMature && isTrusted && (isWithWatched || owner.isMine),
  )
}

/** Why an input is not signed, as `signrawtransactionwithkey` reports it. */
export interface SigningError {
  readonly index: number
  readonly message: string
}

/** A transaction with what could be signed, and the inputs that cannot be spent. */
export interface Signed {
  readonly transaction: Transaction
  readonly errors: readonly SigningError[]
}

function errorOf(transaction: Transaction, index: number, output: Output | undefined): string | undefined {
  if (output === undefined) return 'Input not found or already spent'
  const { script = new Uint8Array(), witness = [] } = transaction.inputs[index] ?? {}
  const checker = new SignatureChecker(transaction, index, output.value)
  try {
    verifySpending({ unlocking: script, locking: output.script, witness }, POLICY_RULES, checker)
    return undefined
  } catch (error) {
    if (!(error instanceof ScriptFailure)) throw error
    return error.failure === 'INVALID_STACK_OPERATION'
      ? 'Unable to sign input, invalid stack size (possibly missing key)'
      : error.message
  }
}

/** Signs what the signer can. `outputs`: those that the inputs spend, as far as known. */
export function signAll(
  transaction: Transaction,
  outputs: readonly (Output | undefined)[],
  signer: Signer,
  type: number,
): Signed {
  const signed = outputs.reduce<Transaction>(
    (current, output, i) => (output === undefined ? current : signInput(current, i, output, signer, type)),
    transaction,
  )
  const errors = outputs.flatMap((output, index) => {
    const message = errorOf(signed, index, output)
    return message === undefined ? [] : [{ index, message }]
  })
  return { transaction: signed, errors }
}
