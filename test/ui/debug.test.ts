/** The debugger's page: the failing line, the call stack, variables, moves in both directions, breakpoints, simulations. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { debuggerBuild, SENDER } from '../support/debugger-cases.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const build = debuggerBuild('Old-0.8.35')
const { abi = [], evm } = build.output.contracts['Old.sol']?.Old ?? {}
const coder = new Interface(abi)
const GAS = '0x67c280'

async function deploy({ call }: OpenedExplorer): Promise<Hex> {
  await call('evm_addSources', build)
  const args = coder.encodeDeploy([5, `0x${'12'.repeat(32)}`]).slice(2)
  const hash = await call('eth_sendTransaction', {
    from: SENDER,
    gas: GAS,
    data: `0x${evm?.bytecode.object}${args}`,
  })
  return (await call('eth_getTransactionReceipt', hash)).contractAddress
}

async function failed({ call }: OpenedExplorer, to: Hex): Promise<Hex> {
  const data = coder.encodeFunctionData('fail', [9])
  await call('eth_sendTransaction', { from: SENDER, to, gas: GAS, data }).catch(() => {})
  const { transactions } = await call('eth_getBlockByNumber', 'latest', false)
  return transactions[0]
}

describeWith(CHROMIUM, 'the debugger', () => {
  const open = useExplorer()

  it('opens a failed transaction at its line, and steps back from there', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const hash = await failed(explorer, await deploy(explorer))
    await goTo(`#/tx/${hash}`)
    await page.getByRole('link', { name: 'Debug' }).click()
    await page.getByText('At a failure').waitFor()
    await page.getByRole('strong').getByText('too much').waitFor()
    const stack = page.getByRole('region', { name: 'Call stack' })
    await stack.getByRole('button', { name: 'Old.check Old.sol:136', pressed: true }).waitFor()
    const current = page.locator('[aria-current=step]')
    await current.getByText('require(amount < rest, "too much");').waitFor()
    const locals = page.getByRole('region', { name: 'Locals' })
    await locals.getByText('rest = 9').waitFor()
    await page.getByRole('region', { name: 'Message' }).getByText(`this`).waitFor()
    await page.getByRole('region', { name: 'State' }).getByText('total = 5').waitFor()

    await stack.getByRole('button', { name: 'Old.fail' }).click()
    await current.getByText('check(amount, limit);').waitFor()
    await locals.getByText('limit = 10').waitFor()

    await page.getByRole('button', { name: 'Over back' }).click()
    await page.getByText('Stopped').waitFor()
    await current.getByText('require').waitFor()
    await page.getByRole('button', { name: 'Over back' }).click()
    await current.getByText('uint256 rest = limit - 1;').waitFor()
    await page.keyboard.press('O')
    await stack.getByRole('button', { name: 'Old.fail Old.sol:130', pressed: true }).waitFor()
    await page.keyboard.press('s')
    await current.getByText('uint256 rest = limit - 1;').waitFor()
    await page.keyboard.press('c')
    await page.getByText('At a failure').waitFor()

    expect(await explorer.findings()).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await explorer.findings()).toEqual([])
    await page.setViewportSize({ width: 400, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    expect(await explorer.findings()).toEqual([])
  })

  it('stops at breakpoints that the mouse or the keyboard sets, and shows the machine', async () => {
    const explorer = await open()
    const { page, goTo, call } = explorer
    const to = await deploy(explorer)
    const data = coder.encodeFunctionData('memories', [3])
    const hash = await call('eth_sendTransaction', { from: SENDER, to, gas: GAS, data })
    await goTo(`#/debug/${hash}`)
    await page.getByText('At the beginning').waitFor()
    const point = (line: number) =>
      page.getByRole('button', { name: `Breakpoint at line ${line}`, exact: true })
    await point(125).click()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await page.getByText('At a breakpoint').waitFor()
    const locals = page.getByRole('region', { name: 'Locals' })
    await locals.getByText('marks').click()
    await locals.getByText('2 = 3').waitFor()
    const state = page.getByRole('region', { name: 'State' })
    await state.getByText('kept', { exact: true }).click()
    await state.getByText('label = "label"').waitFor()
    await page.getByText('Stack, memory and storage').click()
    await page.getByRole('region', { name: 'Memory' }).getByText('0x40', { exact: true }).waitFor()
    expect(await explorer.findings()).toEqual([])

    // The current line has the button that Tab reaches, and the arrow keys go on from there.
    await point(125).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await point(124).and(page.locator('[aria-pressed=true]')).waitFor()
    await page.keyboard.press('C')
    await page.locator('[aria-current=step]').getByText('all.push(at);').waitFor()
  })

  it('takes a key at the moment it is shown', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const hash = await failed(explorer, await deploy(explorer))
    // Before the browser paints: observers run as soon as the elements are in the document.
    await page.evaluate(`
      const shown = new MutationObserver(() => {
        if (!document.querySelector('main').textContent.includes('At a failure')) return
        shown.disconnect()
        dispatchEvent(new KeyboardEvent('keydown', { key: 'C' }))
      })
      shown.observe(document, { subtree: true, childList: true })`)
    await goTo(`#/debug/${hash}`)
    await page.getByText('At the beginning').waitFor()
  })

  it('opens a step of the simulation page, and what failed last', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const to = await deploy(explorer)
    await failed(explorer, to)
    await goTo('#/debug/failure')
    await page.getByText('At a failure').waitFor()
    await goTo('#/simulate')
    await page.getByRole('button', { name: 'Add a call' }).click()
    const step = page.getByRole('region', { name: 'Step 1: call' })
    await step.getByRole('combobox', { name: /^To/ }).fill(to)
    await step.getByRole('textbox', { name: 'Data' }).fill(coder.encodeFunctionData('fail', [12]))
    await page.getByRole('button', { name: 'Simulate', exact: true }).click()
    await step.getByRole('button', { name: 'Debug step 1' }).click()
    await page.getByText('At a failure').waitFor()
    await page.getByRole('region', { name: 'Locals' }).getByText('amount = 12').waitFor()
    await goTo(`#/debug/0x${'99'.repeat(32)}`)
    await page.getByRole('alert').getByText('There is nothing to debug').waitFor()
  })
})
