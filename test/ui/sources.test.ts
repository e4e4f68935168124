/** The source tab of a contract: build-infos that are dropped, the match, highlighted code, names from the sources, proxies. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { buildInfo, deploy, word } from '../support/build-infos.ts'
import { type OpenedExplorer, useExplorer } from '../support/explorer.ts'
import { installCompiler } from '../support/fake-compiler.ts'
import { recordedCompiler } from '../support/recorded-compiler.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const INFO = 'solc-0.8.24'
const PATH = 'contracts/Box.sol'

const file = (name: string, value: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})
const text = readFileSync(new URL(`../../fixtures/sources/${INFO}.json`, import.meta.url), 'utf8')

describeWith(CHROMIUM, 'the source tab', () => {
  const open = useExplorer()

  async function deployBox({ node }: OpenedExplorer): Promise<Hex> {
    const info = buildInfo(INFO)
    const library = await deploy(node, info, 'Sums')
    return deploy(node, info, 'Box', { libraries: { Sums: library }, words: [7n, 3n] })
  }

  it('verifies a contract by a dropped build-info, and shows its source', async () => {
    const explorer = await open()
    const { page, goTo } = explorer
    const address = await deployBox(explorer)
    await goTo(`#/address/${address}`)
    await page.getByRole('link', { name: 'Source', exact: true }).click()
    await page.getByText('The sources of this contract are not known.').waitFor()
    expect(await explorer.findings()).toEqual([])
    const drop = page.locator('input[type=file]')
    await drop.setInputFiles(file('other.json', buildInfo('solc-0.5.17')))
    await page.getByRole('alert').getByText('none of the sources of').waitFor()
    await drop.setInputFiles(file('half.json', { input: {} }))
    await page.getByRole('alert').getByText('the build-info has no output').waitFor()
    await drop.setInputFiles(file('box.json', text))
    await page.getByText('Box has the code of this address (exact match)').waitFor()

    await page.getByText(`${PATH}:Box`).waitFor()
    const code = page.getByRole('region', { name: `Source ${PATH}` })
    const source = buildInfo(INFO).input.sources[PATH]?.content ?? ''
    expect(await code.locator('pre').textContent()).toBe(`${source}\n`)
    expect(await code.locator('.of-keyword', { hasText: /^contract$/ }).count()).toBeGreaterThan(1)
    expect(await code.locator('.of-type', { hasText: /^uint$/ }).count()).toBeGreaterThan(1)
    expect(await code.locator('.of-comment').count()).toBeGreaterThan(0)
    await page.getByRole('heading', { name: 'Box', level: 1 }).waitFor()
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await code.focus()
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(`Source ${PATH}`)
  })

  it('verifies a contract by sources that the node compiles, with the reason of a failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'solc-'))
    installCompiler(folder, '0.8.24', buildInfo(INFO).solcLongVersion, recordedCompiler(INFO))
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
    try {
      const explorer = await open()
      const { page, goTo, node } = explorer
      const twin = await deploy(node, buildInfo(INFO), 'Twin')
      await goTo(`#/address/${twin}?tab=source`)
      const form = page.getByRole('form', { name: 'Compile and verify' })
      await form.waitFor()
      expect(await form.getByRole('combobox').inputValue()).toBe('v0.8.24')
      expect(await explorer.findingsInAllLooks()).toEqual([])
      const source = form.getByLabel('Source in one file')
      await source.fill('contract Twin {}')
      await form.getByLabel('Contract').fill('Twin')
      await form.getByRole('button').click()
      await form.getByRole('alert').getByText('ParserError: other sources').waitFor()
      await source.fill(JSON.stringify(buildInfo(INFO).input))
      await form.getByLabel('Contract').fill(`${PATH}:Box`)
      await form.getByRole('button').press('Enter')
      await form.getByRole('alert').getByText('is not the code at').waitFor()
      expect(await explorer.findingsInAllLooks()).toEqual([])
      await form.getByLabel('Contract').fill(`${PATH}:Twin`)
      await form.getByLabel('Contract').press('Enter')
      await page.getByRole('region', { name: `Source ${PATH}` }).waitFor()
    } finally {
      cwd.mockRestore()
      rmSync(folder, { recursive: true })
    }
  })

  it('has functions read and sent to by the names of the sources, also at an older block', async () => {
    const explorer = await open()
    const { page, goTo, node } = explorer
    await node.addSources(buildInfo(INFO))
    const twin = await deploy(node, buildInfo(INFO), 'Twin')
    await goTo(`#/address/${twin}`)
    const value = page.getByRole('form', { name: 'value' })
    const set = page.getByRole('form', { name: 'set' })
    await set.getByRole('textbox').fill('42')
    await set.getByRole('button', { name: 'Send' }).click()
    await set.getByText('Succeeded').waitFor()
    await value.getByRole('button', { name: 'Call' }).click()
    await value.getByText('42', { exact: true }).waitFor()
    const block = page.getByLabel('At block')
    await block.fill('1')
    await value.getByRole('button', { name: 'Call' }).click()
    await value.getByText('0', { exact: true }).waitFor()
    await block.fill('99')
    await value.getByRole('button', { name: 'Call' }).click()
    await value.getByRole('alert').waitFor()
    await block.fill('yesterday')
    await value.getByRole('button', { name: 'Call' }).click()
    await value.getByText('Expected a block: its height, hash or tag').waitFor()
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await block.fill('1')
    await block.press('Tab')
    await value.getByRole('button', { name: 'Call' }).press('Enter')
    await value.getByText('0', { exact: true }).waitFor()
  })

  it('leads a proxy to its implementation, whose functions it offers', async () => {
    const explorer = await open()
    const { page, goTo, node } = explorer
    const info = buildInfo(INFO)
    await node.addSources(info)
    const twin = await deploy(node, info, 'Twin')
    const proxy = await deploy(node, info, 'Proxy', { words: [twin] })
    await goTo(`#/address/${proxy}?tab=source`)
    await page.getByText('Runs the code of').waitFor()
    const behind = page.getByRole('region', { name: 'Source', exact: true }).getByRole('link')
    expect(await behind.first().getAttribute('href')).toBe(`#/address/${twin}`)
    expect(await explorer.findingsInAllLooks()).toEqual([])
    await page.getByRole('link', { name: 'Contract', exact: true }).click()
    await page.getByRole('form', { name: 'set' }).waitFor()
  })

  it('shows hostile sources as text, and no form to a caller who may not add sources', async () => {
    const explorer = await open({ methods: ['-evm_addSources', '-evm_setAbi'] })
    const { page, goTo, node } = explorer
    const code = '600160005401600055'
    const path = '<img src=x onerror=alert(1)>.sol'
    await node.addSources({
      solcVersion: '0.8.24',
      input: { language: 'Solidity', sources: { [path]: { content: '/*<img src=x onerror=alert(1)>' } } },
      output: { contracts: { [path]: { Evil: { abi: [], evm: { deployedBytecode: { object: code } } } } } },
    })
    const address = `0x${word(0xe1n).slice(24)}` as Hex
    await node.override(address, { code: `0x${code}` })
    await goTo(`#/address/${address}?tab=source`)
    await page.locator('.of-comment', { hasText: '<img' }).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.locator('input[type=file]').count()).toBe(0)
  })
})
