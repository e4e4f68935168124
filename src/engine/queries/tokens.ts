/** What contracts tell of their tokens, and who holds them: found by their events, and asked on the state of a block. */
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { concat, toBigInt } from '../../encoding/bytes.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { QUESTION_GAS, type TokenFacts, tokenFacts } from '../../execution/token-facts.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { BlockReference } from '../model.ts'
import { askContract } from './ask-contract.ts'
import type { LogSearch } from './logs.ts'
import { type PlaceParts, type SimulationPlace, simulationPlace } from './simulation-place.ts'
import { type TokenTransfer, type TokenType, type TransferQuery, tokenTransfers } from './token-transfers.ts'

const WORD = 32
/** Transfers that are read for the holders of a token, or for the tokens of a chain. */
const MOST_TRANSFERS = 10_000
/** Accounts that are asked for. */
const MOST_CANDIDATES = 5000
/** Milliseconds that questions about many tokens or accounts may take. */
const MOST_MS = 5000

/** Questions to a contract; arguments follow. */
const QUESTION = {
  totalSupply: fromHex('0x18160ddd'),
  /** `balanceOf(address)` of ERC-20 and ERC-721, `balanceOf(address,uint256)` of ERC-1155. */
  balanceOf: fromHex('0x70a08231'),
  balanceOfId: fromHex('0x00fdd58e'),
  /** `supportsInterface(bytes4)` with the identifiers of ERC-721 and ERC-1155 (EIP-165). */
  isErc721: concat(fromHex('0x01ffc9a7'), fromHex('0x80ac58cd'), new Uint8Array(28)),
  isErc1155: concat(fromHex('0x01ffc9a7'), fromHex('0xd9b67a26'), new Uint8Array(28)),
}

/** A token contract. */
export interface Token extends Omit<TokenFacts, 'isErc1155'> {
  readonly type: TokenType
  readonly address: Hex
  /** Units; absent where the contract does not tell. */
  readonly supply?: bigint
}

/** Who holds how much of a token. */
export interface TokenHolder {
  readonly account: Hex
  /** Of ERC-1155. */
  readonly tokenId?: bigint
  /** Units; of ERC-721 the number of tokens. */
  readonly balance: bigint
}

/** The holders of a token. */
export interface TokenHolders {
  /** The largest balances first. */
  readonly holders: readonly TokenHolder[]
  /** False when older transfers were not read: they may have further receivers. */
  readonly isComplete: boolean
}

/** When a contract is asked: after a block, or after its first transactions. */
export interface TokenMoment {
  readonly reference: BlockReference
  readonly transactionCount?: number | undefined
}

/** Reads of tokens. On a fork they search the node's own blocks and none of the upstream's, unless a range names these. */
export interface TokenQueries {
  /** Transfers in order; further blocks are searched when the consumer goes on. `from` is the first local block unless given. */
  tokenTransfers(query: Partial<TransferQuery>): AsyncGenerator<TokenTransfer>
  /** What a contract tells of itself; `undefined` for a contract that neither transfers tokens nor answers as one. Throws `block-not-found`. */
  token(address: Hex, moment?: TokenMoment): Promise<Token | undefined>
  /** The tokens of the newest 10,000 transfers, the latest first; those that answer within 5 seconds. */
  tokens(): Promise<readonly Token[]>
  /**
   * The holders among the receivers of the newest 10,000 transfers until then, by what the contract answers; `undefined` where
   * it is no token. Throws `block-not-found`.
   */
  tokenHolders(address: Hex, moment?: TokenMoment): Promise<TokenHolders | undefined>
  /** What an account has of a token; `undefined` where the contract has no answer. Throws `block-not-found`. */
  tokenBalance(
    token: Hex,
    account: Hex,
    options?: { readonly tokenId?: bigint | undefined; readonly reference?: BlockReference },
  ): Promise<bigint | undefined>
}

interface Parts extends PlaceParts {
  readonly logs: Pick<LogSearch, 'find' | 'walkRange'>
}

const LATEST: BlockReference = { tag: 'latest' }
const NOW: TokenMoment = { reference: LATEST }

const wordOf = (value: bigint | Hex): Uint8Array =>
  fromHex(
    `0x${BigInt(value)
      .toString(16)
      .padStart(2 * WORD, '0')}`,
  )

/** The first word of an answer. */
function numberIn(answer: Uint8Array | undefined): bigint | undefined {
  return answer === undefined || answer.length < WORD ? undefined : toBigInt(answer.subarray(0, WORD))
}

function balanceQuestion(account: Hex, tokenId: bigint | undefined): Uint8Array {
  return tokenId === undefined
    ? concat(QUESTION.balanceOf, wordOf(account))
    : concat(QUESTION.balanceOfId, wordOf(account), wordOf(tokenId))
}

/** Lets others run when it is their turn; is there time for another question? */
export function questionTime(): () => Promise<boolean> {
  const yieldIfDue = createEventLoopYield('query')
  const end = performance.now() + MOST_MS
  return async () => {
    await yieldIfDue()
    return performance.now() <= end
  }
}

