/** The scripts of the GitHub Action, run by bash as a runner does: what they write into its files, and what they print. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rpc } from '../support/json-rpc.ts'

const ACTION = fileURLToPath(new URL('../../.github/actions/tandem', import.meta.url))
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'action-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const written = (name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''

/** Runs one of the scripts with the inputs of its step. */
function run(script: string, inputs: Readonly<Record<string, string>>) {
  const files = { GITHUB_OUTPUT: 'output', GITHUB_ENV: 'env', GITHUB_STEP_SUMMARY: 'summary' }
  const places = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]))
  const given = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name}`, value]))
  const env = {
    ...process.env,
    ...places,
    ...given,
    RUNNER_TEMP: folder,
    TANDEM_COMMAND: `${process.execPath} ${MAIN}`,
  }
  const child = spawn('bash', [join(ACTION, script)], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  return new Promise<{ code: number | null; printed: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, printed })),
  )
}

describe('the action', () => {
  it('starts a node, names it to the steps that follow, and reports on it at the end', async () => {
    const started = await run('start.sh', {
      ARGS: '--memory --chain-id 4242',
      PORT: '0',
      SEED: 'run 7',
      TIMEOUT: '60',
    })
    expect(started).toMatchObject({ code: 0 })
    const [, url = ''] = /^url=(.*)$/m.exec(written('output')) ?? []
    expect(written('env')).toBe(`RPC_URL=${url}\nTANDEM_URL=${url}\n`)
    expect(await rpc(url, 'eth_chainId')).toBe('0x1092')
    writeFileSync(join(folder, 'lcov.info'), '')
    const reported = await run('report/report.sh', { ARTIFACTS: 'lcov.info\nnone.txt', STATUS: 'success' })
    expect(reported).toMatchObject({ code: 0, printed: '' })
    const summary = written('summary')
    expect(summary).toContain('| node | ran until the end of the job |')
    expect(summary).toContain('`run 7`')
    expect(summary).toContain('| artifact | `lcov.info` |')
    expect(summary).toContain('| artifact | `none.txt` (missing) |')
    await expect(rpc(url, 'eth_chainId')).rejects.toThrow()
  })

  it('prints the log of a node where the job failed', async () => {
    await run('start.sh', { PORT: '0', SEED: 's' })
    const { printed } = await run('report/report.sh', { STATUS: 'failure' })
    expect(printed).toContain('::group::Log of the node')
    expect(written('summary')).toContain('Ready on http://')
  })

  it('fails with the log where the node does not start', async () => {
    const { code, printed } = await run('start.sh', { ARGS: '--no-such-flag', PORT: '0' })
    expect(code).toBe(1)
    expect(printed).toContain('::error title=Tandem::The node ended during its start.')
    expect(printed).toContain("unknown option '--no-such-flag'")
  })

  it('warns at the end where no node was started', async () => {
    const { code, printed } = await run('report/report.sh', {})
    expect([code, printed]).toEqual([0, '::warning title=Tandem::No node was started in this job.\n'])
  })
})
