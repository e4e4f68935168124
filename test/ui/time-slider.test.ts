/** The sliders of an address: its balance at a block, and between two transactions of one. */
import { expect, it } from 'vitest'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

/** An account that no block before pays. */
const PAID = '0x00000000000000000000000000000000deadbeef'

describeWith(CHROMIUM, 'the moment of an address', () => {
  const open = useExplorer()

  it('moves by blocks, and by transactions within one', async () => {
    const explorer = await open({ mining: 'manual' })
    const { page, node } = explorer
    const call = (method: string, ...params: unknown[]) => node.request({ method, params })
    const [from] = (await call('eth_accounts')) as string[]
    const coins = (count: number) => `0x${(BigInt(count) * 10n ** 18n).toString(16)}`
    for (const count of [3, 4]) await call('eth_sendTransaction', { from, to: PAID, value: coins(count) })
    await call('evm_mine')
    await call('eth_sendTransaction', { from, to: PAID, value: coins(5) })
    await call('evm_mine')
    await explorer.goTo(`#/address/${PAID}`)
    const account = page.getByRole('region', { name: 'Account', exact: true })
    await account.getByText(/^12\b/).waitFor()

    await page.getByRole('slider', { name: /^Block/ }).fill('1')
    await account.getByText(/^7\b/).waitFor()
    await page.getByRole('slider', { name: /^After transaction/ }).fill('1')
    await account.getByText(/^3\b/).waitFor()
    expect(await explorer.findings()).toEqual([])

    await page.getByRole('button', { name: 'Latest' }).click()
    await account.getByText(/^12\b/).waitFor()
  })
})
