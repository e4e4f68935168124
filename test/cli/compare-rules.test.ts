import { Command } from 'commander'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillCompareCommand } from '../../src/cli/compare-rules.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { artifact } from '../support/contracts.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const probe = artifact('Probe')
const coder = new Interface(probe.abi)

describe.each([false, true])('tandem drift, REMASC transactions hidden: %s', (hideRemasc) => {
  let served: ServedNode
  let hashes: Hex[]
  beforeAll(async () => {
    served = await servedNode({ minedReverts: 'hash', hideRemasc })
    const send = (parts: object): Promise<Hex> =>
      served.call('eth_sendTransaction', { from: ALICE, gas: '0x4c4b40', ...parts })
    const made = await send({ data: probe.bytecode })
    const { contractAddress: to } = await served.call('eth_getTransactionReceipt', made)
    const invoke = (name: string, ...values: unknown[]) =>
      send({ to, data: coder.encodeFunctionData(name, values) })
    hashes = [
      made,
      await invoke('set', 1n, 2n),
      await invoke('arithmetic', 3n),
      await invoke('failWithReason'),
    ]
  })
  afterAll(() => served.close())

  /** What the command prints, and how it ends. */
  async function run(...args: string[]): Promise<string[]> {
    const lines: string[] = []
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
    const write = (line: string) => void lines.push(line)
    const writer = { write, flush: async () => {}, later: () => {} }
    fillCompareCommand(program.command('drift'), { output: writer, errors: writer })
    await program.parseAsync(['drift', '--url', served.url, ...args], { from: 'user' })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    return lines.map((line) => line.replace(/\x1b\[\d+m/g, ''))
  }

  it('prints a transaction side by side', async () => {
    const lines = await run(hashes[1] as string)
    expect(lines[0]).toBe(`${hashes[1]} by this chain's rules and by Ethereum's (cancun)`)
    expect(lines).toContain('  storage               20000        22100  +2100 (+10.5 %)')
    expect(lines.at(-7)).toBe('  result         succeeded; succeeded')
    expect(lines.at(-6)).toBe('  events         0; 0, the same')
    expect(lines.at(-5)).toMatch(
      /first price {4}SSTORE at \d+, depth 0, gas 20000; there gas 22100 \(opcode \d+, in 0x/,
    )
    expect(lines.at(-4)).toBe('  execution      the same to the end')
    expect(lines.at(-3)).toMatch(/^ {2}Ethereum block 1 transactions, gas \d+$/)
    expect(lines.at(-2)).toMatch(/^ {4}transactions root 0x[0-9a-f]{64}$/)
    expect(lines.at(-1)).toMatch(/^ {4}receipts root {5}0x[0-9a-f]{64}$/)
    expect((await run(hashes[1] as string, '--fork', 'istanbul'))[0]).toContain('(istanbul)')
  })

  it('prints reasons of failures', async () => {
    const lines = await run(hashes[3] as string)
    expect(lines).toContain('  result         reverted: revert not today; reverted: revert not today')
  })

  it('prints a line for every transaction of the chain, and a sum', async () => {
    const lines = await run('--all')
    expect(lines.slice(0, 4).map((line) => line.slice(0, 66))).toEqual(hashes)
    expect(lines[2]).toMatch(/ \d+ → \d+ same$/)
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}storage +\d+ +\d+ {2}\+\d+/))
    expect(lines.at(-1)).toMatch(
      /^4 transactions, 0 with another result or other events, gas \d+ → \d+ [+-]\d+ \([+-][\d.]+ %\)$/,
    )
  })

  it('compares with other rules of the chain', async () => {
    const lines = await run(hashes[1] as string, '--deactivate', 'rskip400')
    const { input } = await served.call('eth_getTransactionByHash', hashes[1])
    const bytes =
      (input as string)
        .slice(2)
        .match(/../g)
        ?.filter((byte) => byte !== '00').length ?? 0
    expect(lines[0]).toBe(`${hashes[1]} by this chain's rules and by others (without rskip400)`)
    // 68 gas a byte that is not zero, instead of 16 (RSKIP-400).
    expect(lines[2]).toMatch(new RegExp(`^ {2}transaction +\\d+ +\\d+ {2}\\+${52 * bytes} \\(`))
    expect(lines.at(-1)).toBe('  execution      the same to the end')
    expect((await run(hashes[1] as string, '--rules', 'next')).at(-4)).toMatch(/gas used +(\d+) +\1 {2}same/)
  })

  it('compares the blocks of a range', async () => {
    const lines = await run('--blocks', '2-3', '--rules', '{"rskip400":null}')
    expect(lines.slice(0, 2).map((line) => line.slice(0, 66))).toEqual(hashes.slice(1, 3))
    expect(lines[2]).toMatch(/^ {2}2 transactions: gas of transaction, gas \d+ → \d+ \+\d+ \(/)
    expect(lines[2]).toContain(`such as ${hashes[1]}`)
    expect(lines[3]).toMatch(/^ {2}transaction +\d+ +\d+ {2}\+\d+ \(/)
    expect(lines[4]).toMatch(/^2 transactions, 0 with another result or other events, gas /)
    expect(await run('--blocks', '2')).toHaveLength(4)
  })

  it.each([
    [['--blocks', '3-2'], '--blocks expects a height, or two as in 10-20, not "3-2".'],
    [['--blocks', 'x'], '--blocks expects a height, or two as in 10-20, not "x".'],
    [
      ['--all', '--fork', 'london', '--rules', 'next'],
      'Give --fork for rules of Ethereum, or --rules for rules of this chain.',
    ],
    [
      ['--all', '--rules', 'nxt'],
      'rules.rules: "nxt" is no rule or upgrade that this version knows; the nearest is next.',
    ],
  ])('refuses %j', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message)
  })

  it('prints JSON', async () => {
    const [line, ...others] = await run('--all', '--json')
    expect(others).toHaveLength(3)
    expect(JSON.parse(line as string)).toMatchObject({ hash: hashes[0], fork: 'cancun', sameResult: true })
  })

  it.each([
    [
      [],
      'invalid-options',
      'Give the hash of a transaction to compare, or --blocks, or --all, or a command behind --.',
    ],
    [['0x12'], 'invalid-options', 'A transaction is named by its hash, 0x and 64 digits, not by "0x12".'],
    [
      [`0x${'1'.repeat(64)}`],
      'internal',
      /^The node at http:\/\/127\.0\.0\.1:\d+ has mined no transaction 0x1{64}\.$/,
    ],
    [
      [`0x${'1'.repeat(64)}`, '--fork', 'x'],
      'internal',
      'debug_compareRules was refused: Invalid fork: expected one of petersburg, istanbul, berlin, london, paris, shanghai, cancun, prague. (-32602)',
    ],
    [
      [`0x${'1'.repeat(64)}`, '--url', 'ftp://x'],
      'invalid-options',
      '--url expects an address such as http://127.0.0.1:4444.',
    ],
    [
      [`0x${'1'.repeat(64)}`, '--url', 'http://127.0.0.1:1'],
      'internal',
      'No node answers at http://127.0.0.1:1. Start one with tandem start, or name another with --url.',
    ],
  ])('%j ends with a message', async (args, kind, words) => {
    await expect(run(...args)).rejects.toMatchObject({
      kind,
      message: typeof words === 'string' ? words : expect.stringMatching(words),
    })
  })
})
