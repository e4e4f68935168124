/** Tokens, their transfers and holders, as the node finds them by their events. */
import { type Checked, isFlag, isNumber, isOneOf, isText, listOf, objectOf, orNull } from './checks.ts'
import { callFor } from './client.ts'
import { grouped, type Hex, isHex, toBigInt, units } from './format.ts'
import { blockOfMoment, type Moment } from './moment.ts'
import { may } from './store.ts'

const isTokenType = isOneOf('erc20', 'erc721', 'erc1155')

/** `evm_token`. */
export const isToken = objectOf({
  type: isTokenType,
  address: isHex,
  name: orNull(isText),
  symbol: orNull(isText),
  decimals: orNull(isNumber),
  totalSupply: orNull(isHex),
})
export type Token = Checked<typeof isToken>

const isPlace = objectOf({ blockNumber: isHex, logIndex: isHex })
/** Where a page of transfers begins. */
export type TransferPlace = Checked<typeof isPlace>

const isTransfer = objectOf({
  type: isTokenType,
  token: isHex,
  from: isHex,
  to: isHex,
  amount: orNull(isHex),
  tokenId: orNull(isHex),
  transactionHash: isHex,
  blockNumber: isHex,
  logIndex: isHex,
  timestamp: orNull(isHex),
})
export type TokenTransfer = Checked<typeof isTransfer>

/** `evm_tokenTransfers`. */
const isTransferPage = objectOf({
  transfers: listOf(isTransfer),
  tokens: listOf(isToken),
  next: orNull(isPlace),
})
export type TransferPage = Checked<typeof isTransferPage>

/** `evm_tokenHolders`. */
const isHolders = objectOf({
  holders: listOf(objectOf({ account: isHex, tokenId: orNull(isHex), balance: isHex })),
  isComplete: isFlag,
})
export type Holders = Checked<typeof isHolders>

/** The parameters behind an address that name a moment. */
const atMoment = (moment: Moment | undefined): readonly unknown[] =>
  moment === undefined ? [] : [blockOfMoment(moment), moment.transactions ?? null]

/** The token of a contract, now or at a moment; null where it is none or the method is closed. */
export async function loadToken(
  address: Hex,
  moment?: Moment | undefined,
  signal?: AbortSignal,
): Promise<Token | null> {
  const parameters = [address, ...atMoment(moment)]
  return may('evm_token') ? callFor(orNull(isToken), 'evm_token', parameters, signal) : null
}

/** The tokens with transfers, the latest first; none where the method is closed. */
export async function loadTokens(signal?: AbortSignal): Promise<readonly Token[]> {
  return may('evm_tokens') ? callFor(listOf(isToken), 'evm_tokens', [], signal) : []
}

/** A page of transfers of an account or a token, the newest first. */
export function loadTransfers(
  query: { readonly account?: Hex; readonly token?: Hex; readonly before?: TransferPlace | undefined },
  signal?: AbortSignal,
): Promise<TransferPage> {
  return callFor(isTransferPage, 'evm_tokenTransfers', [query], signal)
}

/** The holders of a token, now or at a moment; null where it has no transfers. */
export function loadHolders(
  token: Hex,
  moment: Moment | undefined,
  signal?: AbortSignal,
): Promise<Holders | null> {
  return callFor(orNull(isHolders), 'evm_tokenHolders', [token, ...atMoment(moment)], signal)
}

/** Names of the standards. */
export const STANDARDS: Readonly<Record<Token['type'], string>> = {
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}

/** Characters of a name or symbol, which a contract may choose freely. */
const MOST_NAME = 40
/** More decimals are not those of an amount. */
const MOST_DECIMALS = 255

/** A text that a contract chose, shortened. */
export function shortText(text: string): string {
  return text.length > MOST_NAME ? `${text.slice(0, MOST_NAME)}…` : text
}

/** Units of a token as an amount. */
export function amountText(amount: Hex | bigint, token: Pick<Token, 'decimals'> | undefined): string {
  const decimals = token?.decimals ?? 0
  return units(toBigInt(amount), decimals <= MOST_DECIMALS ? decimals : 0)
}

/** What a token is called in a line: its symbol, its name, or its standard. */
export function tokenText({ symbol, name, type }: Token): string {
  return shortText(symbol || name || STANDARDS[type])
}

/** The id of a token of ERC-721 or ERC-1155. */
export function tokenIdText(tokenId: Hex): string {
  const digits = toBigInt(tokenId).toString()
  return `#${digits.length > 24 ? `${digits.slice(0, 8)}…${digits.slice(-8)}` : grouped(digits)}`
}
