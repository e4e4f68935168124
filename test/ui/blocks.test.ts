/** The list of blocks, and the page of one. */
import { expect, it } from 'vitest'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const COUNTS = '[document.querySelectorAll("a").length, document.querySelectorAll("*").length]'

describeWith(CHROMIUM, 'the pages of blocks', () => {
  const open = useExplorer()

  it('list all blocks with only those in view in the document, and follow the head at the top', async () => {
    const explorer = await open()
    const { page, call } = explorer
    for (let i = 0; i < 4; i++) await call('evm_mine', { blocks: 30 })
    await explorer.goTo('#/blocks')
    const table = page.getByRole('table', { name: 'Blocks' })
    await table.getByRole('link', { name: '120', exact: true }).waitFor()
    expect(await table.getAttribute('aria-rowcount')).toBe('122')
    await call('evm_mine')
    await table.getByRole('link', { name: '121', exact: true }).waitFor()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await table.getByRole('link', { name: '0', exact: true }).waitFor()
    await table.getByText('0x333333').first().waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(50)
    expect(await explorer.findings()).toEqual([])

    await table.getByRole('link', { name: '5', exact: true }).click()
    await page.getByRole('heading', { name: 'Block 5' }).waitFor()
    await page.goBack()
    await table.waitFor()
  })

  it('show the header, the proof of work, and the neighbours of a block', async () => {
    const explorer = await open({}, {}, '#/block/1')
    const { page, call } = explorer
    await page.getByRole('alert').getByText('There is no block 1').waitFor()
    await call('evm_mine', { blocks: 2 })
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.reload()
    await page.getByText('Proof of work verified').waitFor()
    const block = await call('eth_getBlockByNumber', '0x1', false)
    for (const name of ['hash', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'hashForMergedMining']) {
      await page.getByText(block[name]).first().waitFor()
      expect(await page.getByText(block[name]).count(), name).toBe(1)
    }
    expect(await page.getByText('is the merged-mining hash of this block').count()).toBe(1)
    await page.getByRole('link', { name: 'Next, 2' }).click()
    await page.getByRole('heading', { name: 'Block 2' }).waitFor()
    await explorer.goTo(`#/block/${block.hash}`)
    await page.getByRole('heading', { name: 'Block 1' }).waitFor()
    await page.getByRole('link', { name: 'Previous, 0' }).click()
    await page.getByText('This block has no proof in the form of RSKIP-92.').waitFor()
    expect(await page.title()).toBe('Block 0 · Tandem')
  })

  it('show the blocks of the tags safe and finalized, where the node has them', async () => {
    const explorer = await open({ preset: 'anvil' })
    const { page, call } = explorer
    await call('anvil_mine', '0x64')
    for (const [tag, height] of [
      ['safe', 68],
      ['finalized', 36],
    ] as const) {
      const search = page.getByRole('combobox', { name: 'Search' })
      await search.fill(tag)
      await search.press('Enter')
      await page.getByRole('heading', { name: `Block ${height}` }).waitFor()
    }
  })

  it('say that the dialect of the reference node has no safe and finalized blocks', async () => {
    const { page, findings } = await open()
    const search = page.getByRole('combobox', { name: 'Search' })
    await search.fill('finalized')
    await search.press('Enter')
    await page.getByRole('alert').getByText('The dialect of this node has no block finalized').waitFor()
    expect(await findings()).toEqual([])
  })

  it('show the block that the search for a tag leads to, also the pending one, which has no hash yet', async () => {
    const explorer = await open()
    const { page, call } = explorer
    await call('evm_mine')
    const [from, to] = await call('eth_accounts')
    await call('evm_setAutomine', false)
    const hash = await call('eth_sendTransaction', { from, to, value: '0x1' })
    const lead = async (tag: string, title: string) => {
      const search = page.getByRole('combobox', { name: 'Search' })
      await search.fill(tag)
      await search.press('Enter')
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText('State root').waitFor()
    }
    await lead('latest', 'Block 1')
    await lead('earliest', 'Block 0')
    await lead('pending', 'Pending block')
    const { stateRoot } = await call('eth_getBlockByNumber', 'pending', false)
    await page.getByText(stateRoot).waitFor()
    await page.locator(`main a[href="#/tx/${hash}"]`).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await explorer.findings()).toEqual([])
    await call('evm_mine')
    await page.locator(`main a[href="#/tx/${hash}"]`).waitFor({ state: 'detached' })
  })

  it('show uncles, side blocks and payouts', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const [from, to] = await call('eth_accounts')
    const fees = { from, to, value: '0x1', gas: '0x5208', gasPrice: '0x12a05f200' }
    await call('eth_sendTransaction', fees)
    const { parentHash, hash } = await call('eth_getBlockByNumber', '0x1', false)
    await call('evm_mine', { parent: parentHash })
    await call('evm_mine')
    const nephew = await call('eth_getBlockByNumber', '0x2', false)
    expect(nephew.uncles).toHaveLength(1)
    await explorer.goTo('#/block/2')
    const uncles = page.getByRole('table', { name: 'Uncles' })
    expect(await uncles.getByRole('link').first().getAttribute('href')).toBe(`#/block/${nephew.uncles[0]}`)
    await uncles.getByRole('link').first().click()
    await page.getByText('Not canonical').waitFor()
    expect(await page.locator(`a[href="#/block/${hash}"]`).count()).toBe(1)

    await call('evm_mine', { blocks: 14 })
    const [remasc] = (await call('eth_getBlockByNumber', '0xf', false)).transactions
    const { logs } = await call('eth_getTransactionReceipt', remasc)
    expect(logs.length).toBeGreaterThan(0)
    await explorer.goTo('#/block/15')
    const payouts = page.getByRole('table', { name: 'REMASC payouts' })
    await payouts.waitFor()
    expect(await payouts.getByRole('row').count()).toBe(1 + logs.length)
    // A fifth of the fee: docs/internals/protocol.md#54-remasc-payout divides by the synthetic span 5, and labs get a fifth of that.
    const fee = 21_000n * 5_000_000_000n
    expect(await payouts.getByTitle(`${fee / 5n / 5n} wei`).count()).toBe(1)
    expect(await explorer.findingsInAllLooks()).toEqual([])
  })

  it('show a block of 1,000 transactions with few elements, and load transactions on scrolling', async () => {
    const explorer = await open({ accountSlots: 1000, blockGasLimit: 30_000_000n, accounts: 10 })
    const { page, call, node } = explorer
    await call('evm_setAutomine', false)
    const accounts = await call('eth_accounts')
    for (let i = 0; i < 1000; i++) {
      const params = [
        { from: accounts[i % 10], to: accounts[0], value: '0x1', gas: '0x5208', gasPrice: '0x1' },
      ]
      await node.request({ method: 'eth_sendTransaction', params })
    }
    await call('evm_mine')
    const { transactions } = await call('eth_getBlockByNumber', '0x1', false)
    expect(transactions).toHaveLength(1001)
    await explorer.goTo('#/block/1')
    const table = page.getByRole('table', { name: 'Transactions' })
    await table.getByText('transfer').first().waitFor()
    const [links, elements] = (await page.evaluate(COUNTS)) as [number, number]
    expect(links).toBeLessThanOrEqual(400)
    expect(elements).toBeLessThanOrEqual(8000)
    expect(await table.getAttribute('aria-rowcount')).toBe('1002')
    const last = table.locator(`a[href="#/tx/${transactions[1000]}"]`)
    await page.evaluate(
      'scrollTo(0, document.querySelector("[aria-label=Transactions]").getBoundingClientRect().bottom - innerHeight)',
    )
    await last.waitFor()
    await table.getByText('REMASC', { exact: true }).waitFor()
    await last.click()
    await page.getByRole('heading', { name: 'Transaction' }).first().waitFor()
  })

  it('fit a phone', async () => {
    const explorer = await open({}, {}, '#/block/0')
    const { page, call } = explorer
    await call('evm_mine')
    await page.setViewportSize({ width: 400, height: 800 })
    for (const fragment of ['#/block/1', '#/blocks', '#/tree']) {
      await explorer.goTo(fragment)
      await page.getByRole('table').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth'), fragment).toBeLessThanOrEqual(400)
    }
  })
})
