/** The page of a Bitcoin transaction, and the links to it. */
import { expect, it } from 'vitest'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const RECEIVER = '0x00000000000000000000000000000000000b0b01'

/** A peg-in, a peg-out that is released, and a payment to the federation that is below the minimum. */
async function populate({ call }: OpenedExplorer) {
  const [from] = await call('eth_accounts')
  const incoming = await call('btc_pegIn', RECEIVER, 50_000_000)
  const outgoing = await call('btc_pegOut', from, 10_000_000)
  const { active } = await call('btc_status')
  const ignored = await call('btc_faucet', active.address, 100_000, 4)
  await call('evm_mine')
  return { from, incoming, outgoing, ignored }
}

describeWith(CHROMIUM, 'the page of a Bitcoin transaction', () => {
  const open = useExplorer()

  it('shows what a transaction is to the peg, and leads to those before it; fits a phone in the dark theme', async () => {
    const explorer = await open({ bitcoin: true, frozenClock: true }, {}, '#/peg')
    const { page, goTo } = explorer
    const { incoming, outgoing, ignored } = await populate(explorer)
    const waiting = page.getByRole('table', { name: 'Waiting peg-ins' })
    await waiting.getByText('Ignored: an amount is below the minimum; not refunded').waitFor()
    const history = page.getByRole('table', { name: 'Last peg-ins and peg-outs' })
    await history
      .getByRole('row', { name: /Peg-out/ })
      .getByText('Signed and released')
      .waitFor()
    await history
      .getByRole('row', { name: /Peg-in/ })
      .getByRole('link')
      .first()
      .click()

    await page.getByText('Peg-in', { exact: true }).waitFor()
    await page.getByText('Registered', { exact: true }).waitFor()
    expect(page.url()).toContain(`#/bitcoin/${incoming.bitcoinTransaction}`)
    const outputs = page.getByRole('table', { name: 'Outputs' })
    await outputs.getByText('the federation, script hash').waitFor()
    await outputs.getByText(/^peg-in for/).waitFor()
    expect(await explorer.findings()).toEqual([])

    await goTo(`#/bitcoin/${outgoing.bitcoinTransaction}`)
    await page.getByText('Signed and released').waitFor()
    const inputs = page.getByRole('table', { name: 'Inputs' })
    await inputs.getByText('signatures of 2 of 3 keys, or of emergency keys').waitFor()
    await page.getByRole('link', { name: outgoing.transaction }).waitFor()
    await inputs.getByRole('link').first().click()
    await page.getByText('Registered', { exact: true }).waitFor()

    await goTo(`#/bitcoin/${ignored}`)
    await page.getByText('Ignored: an amount is below the minimum; not refunded').waitFor()
    await goTo(`#/bitcoin/${'ab'.repeat(32)}`)
    await page.getByText('Neither Bitcoin nor the Bridge has a transaction with this hash').waitFor()

    await page.setViewportSize({ width: 400, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    const { bitcoinTransaction: paid } = outgoing
    for (const [fragment, table] of [
      ['#/peg', 'Last peg-ins and peg-outs'],
      [`#/bitcoin/${incoming.bitcoinTransaction}`, 'Outputs'],
      [`#/bitcoin/${paid}`, 'Outputs'],
    ] as const) {
      await goTo(fragment)
      await page.getByRole('table', { name: table }).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth'), fragment).toBeLessThanOrEqual(400)
      expect(await explorer.findings()).toEqual([])
    }
  })

  it('is found by the hash, and linked from the events of the Bridge', async () => {
    const explorer = await open({ bitcoin: true, frozenClock: true }, {}, '#/')
    const { page, goTo } = explorer
    const incoming = await explorer.call('btc_pegIn', RECEIVER, 50_000_000)
    await goTo(`#/search/${incoming.bitcoinTransaction}`)
    await page.getByRole('heading', { name: 'Bitcoin transaction' }).waitFor()
    await page.getByRole('link', { name: incoming.transaction }).click()
    const events = page.getByRole('table', { name: 'Events' })
    await events.getByRole('link', { name: incoming.bitcoinTransaction.slice(0, 8) }).click()
    await page.getByRole('heading', { name: 'Bitcoin transaction' }).waitFor()
  })
})