/** The token queries of a node. */
export class ChainTokens implements TokenQueries {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  tokenTransfers(query: Partial<TransferQuery>): AsyncGenerator<TokenTransfer> {
    const { logs } = this.#parts
    return tokenTransfers((wanted) => logs.find(wanted), { ...query, ...logs.walkRange(query) })
  }

  async token(address: Hex, moment = NOW): Promise<Token | undefined> {
    const place = await this.#placeAt(moment)
    const account = place.state.account(address)
    if (account === undefined || !account.isContract) return undefined
    const type = await this.#typeOf(address, place)
    return type && this.#tokenOf(address, type, place)
  }

  async tokens(): Promise<readonly Token[]> {
    const types = new Map<Hex, TokenType>()
    let read = 0
    for await (const { token, type } of this.tokenTransfers({})) {
      if (!types.has(token)) types.set(token, type)
      if (++read === MOST_TRANSFERS) break
    }
    const place = await simulationPlace(this.#parts, LATEST, {})
    const tokens: Token[] = []
    const isTime = questionTime()
    for (const [address, type] of types) {
      if (!(await isTime())) break
      tokens.push(await this.#tokenOf(address, type, place))
    }
    return tokens
  }

  async tokenHolders(address: Hex, moment = NOW): Promise<TokenHolders | undefined> {
    const place = await this.#placeAt(moment)
    const view = await this.#parts.lookup.block(moment.reference)
    const to = view?.executed.block.header.number
    const candidates = new Map<string, { readonly account: Hex; readonly tokenId: bigint | undefined }>()
    let read = 0
    let isComplete = true
    const transfers = this.tokenTransfers({ token: address, ...(to !== undefined && { to }) })
    for await (const { type, to: account, tokenId } of transfers) {
      read++
      const id = type === 'erc1155' ? tokenId : undefined
      if (account !== ZERO_ADDRESS) candidates.set(`${account} ${id}`, { account, tokenId: id })
      isComplete = read < MOST_TRANSFERS && candidates.size < MOST_CANDIDATES
      if (!isComplete) break
    }
    if (read === 0) return undefined
    const isTime = questionTime()
    const holders: TokenHolder[] = []
    for (const { account, tokenId } of candidates.values()) {
      if (!(await isTime())) {
        isComplete = false
        break
      }
      const balance = numberIn(await this.#ask(place, address, balanceQuestion(account, tokenId)))
      if (balance === undefined || balance === 0n) continue
      holders.push({ account, balance, ...(tokenId !== undefined && { tokenId }) })
    }
    holders.sort((a, b) => (a.balance === b.balance ? 0 : a.balance < b.balance ? 1 : -1))
    return { holders, isComplete }
  }

  async tokenBalance(
    token: Hex,
    account: Hex,
    {
      tokenId,
      reference = LATEST,
    }: { readonly tokenId?: bigint | undefined; readonly reference?: BlockReference } = {},
  ): Promise<bigint | undefined> {
    const place = await simulationPlace(this.#parts, reference, {})
    return numberIn(await this.#ask(place, token, balanceQuestion(account, tokenId)))
  }

  async #placeAt({ reference, transactionCount }: TokenMoment): Promise<SimulationPlace> {
    return simulationPlace(this.#parts, reference, { transactionCount })
  }

  /** The standard of the newest transfer, or the one whose questions the contract answers. */
  async #typeOf(address: Hex, place: SimulationPlace): Promise<TokenType | undefined> {
    for await (const { type } of this.tokenTransfers({ token: address })) return type
    const isYes = async (question: Uint8Array) => numberIn(await this.#ask(place, address, question)) === 1n
    if (await isYes(QUESTION.isErc721)) return 'erc721'
    if (await isYes(QUESTION.isErc1155)) return 'erc1155'
    const answers = [QUESTION.totalSupply, balanceQuestion(ZERO_ADDRESS, undefined)]
    for (const question of answers) {
      if (numberIn(await this.#ask(place, address, question)) === undefined) return undefined
    }
    const { decimals } = await this.#factsOf(address, 'erc20', place)
    return decimals === undefined ? undefined : 'erc20'
  }

  async #tokenOf(address: Hex, type: TokenType, place: SimulationPlace): Promise<Token> {
    const { isErc1155: _, ...facts } = await this.#factsOf(address, type, place)
    const supply = numberIn(await this.#ask(place, address, QUESTION.totalSupply))
    return { type, address, ...facts, ...(supply !== undefined && { supply }) }
  }

  #factsOf(address: Hex, type: TokenType, place: SimulationPlace): Promise<TokenFacts> {
    return tokenFacts((question) => this.#ask(place, address, question), type)
  }

  #ask(place: SimulationPlace, to: Hex, data: Uint8Array): Promise<Uint8Array | undefined> {
    return askContract(this.#parts.vm, place, { to, data, gas: QUESTION_GAS })
  }
}
