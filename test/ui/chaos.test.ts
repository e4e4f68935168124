/** The page of chaos. */
import { expect, it } from 'vitest'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

describeWith(CHROMIUM, 'the page of chaos', () => {
  const open = useExplorer()

  it('sets a profile and a plan, shows their faults, and turns them off', async () => {
    const explorer = await open({}, {}, '#/chaos')
    const { page, call } = explorer
    const form = (name: string) => page.getByRole('form', { name })
    await page.getByText('Off: calls are answered at once').waitFor()
    await page.getByRole('combobox', { name: 'Profile' }).selectOption('reorganised')
    await form('Profile').getByRole('textbox').fill('7')
    await form('Profile').getByRole('button').click()
    await page.getByText('"reorganisations"').waitFor()
    expect(await call('evm_chaos')).toMatchObject({ seed: '7', counts: {} })

    await form('Plan').getByRole('textbox').first().fill('{"stale": {"probability": 2, "blocks": 1}}')
    await form('Plan').getByRole('button').click()
    await page.getByRole('alert').getByText('stale.probability').waitFor()
    await form('Plan').getByRole('textbox').first().fill('{"stale": {"probability": 1, "blocks": 1}}')
    await form('Plan').getByRole('button').click()
    await page.getByText('"stale"').waitFor()
    // The explorer itself is not disturbed, and follows the chain.
    await call('evm_mine')
    await page.getByTitle('Connected').getByText('#1').waitFor()
    expect(await call('eth_blockNumber')).toBe('0x0')
    await call('evm_mine')
    await page.getByRole('table', { name: 'Faults' }).getByText('stale').waitFor()
    await page.getByRole('button', { name: 'Turn chaos off' }).click()
    await page.getByText('Off: calls are answered at once').waitFor()
    expect(await call('evm_chaos')).toBeNull()
    expect(await explorer.findings()).toEqual([])
  })
})
