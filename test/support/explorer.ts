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
]

/** Violations of these impacts fail a page. */
const SERIOUS: ReadonlySet<string | null | undefined> = new Set(['serious', 'critical'])

/** A page of the explorer, and the node that it shows. */
export interface OpenedExplorer extends ServedNode {
  readonly page: Page
  /** Goes to a fragment, such as `#/blocks`, as its link does. */
  goTo(fragment: string): Promise<void>
  /** The serious findings of axe-core on what is shown now. */
  findings(): Promise<string[]>
}

/**
 * Starts a browser before the tests of a group, and closes it after them. The returned function serves a node and opens
 * its explorer; page and node are closed after each test, which fails when the page reported an error.
 */
export function useExplorer(): (
  nodeOptions?: NodeOptions,
  serveOptions?: ServeOptions,
  fragment?: string,
) => Promise<OpenedExplorer> {
  let browser: Browser
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
      await page.context().close()
      await served.close()
    }
    expect(ended.flatMap(({ errors }) => errors)).toEqual([])
  })

  return async (nodeOptions = {}, serveOptions = {}, fragment = '') => {
    const served = await servedNode(nodeOptions, serveOptions)
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      // The browser itself reports requests that a closed node does not answer.
      if (message.type() === 'error' && !/ERR_CONNECTION|WebSocket/.test(message.text())) {
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
      async findings() {
        // Run by the debugger, which the page's policy does not concern.
        await page.evaluate(axe.source)
        // What passes is not described, which is most of the time.
        const run = "axe.run({ resultTypes: ['violations'] })"
        const { violations } = (await page.evaluate(run)) as axe.AxeResults
        return violations
          .filter(({ impact }) => SERIOUS.has(impact))
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
      },
    }
  }
}
