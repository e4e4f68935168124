/** Accounts on the wire, with their code. */
import { z } from 'zod'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../chain/account.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import { BalanceText, DataText, QuantityText } from './scalars.ts'

/** Balance, nonce and code. */
export const AccountInfoObject = z.lazy(() =>
  z.strictObject({
    balance: BalanceText,
    nonce: QuantityText,
    code: DataText,
  }),
)

/** An account of a state; one that does not exist shows as an empty one. */
export function toRpcAccountInfo(state: StateReader, address: Hex): z.infer<typeof AccountInfoObject> {
  const { balance, nonce, codeHash } = state.account(address) ?? EMPTY_ACCOUNT
  return {
    balance: toQuantity(balance),
    nonce: toQuantity(nonce),
    code: codeHash === EMPTY_CODE_HASH ? '0x' : toHex(state.code(codeHash)),
  }
}
