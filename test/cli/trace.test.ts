import { Command } from 'commander'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillTraceCommand } from '../../src/cli/trace.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { NodeError } from '../../src/errors.ts'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const FIXTURES = new URL('../../fixtures/contracts/', import.meta.url).pathname
const probe = artifact('Probe')
const coder = new Interface(probe.abi)

describe('tandem trace', () => {
  let served: ServedNode
  let to: Hex
  beforeAll(async () => {
    served = await servedNode({ minedReverts: 'hash' })
    const made = await send({ data: probe.bytecode })
    to = (await served.call('eth_getTransactionReceipt', made)).contractAddress
  })
  afterAll(() => served.close())

  const send = (parts: object): Promise<Hex> =>
    served.call('eth_sendTransaction', { from: ALICE, gas: '0x4c4b40', ...parts })
  const invoke = (name: string, values: unknown[], parts = {}) =>
    send({ to, data: coder.encodeFunctionData(name, values), ...parts })

  /** What the command prints. */
  async function run(...args: string[]): Promise<string[]> {
    const lines: string[] = []
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
    const writer = { write: (line: string) => void lines.push(line), flush: async () => {} }
    fillTraceCommand(program.command('trace'), { output: writer, errors: writer })
    await program.parseAsync(['trace', '--url', served.url, ...args], { from: 'user' })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    return lines.map((line) => line.replace(/\x1b\[\d+m/g, ''))
  }
  const named = (hash: Hex) => run(hash, '--abi', FIXTURES)
  /** From the call tree on. */
  const tail = (lines: readonly string[]) => lines.slice(lines.indexOf('') + 1)

  it('prints a transaction, its events and what it changed', async () => {
    const hash = await invoke('note', [7n, '0x0102'])
    const lines = await named(hash)
    expect(lines[0]).toBe(`Transaction  ${hash}`)
    expect(lines.slice(1, 6)).toEqual([
      expect.stringMatching(/^Block {8}2 0x[0-9a-f]{64}, index 0$/),
      `From         ${ALICE}`,
      'Value        0',
      expect.stringMatching(/^Gas {10}\d+ of 5000000, 0 wei each$/),
      'Status       succeeded',
    ])
    expect(tail(lines)).toEqual([
      expect.stringMatching(/^\[\d+\] \S+\.note\(number: 7, data: 0x0102\)$/),
      `└─ emit Noted(number: 7, who: ${ALICE}, data: 0x0102)`,
      '',
      'State changes',
      ALICE,
      '  nonce 1 → 2',
      expect.stringContaining('0x'),
      '  slot 0x1 0 → 1',
    ])
  })

  it('runs a transaction of another node locally, on a fork of that node', async () => {
    const hash = await invoke('note', [8n, '0x0304'])
    const lines = await run(hash, '--abi', FIXTURES, '--fork', served.url, '--no-fork-cache')
    expect(lines).toEqual(await named(hash))
  })

  it('prints inner creations and value transfers', async () => {
    const lines = tail(await named(await invoke('spawn', [], { value: '0xde0b6b3a7640000' })))
    const child = /made: (0x[0-9a-f]{40})$/.exec(lines[3] ?? '')?.[1]
    expect(lines.slice(0, 4)).toEqual([
      expect.stringMatching(/\.spawn\{value: 1\}\(\)$/),
      expect.stringMatching(new RegExp(`^├─ \\[\\d+\\] new Child\\(\\)\\{value: 1\\} at ${child}$`)),
      expect.stringMatching(/^│ {2}└─ ← \d+ bytes of code$/),
      `└─ ← made: ${child}`,
    ])
    expect(lines).toContain(`${child}`)
    expect(lines).toContain('  balance 0 → 1 (+1)')
  })

  it('prints why it failed', async () => {
    const lines = await named(await invoke('failWithError', []))
    expect(lines[5]).toBe('Status       failed')
    expect(tail(lines)[1]).toBe(`└─ ← revert Refused(who: ${ALICE}, amount: 42)`)
  })

  it('prints a transaction without names', async () => {
    const lines = tail(await run(await invoke('set', [1n, 2n])))
    expect(lines[0]).toMatch(
      new RegExp(`^\\[\\d+\\] ${to}\\.0x[0-9a-f]{8}\\(0x0+1[0-9a-f]+… \\(64 bytes\\)\\)$`),
    )
  })

  it('prints JSON for programs', async () => {
    const hash = await invoke('set', [1n, 3n])
    const [line, ...others] = await run(hash, '--json')
    expect(others).toEqual([])
    expect(JSON.parse(line as string)).toMatchObject({
      receipt: { transactionHash: hash },
      calls: { type: 'CALL', to },
      state: { pre: expect.anything(), post: expect.anything() },
    })
  })

  it('reports when there is nothing to read', async () => {
    const unknown = `0x${'1'.repeat(64)}`
    await expect(run(unknown)).rejects.toThrow(
      new NodeError('internal', `The node at ${served.url} knows no transaction ${unknown}.`),
    )
    await served.call('evm_setAutomine', false)
    const waiting = await invoke('set', [1n, 4n])
    await expect(run(waiting)).rejects.toThrow(
      new NodeError('internal', `The node at ${served.url} has not mined transaction ${waiting} yet.`),
    )
    await expect(run(waiting, '--abi', '/nowhere')).rejects.toMatchObject({ kind: 'invalid-options' })
  })
})
