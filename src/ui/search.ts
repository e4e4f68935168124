/** What a text in the search field names: a block, a transaction, an account, a selector, or a contract, token or function by its name. */
import { type Checked, isObject, isText, listOf, objectOf, orNull } from './checks.ts'
import { callAll, callFor, RpcError } from './client.ts'
import { isKnownContract, type KnownContract } from './contracts.ts'
import { isHex, shortened } from './format.ts'
import { knownSignature } from './selectors.ts'
import { may } from './store.ts'
import { loadTokens, STANDARDS, shortText, type Token, tokenText } from './tokens.ts'

/** Where something is. */
export interface Place {
  readonly page: string
  readonly argument: string
}

/** What a text without a place of its own was taken for. */
export type Subject = 'selector' | 'address' | 'name'

/** Something that fits a text; without a page for an entry that no known contract has. */
export interface Match extends Partial<Place> {
  readonly kind: 'account' | 'contract' | 'token' | 'function' | 'event' | 'error'
  readonly name: string
  readonly contract: string
}

/** What was found. */
export interface Found {
  /** Where the text leads by itself. */
  readonly place?: Place | undefined
  readonly subject: Subject
  readonly matches: readonly Match[]
}

const isEntry = objectOf({ type: isText }, { name: isText, signature: isText, selector: isText })
const isKnownAbi = objectOf({ abi: listOf(isEntry) })

const TAGS: ReadonlySet<string> = new Set(['latest', 'earliest', 'pending', 'safe', 'finalized'])

/** A selector: 4 bytes in full. A height has that many hex digits only after 268 million blocks. */
const SELECTOR = /^0x[0-9a-f]{8}$/i
/** The first digits of an address, or with `…` between them the first and the last ones, as the pages shorten it. */
const PART_OF_ADDRESS = /^0x([0-9a-f]{1,39})(?:(?:\u2026|\.{2,3})([0-9a-f]{1,39}))?$/i

