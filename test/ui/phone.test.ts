/** The widths of a phone and a tablet: no page is wider than the screen, and no table wider than its card. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const contract = artifact('Shop')
const coder = new Interface(contract.abi)
const GAS = { gas: '0x1e8480', gasPrice: '0x3938700' }

/** A sale, a failure, a snapshot before both, and a pool with pending and queued transactions. */
async function populate({ call }: OpenedExplorer) {
  const [from, other] = await call('eth_accounts')
  const deployment = await call('eth_sendTransaction', { from, data: contract.bytecode, ...GAS })
  const { contractAddress: shop } = await call('eth_getTransactionReceipt', deployment)
  await call('evm_setAbi', shop, contract)
  await call('evm_snapshot', 'before the sale')
  const buy = (count: number) => coder.encodeFunctionData('buy', [7, count])
  const sale = await call('eth_sendTransaction', { from, to: shop, data: buy(1), value: '0x1', ...GAS })
  await call('eth_sendTransaction', { from: other, to: shop, data: buy(9), ...GAS }).catch(() => {})
  await call('evm_setAutomine', false)
  await call('eth_sendTransaction', { from, to: other, value: '0xde0b6b3a7640000', ...GAS })
  await call('eth_sendTransaction', { from: other, to: from, nonce: '0x9', ...GAS })
  return { from, shop, sale }
}

/** The width of the page, the amounts that are broken over lines, and the sections whose content is wider than they are, or whose tables reach into their padding. */
const OVERFLOW = `({
  page: document.documentElement.scrollWidth,
  broken: [...document.querySelectorAll('.amount')]
    .filter((amount) => amount.lastElementChild.getBoundingClientRect().top >= amount.getClientRects()[0]?.bottom)
    .map((amount) => amount.textContent),
  sections: [...document.querySelectorAll('section.card')]
    .filter((card) => {
      const end = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight)
      const tables = [...card.querySelectorAll('table')]
      return card.scrollWidth > card.clientWidth || tables.some((table) => table.getBoundingClientRect().right > end)
    })
    .map((card) => card.getAttribute('aria-label') + ' ' + (card.scrollWidth - card.clientWidth)),
})`

/** Pixels. */
const PHONE = 400
const TABLET = 768

const FITS = { broken: [], sections: [] }

describeWith(CHROMIUM, 'the explorer on a narrow screen', () => {
  const open = useExplorer()

  it('no page is wider than the screen, and no table wider than its card', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const { from, shop, sale } = await populate(explorer)
    for (const [fragment, table] of [
      ['#/', 'Latest transactions'],
      ['#/blocks', 'Blocks'],
      ['#/block/2', 'Transactions'],
      [`#/tx/${sale}`, 'State before and after'],
      [`#/address/${from}`, 'Transactions'],
      [`#/address/${shop}`, 'Transactions'],
      ['#/accounts', 'Accounts'],
      ['#/contracts', 'Contracts'],
      ['#/pool', 'Queued'],
      ['#/tree', 'Branches'],
      ['#/snapshots', 'Snapshots'],
    ] as const) {
      await goTo(fragment)
      await page.getByRole('table', { name: table }).getByRole('link').first().waitFor()
      for (const width of [TABLET, PHONE]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await page.evaluate(OVERFLOW), `${fragment} at ${width}`).toEqual({ page: width, ...FITS })
      }
    }
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('table', { name: 'Changed accounts' }).getByRole('link').first().waitFor()
    expect(await page.evaluate(OVERFLOW)).toEqual({ page: PHONE, ...FITS })
  })

  it('a row of many columns is a list of names and values', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const { sale } = await populate(explorer)
    await page.setViewportSize({ width: PHONE, height: 800 })
    await goTo(`#/tx/${sale}`)
    const table = page.getByLabel('State before and after').locator('table')
    await table.getByRole('link', { name: 'Shop' }).waitFor()
    const [account, what] = await table
      .locator('tbody tr')
      .first()
      .locator('td')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top))
    expect(what).toBeGreaterThan(account as number)
  })
})
