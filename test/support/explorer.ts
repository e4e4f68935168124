/** The explorer of a served node in a real browser. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { NodeOptions, ServeOptions } from '../../src/index.ts'
import { type ServedNode, servedNode } from './served-node.ts'
import { CHROMIUM } from './tools.ts'

const BUILT = fileURLToPath(new URL('../../dist/ui/index.html', import.meta.url))
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page that goes to another address would start a process for it, which takes longer than to show it.
  '--process-per-site',
  '--renderer-process-limit=1',
  '--in-process-gpu',
]

/** Violations of these impacts fail a page. */
const SERIOUS: ReadonlySet<string | null | undefined> = new Set(['serious', 'critical'])

/** A page of the explorer, and the node that it shows. */
export interface OpenedExplorer extends ServedNode {
  readonly page: Page
  /** Goes to a fragment, such as `#/blocks`, as its link does. */
  goTo(fragment: string): Promise<void>
  /** The serious findings of axe-core on the current page. */
  findings(): Promise<string[]>
  /** The findings in the light theme, and in the dark one on a phone, and whether the page is wider than its screen. */
  findingsInAllLooks(): Promise<string[]>
}

/** Events of a page that tests listen to. Others have listeners of the driver itself. */
const LISTENED = ['console', 'dialog', 'pageerror', 'request', 'requestfinished'] as const
const DESKTOP = { width: 1280, height: 800 }
const LOOKS = [
  ['light', DESKTOP],
  ['dark', { width: 400, height: 800 }],
] as const

/** Undoes what a test did to a page, and removes what the node at `origin` stored in the browser. */
async function emptied(page: Page, origin: string): Promise<Page> {
  await page.unrouteAll({ behavior: 'wait' })
  await page.goto('about:blank')
  for (const event of LISTENED) page.removeAllListeners(event)
  const debug = await page.context().newCDPSession(page)
  await debug.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await debug.detach()
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize(DESKTOP)
  return page
}

/** The serious findings of axe-core. */
async function findingsOn(page: Page): Promise<string[]> {
  // Run by the debugger, which the page's policy does not concern.
  await page.evaluate(axe.source)
  // Passed checks are not described, since that takes most of the time.
  const run = "axe.run({ resultTypes: ['violations'] })"
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  return violations
    .filter(({ impact }) => SERIOUS.has(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/**
 * Starts a browser before the tests of a group, and closes it after them. The returned function serves a node and opens
 * its explorer. After each test the node is closed and the page emptied for the next: a new page starts several
 * processes, which takes longer than most tests. The test fails when the page reported an error.
 */
export function useExplorer(): (
  nodeOptions?: NodeOptions,
  serveOptions?: ServeOptions,
  fragment?: string,
) => Promise<OpenedExplorer> {
  let browser: Browser
  const free: Page[] = []
  let opened: { page: Page; served: ServedNode; errors: string[] }[] = []

  beforeAll(async () => {
    if (!existsSync(BUILT)) throw new Error('The explorer is not built: run npm run build first')
    browser = await chromium.launch({ executablePath: CHROMIUM.path, args: ARGUMENTS })
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    const ended = opened
    opened = []
    for (const { page, served } of ended) {
      try {
        if (!page.isClosed()) free.push(await emptied(page, served.url))
      } finally {
        await served.close()
      }
    }
    expect(ended.flatMap(({ errors }) => errors)).toEqual([])
  })

  return async (nodeOptions = {}, serveOptions = {}, fragment = '') => {
    const served = await servedNode(nodeOptions, serveOptions)
    const page = free.pop() ?? (await browser.newPage({ viewport: DESKTOP }))
    page.setDefaultTimeout(20_000)
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      // The browser itself reports requests that a closed node does not answer.
      if (
        message.type() === 'error' &&
        !/ERR_CONNECTION|ERR_SOCKET_NOT_CONNECTED|WebSocket/.test(message.text())
      ) {
        errors.push(message.text())
      }
    })
    opened.push({ page, served, errors })
    await page.goto(`${served.url}/${fragment}`)
    return {
      ...served,
      page,
      async goTo(to) {
        await page.evaluate(`location.hash = ${JSON.stringify(to)}`)
      },
      findings: () => findingsOn(page),
      async findingsInAllLooks() {
        const found: string[] = []
        for (const [colorScheme, size] of LOOKS) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize(size)
          const width = await page.evaluate('document.documentElement.scrollWidth')
          if (width !== size.width) found.push(`${width} pixels wide at ${size.width}`)
          found.push(...(await findingsOn(page)).map((each) => `${colorScheme} at ${size.width}: ${each}`))
        }
        await page.emulateMedia({ colorScheme: null })
        await page.setViewportSize(DESKTOP)
        return found
      },
    }
  }
}
