/** The moment of a page: state, balances, calls, storage, tokens and debugger at a block, and between two transactions of one. */
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { BOB, CAROL, deployTokens } from '../support/token-chain.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

/** An account that no block before pays. */
const PAID = '0x00000000000000000000000000000000deadbeef'

describeWith(CHROMIUM, 'the moment of a page', () => {
  const open = useExplorer()
  const blockSlider = ({ page }: OpenedExplorer) => page.getByRole('slider', { name: /^Block/ })
  const within = ({ page }: OpenedExplorer) => page.getByRole('slider', { name: /^After transaction/ })
  const addressOf = async ({ page }: OpenedExplorer) => new URL(page.url()).hash

  /** Nothing serious in the light and the dark scheme, nor on a phone, which the page is no wider than. */
  async function checkLooks({ page, findings }: OpenedExplorer) {
    expect(await findings()).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await findings()).toEqual([])
    await page.setViewportSize({ width: 400, height: 800 })
    expect(await findings()).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 800 })
  }

  /** Payments of 3 and 4 coins in block 1, of 5 in block 2. */
  async function openWithPayments() {
    const explorer = await open({ mining: 'manual' })
    const { node } = explorer
    const call = (method: string, ...params: unknown[]) => node.request({ method, params })
    const [from] = (await call('eth_accounts')) as string[]
    const coins = (count: number) => `0x${(BigInt(count) * 10n ** 18n).toString(16)}`
    for (const count of [3, 4]) await call('eth_sendTransaction', { from, to: PAID, value: coins(count) })
    await call('evm_mine')
    await call('eth_sendTransaction', { from, to: PAID, value: coins(5) })
    await call('evm_mine')
    return explorer
  }

  it('moves by blocks, and by transactions within one, and stands in the address', async () => {
    const explorer = await openWithPayments()
    const { page } = explorer
    await explorer.goTo(`#/address/${PAID}`)
    const account = page.getByRole('region', { name: 'Account', exact: true })
    await account.getByText(/^12\b/).waitFor()

    await blockSlider(explorer).fill('1')
    await account.getByText(/^7\b/).waitFor()
    expect(await addressOf(explorer)).toBe(`#/address/${PAID}?block=1`)
    await within(explorer).fill('1')
    await account.getByText(/^3\b/).waitFor()
    expect(await addressOf(explorer)).toBe(`#/address/${PAID}?block=1&transactions=1`)
    await checkLooks(explorer)

    // The address alone is enough, also in another tab; tabs and links to accounts keep the moment.
    await page.reload()
    await account.getByText(/^3\b/).waitFor()
    expect(await within(explorer).inputValue()).toBe('1')
    await page.getByRole('link', { name: 'Token transfers' }).click()
    await page.getByRole('table', { name: 'Token transfers' }).or(page.getByText('No ')).first().waitFor()
    expect(await addressOf(explorer)).toContain('block=1&transactions=1')

    await page.getByRole('button', { name: 'Latest' }).click()
    await account.getByText(/^12\b/).waitFor()
    expect(await addressOf(explorer)).toBe(`#/address/${PAID}?tab=transfers`)
  })

  it('moves by keys and buttons, across the ends of blocks', async () => {
    const explorer = await openWithPayments()
    const { page } = explorer
    await explorer.goTo(`#/address/${PAID}`)
    const account = page.getByRole('region', { name: 'Account', exact: true })
    await account.getByText(/^12\b/).waitFor()
    // Block 2: the payment and REMASC; block 1: two payments and REMASC.
    const steps: readonly (readonly [key: string, balance: RegExp, block: string, ran: string])[] = [
      [',', /^12\b/, '2', '1'],
      [',', /^7\b/, '2', '0'],
      [',', /^7\b/, '1', '2'],
      [',', /^3\b/, '1', '1'],
      ['<', /^0\b/, '0', '0'],
      ['.', /^3\b/, '1', '1'],
      ['>', /^12\b/, '2', '2'],
    ]
    for (const [key, balance, block, ran] of steps) {
      await page.keyboard.press(key)
      await expect.poll(() => blockSlider(explorer).inputValue()).toBe(block)
      await account.getByText(balance).first().waitFor()
      if (block !== '0') await expect.poll(() => within(explorer).inputValue()).toBe(ran)
    }
    // A slider moves by the arrow keys, and keeps the focus.
    await blockSlider(explorer).focus()
    await page.keyboard.press('ArrowLeft')
    await account.getByText(/^7\b/).waitFor()
    await page.keyboard.press('ArrowRight')
    await account.getByText(/^12\b/).waitFor()
    const previous = page.getByRole('button', { name: 'Previous block' })
    await previous.focus()
    await page.keyboard.press('Enter')
    await account.getByText(/^7\b/).waitFor()
    expect(await previous.evaluate('document.activeElement.title')).toBe('Previous block (<)')
    // Keys that are typed into a field do not move.
    await page.getByRole('combobox', { name: /Search/ }).press('<')
    expect(await blockSlider(explorer).inputValue()).toBe('1')
  })

  it('is that of read forms, storage, supply and holders of a contract', async () => {
    const explorer = await open()
    const { page, goTo, call } = explorer
    const chain = await deployTokens(explorer.node)
    await call('evm_setAbi', chain.token, artifact('Token'))
    await chain.use('token', 'transfer', BOB, 250)
    const bought = Number(await call('eth_blockNumber'))
    await chain.use('token', 'transfer', CAROL, 100)

    await goTo(`#/address/${chain.token}?block=${bought}&transactions=0`)
    const balance = page.getByRole('form', { name: 'balanceOf' })
    await balance.getByRole('textbox').fill(BOB)
    const answer = async (text: string) => {
      await balance.getByRole('button', { name: 'Call' }).click()
      await balance.getByText(text, { exact: true }).waitFor()
    }
    await answer('0')
    const storage = page.getByRole('region', { name: 'Storage' })
    await storage.getByTitle('1000', { exact: true }).first().waitFor()
    expect(await storage.getByTitle('250', { exact: true }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await within(explorer).fill('1')
    await answer('250')
    await storage.getByTitle('250', { exact: true }).waitFor()
    expect(await storage.getByTitle('100', { exact: true }).count()).toBe(0)

    await page.getByRole('link', { name: 'Token', exact: true }).click()
    const rows = page.getByRole('table', { name: 'Holders' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(2)
    await checkLooks(explorer)
    await within(explorer).fill('0')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => rows.count()).toBe(3)
  })

  it('is the transaction that the debugger opens', async () => {
    const explorer = await open({ mining: 'manual' })
    const { page, goTo, node } = explorer
    const request = (method: string, ...params: unknown[]) => node.request({ method, params })
    const [from] = (await request('eth_accounts')) as string[]
    const { bytecode } = artifact('Probe')
    const hashes: unknown[] = []
    for (const _ of [1, 2]) {
      hashes.push(await request('eth_sendTransaction', { from, data: bytecode, gas: '0x200000' }))
    }
    await request('evm_mine')
    await goTo(`#/address/${from}?block=1&transactions=1`)
    await page.getByRole('link', { name: 'Debug', exact: true }).click()
    await page.getByText('At the beginning').waitFor()
    expect(await addressOf(explorer)).toBe(`#/debug/${hashes[0]}`)
    const shown = (hash: unknown) => page.locator(`main p a[href="#/tx/${hash}"]`).first()
    await shown(hashes[0]).waitFor()
    expect(await within(explorer).inputValue()).toBe('1')

    await page.keyboard.press('.')
    await shown(hashes[1]).waitFor()
    expect(await addressOf(explorer)).toBe('#/debug/at?block=1&transactions=2')
    await page.getByText('At the beginning').waitFor()
    // The debugger's own keys still move it.
    await page.keyboard.press('c')
    await page.getByText('At the end').waitFor()
    await checkLooks(explorer)
    await page.reload()
    await page.getByText('At the beginning').waitFor()
    await within(explorer).fill('0')
    await page.getByText('Nothing to debug').waitFor()
    await within(explorer).fill('1')
    await shown(hashes[0]).waitFor()
    await page.getByText('At the beginning').waitFor()
  })
})
