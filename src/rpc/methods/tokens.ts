/** The methods that find tokens, their transfers and holders (ERC-20, ERC-721, ERC-1155) by their events. */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import { toQuantity } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { heightOf } from '../../engine/queries/log-walk.ts'
import type { LogPlace, TokenTransfer } from '../../engine/queries/token-transfers.ts'
import { questionTime, type Token } from '../../engine/queries/tokens.ts'
import { literals } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, object, optional, orNull, scalar } from '../parameter.ts'
import { StateBlock } from '../wire/block-reference.ts'
import { Address, AddressText, HashText, QuantityText, wholeNumber } from '../wire/scalars.ts'
import { NOBODY } from './example-accounts.ts'

/** Logs of a page, and pages unless given. */
const MOST_LOGS = 1000
const USUAL_LOGS = 25
/** Holders of an answer. */
const MOST_HOLDERS = 1000

const Height = wholeNumber('Height', Number.MAX_SAFE_INTEGER)
const TokenType = scalar({
  form: literals('erc20', 'erc721', 'erc1155'),
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'erc20, erc721 or erc1155'),
})
const Place = object({ blockNumber: Height, logIndex: Height }, { required: ['blockNumber', 'logIndex'] })
const Query = object(
  {
    account: Address,
    token: Address,
    type: TokenType,
    fromBlock: Height,
    before: Place,
    count: wholeNumber(`Number of events, 1 to ${MOST_LOGS}`, MOST_LOGS),
  },
  { nullIsAbsent: true, closed: true },
)

/** How many transactions of the block have run. */
const FirstTransactions = optional(
  orNull(wholeNumber('number of transactions of the block that have run; null: all', 2 ** 31 - 1), undefined),
  null,
)

const TypeText = z.enum(['erc20', 'erc721', 'erc1155'])
const TokenObject = z.lazy(() =>
  z.strictObject({
    type: TypeText,
    address: AddressText,
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
    totalSupply: QuantityText.nullable(),
  }),
)
const PlaceObject = z.lazy(() => z.strictObject({ blockNumber: QuantityText, logIndex: QuantityText }))
const TransferObject = z.lazy(() =>
  z.strictObject({
    type: TypeText,
    token: AddressText,
    from: AddressText,
    to: AddressText,
    amount: QuantityText.nullable(),
    tokenId: QuantityText.nullable(),
    transactionHash: HashText,
    blockHash: HashText,
    blockNumber: QuantityText,
    logIndex: QuantityText,
    timestamp: QuantityText.nullable(),
  }),
)

/** A token on the wire. */
function toRpcToken(token: Token): z.infer<typeof TokenObject> {
  const { type, address, name = null, symbol = null, decimals = null, supply } = token
  return {
    type,
    address,
    name,
    symbol,
    decimals,
    totalSupply: supply === undefined ? null : toQuantity(supply),
  }
}

const quantityOrNull = (value: bigint | undefined): Hex | null =>
  value === undefined ? null : toQuantity(value)

async function toRpcTransfer(
  { queries }: Engine,
  { type, token, from, to, amount, tokenId, view }: TokenTransfer,
): Promise<z.infer<typeof TransferObject>> {
  const number = heightOf(view)
  const header = (await queries.block({ hash: view.block.hash }))?.executed.block.header
  return {
    type,
    token,
    from,
    to,
    amount: quantityOrNull(amount),
    tokenId: quantityOrNull(tokenId),
    transactionHash: view.transaction.hash,
    blockHash: view.block.hash,
    blockNumber: toQuantity(number),
    logIndex: toQuantity(view.logIndex),
    timestamp: header === undefined ? null : toQuantity(header.timestamp),
  }
}

/** The first events that come, whole, and where the next page begins; `undefined` at the end. */
async function pageOf(transfers: AsyncIterable<TokenTransfer>, before: LogPlace | undefined, count: number) {
  const page: TokenTransfer[] = []
  let logs = 0
  let last: LogPlace | undefined
  for await (const transfer of transfers) {
    const { view } = transfer
    const at = { height: heightOf(view), logIndex: view.logIndex }
    if (before !== undefined && at.height === before.height && at.logIndex >= before.logIndex) continue
    const isNew = last?.height !== at.height || last.logIndex !== at.logIndex
    if (isNew && logs === count) return { page, next: last }
    if (isNew) logs++
    last = at
    page.push(transfer)
  }
  return { page, next: undefined }
}

const RULE =
  'On a fork the blocks of this node are searched, and those of the upstream where `fromBlock` is below.'