/** The place that a hash, an address, a height or a tag names alone; `undefined` for anything else, or a hash of nothing. */
async function findPlace(text: string, signal?: AbortSignal): Promise<Place | undefined> {
  const query = text.trim()
  if (/^0x[0-9a-f]{40}$/i.test(query)) return { page: 'address', argument: query.toLowerCase() }
  if (/^#?[\d\u202f ,]+$/.test(query)) return { page: 'block', argument: query.replace(/\D/g, '') }
  if (TAGS.has(query)) return { page: 'block', argument: query }
  if (/^(0x)?[0-9a-f]{64}$/i.test(query)) {
    const hash = `0x${query.replace(/^0x/i, '').toLowerCase()}`
    const [transaction, block, bitcoin] = await Promise.all([
      callFor(orNull(isObject), 'eth_getTransactionByHash', [hash], signal),
      callFor(orNull(isObject), 'eth_getBlockByHash', [hash, false], signal),
      may('btc_transaction') ? callFor(orNull(isObject), 'btc_transaction', [hash], signal) : null,
    ])
    if (transaction !== null) return { page: 'tx', argument: hash }
    if (bitcoin !== null) return { page: 'bitcoin', argument: hash.slice(2) }
    return block === null ? undefined : { page: 'block', argument: hash }
  }
  if (/^0x(0|[1-9a-f][0-9a-f]{0,12})$/i.test(query) && !SELECTOR.test(query)) {
    const head = await callFor(isHex, 'eth_blockNumber', [], signal)
    if (Number(query) <= Number(head)) return { page: 'block', argument: String(Number(query)) }
  }
  return undefined
}

/** Matches in a list. */
const MOST_MATCHES = 100
/** Contracts whose functions are searched. */
const MOST_CONTRACTS = 300

/** A contract that the node knows, with the entries of its ABI. */
interface SearchedContract extends KnownContract {
  readonly entries: readonly Checked<typeof isEntry>[]
}

/** What is searched by name: the contracts whose ABI the node has, and the tokens with transfers. */
interface Names {
  readonly contracts: readonly SearchedContract[]
  readonly tokens: readonly Token[]
}

async function loadNames(signal?: AbortSignal): Promise<Names> {
  const [all, tokens] = await Promise.all([
    may('evm_contracts') ? callFor(listOf(isKnownContract), 'evm_contracts', [], signal) : [],
    loadTokens(signal).catch(() => []),
  ])
  const searched = all
    .filter(({ address, name }) => address !== null || name !== null)
    .slice(0, MOST_CONTRACTS)
  const abis = await callAll(
    orNull(isKnownAbi),
    searched.map(({ address, name }) => ['evm_contractAbi', [address ?? name]] as const),
    signal,
  )
  const contracts = searched.map((contract, i) => {
    const known = abis[i]
    return { ...contract, entries: known instanceof RpcError ? [] : (known?.abi ?? []) }
  })
  return { contracts, tokens }
}

/** Milliseconds that names are kept for suggestions. */
const KEPT_MS = 5000
let kept: { readonly at: number; readonly names: Names } | undefined

/** The names; those of a moment ago where they may be kept. */
async function namesFor({ mayBeKept = false }: SearchOptions, signal?: AbortSignal): Promise<Names> {
  if (mayBeKept && kept !== undefined && Date.now() - kept.at < KEPT_MS) return kept.names
  const names = await loadNames(signal)
  kept = { at: Date.now(), names }
  return names
}

/** How a search is made. */
export interface SearchOptions {
  /** Names of a moment ago will do, as for suggestions. */
  readonly mayBeKept?: boolean
}

/** The contracts that satisfy `fitsContract`, and the entries of their ABIs that satisfy `fits`. */
function entriesIn(
  { contracts }: Names,
  fits: (entry: Checked<typeof isEntry>) => boolean,
  fitsContract: (name: string) => boolean,
): Match[] {
  const matches: Match[] = []
  for (const { address, name, entries } of contracts) {
    // A contract without an address is every one with its code.
    const place =
      address === null ? { page: 'contracts', argument: name ?? '' } : { page: 'address', argument: address }
    const contract = name ?? shortened(address ?? '')
    if (name !== null && fitsContract(name)) matches.push({ ...place, kind: 'contract', name, contract })
    for (const entry of entries) {
      if (entry.name === undefined || !fits(entry)) continue
      const kind = entry.type === 'event' || entry.type === 'error' ? entry.type : 'function'
      matches.push({ ...place, kind, name: entry.signature ?? entry.name, contract })
    }
  }
  return matches
}

/** The tokens that satisfy `fits`. */
function tokensIn({ tokens }: Names, fits: (token: Token) => boolean): Match[] {
  return tokens.filter(fits).map((token) => ({
    kind: 'token',
    name: token.name ? `${shortText(token.name)} (${tokenText(token)})` : tokenText(token),
    contract: STANDARDS[token.type],
    page: 'address',
    argument: token.address,
  }))
}

/** The contracts, tokens and entries of ABIs whose names hold the text, exact matches first. */
function findNames(query: string, names: Names): readonly Match[] {
  const wanted = query.toLowerCase()
  const holds = (name: string | null | undefined): boolean => name?.toLowerCase().includes(wanted) ?? false
  const matches = [
    ...tokensIn(names, ({ name, symbol }) => holds(name) || holds(symbol)),
    ...entriesIn(names, ({ name }) => holds(name), holds),
  ]
  const rank = ({ name }: Match): number => (name.replace(/\(.*/, '').trim().toLowerCase() === wanted ? 0 : 1)
  return matches.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_MATCHES)
}

/** The functions and errors with a selector: those of known ABIs, else the widespread one. */
function findSelector(query: string, names: Names): readonly Match[] {
  const wanted = query.toLowerCase()
  const matches = entriesIn(
    names,
    ({ selector }) => selector === wanted,
    () => false,
  )
  const signature = knownSignature(wanted)
  if (matches.length > 0 || signature === undefined) return matches.slice(0, MOST_MATCHES)
  return [{ kind: 'function', name: signature, contract: '' }]
}

/** The accounts of the node, and the contracts and tokens that it knows, whose addresses have these digits. */
async function findAddresses(query: string, names: Names, signal?: AbortSignal): Promise<readonly Match[]> {
  const [, first = '', last = ''] = PART_OF_ADDRESS.exec(query.toLowerCase()) ?? []
  const fits = (address: string): boolean => address.startsWith(`0x${first}`) && address.endsWith(last)
  const accounts = may('eth_accounts') ? await callFor(listOf(isHex), 'eth_accounts', [], signal) : []
  const matches = new Map<string, Match>()
  for (const match of tokensIn(names, ({ address }) => fits(address)))
    matches.set(match.argument ?? '', match)
  for (const { address, name } of names.contracts) {
    if (address === null || !fits(address)) continue
    const match = { kind: 'contract', name: name ?? address, contract: name ?? '' } as const
    matches.set(address, { ...match, page: 'address', argument: address })
  }
  for (const address of accounts) {
    if (!fits(address)) continue
    matches.set(address, { kind: 'account', name: address, contract: '', page: 'address', argument: address })
  }
  return [...matches.values()].slice(0, MOST_MATCHES)
}

/** What a text names, or what fits it. Throws `RpcError`, `ConnectionError`. */
export async function search(
  text: string,
  signal?: AbortSignal,
  options: SearchOptions = {},
): Promise<Found> {
  const query = text.trim()
  const place = await findPlace(query, signal)
  if (place !== undefined) return { place, subject: 'name', matches: [] }
  const names = await namesFor(options, signal)
  if (SELECTOR.test(query)) {
    const matches = findSelector(query, names)
    return matches.length > 0
      ? { subject: 'selector', matches }
      : { subject: 'selector', matches: await findAddresses(query, names, signal) }
  }
  if (PART_OF_ADDRESS.test(query)) {
    return { subject: 'address', matches: await findAddresses(query, names, signal) }
  }
  return { subject: 'name', matches: findNames(query, names) }
}
