/** The pages that change the chain: pool, snapshots, clock and mining, accounts. */
import { expect, it } from 'vitest'
import { keyFile } from '../support/api-keys.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const NOBODY = '0x00000000000000000000000000000000000dead1'
const COIN = '0xde0b6b3a7640000'

/** The names of the sections that hold nothing but their heading. */
const EMPTY_SECTIONS = `[...document.querySelectorAll('section.card')]
  .map((card) => [card.getAttribute('aria-label'), card.textContent.trim()])
  .filter(([name, text]) => text === name || text === '')
  .map(([name]) => name)`

describeWith(CHROMIUM, 'the pages that change the chain', () => {
  const open = useExplorer()

  it('pool: shows pooled transactions, and drops one', async () => {
    const explorer = await open({ mining: 'manual' }, {}, '#/pool')
    const { page, call } = explorer
    const [from, to] = await call('eth_accounts')
    await page.getByText('The next block may contain these.').waitFor()
    const pending = await call('eth_sendTransaction', { from, to, value: COIN })
    const queued = await call('eth_sendTransaction', { from: to, to: from, value: COIN, nonce: '0x5' })
    const link = (hash: string) => page.locator(`a[href="#/tx/${hash}"]`)
    await link(pending).waitFor()
    await link(queued).waitFor()
    const row = page.getByRole('table', { name: 'Queued' }).getByRole('row').nth(1)
    await row.getByRole('button', { name: /^Drop 0x/ }).click()
    await link(queued).waitFor({ state: 'detached' })
    expect(await call('eth_getTransactionByHash', queued)).toBeNull()
    expect(await explorer.findings()).toEqual([])
    await call('evm_mine')
    await link(pending).waitFor({ state: 'detached' })
  })

  it('snapshots: takes, compares and reverts', async () => {
    const explorer = await open({}, {}, '#/snapshots')
    const { page, call } = explorer
    const [from, to] = await call('eth_accounts')
    await page.getByLabel('Name').fill('before the sale')
    await page.getByRole('button', { name: 'Take snapshot' }).click()
    const row = page.getByRole('row', { name: /before the sale/ })
    await row.waitFor()
    await call('eth_sendTransaction', { from, to, value: COIN })
    await page.getByTitle('Connected').getByText('#1').waitFor()
    const storageLayout = {
      storage: [{ label: 'total', slot: '0', offset: 0, type: 't_uint256' }],
      types: { t_uint256: { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' } },
    }
    await call('evm_setAbi', to, { abi: [], storageLayout })
    await call('evm_setVariables', to, { total: 5 })
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('total: 0 → 5').waitFor()
    await page.getByText('+1 coin').waitFor()
    expect(await page.getByRole('table', { name: 'Changed accounts' }).getByText('−1 coin').count()).toBe(1)
    expect(await explorer.findings()).toEqual([])
    await row.getByRole('button', { name: 'Revert' }).click()
    await page.getByRole('status').getByText('Reverted to block 0').waitFor()
    expect(await call('eth_blockNumber')).toBe('0x0')
    await page.getByLabel('Name').fill('1 <b>')
    await page.getByRole('button', { name: 'Take snapshot' }).click()
    await page.getByRole('alert').getByText('Invalid name').waitFor()
  })

  it('clock and mining: a timer alone under the preset hardhat too, and a timer beside automining', async () => {
    const { page, call } = await open({ preset: 'hardhat' }, {}, '#/clock')
    await page.getByText('A block for each transaction', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Mode' }).selectOption('interval')
    await page.getByLabel('Seconds', { exact: true }).fill('3600')
    await page.getByRole('button', { name: 'Set mode' }).click()
    await page.getByText('A block every 1 h', { exact: true }).waitFor()
    expect(await call('hardhat_getAutomine')).toBe(false)
    await call('evm_setAutomine', true)
    await page.reload()
    await page.getByText('A block for each transaction, and every 1 h', { exact: true }).waitFor()
  })

  it('clock and mining: moves the clock, sets a time, sets the mode, adds blocks', async () => {
    const explorer = await open({}, {}, '#/clock')
    const { page, call } = explorer
    const times = async () => {
      const [latest, pending] = await Promise.all([
        call('eth_getBlockByNumber', 'latest', false),
        call('eth_getBlockByNumber', 'pending', false),
      ])
      return [Number(latest.timestamp), Number(pending.timestamp)] as const
    }
    const form = (name: string) => page.getByRole('form', { name })
    await page.getByText('A block for each transaction', { exact: true }).waitFor()
    await form('Move the clock').getByRole('textbox').fill('2')
    const [, before] = await times()
    await form('Move the clock').getByRole('button').click()
    await page.getByRole('status').getByText('The clock was moved by 2 h').waitFor()
    expect((await times())[1] - before).toBeGreaterThanOrEqual(7200)

    const next = await page.evaluate<number>("new Date('2100-01-01T12:00:00').getTime() / 1000")
    await page.getByLabel('Time of the next block').fill('2100-01-01T12:00:00')
    await page.getByRole('button', { name: 'Set time' }).click()
    await page.getByRole('status').getByText('The next block has the time').waitFor()
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.getByTitle('Connected').getByText('#1').waitFor()
    expect((await times())[0]).toBe(next)

    await page.getByRole('combobox', { name: 'Mode' }).selectOption('manual')
    await page.getByRole('button', { name: 'Set mode' }).click()
    await page.getByText('On request only', { exact: true }).waitFor()
    await form('Several blocks').getByRole('textbox').fill('7')
    await page.getByRole('button', { name: 'Add blocks' }).click()
    await page.getByTitle('Connected').getByText('#8').waitFor()
    await page.getByRole('combobox', { name: 'Mode' }).selectOption('interval')
    await page.getByLabel('Seconds', { exact: true }).fill('3600')
    await page.getByRole('button', { name: 'Set mode' }).click()
    await page.getByText('A block every 1 h').waitFor()
    expect(await call('anvil_getIntervalMining')).toBe(3600)
    expect(await explorer.findings()).toEqual([])
  })

  it('accounts: sets balances, sends coins, impersonates', async () => {
    const explorer = await open({}, {}, '#/accounts')
    const { page, call } = explorer
    const [alice] = await call('eth_accounts')
    const form = (name: string) => page.getByRole('form', { name })
    await page.getByRole('table', { name: 'Accounts' }).locator(`a[href="#/address/${alice}"]`).waitFor()
    await form('Faucet').getByRole('textbox').nth(0).fill(NOBODY)
    await form('Faucet').getByRole('textbox').nth(1).fill('2.5')
    await form('Faucet').getByRole('button').click()
    await page.getByRole('status').getByText('2.5 coins were given').waitFor()
    expect(BigInt(await call('eth_getBalance', NOBODY, 'latest'))).toBe(25n * 10n ** 17n)

    await form('Impersonate').getByRole('textbox').fill(NOBODY)
    await form('Impersonate').getByRole('button').click()
    await page.getByText('impersonated', { exact: true }).waitFor()
    await page
      .getByRole('combobox', { name: 'From' })
      .selectOption({ label: '0x000000…0dead1 (impersonated)' })
    await form('Transfer').getByRole('textbox').nth(0).fill(alice)
    await form('Transfer').getByRole('textbox').nth(1).fill('1')
    await form('Transfer').getByRole('button').click()
    await page.getByText('Sent:').waitFor()
    const { transactions } = await call('eth_getBlockByNumber', 'latest', true)
    expect(transactions[0]).toMatchObject({ from: NOBODY, to: alice, value: COIN })
    await form('Transfer').getByRole('textbox').nth(0).fill('alice')
    await form('Transfer').getByRole('button').click()
    await page.getByText('Expected an address').waitFor()
    expect(await explorer.findings()).toEqual([])
  })

  it('state what they do not show to a caller, and have no link to it', async () => {
    const keys = keyFile()
    try {
      const key = await keys.add('reader')
      const hosted = await open({ profile: 'hosted' }, { ui: true, apiKeys: keys.file }, `${key}/#/accounts`)
      await hosted.page.getByText('Chain 33').waitFor()
      for (const [name, text] of [
        ['contracts', 'does not list its ABIs'],
        ['pool', 'does not list its pool'],
        ['tree', 'does not list its branches'],
        ['snapshots', 'does not list its snapshots'],
        ['clock', 'does not let this caller move its clock'],
        ['peers', 'does not list its callers'],
        ['accounts', 'holds no keys'],
      ]) {
        await hosted.goTo(`#/${name}`)
        await hosted.page.getByText(text as string).waitFor()
        expect(await hosted.page.evaluate(EMPTY_SECTIONS), name as string).toEqual([])
      }
      const links = hosted.page.getByRole('navigation').getByRole('link')
      expect(await links.allTextContents()).toEqual(['Blocks', 'Contracts', 'Console'])
      expect(await hosted.page.locator('main').getByRole('button').count()).toBe(0)
      expect(await hosted.findings()).toEqual([])
      await hosted.page.getByRole('link', { name: 'eth_sendRawTransaction' }).click()
      await hosted.page.getByRole('form', { name: 'eth_sendRawTransaction' }).waitFor()
    } finally {
      keys.remove()
    }
    const { page } = await open({ accounts: 0 })
    await page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click()
    await page.getByText('The node holds no keys').waitFor()
    await page.getByRole('form', { name: 'Impersonate' }).waitFor()
  })

  it('have no buttons for actions that the caller may not take, and fit a phone in the dark theme', async () => {
    const methods = ['eth', 'rpc', 'txpool', 'evm_snapshots', '-eth_sendTransaction']
    const explorer: OpenedExplorer = await open({ methods })
    const { page, goTo } = explorer
    await page.setViewportSize({ width: 400, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    for (const [name, title] of [
      ['pool', 'Pool'],
      ['snapshots', 'Snapshots'],
      ['clock', 'Clock and mining'],
      ['accounts', 'Accounts'],
    ]) {
      await goTo(`#/${name}`)
      await page.getByRole('heading', { name: title as string, level: 1 }).waitFor()
      await page.getByText('Loading…').waitFor({ state: 'detached' })
      expect(await page.locator('main').getByRole('button').count(), name as string).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
      expect(await explorer.findings()).toEqual([])
    }
    expect(await page.getByRole('link', { name: 'Pool' }).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Clock' }).count()).toBe(0)
  })
})
