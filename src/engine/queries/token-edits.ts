/** What to write for a token's view functions to answer given values, wherever the token keeps them. */
import { concat, fromBigIntFixed } from '../../encoding/bytes.ts'
import { fromHex, type Hex, toFixedHex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { StateOverrides } from '../../execution/request.ts'
import type { AccountEdit } from '../dev/state-edits.ts'
import type { ValueFields, WordAnswer } from './value-field.ts'
import { withField } from './word-field.ts'

/** A call of a view function. */
interface View {
  /** As errors name it. */
  readonly text: string
  readonly data: Uint8Array
}

/** The token that is edited. */
export interface Token {
  readonly queries: ValueFields
  readonly address: Hex
  /** Of each search; the node's own unless given. */
  readonly timeoutMs?: number | undefined
}

const MAX_WORD = (1n << 256n) - 1n

const SELECTORS = {
  balanceOf: fromHex('0x70a08231'),
  allowance: fromHex('0xdd62ed3e'),
  totalSupply: fromHex('0x18160ddd'),
  ownerOf: fromHex('0x6352211e'),
} as const

function view(name: keyof typeof SELECTORS, ...words: readonly (Hex | bigint)[]): View {
  const encoded = words.map((word) => fromBigIntFixed(BigInt(word), 32))
  return { text: `${name}(${words.join(', ')})`, data: concat(SELECTORS[name], ...encoded) }
}

/** Writes of one or more values, each found on a state that has the ones before. */
class TokenWrites {
  readonly #token: Token
  readonly #words = new Map<Hex, Map<bigint, bigint>>()

  constructor(token: Token) {
    this.#token = token
  }

  get edits(): readonly AccountEdit[] {
    return [...this.#words].map(([address, storage]) => ({ address, storage }))
  }

  /** What a view function answers after the writes. */
  answer({ data }: View): Promise<WordAnswer> {
    const { queries, address } = this.#token
    return queries.wordAnswer({ to: address, data }, this.#options())
  }

  /** The same. Throws `invalid-params` where it answers no number. */
  async number(of: View): Promise<bigint> {
    const answer = await this.answer(of)
    if (answer.word === undefined) throw invalidParams(this.#whyNone(of, answer))
    return answer.word
  }

  /**
   * Writes what makes a view function answer a value, which errors call `name`; `from` is the order in which the slots
   * that it reads are tried. Throws `invalid-params` where no bits of storage hold the answer, or the value does not fit.
   */
  async put(of: View, value: bigint, name: string, from: 'first' | 'last' = 'last'): Promise<void> {
    const { queries, address } = this.#token
    const { field, answer } = await queries.valueField({ to: address, data: of.data }, from, this.#options())
    if (field === undefined) throw invalidParams(this.#whyNone(of, answer))
    if (value >> BigInt(field.bits) !== 0n) {
      throw invalidParams(`${name}: ${value} does not fit the ${field.bits} bits of ${of.text}`)
    }
    const words = this.#words.get(field.address) ?? new Map<bigint, bigint>()
    this.#words.set(field.address, words.set(field.slot, withField(field.word, field, value)))
    const { word } = await this.answer(of)
    if (word !== value) throw invalidParams(`${name}: ${address} cannot answer ${value} to ${of.text}`)
  }

  #options() {
    const overrides: StateOverrides = new Map(
      [...this.#words].map(([address, stateDiff]) => [address, { stateDiff }]),
    )
    return { stateOverrides: overrides, timeoutMs: this.#token.timeoutMs }
  }

  #whyNone({ text }: View, { word, failure }: WordAnswer): string {
    const { address } = this.#token
    if (failure !== undefined) return `token: ${text} of ${address} fails: ${failure}`
    if (word === undefined) return `token: ${address} answers no number to ${text}`
    return `token: no bits of storage alone hold ${text} of ${address}: it is computed, as from shares or an index`
  }
}

/** The edits that give an account a balance; with `adjust`, they change the total supply by as much. Throws `invalid-params`. */
export async function balanceEdits(
  token: Token,
  owner: Hex,
  balance: bigint,
  adjust: boolean,
): Promise<readonly AccountEdit[]> {
  const writes = new TokenWrites(token)
  const [held, supply] = [view('balanceOf', owner), view('totalSupply')]
  const total = adjust ? (await writes.number(supply)) + balance - (await writes.number(held)) : undefined
  await writes.put(held, balance, 'balance')
  if (total === undefined) return writes.edits
  if (total < 0n || total > MAX_WORD) throw invalidParams(`adjust: the total supply would be ${total}`)
  await writes.put(supply, total, 'adjust')
  return writes.edits
}

/** The edits that give a spender an allowance. Throws `invalid-params`. */
export async function allowanceEdits(
  token: Token,
  owner: Hex,
  spender: Hex,
  amount: bigint,
): Promise<readonly AccountEdit[]> {
  const writes = new TokenWrites(token)
  await writes.put(view('allowance', owner, spender), amount, 'amount')
  return writes.edits
}

/**
 * The edits that give a token of ERC-721 another owner, and count it in the balances of both. Tokens next to it keep
 * theirs. Throws `invalid-params`, also for a token that nobody owns.
 */
export async function ownerEdits(token: Token, id: bigint, owner: Hex): Promise<readonly AccountEdit[]> {
  const writes = new TokenWrites(token)
  const owned = view('ownerOf', id)
  const { word: before, failure } = await writes.answer(owned)
  if (before === 0n || failure !== undefined) {
    throw invalidParams(`tokenId: nobody owns ${id}${failure === undefined ? '' : `: ${failure}`}`)
  }
  // What is no address is refused as other answers are.
  const previous = toFixedHex(await writes.number(owned), 20)
  if (previous === owner) return []
  const neighbours = [id - 1n, id + 1n].filter((each) => each >= 0n && each <= MAX_WORD)
  const owners = await Promise.all(neighbours.map((each) => writes.answer(view('ownerOf', each))))
  // Tokens that were minted together may have one slot, that of the first; one of its own is read before.
  await writes.put(owned, BigInt(owner), 'address', 'first')
  for (const [i, each] of neighbours.entries()) {
    const { word } = owners[i] ?? {}
    const now = (await writes.answer(view('ownerOf', each))).word
    if (now === word) continue
    if (word === undefined || each < id) {
      throw invalidParams(`tokenId: the storage of ${id} is also that of ${each}`)
    }
    await writes.put(view('ownerOf', each), word, 'tokenId', 'first')
  }
  for (const [account, change] of [
    [previous, -1n],
    [owner, 1n],
  ] as const) {
    const held = view('balanceOf', account)
    const count = (await writes.number(held)) + change
    if (count < 0n) throw invalidParams(`token: ${held.text} of ${token.address} is 0, though it owns ${id}`)
    await writes.put(held, count, 'token')
  }
  return writes.edits
}
