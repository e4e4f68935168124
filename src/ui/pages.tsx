/** The pages by the first part of their fragment, and the links to them. A new page is a file in `pages/` and a row here. */
import type { ComponentType } from 'preact'
import { AccountsPage } from './pages/accounts.tsx'
import { AddressPage } from './pages/address.tsx'
import { BlockPage } from './pages/block.tsx'
import { BlocksPage } from './pages/blocks.tsx'
import { ClockPage } from './pages/clock.tsx'
import { ConsolePage } from './pages/console.tsx'
import { ContractsPage } from './pages/contracts.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { PeersPage } from './pages/peers.tsx'
import { PoolPage } from './pages/pool.tsx'
import { SearchPage } from './pages/search.tsx'
import { SnapshotsPage } from './pages/snapshots.tsx'
import { TransactionPage } from './pages/transaction.tsx'
import { TreePage } from './pages/tree.tsx'

/** A page. */
export interface Page {
  readonly component: ComponentType<{ readonly argument: string }>
  /** Text of its navigation link; absent for pages of one item. */
  readonly link?: string
  /** The link is there where the caller may use this method. */
  readonly method?: string
}

/** All pages, the navigation links in this order. */
export const PAGES: Readonly<Record<string, Page>> = {
  '': { component: OverviewPage },
  blocks: { component: BlocksPage, link: 'Blocks' },
  contracts: { component: ContractsPage, link: 'Contracts' },
  pool: { component: PoolPage, link: 'Pool', method: 'txpool_content' },
  tree: { component: TreePage, link: 'Tree', method: 'eth_getBlocksByNumber' },
  snapshots: { component: SnapshotsPage, link: 'Snapshots', method: 'evm_snapshots' },
  console: { component: ConsolePage, link: 'Console' },
  accounts: { component: AccountsPage, link: 'Accounts', method: 'eth_accounts' },
  clock: { component: ClockPage, link: 'Clock', method: 'evm_increaseTime' },
  peers: { component: PeersPage, link: 'Peers', method: 'sco_peerList' },
  block: { component: BlockPage },
  tx: { component: TransactionPage },
  address: { component: AddressPage },
  search: { component: SearchPage },
}
