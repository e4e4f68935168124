/** Tokens of contracts of OpenZeppelin: what they tell, holders, transfers by pages, names in lists and in the search. */
import { expect, it } from 'vitest'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { BOB, CAROL, deployTokens } from '../support/token-chain.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

describeWith(CHROMIUM, 'tokens in the explorer', () => {
  const open = useExplorer()

  async function openWithTokens() {
    const explorer = await open()
    const chain = await deployTokens(explorer.node)
    await chain.use('token', 'transfer', BOB, 250)
    await chain.use('deed', 'mint', CAROL, 8)
    await chain.use('goods', 'mint', BOB, [1, 2], [30, 40])
    return { explorer, chain }
  }
  const rowsOf = ({ page }: OpenedExplorer, name: string) =>
    page.getByRole('table', { name }).locator('tbody tr')

  it('show what a token tells, its holders and its transfers', async () => {
    const { explorer, chain } = await openWithTokens()
    const { page, goTo } = explorer
    await goTo(`#/address/${chain.token}`)
    await page.getByText('Tandem Token (TDM)').waitFor()
    await page.getByRole('link', { name: 'Token', exact: true }).click()
    await page.getByRole('table', { name: 'Holders' }).waitFor()
    const holders = await rowsOf(explorer, 'Holders').allTextContents()
    expect(holders).toHaveLength(2)
    expect(holders[0]).toContain('75.0 %')
    expect(holders[1]).toContain('25.0 %')
    const transfers = rowsOf(explorer, 'Token transfers')
    await transfers.nth(1).waitFor()
    expect(await transfers.nth(0).textContent()).toContain('TDM')
    expect(await transfers.nth(1).textContent()).toContain('minted')
    await page
      .getByRole('region', { name: 'Token', exact: true })
      .getByText('0.000000000000001 TDM')
      .waitFor()
    expect(await explorer.findingsInAllLooks()).toEqual([])
  })

  it('show the transfers of an account by pages, of all standards', async () => {
    const { explorer, chain } = await openWithTokens()
    const { page, goTo } = explorer
    await goTo(`#/address/${BOB}?tab=transfers`)
    const rows = rowsOf(explorer, 'Token transfers')
    await rows.nth(2).waitFor()
    expect(await rows.nth(0).textContent()).toMatch(/in.*40 .*#2/)
    expect(await rows.nth(1).textContent()).toMatch(/30 .*#1/)
    for (let i = 0; i < 25; i++) await chain.use('token', 'transfer', BOB, 1)
    await page.getByRole('button', { name: 'Older token transfers' }).click()
    await rows.filter({ hasText: '#2' }).waitFor()
    expect(await rows.count()).toBe(3)
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await page.getByRole('button', { name: 'Newer token transfers' }).press('Enter')
    await expect.poll(() => rows.count()).toBe(25)
  })

  it('show the holders by pages', async () => {
    const { explorer, chain } = await openWithTokens()
    const { page, goTo } = explorer
    for (let i = 1; i <= 55; i++) await chain.use('token', 'transfer', `0x${'e'.repeat(37)}${100 + i}`, 1)
    await goTo(`#/address/${chain.token}?tab=token`)
    const rows = rowsOf(explorer, 'Holders')
    await expect.poll(() => rows.count()).toBe(50)
    const smaller = page.getByRole('button', { name: 'Smaller holders' })
    await smaller.click()
    await expect.poll(() => rows.count()).toBe(7)
    expect(await smaller.isDisabled()).toBe(true)
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await page.getByRole('button', { name: 'Larger holders' }).press('Enter')
    await expect.poll(() => rows.count()).toBe(50)
  })

  it('are listed with contracts, and decoded without an ABI', async () => {
    const { explorer, chain } = await openWithTokens()
    const { page, goTo, call } = explorer
    await goTo('#/contracts')
    const tokens = page.getByRole('table', { name: 'Tokens' })
    await tokens.getByRole('link', { name: 'TDM' }).click()
    await page.getByRole('table', { name: 'Holders' }).waitFor()
    const { transactions } = await call('eth_getBlockByNumber', 'latest', false)
    await goTo(`#/tx/${transactions[0]}`)
    await page.getByRole('table', { name: 'Events' }).getByText('TransferBatch(operator:').waitFor()
    await goTo('#/')
    const latest = page.getByRole('table', { name: 'Latest transactions' })
    await latest.getByText('transfer', { exact: true }).waitFor()
    await chain.use('token', 'transfer', BOB, 10_000).catch(() => {})
    await latest.getByText('failed').waitFor()
    expect(await explorer.findingsInAllLooks()).toEqual([])
  })

  it('are suggested by the search, with keys', async () => {
    const { explorer, chain } = await openWithTokens()
    const { page, call } = explorer
    const field = page.getByRole('combobox', { name: 'Search' })
    await field.fill('tand')
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
    await options.filter({ hasText: 'Tandem Token (TDM)' }).waitFor()
    expect(await field.getAttribute('aria-expanded')).toBe('true')
    expect(await explorer.findingsInAllLooks()).toEqual([])
    expect(await options.count()).toBeGreaterThan(0)
    await field.press('Escape')
    expect(await options.count()).toBe(0)
    await field.fill(chain.deed.slice(0, 8))
    await options.first().waitFor()
    await field.press('ArrowDown')
    expect(await options.first().getAttribute('aria-selected')).toBe('true')
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await field.press('Enter')
    await page.getByRole('heading', { name: `Address ${chain.deed}` }).waitFor()
    await page.setViewportSize({ width: 400, height: 800 })
    const [account] = await call('eth_accounts')
    await field.fill(account.slice(0, 9))
    await options.filter({ hasText: 'account' }).click()
    await page.getByRole('heading', { name: `Address ${account}` }).waitFor()
    await field.fill('2')
    await options.filter({ hasText: 'Block' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
  })
})
