/** The block tree, live through a reorganisation, and the search. */
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

describeWith(CHROMIUM, 'the block tree', () => {
  const open = useExplorer()

  it('shows branches with weights and uncles, and the reorganisation that just happened', async () => {
    const explorer = await open({}, {}, '#/tree')
    const { page, call } = explorer
    const rows = page.getByRole('table', { name: 'Branches' }).getByRole('row')
    await rows.nth(1).waitFor()
    await call('evm_mine', { blocks: 3 })
    const replaced = await call('eth_getBlockByNumber', '0x3', false)
    const { added } = await call('evm_reorg', { depth: 1, uncles: true })
    await page.getByRole('heading', { name: 'Last reorganisation' }).waitFor()
    await page.getByText('1 block above block 2 was removed').waitFor()
    const row = rows.filter({ hasText: 'replaced' })
    await row.waitFor()
    expect(await row.getByRole('link').first().getAttribute('href')).toBe(`#/block/${replaced.hash}`)
    const weights = await call('eth_getBlocksByNumber', '0x4')
    const head = rows.filter({ has: page.locator(`a[href="#/block/${added.at(-1)}"]`) })
    await head.waitFor()
    expect(await head.getByRole('cell').nth(2).textContent()).toBe(String(Number(weights[0].totalDifficulty)))
    expect(await page.getByText('uncle of 4').or(page.getByText('1 uncle')).count()).toBeGreaterThan(0)
    expect(await explorer.findings()).toEqual([])
  })
})

describeWith(CHROMIUM, 'the search', () => {
  const open = useExplorer()

  it('opens the page of a hash, a height, an address or a name', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const [from] = await call('eth_accounts')
    const probe = artifact('Probe')
    const hash = await call('eth_sendTransaction', { from, data: probe.bytecode, gas: '0x4c4b40' })
    const { blockHash, contractAddress } = await call('eth_getTransactionReceipt', hash)
    await call('evm_setAbi', contractAddress, probe)
    const field = page.getByRole('combobox', { name: 'Search' })
    async function find(text: string, fragment: string): Promise<void> {
      await field.fill(text)
      await field.press('Enter')
      await page.waitForURL(({ hash }) => hash === fragment)
    }
    await find(hash, `#/tx/${hash}`)
    await find(blockHash.toUpperCase().replace('0X', '0x'), `#/block/${blockHash}`)
    await find('1', '#/block/1')
    await find('0x1', '#/block/1')
    await find('latest', '#/block/latest')
    await find(from, `#/address/${from}`)
    // One step back: the search itself leaves no entry in the history.
    await page.goBack()
    await page.waitForURL(({ hash }) => hash === '#/block/latest')
    await find('no such <b>name</b>', '#/search/no%20such%20%3Cb%3Ename%3C%2Fb%3E')
    await page.getByText('Nothing is known by the name or hash “no such <b>name</b>”').waitFor()
    expect(await explorer.findings()).toEqual([])
  })

  it('lists contracts, functions, events and errors whose names contain the text', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const at = '0x00000000000000000000000000000000000dead1'
    await call('evm_setAbi', at, {
      contractName: 'Vault',
      abi: ['function sweepAll()', 'event Swept(uint256)'],
    })
    await explorer.goTo('#/search/swe')
    const names = page.getByRole('table', { name: 'Names' })
    await names.getByRole('link', { name: 'sweepAll' }).waitFor()
    expect(await names.getByRole('row').count()).toBe(3)
    await explorer.goTo('#/search/Vault')
    await page.waitForURL(({ hash }) => hash === `#/address/${at}`)
  })

  it('recognises a selector and a part of an address, by keyboard, in both themes', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const at = '0x00000000000000000000000000000000000dead1'
    const abi = ['function deposit()', 'error TooMuch(uint256)', 'event Swept(uint256)']
    await call('evm_setAbi', at, { contractName: 'Vault', abi })
    const [first] = await call('eth_accounts')
    const search = async (text: string) => {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    const textOf = async (label: string) => {
      const row = page.getByRole('table', { name: label }).getByRole('row').nth(1)
      return (await row.getByRole('cell').allTextContents()).join(' | ')
    }
    await page.getByTitle('Connected').waitFor()
    // deposit() by a known ABI, transfer(address,uint256) by no more than its fame.
    await search('0xD0E30DB0')
    await page.getByRole('link', { name: 'deposit()' }).waitFor()
    expect(await textOf('Selector')).toBe(`deposit() | function | Vault | ${at}`)
    await page.getByText('Four bytes are a selector').waitFor()
    await search('0xa9059cbb')
    await page.getByText('transfer(address,uint256)').waitFor()
    expect(await textOf('Selector')).toBe(
      'transfer(address,uint256) | function | widespread; no known ABI has it | ',
    )
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await explorer.findings()).toEqual([])
    }
    await search('0x12345678')
    await page
      .getByText(
        'No function or error of a known ABI has the selector 0x12345678, and no known address begins with it',
      )
      .waitFor()
    await search('0x00000000000000000000')
    await page.waitForURL(({ hash }) => hash === `#/address/${at}`)
    await search(`${first.slice(0, 6).toUpperCase().replace('0X', '0x')}…${first.slice(-4)}`)
    await page.waitForURL(({ hash }) => hash === `#/address/${first}`)
    await search('0xfffffff')
    await page.getByText('No block has the height 0xfffffff, and no known address has these digits').waitFor()
    expect(await explorer.findings()).toEqual([])
  })

  it('focuses the page that it opens, but not while the next search is being typed', async () => {
    const { page, call } = await open()
    const [first] = await call('eth_accounts')
    const field = page.getByRole('combobox', { name: 'Search' })
    await page.getByTitle('Connected').waitFor()
    await field.fill('1')
    await field.press('Enter')
    await page.waitForURL(({ hash }) => hash === '#/block/1')
    await page.locator('main:focus').waitFor()

    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**', async (route) => {
      if (route.request().postData()?.includes('eth_accounts')) await released
      await route.continue()
    })
    await page.keyboard.press('/')
    await page.keyboard.type(first.slice(0, 12))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Search: ' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('0xf')
    release()
    // The title changes with the focus.
    await expect.poll(() => page.title()).toBe(`Address ${first} · Tandem`)
    await page.keyboard.type('fff')
    expect(await field.inputValue()).toBe('0xffff')
  })
})
