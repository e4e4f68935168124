/** The explorer of a chain of a pool: all that it asks for, opens and links is below `/c/<name>`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { buildInfo, deploy } from '../support/build-infos.ts'
import { useExplorer } from '../support/explorer.ts'
import { installCompiler } from '../support/fake-compiler.ts'
import { recordedCompiler } from '../support/recorded-compiler.ts'
import { CHROMIUM, describeWith } from '../support/tools.ts'

const INFO = 'solc-0.8.24'
const PATH = 'contracts/Box.sol'

describeWith(CHROMIUM, 'the explorer of a chain of a pool', () => {
  const open = useExplorer()

  it('shows and changes this chain alone, with its blocks, transactions, sources, names and search', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'solc-'))
    installCompiler(folder, '0.8.24', buildInfo(INFO).solcLongVersion, recordedCompiler(INFO))
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
    try {
      const explorer = await open({}, { pool: 2 })
      const { page, url, node, goTo } = explorer
      // The page of the pool's own chain ends its requests.
      await page.goto('about:blank')
      const asked = new Set<string>()
      page.on('request', (request) => asked.add(`${request.method()} ${new URL(request.url()).pathname}`))
      page.on('websocket', (socket) => asked.add(`socket ${new URL(socket.url()).pathname}`))
      const request = async (call: object) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
        const headers = { 'Content-Type': 'application/json' }
        const reply = await fetch(`${url}/c/one`, { method: 'POST', headers, body })
        return ((await reply.json()) as { result: unknown }).result
      }
      await page.goto(`${url}/c/one`)
      await page.getByText('Chain one of a pool.').waitFor()
      await page.getByRole('button', { name: 'Mine' }).click()
      await page.getByTitle('Connected').getByText('#1').waitFor()
      expect(await explorer.findingsInAllLooks()).toEqual([])

      const twin = await deploy({ request }, buildInfo(INFO), 'Twin')
      const latest = page.getByRole('table', { name: 'Latest transactions' })
      await latest.locator('a[href^="#/tx/"]').first().click()
      await page.getByRole('heading', { name: /Transaction/, level: 1 }).waitFor()
      await page.locator(`main a[href="#/address/${twin}"]`).first().click()
      await page.getByRole('link', { name: 'Source', exact: true }).click()
      const form = page.getByRole('form', { name: 'Compile and verify' })
      await form.getByLabel('Source in one file').fill(JSON.stringify(buildInfo(INFO).input))
      await form.getByLabel('Contract').fill(`${PATH}:Twin`)
      await form.getByLabel('Contract').press('Enter')
      await page.getByRole('region', { name: `Source ${PATH}` }).waitFor()
      expect(await explorer.findingsInAllLooks()).toEqual([])

      const field = page.getByRole('combobox', { name: 'Search' })
      await field.fill('Twin')
      const option = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
      await option.filter({ hasText: 'Twin' }).first().waitFor()
      await field.press('ArrowDown')
      await field.press('Enter')
      await page.getByRole('heading', { name: 'Twin', level: 1 }).waitFor()
      await goTo('#/blocks')
      const blocks = page.getByRole('table', { name: 'Blocks' })
      await blocks.getByRole('link', { name: '2', exact: true }).click()
      await page.getByRole('heading', { name: 'Block 2' }).waitFor()

      expect([...asked].filter((each) => !/ \/(c\/one(\/|$)|assets\/)/.test(each))).toEqual([])
      expect(asked).toContain('socket /c/one')
      expect(node.engine.queries.head().block.header.number).toBe(0)
      expect(await page.evaluate('location.pathname')).toMatch(/^\/c\/one\/?$/)
    } finally {
      cwd.mockRestore()
      rmSync(folder, { recursive: true })
    }
  })
})
