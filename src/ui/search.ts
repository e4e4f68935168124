/** What a text in the search field names: a block, a transaction, an account, a selector, or a contract or function by its name. */
import { type Checked, isObject, isText, listOf, objectOf, orNull } from './checks.ts'
import { callAll, callFor, RpcError } from './client.ts'
import { isKnownContract, type KnownContract } from './contracts.ts'
import { isHex, shortened } from './format.ts'
import { knownSignature } from './selectors.ts'
import { may } from './store.ts'

/** Where something is. */
export interface Place {
  readonly page: string
  readonly argument: string
}

/** What a text without a place of its own was taken for. */
export type Subject = 'selector' | 'address' | 'name'

/** Something that fits a text; without a page for an entry that no known contract has. */
export interface Match extends Partial<Place> {
  readonly kind: 'account' | 'contract' | 'function' | 'event' | 'error'
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

const TAGS: ReadonlySet<string> = new Set(['latest', 'earliest', 'pending'])

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
    const [transaction, block] = await Promise.all([
      callFor(orNull(isObject), 'eth_getTransactionByHash', [hash], signal),
      callFor(orNull(isObject), 'eth_getBlockByHash', [hash, false], signal),
    ])
    if (transaction !== null) return { page: 'tx', argument: hash }
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

/** The contracts whose ABI the node has; none where `evm_contracts` is closed. */
async function knownContracts(signal?: AbortSignal): Promise<readonly KnownContract[]> {
  return may('evm_contracts') ? callFor(listOf(isKnownContract), 'evm_contracts', [], signal) : []
}

/** The contracts that satisfy `fitsContract`, and the entries of their ABIs that satisfy `fits`. */
async function findEntries(
  fits: (entry: Checked<typeof isEntry>) => boolean,
  fitsContract: (name: string) => boolean,
  signal?: AbortSignal,
): Promise<Match[]> {
  const contracts = await knownContracts(signal)
  const searched = contracts
    .filter(({ address, name }) => address !== null || name !== null)
    .slice(0, MOST_CONTRACTS)
  const abis = await callAll(
    orNull(isKnownAbi),
    searched.map(({ address, name }) => ['evm_contractAbi', [address ?? name]] as const),
    signal,
  )
  const matches: Match[] = []
  for (const [i, { address, name }] of searched.entries()) {
    const place = { page: address === null ? 'contracts' : 'address', argument: address ?? '' }
    const contract = name ?? shortened(address ?? '')
    if (name !== null && fitsContract(name)) matches.push({ ...place, kind: 'contract', name, contract })
    const known = abis[i]
    for (const entry of known instanceof RpcError ? [] : (known?.abi ?? [])) {
      if (entry.name === undefined || !fits(entry)) continue
      const kind = entry.type === 'event' || entry.type === 'error' ? entry.type : 'function'
      matches.push({ ...place, kind, name: entry.signature ?? entry.name, contract })
    }
  }
  return matches
}

/** The contracts and entries of ABIs whose names hold the text, exact matches first. */
async function findNames(query: string, signal?: AbortSignal): Promise<readonly Match[]> {
  const wanted = query.toLowerCase()
  const holds = (name: string | undefined): boolean => name?.toLowerCase().includes(wanted) ?? false
  const matches = await findEntries(({ name }) => holds(name), holds, signal)
  const rank = ({ name }: Match): number => (name.replace(/\(.*/, '').toLowerCase() === wanted ? 0 : 1)
  return matches.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_MATCHES)
}

/** The functions and errors with a selector: those of known ABIs, else the widespread one. */
async function findSelector(query: string, signal?: AbortSignal): Promise<readonly Match[]> {
  const wanted = query.toLowerCase()
  const matches = await findEntries(
    ({ selector }) => selector === wanted,
    () => false,
    signal,
  )
  const signature = knownSignature(wanted)
  if (matches.length > 0 || signature === undefined) return matches.slice(0, MOST_MATCHES)
  return [{ kind: 'function', name: signature, contract: '' }]
}

/** The accounts of the node, and the contracts that it knows, whose addresses have these digits. */
async function findAddresses(query: string, signal?: AbortSignal): Promise<readonly Match[]> {
  const [, first = '', last = ''] = PART_OF_ADDRESS.exec(query.toLowerCase()) ?? []
  const fits = (address: string): boolean => address.startsWith(`0x${first}`) && address.endsWith(last)
  const [accounts, contracts] = await Promise.all([
    may('eth_accounts') ? callFor(listOf(isHex), 'eth_accounts', [], signal) : [],
    knownContracts(signal),
  ])
  const matches = new Map<string, Match>()
  for (const { address, name } of contracts) {
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
export async function search(text: string, signal?: AbortSignal): Promise<Found> {
  const query = text.trim()
  const place = await findPlace(query, signal)
  if (place !== undefined) return { place, subject: 'name', matches: [] }
  if (SELECTOR.test(query)) {
    const matches = await findSelector(query, signal)
    return matches.length > 0
      ? { subject: 'selector', matches }
      : { subject: 'selector', matches: await findAddresses(query, signal) }
  }
  if (PART_OF_ADDRESS.test(query)) {
    return { subject: 'address', matches: await findAddresses(query, signal) }
  }
  return { subject: 'name', matches: await findNames(query, signal) }
}
