/** What a text in the search field names: a block, a transaction, an account, or a contract or function by its name. */
import { call, callAll, RpcError } from './client.ts'
import { type Hex, shortened } from './format.ts'
import { may } from './store.ts'

/** Where something is. */
export interface Place {
  readonly page: string
  readonly argument: string
}

/** A contract or function whose name holds the text. */
export interface NameMatch extends Place {
  readonly kind: 'contract' | 'function' | 'event' | 'error'
  readonly name: string
  readonly contract: string
}

interface KnownContract {
  readonly address: Hex | null
  readonly name: string | null
}

interface KnownAbi {
  readonly abi: readonly { readonly type: string; readonly name?: string }[]
}

const TAGS: ReadonlySet<string> = new Set(['latest', 'earliest', 'pending'])

/** The place that a hash, an address, a height or a tag names alone; `undefined` for a name, or a hash of nothing. */
export async function findPlace(text: string, signal?: AbortSignal): Promise<Place | undefined> {
  const query = text.trim()
  if (/^0x[0-9a-f]{40}$/i.test(query)) return { page: 'address', argument: query.toLowerCase() }
  if (/^#?[\d\u202f ,]+$/.test(query)) return { page: 'block', argument: query.replace(/\D/g, '') }
  if (TAGS.has(query)) return { page: 'block', argument: query }
  if (/^(0x)?[0-9a-f]{64}$/i.test(query)) {
    const hash = `0x${query.replace(/^0x/i, '').toLowerCase()}`
    const [transaction, block] = await Promise.all([
      call<object | null>('eth_getTransactionByHash', [hash], signal),
      call<object | null>('eth_getBlockByHash', [hash, false], signal),
    ])
    if (transaction !== null) return { page: 'tx', argument: hash }
    return block === null ? undefined : { page: 'block', argument: hash }
  }
  if (/^0x[0-9a-f]{1,13}$/i.test(query)) return { page: 'block', argument: String(Number(query)) }
  return undefined
}

/** Matches in a list. */
const MOST_MATCHES = 100
/** Contracts whose functions are searched. */
const MOST_CONTRACTS = 300

/** The contracts and entries of ABIs whose names hold the text, exact matches first; none where `evm_contracts` is closed. */
export async function findNames(text: string, signal?: AbortSignal): Promise<readonly NameMatch[]> {
  if (!may('evm_contracts')) return []
  const query = text.trim().toLowerCase()
  const contracts = await call<readonly KnownContract[]>('evm_contracts', [], signal)
  const searched = contracts
    .filter(({ address, name }) => address !== null || name !== null)
    .slice(0, MOST_CONTRACTS)
  const abis = await callAll<KnownAbi | null>(
    searched.map(({ address, name }) => ['evm_contractAbi', [address ?? name]] as const),
    signal,
  )
  const matches: NameMatch[] = []
  for (const [i, { address, name }] of searched.entries()) {
    const place = { page: address === null ? 'contracts' : 'address', argument: address ?? '' }
    const contract = name ?? shortened(address ?? '')
    if (name?.toLowerCase().includes(query)) matches.push({ ...place, kind: 'contract', name, contract })
    const known = abis[i]
    for (const { type, name: own } of known instanceof RpcError ? [] : (known?.abi ?? [])) {
      if (!own?.toLowerCase().includes(query)) continue
      const kind = type === 'event' || type === 'error' ? type : 'function'
      matches.push({ ...place, kind, name: own, contract })
    }
  }
  const rank = ({ name }: NameMatch): number => (name.toLowerCase() === query ? 0 : 1)
  return matches.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_MATCHES)
}
