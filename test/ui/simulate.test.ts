/** The simulation page: steps with results, links, files, a transaction with changes, sending. */
import { readFileSync } from 'node:fs'
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { fileText } from '../../src/ui/simulation/file.ts'
import { linkText, readLinkText } from '../../src/ui/simulation/link.ts'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const token = artifact('Token')
const coder = new Interface(token.abi)
const COIN = '0xde0b6b3a7640000'
const TO = 'To (empty: a new contract)'
const NOBODY = '0x00000000000000000000000000000000000dead1'
/** The width of the page, and the sections whose content is wider than they are. */
const OVERFLOW = `({
  page: document.documentElement.scrollWidth,
  sections: [...document.querySelectorAll('section.card')]
    .filter((card) => card.scrollWidth > card.clientWidth)
    .map((card) => card.getAttribute('aria-label')),
})`
const word = (digit: string): `0x${string}` => `0x${digit.padStart(64, '0')}`
const MARKUP = '<img src=x onerror=alert(1)>'

describeWith(CHROMIUM, 'the simulation page', () => {
  const open = useExplorer()

  /** A token with 1000 units of the first account, known by its ABI. */
  async function deployToken({
    call,
  }: OpenedExplorer): Promise<{ alice: string; bob: string; address: `0x${string}` }> {
    const [alice, bob] = await call('eth_accounts')
    const data = token.bytecode + coder.encodeDeploy([1000]).slice(2)
    const hash = await call('eth_sendTransaction', { from: alice, data, gas: '0x4c4b40' })
    const address = (await call('eth_getTransactionReceipt', hash)).contractAddress
    await call('evm_setAbi', address, { ...token, contractName: 'Token' })
    return { alice, bob, address }
  }

  /** The region of a step, and how its fields are filled in. */
  function stepOf({ page }: OpenedExplorer, name: string) {
    const region = page.getByRole('region', { name, exact: true })
    const field = (label: string) =>
      region
        .getByRole('combobox', { name: label, exact: true })
        .or(region.getByRole('textbox', { name: label, exact: true }))
    return {
      region,
      fill: (label: string, text: string) => field(label).fill(text),
      textOf: (label: string) => field(label).inputValue(),
    }
  }
  const simulate = ({ page }: OpenedExplorer) =>
    page.getByRole('button', { name: 'Simulate', exact: true }).click()

  it('simulates steps that share state, and shows what each does, without writing', async () => {
    const explorer = await open({}, {}, '#/simulate')
    const { page, call } = explorer
    const { alice, bob, address } = await deployToken(explorer)
    await simulate(explorer)
    await page.getByText('There is no step to simulate: add one, or switch one on').waitFor()
    expect(await explorer.findings()).toEqual([])

    await page.getByRole('button', { name: 'Add a set' }).click()
    const set = stepOf(explorer, 'Step 1: set')
    await set.fill('Account', NOBODY)
    await set.fill('Coins', '1.5')
    await page.getByRole('button', { name: 'Add a send' }).click()
    const send = stepOf(explorer, 'Step 2: send')
    await send.fill('From', alice)
    await send.fill(TO, address)
    await send.region.getByRole('combobox', { name: 'Function' }).selectOption('transfer(address,uint256)')
    await send.fill('to (address)', NOBODY)
    await send.fill('value (uint256)', '250')
    await page.getByRole('button', { name: 'Add a call' }).click()
    const read = stepOf(explorer, 'Step 3: call')
    await read.fill(TO, address)
    await read.region.getByRole('combobox', { name: 'Function' }).selectOption('balanceOf(address)')
    await read.fill('account (address)', NOBODY)
    await simulate(explorer)

    await page.getByText('Simulated 3 steps', { exact: true }).waitFor()
    await send.region.getByText('Succeeds').waitFor()
    await send.region.getByRole('tree').getByText('Transfer(from').waitFor()
    const assets = send.region.getByRole('table', { name: 'Asset changes' })
    await assets.getByText('0.00000000000000025 TDM').waitFor()
    await send.region.getByRole('table', { name: 'State before and after' }).getByText('Nonce').waitFor()
    await read.region.locator('.answer', { hasText: /^250$/ }).waitFor()
    expect(await call('eth_blockNumber')).toBe('0x1')
    expect(await explorer.findings()).toEqual([])

    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 400, height: 800 })
    expect(await page.evaluate(OVERFLOW)).toEqual({ page: 400, sections: [] })
    expect(await explorer.findings()).toEqual([])

    await read.fill('account (address)', bob)
    await page.getByText('Changed since it was simulated').waitFor()
    await send.region.getByRole('checkbox').uncheck()
    await read.region.getByRole('button', { name: 'Move step 3 up' }).click()
    await stepOf(explorer, 'Step 2: call').region.waitFor()
    await simulate(explorer)
    await page.getByText('Simulated 2 steps', { exact: true }).waitFor()
    await page.reload()
    const moved = stepOf(explorer, 'Step 2: call')
    expect(await moved.textOf('account (address)')).toBe(bob)
    await stepOf(explorer, 'Step 3: send').region.getByRole('button', { name: 'Remove step 3' }).click()
    await stepOf(explorer, 'Step 3: send').region.waitFor({ state: 'detached' })
  })

  it('opens a mined transaction at its place, and shows why a changed one fails', async () => {
    const explorer = await open()
    const { page, call, goTo } = explorer
    const { alice, bob, address } = await deployToken(explorer)
    const data = coder.encodeFunctionData('transfer', [bob, 5])
    const hash = await call('eth_sendTransaction', { from: alice, to: address, data, gas: '0x4c4b40' })
    await call('eth_sendTransaction', { from: alice, to: address, data, gas: '0x4c4b40' })
    await goTo(`#/tx/${hash}`)
    await page.getByRole('link', { name: 'Simulate again with changes' }).click()
    const { region, fill, textOf } = stepOf(explorer, 'Step 1: send')
    await region.getByRole('combobox', { name: 'Function' }).waitFor()
    expect(await Promise.all(['From', TO, 'to (address)', 'value (uint256)', 'Gas'].map(textOf))).toEqual([
      alice,
      address,
      bob,
      '5',
      '5000000',
    ])
    expect(await page.getByRole('textbox', { name: /^Block:/ }).inputValue()).toBe('2')
    expect(await page.getByRole('textbox', { name: /^Before its transaction/ }).inputValue()).toBe('0')
    await fill('value (uint256)', '1001')
    await simulate(explorer)
    await page.getByText('Simulated 1 step, 1 failed').waitFor()
    // The state before the transaction: nothing was transferred yet.
    await region
      .locator('.failure')
      .getByText(`ERC20InsufficientBalance(sender: ${alice}, balance: 1000, needed: 1001)`)
      .waitFor()
    expect(await explorer.findings()).toEqual([])

    await page.getByText('Overrides before the first step').click()
    await page.getByRole('button', { name: 'Override an account' }).click()
    const row = page.getByRole('group', { name: 'override 1' })
    await row.getByRole('combobox', { name: 'Account' }).fill(alice)
    await row.getByRole('combobox', { name: 'What' }).selectOption('balance')
    await simulate(explorer)
    await page.getByText('Override 1: expected an amount of coins, such as 1.5').waitFor()
  })

  it('opens links and files, and says what is wrong with a broken one', async () => {
    const step = { call: { to: NOBODY, value: COIN } } as const
    const scenario = {
      block: '0x0',
      stateOverrides: { [NOBODY]: { nonce: '0x7' } },
      steps: [step, { ...step, off: true }],
    } as const
    const explorer = await open({}, {}, `#/simulate?s=${await linkText(scenario)}`)
    const { page, goTo } = explorer
    const first = stepOf(explorer, 'Step 1: call')
    expect(await first.textOf('Value (coins)')).toBe('1')
    expect(await stepOf(explorer, 'Step 2: call').region.getByRole('checkbox').isChecked()).toBe(false)

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe(fileText(scenario))
    const file = (name: string, text: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
    await file('wrong.json', fileText(scenario).replace(COIN, '0x0de'))
    await page
      .getByText(
        'wrong.json: steps[0].call.value: expected a quantity (0x and hex digits without leading zeros), got "0x0de"',
      )
      .waitFor()
    await file('right.json', fileText({ ...scenario, block: '0x1' }))
    await page.getByText('wrong.json').waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: /^Block:/ }).inputValue()).toBe('1')

    await page.getByRole('button', { name: 'Share as a link' }).click()
    const link = await page.getByRole('region', { name: 'Link' }).innerText()
    const [start, text = ''] = link.split('?s=')
    expect(start).toBe(`${explorer.url}/#/simulate`)
    expect(await readLinkText(text)).toEqual({ ...scenario, block: '0x1' })
    await goTo(`${new URL(link).hash.slice(0, -8)}`)
    await page.getByText('The link is broken: it was cut or changed').waitFor()
    await goTo(`#/simulate/0x${'12'.repeat(32)}`)
    await page.getByText(`There is no transaction 0x${'12'.repeat(32)}`).waitFor()
  })

  it('sends steps only when asked, from accounts without a key too, and stops at the first failure', async () => {
    const explorer = await open({}, {}, '#/simulate')
    const { page, call, goTo } = explorer
    const { address } = await deployToken(explorer)
    const data = coder.encodeFunctionData('transfer', [NOBODY, 1]) as `0x${string}`
    const link = await linkText({
      block: 'latest',
      steps: [
        {
          set: {
            [NOBODY]: { balance: COIN, stateDiff: { [word('0')]: word('1') } },
          },
        },
        { warp: { seconds: 3600, blocks: 1 } },
        { send: { from: NOBODY, to: `0x${'11'.repeat(20)}`, value: '0x1', gas: '0x5208' } },
        { send: { from: NOBODY, to: address, data } },
        { send: { from: NOBODY, to: `0x${'11'.repeat(20)}`, value: '0x1' } },
      ],
    })
    await goTo(`#/simulate?s=${link}`)
    const fourth = stepOf(explorer, 'Step 4: send').region
    await fourth.waitFor()
    await simulate(explorer)
    await page.getByText('Simulated 5 steps, 1 failed').waitFor()
    expect(await call('eth_blockNumber')).toBe('0x1')
    expect(await call('eth_getBalance', NOBODY, 'latest')).toBe('0x0')

    await page.getByRole('button', { name: 'Send all to the chain' }).click()
    await page.getByText('Step 4 failed: the steps after it were not sent').waitFor()
    await stepOf(explorer, 'Step 1: set')
      .region.getByText('Done on the chain: hardhat_setBalance, hardhat_setStorageAt')
      .waitFor()
    await stepOf(explorer, 'Step 2: warp')
      .region.getByText('Done on the chain: evm_increaseTime, hardhat_mine')
      .waitFor()
    const sent = stepOf(explorer, 'Step 3: send').region
    await sent.getByText('Succeeded on the chain').waitFor()
    await fourth.getByText('ERC20InsufficientBalance(').first().waitFor()
    expect(await call('eth_blockNumber')).toBe('0x3')
    expect(await call('eth_getBalance', `0x${'11'.repeat(20)}`, 'latest')).toBe('0x1')
    await stepOf(explorer, 'Step 5: send')
      .region.getByRole('button', { name: 'Send step 5 to the chain' })
      .click()
    await stepOf(explorer, 'Step 5: send').region.getByText('Succeeded on the chain').waitFor()
    expect(await call('eth_getBalance', `0x${'11'.repeat(20)}`, 'latest')).toBe('0x2')
  })

  it('sets variables by name, and names those that change', async () => {
    const explorer = await open({}, {}, '#/simulate')
    const { page, call } = explorer
    const types = {
      t_uint256: { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' },
      t_mapping: {
        encoding: 'mapping',
        label: 'mapping(uint256 => uint256)',
        numberOfBytes: '32',
        key: 't_uint256',
        value: 't_uint256',
      },
    }
    const storage = [
      { label: 'total', slot: '0', offset: 0, type: 't_uint256' },
      { label: 'left', slot: '1', offset: 0, type: 't_mapping' },
    ]
    await call('evm_setAbi', NOBODY, { contractName: 'Store', abi: [], storageLayout: { storage, types } })
    // Writes the input to slot 0.
    await call('hardhat_setCode', NOBODY, '0x60003560005500')
    await call('evm_setVariables', NOBODY, { total: '7', 'left[3]': '9' })
    await page.getByRole('button', { name: 'Add a set' }).click()
    const set = stepOf(explorer, 'Step 1: set')
    await set.fill('Account', NOBODY)
    await set.region.getByRole('combobox', { name: 'What' }).selectOption('variable')
    await set.fill('Variable', 'left[3]')
    await set.region.getByPlaceholder('now 9').waitFor()
    await set.fill('Variable', 'total')
    await set.region.getByPlaceholder('now 7').fill('42')
    await page.getByRole('button', { name: 'Add a call' }).click()
    const read = stepOf(explorer, 'Step 2: call')
    await read.fill(TO, NOBODY)
    await read.fill('Data', word('2b'))
    await simulate(explorer)
    const row = read.region.getByRole('row').filter({ hasText: 'total' })
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual(['Store', 'total', '42', '43'])
    await set.fill('Variable', 'missing')
    await simulate(explorer)
    // The node counts from 0 the steps that are on.
    await page.getByRole('alert').getByText('step 1 set').waitFor()
  })

  it('works by keyboard, and gives texts for other tools', async () => {
    const explorer = await open({}, {}, '#/simulate')
    const { page } = explorer
    await page.getByRole('button', { name: 'Add a call' }).press('Enter')
    const { region } = stepOf(explorer, 'Step 1: call')
    await region.getByRole('combobox', { name: 'Kind' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(NOBODY)
    await region.locator('summary', { hasText: 'Copy step 1 as' }).press('Enter')
    await region.getByRole('button', { name: 'curl', exact: true }).press('Space')
    const text = region.getByRole('region', { name: 'Copy step 1 as curl' })
    await text.getByText(`"params":[{"to":"${NOBODY}"},"latest"]`).waitFor()
    expect(await region.getByRole('button', { name: 'curl', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    await page.getByRole('button', { name: 'Simulate', exact: true }).press('Enter')
    await region.getByText('Succeeds').waitFor()
    expect(await explorer.findings()).toEqual([])
    await region.getByRole('combobox', { name: TO, exact: true }).fill('0x12')
    await region.getByText('to: expected an address: 0x and 40 hex digits', { exact: true }).waitFor()
  })

  it('has no link without evm_simulate, offers no sending without its methods, and shows hostile names as text', async () => {
    const methods = ['-eth_sendTransaction', '-hardhat_setBalance']
    const explorer = await open({ methods }, {}, '#/simulate')
    const { page, call } = explorer
    const abi = [
      {
        type: 'function',
        name: MARKUP,
        inputs: [{ name: MARKUP, type: 'uint8' }],
        outputs: [],
        stateMutability: 'view',
      },
    ]
    await call('evm_setAbi', NOBODY, { contractName: MARKUP, abi })
    await page.getByRole('button', { name: 'Add a send' }).click()
    const { region, fill } = stepOf(explorer, 'Step 1: send')
    await fill(TO, NOBODY)
    await region.getByRole('combobox', { name: 'Function' }).selectOption({ index: 1 })
    await region.getByText(`${MARKUP} (uint8)`).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.getByRole('button', { name: /to the chain$/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Add a set' }).click()
    const set = stepOf(explorer, 'Step 2: set')
    await set.fill('Account', NOBODY)
    await set.fill('Coins', '1')
    await set.region.getByRole('button', { name: 'Send step 2 to the chain' }).click()
    await set.region.getByText('The node does not let this caller use hardhat_setBalance').waitFor()

    const closed = await open({ methods: ['-evm_simulate'] }, {}, '#/simulate')
    await closed.page.getByText('The node does not let this caller use evm_simulate').waitFor()
    expect(await closed.page.getByRole('link', { name: 'Simulate' }).count()).toBe(0)
  })
})
