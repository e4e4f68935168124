/** The pages of contracts and addresses: forms, history, events, storage, code, registered ABIs; with hostile values. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { artifact } from '../support/contracts.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const probe = artifact('Probe')
const token = artifact('Token')
const coder = new Interface(token.abi)
const NOBODY = '0x00000000000000000000000000000000000dead1'
const MARKUP = '<img src=x onerror=alert(1)>'

describeWith(CHROMIUM, 'the pages of contracts', () => {
  const open = useExplorer()

  async function deploy({ call }: OpenedExplorer, data: string): Promise<string> {
    const [from] = await call('eth_accounts')
    const hash = await call('eth_sendTransaction', { from, data, gas: '0x4c4b40' })
    return (await call('eth_getTransactionReceipt', hash)).contractAddress
  }
  const deployToken = (explorer: OpenedExplorer) =>
    deploy(explorer, token.bytecode + coder.encodeDeploy([1000]).slice(2))

  it('call a function, send to one, and show answers and failures', async () => {
    const explorer = await open()
    const { page, call, goTo } = explorer
    const address = await deployToken(explorer)
    const [alice, bob] = await call('eth_accounts')
    await call('evm_setAbi', address, { ...token, contractName: 'Token' })
    await goTo(`#/address/${address}`)
    await page.getByRole('heading', { name: 'Token' }).waitFor()

    const balance = page.getByRole('form', { name: 'balanceOf' })
    await balance.getByRole('textbox').fill(alice)
    await balance.getByRole('button', { name: 'Call' }).click()
    await balance.getByText('1000', { exact: true }).waitFor()

    const transfer = page.getByRole('form', { name: 'transfer', exact: true })
    await transfer.getByRole('textbox').nth(0).fill(bob)
    await transfer.getByRole('textbox').nth(1).fill('250')
    await transfer.getByRole('button', { name: 'Send' }).click()
    await transfer.getByText('Succeeded').waitFor()
    await balance.getByRole('button', { name: 'Call' }).click()
    await balance.getByText('750', { exact: true }).waitFor()
    const history = page.getByRole('table', { name: 'Transactions' })
    await history.getByText('transfer', { exact: true }).waitFor()
    await page.getByText('Transfer', { exact: true }).first().waitFor()
    await page.getByRole('table', { name: 'Storage' }).waitFor()
    await page.getByText('transferFrom(address,address,uint256)').waitFor()
    expect(await history.getByRole('link', { name: '2', exact: true }).getAttribute('href')).toBe('#/block/2')

    await transfer.getByRole('textbox').nth(1).fill('99999')
    await transfer.getByRole('button', { name: 'Send' }).click()
    await transfer
      .getByText(`ERC20InsufficientBalance(sender: ${alice}, balance: 750, needed: 99999)`)
      .waitFor()
    await transfer.getByRole('textbox').nth(0).fill('0x12')
    await transfer.getByRole('button', { name: 'Send' }).click()
    await transfer.getByText('to: expected 0x and 40 hex digits (address)').waitFor()
    expect(await explorer.findings()).toEqual([])

    await page.getByRole('combobox', { name: 'From' }).selectOption('other')
    await page.getByLabel('Address to impersonate').fill(NOBODY)
    await call('hardhat_setBalance', NOBODY, '0xde0b6b3a7640000')
    const approve = page.getByRole('form', { name: 'approve' })
    await approve.getByRole('textbox').nth(0).fill(bob)
    await approve.getByRole('textbox').nth(1).fill('1')
    await approve.getByRole('button', { name: 'Send' }).click()
    await approve.getByText('Succeeded').waitFor()
    const { transactions } = await call('eth_getBlockByNumber', 'latest', true)
    expect(transactions[0].from).toBe(NOBODY)
  })

  it('register a dropped artifact, for all contracts of its code and for one address', async () => {
    const explorer = await open({}, {}, '#/contracts')
    const { page, call, goTo } = explorer
    const address = await deploy(explorer, probe.bytecode)
    const deployedBytecode = await call('eth_getCode', address, 'latest')
    const file = (name: string, value: unknown) => ({
      name,
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(value)),
    })
    const fresh = page.getByRole('table', { name: 'New contracts' })
    await fresh.getByRole('link', { name: '1', exact: true }).waitFor()
    await page
      .locator('input[type=file]')
      .setInputFiles(file('Probe.json', { abi: probe.abi, deployedBytecode }))
    await page.getByText('Registered Probe').waitFor()
    await fresh.getByRole('link', { name: 'Probe' }).waitFor()
    await page.locator('input[type=file]').setInputFiles(file('wrong.json', { no: 'abi' }))
    await page.getByText('wrong.json: it has no ABI').waitFor()
    await page.getByRole('table', { name: 'Known contracts' }).getByRole('link', { name: 'Probe' }).click()
    await page.getByText('failWithPanic(uint256)').waitFor()
    expect(await explorer.findings()).toEqual([])

    await goTo(`#/address/${await deployToken(explorer)}`)
    await page.locator('input[type=file]').setInputFiles(file('Coin.json', token.abi))
    await page.getByRole('heading', { name: 'Coin' }).waitFor()
    const symbol = page.getByRole('form', { name: 'symbol' })
    await symbol.getByRole('button', { name: 'Call' }).click()
    await symbol.getByText('"TDM"').waitFor()
  })

  it('show hostile names, texts and reasons as text', async () => {
    const explorer = await open()
    const { page, call, goTo } = explorer
    const address = await deploy(explorer, probe.bytecode)
    await call('evm_setAbi', address, {
      contractName: MARKUP,
      abi: [
        ...(probe.abi as object[]),
        { type: 'function', name: MARKUP, inputs: [{ name: MARKUP, type: MARKUP }], stateMutability: 'view' },
      ],
    })
    await goTo(`#/address/${address}`)
    const form = page.getByRole('form', { name: MARKUP })
    await form.getByRole('button', { name: 'Call' }).click()
    await form.getByText('expected a value of this type').waitFor()
    expect(await page.getByRole('heading', { name: MARKUP }).count()).toBe(1)
    const reason = page.getByRole('form', { name: 'failWithReason' })
    await reason.getByRole('button', { name: 'Call' }).click()
    await reason.getByText('revert not today').waitFor()
    await goTo('#/contracts')
    await page.getByRole('table', { name: 'Known contracts' }).getByText(MARKUP).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  })

  it('offer neither registration nor sending to a caller without the right, and fit a phone', async () => {
    const methods = ['-evm_setAbi', '-eth_sendTransaction', '-debug_storageRangeAt']
    const explorer = await open({ methods })
    const { page, goTo } = explorer
    const address = await deployed(explorer)
    await page.setViewportSize({ width: 400, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await goTo(`#/address/${address}`)
    await page.getByRole('heading', { name: 'Code' }).waitFor()
    expect(await page.locator('input[type=file]').count()).toBe(0)
    expect(await page.getByRole('heading', { name: 'Storage' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    expect(await explorer.findings()).toEqual([])
  })

  /** Deployed by the node's own commands, for a caller that may not send. */
  async function deployed({ node, call }: OpenedExplorer): Promise<string> {
    const [from] = await call('eth_accounts')
    const request = { from, data: Buffer.from(probe.bytecode.slice(2), 'hex'), gas: 5_000_000n }
    const { hash } = await node.engine.commands.send(request)
    return (await call('eth_getTransactionReceipt', hash)).contractAddress
  }
})
