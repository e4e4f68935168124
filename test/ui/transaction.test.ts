/** The page of a transaction: decoded parts, the failure and its frame, steps, state, Ethereum's rules, hostile texts. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { fixture } from '../support/fixture.ts'
import { caseBuildInfo, compiledCases } from '../support/stack-trace-cases.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const STACK_CASE = '0_8/call-message/external-calls/try-catch-and-back-and-forth'

const shop = artifact('Shop')
const shopAbi = new Interface(shop.abi)

/** Of `mapping(uint256 => uint256) public left;`. */
const STOCK_LAYOUT = {
  storage: [{ label: 'left', slot: '0', offset: 0, type: 't_mapping' }],
  types: {
    t_mapping: {
      encoding: 'mapping',
      label: 'mapping(uint256 => uint256)',
      numberOfBytes: '32',
      key: 't_uint256',
      value: 't_uint256',
    },
    t_uint256: { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' },
  },
}

/** Deploys the example of the guides: a shop that asks a stock, and refuses what is not there. */
async function deployedShop({ call }: OpenedExplorer) {
  const [from] = await call('eth_accounts')
  const hash = await call('eth_sendTransaction', { from, data: shop.bytecode, gas: '0x4c4b40' })
  const { contractAddress } = await call('eth_getTransactionReceipt', hash)
  await call('evm_setAbi', contractAddress, shop)
  await call('evm_setAbi', 'Stock', {
    ...fixture<object>('contracts/Stock.json'),
    storageLayout: STOCK_LAYOUT,
  })
  return {
    address: contractAddress as string,
    /** The hash of a purchase, mined whether it fails or not. */
    async buy(id: number, count: number): Promise<string> {
      const data = shopAbi.encodeFunctionData('buy', [id, count])
      await call('eth_sendTransaction', { from, to: contractAddress, data, gas: '0x7a120' }).catch(() => {})
      return (await call('eth_getBlockByNumber', 'latest', false)).transactions[0]
    },
  }
}

describeWith(CHROMIUM, 'the page of a transaction', () => {
  const open = useExplorer()

  it('shows type, fees, access list and authorizations of a typed one', async () => {
    const { page, goTo, call } = await open({ rules: 'next' })
    const [from, to] = await call('eth_accounts')
    const authorization = { chainId: '0x0', address: to, nonce: '0x7', yParity: '0x0', r: '0x1', s: '0x1' }
    const slot = `0x${'0b'.repeat(32)}`
    const hash = await call('eth_sendTransaction', {
      ...{ from, to, gas: '0x30d40', maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x3' },
      ...{ accessList: [{ address: to, storageKeys: [slot] }], authorizationList: [authorization] },
    })
    await goTo(`#/tx/${hash}`)
    await page.getByText('0x4 (set code, EIP-7702)').waitFor()
    await page.getByText('5 wei').waitFor()
    const lists = page.getByRole('table', { name: 'Access list' })
    expect(await lists.textContent()).toContain(slot)
    const tuples = page.getByRole('table', { name: 'Authorizations' }).getByRole('row')
    expect(await tuples.nth(1).textContent()).toMatch(/any7$/)
  })

  it('shows a successful transaction: arguments, events, the call tree, the state before and after', async () => {
    const explorer = await open()
    const { page } = explorer
    const hash = await (await deployedShop(explorer)).buy(7, 1)
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByText('Succeeded').waitFor()
    const input = page.getByRole('table', { name: 'Arguments' }).getByRole('row')
    expect(await input.allTextContents()).toEqual(['NameTypeValue', 'iduint2567', 'countuint2561'])
    await page.getByRole('table', { name: 'Events' }).getByText('(id: 7, count: 1, buyer: 0x').waitFor()
    const tree = page.getByTestId('call-tree')
    await tree.waitFor()
    expect(await tree.getAttribute('role')).toBe('tree')
    const texts = await tree.getByRole('treeitem').allTextContents()
    const items = texts.map((text) => text.replace(/\s+/g, ' '))
    expect(items).toHaveLength(5)
    expect(items[0]).toMatch(/^CALLShop\.buy\(id: 7, count: 1\) /)
    expect(items[1]).toContain('console.log buying 7')
    expect(items[2]).toMatch(/Stock\.left\(7\) → 3/)
    expect(items[3]).toMatch(/Stock\.take\(id: 7, count: 1\)/)
    expect(items[4]).toContain('EVENTSold(id: 7, count: 1')
    const state = page.getByRole('table', { name: 'State before and after' })
    await state.waitFor()
    const slot = state.getByRole('row').filter({ hasText: 'Slot' })
    expect((await slot.getByRole('cell').allTextContents()).slice(2)).toEqual(['0x3', '0x2'])
    const variable = state.getByRole('row').filter({ hasText: 'left[7]' })
    expect((await variable.getByRole('cell').allTextContents()).slice(1)).toEqual(['left[7]', '3', '2'])
    expect(await explorer.findings()).toEqual([])
  })

  it('names a failure and the frame where it happened', async () => {
    const explorer = await open()
    const { page } = explorer
    const { buy } = await deployedShop(explorer)
    await explorer.goTo(`#/tx/${await buy(7, 9)}`)
    await page.getByText('Empty(left: 3) in Shop.buy').waitFor()
    const culprit = page.getByTestId('call-tree').locator('[data-culprit=true]')
    expect(await culprit.textContent()).toMatch(
      /^CALLShop\.buy\(id: 7, count: 9\).*Empty\(left: 3\).*failed here/,
    )
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await explorer.findings()).toEqual([])
  })

  it('names the inner frame of a failure that its callers passed on', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const [from] = await call('eth_accounts')
    // The outer code calls the inner one without arguments, and returns its payload as its own revert.
    const inner = '0x00000000000000000000000000000000000a0001'
    const outer = '0x00000000000000000000000000000000000a0002'
    const message = new Interface(['error Error(string)']).encodeErrorResult('Error', [
      '<img src=x onerror=alert(1)>',
    ])
    const payload = message.slice(2)
    const size = (payload.length / 2).toString(16).padStart(2, '0')
    await call('hardhat_setCode', inner, `0x60${size}600c60003960${size}6000fd${payload}`)
    await call(
      'hardhat_setCode',
      outer,
      `0x600060006000600060006201${'0000'}5af1503d6000803e3d6000fd`.replace(
        '62010000',
        `73${inner.slice(2)}`,
      ),
    )
    await call('eth_sendTransaction', { from, to: outer, gas: '0x186a0' }).catch(() => {})
    const [hash] = (await call('eth_getBlockByNumber', 'latest', false)).transactions
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByText('"<img src=x onerror=alert(1)>"').first().waitFor()
    await page.getByText('called by 0x000000').waitFor()
    expect(await page.locator('[data-culprit=true]').getAttribute('aria-level')).toBe('2')
    expect(await page.locator('main img').count()).toBe(0)
  })

  it('loads steps with stack, memory and storage, and compares with Ethereum on request', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const hash = await (await deployedShop(explorer)).buy(7, 1)
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByRole('button', { name: 'Load steps' }).click()
    const { structLogs } = await call('debug_traceTransaction', hash, { tracer: 'structLogger' })
    const steps = page.getByRole('table', { name: 'Steps' })
    await steps.waitFor()
    expect(await steps.getAttribute('aria-rowcount')).toBe(String(structLogs.length + 1))
    await steps.getByRole('button').nth(2).click()
    const details = page.getByRole('region', { name: 'Step 2' })
    await details.waitFor()
    expect(await details.getByText(structLogs[2].op, { exact: true }).count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.getByRole('region', { name: 'Step 3' }).waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    const gas = page.getByRole('table', { name: 'Gas by group' })
    await gas.waitFor()
    const report = await call('debug_compareRules', hash, 'cancun')
    const grouped = (hex: string) => String(Number(hex)).replace(/\B(?=(\d{3})+$)/g, '\u202f')
    const total = gas.getByRole('row').last()
    expect(await total.textContent()).toContain(grouped(report.ethereum.gasUsed))
    expect(await explorer.findings()).toEqual([])
  })

  it('shows hostile names as text, wherever they appear', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const { buy, address } = await deployedShop(explorer)
    const hostile = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    await call('evm_setAbi', address, { contractName: hostile, abi: shop.abi })
    const hash = await buy(7, 9)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    for (const fragment of [`#/tx/${hash}`, '#/block/latest', '#/']) {
      await explorer.goTo(fragment)
      await page.getByRole('main').getByText(hostile).first().waitFor()
    }
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(dialogs).toEqual([])
  })

  it('follows a transaction that a reorganisation makes pending and a revert forgets', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const shop = await deployedShop(explorer)
    const snapshot = await call('evm_snapshot')
    const hash = await shop.buy(7, 1)
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByRole('table', { name: 'State before and after' }).waitFor()
    await call('evm_reorg', { depth: 1 })
    await page.getByText('Pending', { exact: true }).waitFor()
    await call('evm_mine')
    await page.getByRole('table', { name: 'State before and after' }).waitFor()
    await call('evm_revert', snapshot)
    await page.getByRole('alert').getByText(`There is no transaction ${hash}`).waitFor()
  })

  it('shows a pending transaction until it is mined', async () => {
    const explorer = await open({ mining: 'manual' })
    const { page, call } = explorer
    const [from, to] = await call('eth_accounts')
    const hash = await call('eth_sendTransaction', { from, to, value: '0x1' })
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByText('Pending').waitFor()
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.getByText('Succeeded').waitFor()
    await explorer.goTo(`#/tx/0x${'ab'.repeat(32)}`)
    await page.getByRole('alert').getByText('There is no transaction').waitFor()
  })

  it('shows the stack of a failure where the sources are known', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const compiled = compiledCases('0.8.35')
    await call('evm_addSources', caseBuildInfo(STACK_CASE, compiled))
    const [from] = await call('eth_accounts')
    const code = compiled.outputs[STACK_CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
    const hash = await call('eth_sendTransaction', { from, data: `0x${code}`, gas: '0x3d0900' })
    const { contractAddress: to } = await call('eth_getTransactionReceipt', hash)
    // `test1()`.
    await call('eth_sendTransaction', { from, to, data: '0x6b59084d', gas: '0x3d0900' }).catch(() => {})
    const [failed] = (await call('eth_getBlockByNumber', 'latest', false)).transactions
    await explorer.goTo(`#/tx/${failed}`)
    const rows = page.getByRole('table', { name: 'Stack' }).getByRole('row')
    await rows.nth(4).waitFor()
    expect(await rows.allTextContents()).toEqual([
      'FunctionSourceFailure',
      'D.faild.sol:12:5reverted: D failed',
      'C.test3c.sol:19:5',
      'D.test2d.sol:8:5',
      'C.test1c.sol:14:7',
    ])
  })

  it('draws where the gas went, and widens a frame that is clicked', async () => {
    const explorer = await open()
    const { page, call } = explorer
    const compiled = compiledCases('0.8.35')
    await call('evm_addSources', caseBuildInfo(STACK_CASE, compiled))
    const [from] = await call('eth_accounts')
    const code = compiled.outputs[STACK_CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
    const hash = await call('eth_sendTransaction', { from, data: `0x${code}`, gas: '0x3d0900' })
    const { gasUsed } = await call('eth_getTransactionReceipt', hash)
    await explorer.goTo(`#/tx/${hash}`)
    await page.getByRole('button', { name: 'Show where the gas went' }).click()
    const graph = page.getByRole('region', { name: 'Flame graph' })
    await graph.waitFor()
    const all = graph.getByRole('button', { name: /^transaction: / })
    const title = (await all.getAttribute('title')) ?? ''
    expect(Number(title.replace(/ gas.*$/, '').replace(/\D/g, ''))).toBe(Number(gasUsed))
    const creation = graph.getByRole('button', { name: /^C\.constructor/ })
    const widthOf = async () => (await creation.boundingBox())?.width ?? 0
    const narrow = await widthOf()
    await creation.click()
    expect(await creation.getAttribute('aria-pressed')).toBe('true')
    expect(await widthOf()).toBeGreaterThan(narrow)
    expect(await graph.getByRole('button', { name: /^\(code deposit\)/ }).count()).toBeGreaterThan(0)
    expect(await explorer.findings()).toEqual([])
  })
})
