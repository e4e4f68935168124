/** Authorizations of a set-code transaction, applied before it runs (RSKIP-545, EIP-7702). */
import {
  type Account,
  EMPTY_ACCOUNT,
  EMPTY_CODE_HASH,
  MAX_NONCE,
  withNonce,
  ZERO_ADDRESS,
} from '../chain/account.ts'
import { type Authorization, authorityOf, delegateOf, delegationTo } from '../chain/authorization.ts'
import { AUTHORIZATION_GAS } from '../chain/intrinsic-gas.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Overlay } from '../state/overlay.ts'

/** What an authorization costs whose account is there already; the rest of `AUTHORIZATION_GAS` is refunded. */
const AUTHORIZATION_BASE_GAS = 15_500

/** Has an account no code, or code that delegates? */
export function mayDelegate(account: Account | undefined, state: Pick<Overlay, 'code'>): boolean {
  if (account === undefined || account.codeHash === EMPTY_CODE_HASH) return true
  return delegateOf(state.code(account.codeHash)) !== undefined
}

function isEmpty({ nonce, balance, codeHash }: Account): boolean {
  return nonce === 0n && balance === 0n && codeHash === EMPTY_CODE_HASH
}

/** Applies one; the gas to refund. An authorization that does not hold changes nothing. */
function apply(state: Overlay, authorization: Authorization, chainId: number): number {
  const { nonce, address } = authorization
  if (authorization.chainId !== 0n && authorization.chainId !== BigInt(chainId)) return 0
  if (nonce >= MAX_NONCE) return 0
  const authority = authorityOf(authorization)
  if (authority === undefined) return 0
  const account = state.account(authority)
  if (!mayDelegate(account, state) || (account?.nonce ?? 0n) !== nonce) return 0
  state.putCode(authority, address === ZERO_ADDRESS ? EMPTY : delegationTo(address))
  state.putAccount(authority, withNonce(state.account(authority) ?? EMPTY_ACCOUNT, nonce + 1n))
  return account === undefined || isEmpty(account) ? 0 : AUTHORIZATION_GAS - AUTHORIZATION_BASE_GAS
}

/** Applies a list in its order; the gas to refund, whatever becomes of the transaction. */
export function applyAuthorizations(
  state: Overlay,
  list: readonly Authorization[] = [],
  chainId: number,
): bigint {
  return BigInt(list.reduce((refund, authorization) => refund + apply(state, authorization, chainId), 0))
}
