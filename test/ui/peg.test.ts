/** The page of the peg. */
import { expect, it } from 'vitest'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const RECEIVER = '0x00000000000000000000000000000000000b0b01'

describeWith(CHROMIUM, 'the page of the peg', () => {
  const open = useExplorer()

  it('shows both chains, limits and members, and moves coins', async () => {
    const explorer = await open({ bitcoin: true, frozenClock: true }, {}, '#/peg')
    const { page, call } = explorer
    await page.getByText('block 450').waitFor()
    await page.getByText(/^0 BTC of at most 1\D?000 BTC$/).waitFor()
    expect(await page.getByRole('table', { name: 'Members of Federation' }).getByRole('row').count()).toBe(4)
    await page.getByRole('textbox', { name: 'To' }).fill(RECEIVER)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The peg-in is registered').waitFor()
    await page.getByText(/^0\.1 BTC of at most/).waitFor()
    const [from] = await call('eth_accounts')
    await call('btc_pegOut', from, 1_000_000, false)
    await page.getByRole('table', { name: 'Waiting peg-outs' }).getByText('0.01 BTC').waitFor()
    await call('btc_pegIn', RECEIVER, 500_000, 2)
    await call('evm_mine')
    await page.getByRole('table', { name: 'Waiting peg-ins' }).getByText('2 of 3').waitFor()
    expect(await explorer.findings()).toEqual([])
  })

  it('is linked only where the node has a Bitcoin chain', async () => {
    const { page } = await open({}, {}, '#/')
    await page.getByRole('link', { name: 'Blocks' }).first().waitFor()
    await page.getByTitle('Connected').waitFor()
    expect(await page.getByRole('link', { name: 'Peg' }).count()).toBe(0)
  })
})
