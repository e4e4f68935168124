import { Interface } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConsoleReporter } from '../../src/cli/console-reporter.ts'
import { createFailureTrees } from '../../src/cli/failure-trees.ts'
import type { OrderedWriter } from '../../src/cli/line-writer.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { artifact } from '../support/contracts.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const probe = artifact('Probe')
const coder = new Interface(probe.abi)

/** Prints in order, as the terminal does; `printed` resolves when nothing is on its way any more. */
function terminal() {
  const places: (string | Promise<readonly string[]>)[] = []
  const writer: OrderedWriter = {
    write: (line) => void places.push(line),
    later: (lines) => void places.push(lines),
    flush: async () => {},
  }
  async function printed(): Promise<string[]> {
    const lines = (await Promise.all(places)).flat()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
    return lines.map((line) => line.replace(/\x1b\[\d+m/g, ''))
  }
  return { writer, printed }
}

describe('call trees in the terminal', () => {
  let node: Node
  let address: Hex
  let screen: ReturnType<typeof terminal>
  beforeEach(async () => {
    screen = terminal()
    const trees = createFailureTrees()
    const options = { logLevel: 'info', quiet: false, json: false, readyFile: undefined } as const
    const reporter = createConsoleReporter(options, screen.writer, screen.writer, trees)
    node = await createNode({ onCall: reporter.call, logger: reporter.logger })
    node.engine.events.on('chain', reporter.chain)
    trees.attach(node)
    const hash = await request('eth_sendTransaction', { from: ALICE, data: probe.bytecode, gas: '0x4c4b40' })
    address = ((await request('eth_getTransactionReceipt', hash)) as { contractAddress: Hex }).contractAddress
  })
  afterEach(() => node.close())

  const request = (method: string, ...params: unknown[]) => node.request({ method, params })
  const asked = (name: string, ...values: unknown[]) => ({
    from: ALICE,
    to: address,
    data: coder.encodeFunctionData(name, values),
    gas: '0x186a0',
  })
  /** Lines from the last one that begins so. */
  async function from(beginning: string): Promise<string[]> {
    const lines = await screen.printed()
    return lines.slice(lines.findLastIndex((line) => line.startsWith(beginning)))
  }

  it('are printed below the transaction, before the line of the call', async () => {
    await request('evm_setAbi', address, { contractName: 'Probe', abi: probe.abi })
    await request('eth_sendTransaction', asked('failWithError')).catch(() => {})
    const short = `Probe@${address.slice(0, 8)}…${address.slice(-4)}`
    expect(await from('Block 2')).toEqual([
      expect.stringMatching(/^Block 2 /),
      expect.stringMatching(/ failed: transaction reverted: Refused\(who: 0xcd2a.*, amount: 42\)$/),
      expect.stringMatching(/^ {4}\[\d+\] Probe@\S+\.failWithError\(\)$/),
      `    └─ ← revert Refused(who: ${ALICE}, amount: 42)`,
      expect.stringMatching(/^eth_sendTransaction .*Refused/),
    ])
    expect((await from('Block 2'))[2]).toContain(short)
  })

  it('are printed below calls and estimates that revert, for the block that they ran on', async () => {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      await request(method, asked('failWithReason'), 'latest').catch(() => {})
      await request('evm_mine')
      expect((await from(`${method} `)).slice(0, 3)).toEqual([
        expect.stringMatching(/revert not today$/),
        expect.stringMatching(/^ {4}\[\d+\] 0x[0-9a-f]{40}\.0x[0-9a-f]{8}\(\)$/),
        '    └─ ← revert not today',
      ])
    }
  })

  it('are printed for blocks that are mined later, each below its own transaction', async () => {
    await request('evm_setAutomine', false)
    await request('eth_sendTransaction', asked('failWithPanic', 0n))
    await request('eth_sendTransaction', asked('failWithInvalid'))
    await request('evm_mine')
    const lines = await from('Block 2')
    expect(lines.filter((line) => / failed|←/.test(line))).toEqual([
      expect.stringMatching(/failed: transaction reverted: panic 0x12 \(division or modulo by zero\)$/),
      '    └─ ← revert panic 0x12 (division or modulo by zero)',
      expect.stringMatching(/failed: invalid opcode$/),
      '    └─ ← invalid opcode',
    ])
  })

  it('are limited: reasons are printed for all failures, trees for some', async () => {
    await request('evm_setAutomine', false)
    for (let i = 0; i < 12; i++) await request('eth_sendTransaction', asked('failWithReason'))
    await request('evm_mine')
    const lines = await from('Block 2')
    expect(lines.filter((line) => line.endsWith(' failed: revert not today'))).toHaveLength(12)
    expect(lines.filter((line) => line.startsWith('    └─ ')).length).toBeLessThan(12)
  })
})
