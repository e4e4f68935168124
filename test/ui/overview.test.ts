/** The overview, and how all pages behave: live updates, announcements, a phone's width. */
import { expect, it } from 'vitest'
import { serve } from '../../src/index.ts'
import { keyFile } from '../support/api-keys.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const LINKS = ['Blocks', 'Contracts', 'Simulate', 'Pool', 'Tree', 'Snapshots', 'Console']

describeWith(CHROMIUM, 'the overview', () => {
  const open = useExplorer()

  async function transfer({ call }: OpenedExplorer): Promise<string> {
    const [from, to] = await call('eth_accounts')
    return call('eth_sendTransaction', { from, to, value: '0xde0b6b3a7640000' })
  }

  it('shows the head, the latest blocks and transactions, and new ones when they arrive', async () => {
    const explorer = await open()
    const { page } = explorer
    const blocks = page.getByRole('table', { name: 'Latest blocks' })
    await blocks.getByRole('link', { name: '0', exact: true }).waitFor()
    const hash = await transfer(explorer)
    await blocks.getByRole('link', { name: '1', exact: true }).waitFor()
    const transactions = page.getByRole('table', { name: 'Latest transactions' })
    await transactions.getByRole('row').nth(1).waitFor()
    expect(await transactions.getByRole('link').first().getAttribute('href')).toBe(`#/tx/${hash}`)
    expect(await transactions.getByText('1 coin').count()).toBe(1)
    for (const name of LINKS) expect(await page.getByRole('link', { name }).count(), name).toBe(1)
    expect(await page.getByRole('combobox', { name: 'Search' }).count()).toBe(1)
    expect(await explorer.findings()).toEqual([])
  })

  it('mines, and announces a revert and a reorganisation', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const status = page.getByRole('status')
    const snapshot = await call('evm_snapshot')
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.getByTitle('Connected').getByText('#1').waitFor()
    await call('evm_mine')
    await call('evm_reorg', { depth: 1 })
    await status.getByText('Reorganisation at block 2: 1 removed, 2 added').waitFor()
    await call('evm_revert', snapshot)
    await status.getByText('Reverted to block 0').waitFor()
    await page.getByTitle('Connected').getByText('#0').waitFor()
  })

  it('tells times of a genesis at 0 from there, and counts it in no interval', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const blocks = page.getByRole('table', { name: 'Latest blocks' })
    await blocks.getByText('at the start').waitFor()
    await call('evm_mine')
    await blocks.getByRole('link', { name: '1', exact: true }).waitFor()
    const interval = page.locator('.figure', { hasText: 'Block interval' })
    await interval.getByText('—').waitFor()
    await call('evm_increaseTime', 60)
    await call('evm_mine')
    await interval.getByText('1 min').waitFor()
    // REMASC's transaction is nobody's.
    const transactions = page.locator('.figure', { hasText: 'Transactions' })
    await transactions.getByText(/^0in the last/).waitFor()
    expect(await explorer.findingsInAllLooks()).toEqual([])
  })

  it('says of what a fork is one', async () => {
    const { url } = await open()
    const fork = await open({ fork: url })
    await fork.page.getByText(`A fork of ${url}`).waitFor()
    expect(await fork.findingsInAllLooks()).toEqual([])
  })

  it('names the rules that the chain has of its own', async () => {
    const { page, findings } = await open({ rules: { rskip398: null, rskip559: 7 } })
    await page.getByText('Rules of its own: rskip398 never, rskip559 from block 7.').waitFor()
    expect(await findings()).toEqual([])
  })

  it('reports that the node is unreachable, and reconnects', async () => {
    const explorer = await open()
    const { page } = explorer
    await page.getByTitle('Connected').getByText('#0').waitFor()
    await explorer.server.close({ graceMs: 0 })
    await page.getByRole('status').getByText('Connection lost').waitFor()
    const again = await serve(explorer.node, { port: explorer.server.port })
    try {
      await page.getByTitle('Connected').getByText('#0').waitFor()
    } finally {
      await page.close()
      await again.close({ graceMs: 0 })
    }
  })

  it('opens each page while the node is unreachable, after their scripts are loaded', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const script = page.waitForResponse(/\/ui\/clock-/)
    await page.getByTitle('Connected').getByText('#0').waitFor()
    await (await script).finished()
    await explorer.server.close({ graceMs: 0 })
    await page.getByRole('status').getByText('Connection lost').waitFor()
    await goTo('#/clock')
    await page.getByRole('heading', { name: 'Clock and mining' }).waitFor()
  })

  it('reports a page whose script the node does not send, and loads it again', async () => {
    const { page, goTo } = await open()
    await page.getByTitle('Connected').getByText('#0').waitFor()
    await page.route(/\/ui\/tree-/, (route) => route.abort('connectionrefused'))
    await page.reload()
    await goTo('#/tree')
    await page.getByRole('alert').getByText('The node did not send this page').waitFor()
    await page.unroute(/\/ui\/tree-/)
    await page.getByRole('button', { name: 'Load again' }).click()
    await page.getByRole('heading', { name: 'Block tree' }).waitFor()
  })

  it('keeps the chosen theme, and reports that its scripts are not loaded', async () => {
    const { page } = await open()
    const button = page.getByRole('button', { name: 'Theme' })
    await button.click()
    await button.click()
    await page.route(/\/ui\/start-/, (route) => route.abort('connectionrefused'))
    await page.reload()
    await page.getByText('The node did not send the explorer').waitFor()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(16, 20, 19)')
  })

  it('fits a phone, and both themes have readable contrasts', async () => {
    const explorer = await open()
    const { page } = explorer
    await transfer(explorer)
    await page.getByRole('table', { name: 'Latest blocks' }).waitFor()
    await page.setViewportSize({ width: 400, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await explorer.findings()).toEqual([])
    await page.getByRole('button', { name: 'Theme' }).click()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light')
    expect(await explorer.findings()).toEqual([])
  })

  it('is reached by keyboard: search by its key, links in order, and back', async () => {
    const { page, call } = await open()
    await call('evm_mine')
    await page.getByTitle('Connected').getByText('#1').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Block 1' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.goBack()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  })

  it('calls no method that is closed to the key, on any page', async () => {
    const keys = keyFile()
    try {
      const key = await keys.add('reader')
      const { page, node, goTo } = await open(
        { profile: 'hosted' },
        { ui: true, apiKeys: keys.file },
        `${key}/`,
      )
      const refused: string[] = []
      const asked: Promise<void>[] = []
      page.on('requestfinished', (request) => {
        const sent = request.postDataJSON() as { method: string } | { method: string }[] | null
        if (sent === null) return
        asked.push(
          request.response().then(async (response) => {
            const replies = [(await response?.json()) as { error?: object } | { error?: object }[]].flat()
            replies.forEach((reply, i) => {
              if (reply.error !== undefined) refused.push([sent].flat()[i]?.method ?? '')
            })
          }),
        )
      })
      await page.getByText('Chain 33').waitFor()
      await node.engine.commands.mine({ blocks: 2 })
      const { transactions, miner } = (await node.request({
        method: 'eth_getBlockByNumber',
        params: ['0x2', false],
      })) as { transactions: string[]; miner: string }
      for (const [fragment, heading] of [
        ['#/blocks', 'Blocks'],
        ['#/block/2', 'Block 2'],
        [`#/tx/${transactions[0]}`, 'Transaction'],
        [`#/address/${miner}`, 'Address'],
        ['#/contracts', 'Contracts'],
        ['#/simulate', 'Simulate'],
        ['#/pool', 'Pool'],
        ['#/tree', 'Block tree'],
        ['#/snapshots', 'Snapshots'],
        ['#/accounts', 'Accounts'],
        ['#/clock', 'Clock and mining'],
        ['#/peers', 'Peers'],
        ['#/search/token', 'Search: token'],
        ['#/console', 'Console'],
        ['#/', 'Overview'],
      ] as const) {
        await goTo(fragment)
        await page.getByRole('heading', { level: 1, name: heading }).waitFor()
        if (fragment === '#/pool') await page.getByText('does not list its pool').waitFor()
        await page.locator('main', { hasText: 'Loading…' }).waitFor({ state: 'detached' })
      }
      await Promise.all(asked)
      expect(asked.length).toBeGreaterThan(10)
      expect(refused).toEqual([])
    } finally {
      keys.remove()
    }
  })

  it('shows a hosted node to the owner of a key, without actions that are closed to the key', async () => {
    const keys = keyFile()
    try {
      const key = await keys.add('reader')
      const { page, node } = await open({ profile: 'hosted' }, { ui: true, apiKeys: keys.file }, `${key}/`)
      const blocks = page.getByRole('table', { name: 'Latest blocks' })
      await blocks.getByRole('link', { name: '0', exact: true }).waitFor()
      await page.getByTitle('Connected').getByText('#0').waitFor()
      await page.getByText('Chain 33').waitFor()
      expect(await page.getByRole('button', { name: 'Mine' }).count()).toBe(0)
      await node.engine.commands.mine({})
      await blocks.getByRole('link', { name: '1', exact: true }).waitFor()
      await page.goto(`${page.url().replace(/#.*/, '')}#/block/1`)
      await page.getByText('Proof of work verified').waitFor()
    } finally {
      keys.remove()
    }
  })
})
