/** The addresses of the pages and the accessible names that scripts and screen readers rely on: docs/guides/explorers.md. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const token = artifact('Token')
const coder = new Interface(token.abi)
const LINKS = [
  ['Blocks', 'Blocks'],
  ['Contracts', 'Contracts'],
  ['Simulate', 'Simulate'],
  ['Pool', 'Pool'],
  ['Tree', 'Block tree'],
  ['Snapshots', 'Snapshots'],
  ['Console', 'Console'],
] as const

describeWith(CHROMIUM, 'addresses and accessible names', () => {
  const open = useExplorer()

  /** A token with a known ABI in block 1, and the hash of its creation. */
  async function deploy({ call }: OpenedExplorer) {
    const [from] = await call('eth_accounts')
    const data = token.bytecode + coder.encodeDeploy([1000]).slice(2)
    const hash = await call('eth_sendTransaction', { from, data, gas: '0x4c4b40' })
    const { contractAddress: address, blockHash } = await call('eth_getTransactionReceipt', hash)
    await call('evm_setAbi', address, { ...token, contractName: 'Token' })
    return { from, hash, address, blockHash }
  }

  it('each page opens by its address alone, and sets the title of the document', async () => {
    const explorer = await open()
    const { page, url } = explorer
    const { from, hash, address, blockHash } = await deploy(explorer)
    for (const [fragment, heading] of [
      ['#/', 'Overview'],
      ['#/blocks', 'Blocks'],
      ['#/block/1', 'Block 1'],
      [`#/block/${blockHash}`, 'Block 1'],
      [`#/tx/${hash}`, `Transaction ${hash}`],
      [`#/address/${from}`, `Address ${from}`],
      [`#/address/${address}`, `Token ${address}`],
      ['#/contracts', 'Contracts'],
      ['#/simulate', 'Simulate'],
      [`#/simulate/${hash}`, 'Simulate'],
      ['#/pool', 'Pool'],
      ['#/tree', 'Block tree'],
      ['#/tree/1', 'Block tree'],
      ['#/snapshots', 'Snapshots'],
      ['#/console', 'Console'],
      ['#/console/eth_call', 'Console'],
      ['#/accounts', 'Accounts'],
      ['#/clock', 'Clock and mining'],
      ['#/peers', 'Peers'],
      // The one thing of this name.
      ['#/search/balanceOf', `Token ${address}`],
    ] as const) {
      // Else only the fragment would change, and the document stay.
      await page.goto('about:blank')
      await page.goto(`${url}/${fragment}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await expect.poll(() => page.title(), { timeout: 20_000 }).toBe(`${heading} · Tandem`)
      expect(await page.getByRole('alert').count(), fragment).toBe(0)
    }
  })

  it('links lead to the pages in this order, and back returns to the previous page', async () => {
    const { page } = await open()
    const navigation = page.getByRole('navigation')
    for (const [name, heading] of LINKS) {
      await navigation.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      expect(await page.getByRole('combobox', { name: 'Search' }).count(), name).toBe(1)
      expect(await page.getByRole('button', { name: 'Mine', exact: true }).count(), name).toBe(1)
    }
    const names = await navigation.getByRole('link').allTextContents()
    expect(names.slice(0, LINKS.length)).toEqual(LINKS.map(([name]) => name))
    for (const [, heading] of LINKS.slice(0, -1).toReversed()) {
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    }
  })

  it('buttons are in the row that they affect', async () => {
    const explorer = await open({ mining: 'manual' }, {}, '#/snapshots')
    const { page, call } = explorer
    await page.getByRole('button', { name: 'Take snapshot', exact: true }).click()
    await call('evm_snapshot', 'before the sale')
    await call('evm_mine')
    const rows = page.getByRole('table', { name: 'Snapshots' }).getByRole('row')
    await rows.nth(2).waitFor()
    const named = rows.filter({ hasText: 'before the sale' })
    await named.getByRole('button', { name: 'Revert to before the sale', exact: true }).waitFor()
    expect(await rows.getByRole('button', { name: /^Revert / }).count()).toBe(2)

    const [from, to] = await call('eth_accounts')
    const hash = await call('eth_sendTransaction', { from, to, value: '0x1' })
    await call('eth_sendTransaction', { from: to, to: from, value: '0x1' })
    await explorer.goTo('#/pool')
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="#/tx/${hash}"]`) })
    const drop = row.getByRole('button', { name: /^Drop 0x/ })
    await drop.waitFor()
    expect(
      await page
        .getByRole('row')
        .getByRole('button', { name: /^Drop / })
        .count(),
    ).toBe(2)
    await drop.click()
    await row.waitFor({ state: 'detached' })
    expect(await call('eth_getTransactionByHash', hash)).toBeNull()
  })

  it('a function is a form with its textboxes in order, and the calls are a tree', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const { hash, address } = await deploy(explorer)
    await goTo(`#/address/${address}`)
    for (const [name, parameters, button] of [
      ['totalSupply', [], 'Call'],
      ['allowance', ['owner', 'spender'], 'Call'],
      ['transferFrom', ['from', 'to', 'value'], 'Send'],
    ] as const) {
      const form = page.locator(`form[aria-label="${name}"]`)
      await form.getByRole('button', { name: button, exact: true }).waitFor()
      expect(await form.getByRole('button').count(), name).toBe(1)
      const boxes = form.getByRole('textbox')
      expect(await boxes.count(), name).toBe(parameters.length)
      for (const [i, parameter] of parameters.entries()) {
        const labelled = form.getByRole('textbox', { name: new RegExp(`^${parameter}\\b`) })
        expect(await labelled.and(boxes.nth(i)).count(), `${name}, ${parameter}`).toBe(1)
      }
    }
    await goTo(`#/tx/${hash}`)
    const tree = page.getByTestId('call-tree')
    await tree.getByRole('treeitem').first().waitFor()
    expect(await tree.getAttribute('role')).toBe('tree')
  })

  it('one live region reports reverts, reorganisations and a lost connection', async () => {
    const { page, call, server } = await open({}, {}, '#/block/1')
    await page.getByTitle('Connected').getByText('#0').waitFor()
    const status = page.getByRole('status')
    const snapshot = await call('evm_snapshot')
    await call('evm_mine', { blocks: 2 })
    await call('evm_reorg', { depth: 1 })
    await status.getByText(/^Reorganisation /).waitFor()
    await call('evm_revert', snapshot)
    await status.getByText('Reverted to block 0', { exact: true }).waitFor()
    await page.getByRole('alert').getByText('There is no block 1').waitFor()
    await server.close({ graceMs: 0 })
    await status.getByText('Connection lost', { exact: true }).waitFor()
    expect(await status.count()).toBe(1)
  })
})
