/** The console: lines and failures as they come, and any method as a form; and the page of peers. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { saying } from '../support/refusals.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const CONSOLE = '0x000000000000000000636f6e736f6c652e6c6f67'
const MARKUP = '<img src=x onerror=alert(1)>\u202e'

/** Code that writes a text to the console, and reverts with it where there is call data. */
function writer(text: string): Uint8Array {
  const log = fromHex(new Interface(['function log(string)']).encodeFunctionData('log', [text]))
  const error = fromHex(new Interface(['error Error(string)']).encodeErrorResult('Error', [text]))
  const store = (bytes: Uint8Array) =>
    Array.from({ length: Math.ceil(bytes.length / 32) }, (_, i) => {
      const word = toHex(bytes.subarray(32 * i, 32 * i + 32)).padEnd(66, '0')
      return `PUSH32 ${word} PUSH2 ${32 * i} MSTORE`
    }).join(' ')
  return assemble(
    `${store(log)} PUSH1 0 PUSH1 0 PUSH2 ${log.length} PUSH1 0 PUSH20 ${CONSOLE} GAS STATICCALL POP
     ${store(error)} PUSH2 ${error.length} PUSH1 0 REVERT`,
  )
}

describeWith(CHROMIUM, 'the console', () => {
  const open = useExplorer()

  async function deploy({ call }: OpenedExplorer, code: Uint8Array): Promise<string> {
    const [from] = await call('eth_accounts')
    const data = toHex(deployer(code))
    const hash = await call('eth_sendTransaction', { from, data, gas: '0xf4240' })
    return (await call('eth_getTransactionReceipt', hash)).contractAddress
  }

  it('shows lines and failures of transactions and calls when they arrive, as text', async () => {
    const explorer = await open({}, {}, '#/console')
    const { page, call } = explorer
    await page.getByTitle('Connected').getByText('#0').waitFor()
    const to = await deploy(explorer, writer(MARKUP))
    const [from] = await call('eth_accounts')
    await expect(call('eth_sendTransaction', { from, to, gas: '0xf4240' })).rejects.toThrow(
      saying(`-32015 VM Exception while processing transaction: revert ${MARKUP}`),
    )
    const output = page.getByRole('table', { name: 'Output' })
    await output.getByRole('row').nth(2).waitFor()
    await expect(call('eth_call', { from, to }, 'latest')).rejects.toThrow(
      saying(`-32015 VM Exception while processing transaction: revert ${MARKUP}`),
    )
    await output.getByRole('row').nth(4).waitFor()
    expect(await output.getByText(MARKUP).count()).toBe(4)
    expect(await output.getByText('failure', { exact: true }).count()).toBe(2)
    const { transactions } = await call('eth_getBlockByNumber', 'latest', false)
    expect(await output.locator(`a[href="#/tx/${transactions[0]}"]`).count()).toBe(2)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await explorer.findings()).toEqual([])
    await page.getByRole('button', { name: 'Clear' }).click()
    await output.waitFor({ state: 'detached' })
  })

  it('shows what was written before the page was opened, once', async () => {
    const explorer = await open()
    const { page, call, url } = explorer
    const to = await deploy(explorer, writer('before'))
    const [from] = await call('eth_accounts')
    await call('eth_sendTransaction', { from, to, gas: '0xf4240' }).catch(() => {})
    await page.goto('about:blank')
    await page.goto(`${url}/#/console`)
    const lines = page.getByRole('table', { name: 'Output' }).locator('tbody tr')
    await lines.nth(1).waitFor()
    await call('eth_call', { from, to }, 'latest').catch(() => {})
    await lines.nth(3).waitFor()
    const texts = (await lines.allTextContents()).map(
      (text) => /(failure|log) (revert )?before/.exec(text)?.[1],
    )
    expect(texts).toEqual(['failure', 'log', 'failure', 'log'])
    expect(await explorer.findingsInAllLooks()).toEqual([])
  })

  it('calls any method through a form made from its schema', async () => {
    const explorer = await open({}, {}, '#/console/eth_getBlockByNumber')
    const { page, call } = explorer
    const form = (name: string) => page.getByRole('form', { name, exact: true })
    const choose = (name: string) => page.getByRole('combobox', { name: 'Method' }).fill(name)
    const result = page.getByRole('region', { name: 'Result' })

    const block = form('eth_getBlockByNumber')
    await block.getByRole('textbox').fill('0x0')
    await block.getByRole('combobox').selectOption('false')
    await block.getByRole('button', { name: 'Call' }).click()
    const { hash } = await call('eth_getBlockByNumber', '0x0', false)
    await result.getByText(`"hash": "${hash}"`).waitFor()
    expect(await explorer.findings()).toEqual([])

    await choose('evm_mine')
    await form('evm_mine').getByRole('textbox').fill('{"blocks": 3}')
    await form('evm_mine').getByRole('button', { name: 'Call' }).click()
    await page.getByTitle('Connected').getByText('#3').waitFor()

    await choose('eth_getBalance')
    await form('eth_getBalance').getByRole('button', { name: 'Call' }).click()
    await form('eth_getBalance').getByRole('textbox').first().fill('0x12')
    await form('eth_getBalance').getByRole('button', { name: 'Call' }).click()
    await result.getByText('-32602').waitFor()

    await choose('getUncle')
    await page.getByRole('link', { name: 'eth_getUncleByBlockHashAndIndex' }).click()
    await form('eth_getUncleByBlockHashAndIndex').waitFor()
  })

  it('is the only page that requests the full OpenRPC document, and only once', async () => {
    const { page, goTo, url } = await open()
    // The first page has its names.
    await page.getByRole('button', { name: 'Mine' }).waitFor()
    const asked: unknown[] = []
    page.on('request', (request) => {
      const body = request.postDataJSON() as { method?: string; params?: unknown } | null
      if (body?.method === 'rpc.discover') asked.push(body.params)
    })
    await page.goto('about:blank')
    await page.goto(url)
    await page.getByRole('button', { name: 'Mine' }).waitFor()
    for (const fragment of ['#/console', '#/clock', '#/console/evm_mine']) {
      await goTo(fragment)
      const [, name = 'eth_blockNumber'] = /console\/(.*)/.exec(fragment) ?? []
      if (fragment !== '#/clock') await page.getByRole('form', { name, exact: true }).waitFor()
      else await page.getByRole('heading', { name: 'Clock and mining' }).waitFor()
    }
    expect(asked).toEqual([[true], []])
  })

  it('fits a phone in the dark theme, like the page of peers, where addresses are banned', async () => {
    const explorer = await open({}, {}, '#/console')
    const { page, call, goTo } = explorer
    await page.setViewportSize({ width: 400, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.getByRole('form', { name: 'eth_blockNumber' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    expect(await explorer.findings()).toEqual([])
    await goTo('#/peers')
    await page.getByRole('table', { name: 'API keys' }).getByText('without a key').waitFor()
    const form = page.getByRole('form', { name: 'Ban' })
    await form.getByRole('textbox').fill('203.0.113.0/24')
    await form.getByRole('button').click()
    const row = page.getByRole('row', { name: /203\.0\.113\.0/ })
    await row.waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400)
    expect(await explorer.findings()).toEqual([])
    expect(await call('sco_bannedAddresses')).toHaveLength(1)
    await row.getByRole('button', { name: /^Lift/ }).click()
    await page.getByText('No address is banned').waitFor()
  })
})
