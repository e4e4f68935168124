/** What a token contract reports about itself: name, symbol, decimals. */
import { concat, EMPTY, toBigInt } from '../encoding/bytes.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { AssetChange, AssetType } from './asset-changes.ts'

/** Gas of a question; a proxy that reads its storage needs some tens of thousands. */
export const QUESTION_GAS = 200_000n
/** Longest name or symbol, bytes. */
const MAX_TEXT = 256
const WORD = 32

const QUESTION = {
  /** `name()` and `symbol()`. */
  name: fromHex('0x06fdde03'),
  symbol: fromHex('0x95d89b41'),
  /** `decimals()`. */
  decimals: fromHex('0x313ce567'),
  /** `supportsInterface(bytes4)` with the identifier of ERC-1155 (EIP-165). */
  isErc1155: concat(fromHex('0x01ffc9a7'), fromHex('0xd9b67a26'), new Uint8Array(28)),
}

/** What a token answered; absent where it has no answer, or a malformed one. */
export interface TokenFacts {
  readonly name?: string
  readonly symbol?: string
  readonly decimals?: number
  readonly isErc1155?: boolean
}

/** Calls a token with a question; `undefined` where that failed. */
export type AskToken = (token: Hex, question: Uint8Array) => Promise<Uint8Array | undefined>

/** Bytes in UTF-8 without zeros at the end; `undefined` where they are none, or no text. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.replace(/\0+$/, '') || undefined
  } catch {
    return undefined
  }
}

/** A `string`, or a `bytes32` that is padded on the right, as some early tokens answer. */
function textIn(answer: Uint8Array): string | undefined {
  if (answer.length === WORD) return decoded(answer)
  if (answer.length < 2 * WORD || toBigInt(answer.subarray(0, WORD)) !== BigInt(WORD)) return undefined
  const length = toBigInt(answer.subarray(WORD, 2 * WORD))
  if (length > BigInt(Math.min(MAX_TEXT, answer.length - 2 * WORD))) return undefined
  return decoded(answer.subarray(2 * WORD, 2 * WORD + Number(length)))
}

/** A number up to `most` in the first word. */
function numberIn(answer: Uint8Array, most: bigint): number | undefined {
  if (answer.length < WORD) return undefined
  const number = toBigInt(answer.subarray(0, WORD))
  return number > most ? undefined : Number(number)
}

/** Asks a token for its name, symbol and, of ERC-20, decimals. */
export function tokenFacts(
  ask: (question: Uint8Array) => Promise<Uint8Array | undefined>,
  type: AssetType,
): Promise<TokenFacts> {
  return factsOf(ask, type, false)
}

/** Asks a token; a contract of one of the standards of single tokens is asked which it is, where `isOfEither`. */
async function factsOf(
  ask: (question: Uint8Array) => Promise<Uint8Array | undefined>,
  type: AssetType,
  isOfEither: boolean,
): Promise<TokenFacts> {
  const answer = async (question: Uint8Array) => (await ask(question)) ?? EMPTY
  const name = textIn(await answer(QUESTION.name))
  const symbol = textIn(await answer(QUESTION.symbol))
  const decimals = type === 'erc20' ? numberIn(await answer(QUESTION.decimals), 255n) : undefined
  const supports = isOfEither ? numberIn(await answer(QUESTION.isErc1155), 1n) : undefined
  return {
    ...(name !== undefined && { name }),
    ...(symbol !== undefined && { symbol }),
    ...(decimals !== undefined && { decimals }),
    ...(supports !== undefined && { isErc1155: supports === 1 }),
  }
}

/** Asset changes with the facts of their tokens, by address. */
export interface KnownAssets {
  readonly assets: readonly AssetChange[]
  readonly tokens: ReadonlyMap<Hex, TokenFacts>
}

/** Asks the tokens of asset changes, and tells approvals for all tokens of ERC-1155 from those of ERC-721. */
export async function knownAssets(assets: readonly AssetChange[], ask: AskToken): Promise<KnownAssets> {
  const approving = new Set(assets.flatMap(({ token, approved }) => (approved === undefined ? [] : [token])))
  const tokens = new Map<Hex, TokenFacts>()
  for (const { token, type } of assets) {
    if (token === undefined || tokens.has(token)) continue
    tokens.set(token, await factsOf((question) => ask(token, question), type, approving.has(token)))
  }
  const typed = (change: AssetChange): AssetChange => {
    const { approved, token } = change
    const isErc1155 = approved !== undefined && token !== undefined && tokens.get(token)?.isErc1155 === true
    return isErc1155 ? { ...change, type: 'erc1155' } : change
  }
  return { assets: assets.map(typed), tokens }
}
