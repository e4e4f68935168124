/** The pages by the first part of their fragment, and the links to them. A new page is a file in `pages/` and a row here. */
import type { ComponentType } from 'preact'
import { hasUseOfAccounts } from './accounts.ts'
import { may } from './store.ts'

/** What shows a page. */
export type PageComponent = ComponentType<{ readonly argument: string }>

/** A page. */
export interface Page {
  /** Loads its script, which is a file of its own. */
  readonly load: () => Promise<PageComponent>
  /** Text of its navigation link; absent for pages of one item. */
  readonly link?: string
  /** Where it is false, the page has nothing to show to this caller, and the link is not there. */
  readonly isOpen?: () => boolean
}

/** All pages, the navigation links in this order. */
export const PAGES: Readonly<Record<string, Page>> = {
  '': { load: async () => (await import('./pages/overview.tsx')).OverviewPage },
  blocks: { load: async () => (await import('./pages/blocks.tsx')).BlocksPage, link: 'Blocks' },
  contracts: { load: async () => (await import('./pages/contracts.tsx')).ContractsPage, link: 'Contracts' },
  simulate: {
    load: async () => (await import('./pages/simulate.tsx')).SimulatePage,
    link: 'Simulate',
    isOpen: () => may('evm_simulate'),
  },
  pool: {
    load: async () => (await import('./pages/pool.tsx')).PoolPage,
    link: 'Pool',
    isOpen: () => may('txpool_content'),
  },
  tree: {
    load: async () => (await import('./pages/tree.tsx')).TreePage,
    link: 'Tree',
    isOpen: () => may('eth_getBlocksByNumber'),
  },
  snapshots: {
    load: async () => (await import('./pages/snapshots.tsx')).SnapshotsPage,
    link: 'Snapshots',
    isOpen: () => may('evm_snapshots'),
  },
  peg: {
    load: async () => (await import('./pages/peg.tsx')).PegPage,
    link: 'Peg',
    isOpen: () => may('btc_status'),
  },
  console: { load: async () => (await import('./pages/console.tsx')).ConsolePage, link: 'Console' },
  accounts: {
    load: async () => (await import('./pages/accounts.tsx')).AccountsPage,
    link: 'Accounts',
    isOpen: hasUseOfAccounts,
  },
  clock: {
    load: async () => (await import('./pages/clock.tsx')).ClockPage,
    link: 'Clock',
    isOpen: () => may('evm_increaseTime'),
  },
  chaos: {
    load: async () => (await import('./pages/chaos.tsx')).ChaosPage,
    link: 'Chaos',
    isOpen: () => may('evm_chaos'),
  },
  peers: {
    load: async () => (await import('./pages/peers.tsx')).PeersPage,
    link: 'Peers',
    isOpen: () => may('sco_peerList'),
  },
  block: { load: async () => (await import('./pages/block.tsx')).BlockPage },
  tx: { load: async () => (await import('./pages/transaction.tsx')).TransactionPage },
  debug: { load: async () => (await import('./pages/debug.tsx')).DebugPage },
  address: { load: async () => (await import('./pages/address.tsx')).AddressPage },
  bitcoin: { load: async () => (await import('./pages/bitcoin.tsx')).BitcoinPage },
  search: { load: async () => (await import('./pages/search.tsx')).SearchPage },
}

/** The scripts that are loaded. */
const loaded = new Map<string, PageComponent>()

/** The component of a page whose script is loaded. */
export function loadedPage(name: string): PageComponent | undefined {
  return loaded.get(name)
}

/** Loads the script of a page once; `undefined` for a name that is not a page. Throws when the node does not send it. */
export async function loadPage(name: string): Promise<PageComponent | undefined> {
  const component = loaded.get(name) ?? (Object.hasOwn(PAGES, name) ? await PAGES[name]?.load() : undefined)
  if (component !== undefined) loaded.set(name, component)
  return component
}

/** Loads the scripts of all pages, so that they open without a request, even while the node is down. */
export async function loadAllPages(): Promise<void> {
  await Promise.allSettled(Object.keys(PAGES).map(loadPage))
}
