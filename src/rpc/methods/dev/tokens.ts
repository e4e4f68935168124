/** Methods that set balances, allowances and owners of tokens in their storage, whatever its layout. */
import { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import type { AccountEdit } from '../../../engine/dev/state-edits.ts'
import { allowanceEdits, balanceEdits, ownerEdits, type Token } from '../../../engine/queries/token-edits.ts'
import { invalidParams } from '../../../errors.ts'
import { codeAt } from '../../../execution/proxies.ts'
import { timeLeft } from '../../deadlines.ts'
import { type Context, method } from '../../method.ts'
import { optional, orNull } from '../../parameter.ts'
import { Address, Flag, Quantity } from '../../wire/scalars.ts'
import { COW, COW1 } from '../example-accounts.ts'

/** Writes the edits of a token. Throws `invalid-params`. */
async function edit(
  address: Hex,
  editsOf: (token: Token) => Promise<readonly AccountEdit[]>,
  context: Context,
): Promise<null> {
  const { queries, dev } = context.engine
  const state = await queries.state({ tag: 'latest' })
  if (state !== undefined && codeAt(state, address) === undefined) {
    throw invalidParams(`token: there is no contract at ${address}`)
  }
  const edits = await editsOf({ queries, address, timeoutMs: timeLeft(context) })
  if (edits.length > 0) await dev.editState(edits)
  return null
}

/** The token of the examples, and its code, which uses the number in the call as that of the slot to return. */
const TOKEN = '0x00000000000000000000000000000000000dead1'
const BALANCES = '0x6004355460005260206000f3'

export const anvil_dealERC20 = method({
  name: 'anvil_dealERC20',
  heavy: true,
  changesState: true,
  aliases: ['hardhat_dealERC20', 'anvil_setERC20Balance'],
  summary:
    'Sets the balance of an account in a token; with `adjust`, the total supply changes by as much. The bits that hold the balance are found by overriding the slots that `balanceOf` reads, one after another, so any storage layout works, behind proxies too, and values that share the slot stay. A balance that is computed, as from shares, is refused.',
  params: {
    address: Address,
    token: Address,
    balance: Quantity,
    adjust: optional(orNull(Flag, false), false),
  },
  result: () => z.null(),
  examples: [
    {
      after: [{ method: 'hardhat_setCode', params: [TOKEN, BALANCES] }],
      params: [COW, TOKEN, '0xde0b6b3a7640000'],
      result: null,
    },
  ],
  run: ({ address, token, balance, adjust }, context) =>
    edit(token, (found) => balanceEdits(found, address, balance, adjust), context),
})

export const anvil_setERC20Allowance = method({
  name: 'anvil_setERC20Allowance',
  heavy: true,
  changesState: true,
  summary:
    "Sets the allowance of a spender for an owner's tokens; the bits that hold it are found as in anvil_dealERC20.",
  params: { owner: Address, spender: Address, token: Address, amount: Quantity },
  result: () => z.null(),
  examples: [],
  run: ({ owner, spender, token, amount }, context) =>
    edit(token, (found) => allowanceEdits(found, owner, spender, amount), context),
})

export const anvil_dealERC721 = method({
  name: 'anvil_dealERC721',
  heavy: true,
  changesState: true,
  aliases: ['hardhat_dealERC721'],
  summary:
    "Makes an account the owner of a minted token of ERC-721, and corrects the balances of both owners, as Foundry's dealERC721 does; found as in anvil_dealERC20. Tokens that were minted together (ERC721A) keep their owners.",
  params: { address: Address, token: Address, tokenId: Quantity },
  result: () => z.null(),
  examples: [
    {
      after: [
        { method: 'hardhat_setCode', params: [TOKEN, BALANCES] },
        { method: 'hardhat_setStorageAt', params: [TOKEN, '0x7', COW1] },
        { method: 'hardhat_setStorageAt', params: [TOKEN, COW1, '0x1'] },
      ],
      params: [COW, TOKEN, '0x7'],
      result: null,
    },
  ],
  run: ({ address, token, tokenId }, context) =>
    edit(token, (found) => ownerEdits(found, tokenId, address), context),
})

/** The methods of this file, in the order of the document. */
export const DEV_TOKEN_METHODS = [anvil_dealERC20, anvil_setERC20Allowance, anvil_dealERC721] as const
