/** Methods that set balances and allowances of tokens in their storage, whatever its layout. */
import { z } from 'zod'
import { concat, padLeft } from '../../../encoding/bytes.ts'
import { fromHex, type Hex } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { timeLeft } from '../../deadlines.ts'
import { type Context, method } from '../../method.ts'
import { Address, Quantity } from '../../wire/scalars.ts'
import { COW } from '../example-accounts.ts'

/** `balanceOf(address)` and `allowance(address,address)`. */
const BALANCE_OF = fromHex('0x70a08231')
const ALLOWANCE = fromHex('0xdd62ed3e')

/** Writes the slot whose word a token's view function returns. Throws `invalid-params` when there is no such slot. */
async function setAnswer(
  token: Hex,
  selector: Uint8Array,
  addresses: readonly Hex[],
  amount: bigint,
  context: Context,
): Promise<null> {
  const { queries, dev } = context.engine
  const data = concat(selector, ...addresses.map((address) => padLeft(fromHex(address), 32)))
  const found = await queries.valueSlot({ to: token, data }, timeLeft(context))
  if (found === undefined) {
    throw invalidParams(`token: no storage slot of ${token} holds only this value`)
  }
  await dev.editState([{ address: found.address, storage: new Map([[found.slot, amount]]) }])
  return null
}

/** The token of the example, and its code, which uses the address in the call as the number of the slot to return. */
const TOKEN = '0x00000000000000000000000000000000000dead1'
const BALANCES = '0x6004355460005260206000f3'

export const anvil_dealERC20 = method({
  name: 'anvil_dealERC20',
  heavy: true,
  changesState: true,
  aliases: ['hardhat_dealERC20', 'anvil_setERC20Balance'],
  summary:
    'Sets the balance of an account in a token. The slot is found by overriding the slots that `balanceOf` reads, so any storage layout works, behind proxies too; a balance that is computed or packed with other values is refused.',
  params: { address: Address, token: Address, balance: Quantity },
  result: () => z.null(),
  examples: [
    {
      after: [{ method: 'hardhat_setCode', params: [TOKEN, BALANCES] }],
      params: [COW, TOKEN, '0xde0b6b3a7640000'],
      result: null,
    },
  ],
  run: ({ address, token, balance }, context) => setAnswer(token, BALANCE_OF, [address], balance, context),
})

export const anvil_setERC20Allowance = method({
  name: 'anvil_setERC20Allowance',
  heavy: true,
  changesState: true,
  summary: "Sets the allowance of a spender for an owner's tokens; the slot is found as in anvil_dealERC20.",
  params: { owner: Address, spender: Address, token: Address, amount: Quantity },
  result: () => z.null(),
  examples: [],
  run: ({ owner, spender, token, amount }, context) =>
    setAnswer(token, ALLOWANCE, [owner, spender], amount, context),
})

/** The methods of this file, in the order of the document. */
export const DEV_ERC20_METHODS = [anvil_dealERC20, anvil_setERC20Allowance] as const