export const evm_tokenTransfers = method({
  name: 'evm_tokenTransfers',
  heavy: true,
  summary: `Transfers of tokens (ERC-20, ERC-721, ERC-1155), the newest first, of an \`account\`, of a \`token\`, or all: \`count\` events (${USUAL_LOGS} unless given) before a place. \`next\` is the place for the next page; \`tokens\` are the tokens of the transfers. The index of logs finds them. ${RULE}`,
  params: { query: Query },
  result: () =>
    z.strictObject({
      transfers: z.array(TransferObject),
      tokens: z.array(TokenObject),
      next: PlaceObject.nullable(),
    }),
  examples: [{ params: [{ account: NOBODY }], result: { transfers: [], tokens: [], next: null } }],
  async run({ query }, { engine }) {
    const { account, token, type, fromBlock, before: given, count = USUAL_LOGS } = query
    const before = given && { height: given.blockNumber, logIndex: given.logIndex }
    const found = engine.queries.tokenTransfers({
      account,
      token,
      type,
      ...(fromBlock !== undefined && { from: fromBlock }),
      ...(before !== undefined && { to: before.height }),
    })
    const { page, next } = await pageOf(found, before, Math.max(1, count))
    const transfers: z.infer<typeof TransferObject>[] = []
    const tokens = new Map<Hex, Token>()
    const isTime = questionTime()
    for (const transfer of page) {
      transfers.push(await toRpcTransfer(engine, transfer))
      const isAsked = !tokens.has(transfer.token) && (await isTime())
      const known = isAsked ? await engine.queries.token(transfer.token) : undefined
      tokens.set(
        transfer.token,
        known ?? tokens.get(transfer.token) ?? { type: transfer.type, address: transfer.token },
      )
    }
    return {
      transfers,
      tokens: [...tokens.values()].map(toRpcToken),
      next:
        next === undefined
          ? null
          : { blockNumber: toQuantity(next.height), logIndex: toQuantity(next.logIndex) },
    }
  },
})

export const evm_token = method({
  name: 'evm_token',
  heavy: true,
  summary:
    'What a contract tells of its token after a block, or after its first `transactions`: the standard by its newest transfer or by its answers, name, symbol, decimals and supply; null for a contract that is no token.',
  params: { address: Address, block: optional(StateBlock, 'latest'), transactions: FirstTransactions },
  result: () => TokenObject.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [NOBODY], result: null }],
  async run({ address, block: { reference }, transactions: transactionCount }, { engine }) {
    const token = await engine.queries.token(address, { reference, transactionCount })
    return token === undefined ? null : toRpcToken(token)
  },
})

export const evm_tokens = method({
  name: 'evm_tokens',
  heavy: true,
  summary: `The tokens of the newest 10,000 transfers, the latest first; those that answer within 5 seconds. ${RULE.replace(/, and.*/, '.')}`,
  params: {},
  result: () => z.array(TokenObject),
  examples: [{ params: [], result: [] }],
  async run(_, { engine }) {
    return (await engine.queries.tokens()).map(toRpcToken)
  },
})

export const evm_tokenHolders = method({
  name: 'evm_tokenHolders',
  heavy: true,
  summary: `Who holds a token, the largest balances first, ${MOST_HOLDERS} at most: the receivers of its newest 10,000 transfers until the block, with what the contract answers as their balance after the block, or after its first \`transactions\`. \`isComplete\` is false where there may be others. Null for a contract without transfers.`,
  params: { token: Address, block: optional(StateBlock, 'latest'), transactions: FirstTransactions },
  result: () =>
    z
      .strictObject({
        holders: z.array(
          z.strictObject({ account: AddressText, tokenId: QuantityText.nullable(), balance: QuantityText }),
        ),
        isComplete: z.boolean(),
      })
      .nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [NOBODY], result: null }],
  async run({ token, block: { reference }, transactions: transactionCount }, { engine }) {
    const found = await engine.queries.tokenHolders(token, { reference, transactionCount })
    if (found === undefined) return null
    return {
      holders: found.holders.slice(0, MOST_HOLDERS).map(({ account, tokenId, balance }) => ({
        account,
        tokenId: quantityOrNull(tokenId),
        balance: toQuantity(balance),
      })),
      isComplete: found.isComplete && found.holders.length <= MOST_HOLDERS,
    }
  },
})

/** The methods of this file, in the order of the document. */
export const TOKEN_METHODS = [evm_token, evm_tokens, evm_tokenTransfers, evm_tokenHolders] as const
