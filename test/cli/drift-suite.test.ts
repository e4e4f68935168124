/** `tandem drift … -- <command>`: a real process whose command sends transactions, one of which a snapshot takes back. */
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'

const SCRIPT = `
const call = (method, ...params) => fetch(process.env.RPC_URL, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
}).then((reply) => reply.json()).then(({ result }) => result)
const [from, to] = await call('eth_accounts')
const id = await call('evm_snapshot')
await call('eth_sendTransaction', { from, to, gas: '0x15f90', data: '0x' + '11'.repeat(10) })
await call('evm_revert', id)
await call('eth_sendTransaction', { from, to, gas: '0x15f90', data: '0x' + '11'.repeat(4) })
await call('eth_sendTransaction', { from, to, gas: '0x5208', value: '0x1' })
console.log('the suite has run')
process.exit(3)`

const drift = (...flags: string[]) =>
  runCommand(['drift', ...flags, '--', process.execPath, '--input-type=module', '-e', SCRIPT])

it('compares every transaction of a suite, also those that a revert removed', async () => {
  const { code, stdout } = await drift('--deactivate', 'rskip400')
  const lines = stripVTControlCharacters(stdout).trimEnd().split('\n')
  expect(code).toBe(3)
  expect(lines).toContain('the suite has run')
  // 68 gas a byte instead of 16 (RSKIP-400): 14 bytes in two transactions.
  expect(lines.at(-3)).toMatch(
    /^ {2}2 transactions: gas of transaction, gas 42224 → 42952 \+728 \(\+1\.7 %\), such as 0x/,
  )
  expect(lines.at(-1)).toBe(
    '3 transactions, 0 with another result or other events, gas 63224 → 63952 +728 (+1.2 %)',
  )
})

it('compares them with a fork of Ethereum', async () => {
  const { code, stdout } = await drift('--fork', 'london', '--json')
  expect(code).toBe(3)
  const reports = stdout.split('\n').filter((line) => line.startsWith('{'))
  expect(reports.map((line) => JSON.parse(line).fork)).toEqual(['london', 'london', 'london'])
})

it('ends as a shell does where the command does not exist', async () => {
  expect((await runCommand(['drift', '--rules', 'next', '--', 'no-such-program', 'x'])).code).toBe(127)
})
