/** The pages by the first part of their fragment, and the links to them. A new page is a file in `pages/` and a row here. */
import type { ComponentType } from 'preact'
import { BlockPage } from './pages/block.tsx'
import { BlocksPage } from './pages/blocks.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { SearchPage } from './pages/search.tsx'
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
  tree: { component: TreePage, link: 'Tree', method: 'eth_getBlocksByNumber' },
  block: { component: BlockPage },
  tx: { component: TransactionPage },
  search: { component: SearchPage },
}
