import { describe, expect, it } from 'vitest'
import { createConsoleReporter } from '../../src/cli/console-reporter.ts'
import { createJsonReporter } from '../../src/cli/json-reporter.ts'
import type { OrderedWriter } from '../../src/cli/line-writer.ts'
import { NodeError } from '../../src/errors.ts'
import { createNode } from '../../src/node/node.ts'
import type { TerminalOptions } from '../../src/options/options.ts'
import { saying } from '../support/refusals.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const ORIGIN = { label: 'in process', owner: '' }
const PLAIN: TerminalOptions = { logLevel: 'info', quiet: false, json: false, readyFile: undefined }

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
const bare = (line: string): string => line.replace(/\x1b\[\d+m/g, '')

function collector(): OrderedWriter & { readonly lines: string[]; readonly coming: Promise<unknown>[] } {
  const lines: string[] = []
  const coming: Promise<unknown>[] = []
  return {
    lines,
    coming,
    later(made) {
      const at = lines.length
      coming.push(made.then((texts) => void lines.splice(at, 0, ...texts.map(bare))))
    },
    write: (line) => void lines.push(bare(line)),
    flush: async () => {},
  }
}

function forPeople(options: Partial<TerminalOptions> = {}) {
  const [output, errors] = [collector(), collector()]
  const reporter = createConsoleReporter({ ...PLAIN, ...options }, output, errors)
  return { reporter, output: output.lines, errors: errors.lines }
}

function forPrograms(options: Partial<TerminalOptions> = {}) {
  const output = collector()
  const reporter = createJsonReporter({ ...PLAIN, json: true, ...options }, output)
  return { reporter, parsed: () => output.lines.map((line) => JSON.parse(line)) }
}

/** Code that reverts with Error("boom"), and code that deploys nothing. */
const BOOM = `0x7f08c379a0${'0'.repeat(56)}600052602060045260046024527f626f6f6d${'0'.repeat(56)}60445260646000fd`
const EMPTY_CONTRACT = '0x00'

/** A node whose calls and blocks a reporter prints. */
async function reportedNode(reporter: ReturnType<typeof forPeople>['reporter']) {
  const node = await createNode({ logger: reporter.logger, onCall: reporter.call, minedReverts: 'error' })
  node.engine.events.on('chain', reporter.chain)
  node.engine.events.on('console', reporter.console)
  return node
}

describe('output for people', () => {
  it('has a line per call, block and transaction', async () => {
    const { reporter, output } = forPeople()
    const node = await reportedNode(reporter)
    const hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: ALICE, to: BOB, value: '0x16345785d8a0000' }],
    })
    await node.close()
    expect(output).toEqual([
      expect.stringMatching(/^Block 1 0x[0-9a-f]{64} 1 transaction, gas 21000$/),
      `  ${hash} from ${ALICE} to ${BOB}, value 0.1, gas 21000`,
      expect.stringMatching(/^eth_sendTransaction \d+\.\d ms$/),
    ])
  })

  it('names a created contract, and the reason of a revert', async () => {
    const { reporter, output } = forPeople()
    const node = await reportedNode(reporter)
    const create = (data: string) =>
      node.request({ method: 'eth_sendTransaction', params: [{ from: ALICE, data, gas: '0x186a0' }] })
    const hash = await create(EMPTY_CONTRACT)
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    await expect(create(BOOM)).rejects.toThrow(
      saying('VM Exception while processing transaction: revert boom'),
    )
    await node.close()
    expect(output[1]).toContain(`creates ${(receipt as { contractAddress: string }).contractAddress}`)
    expect(output.find((line) => line.endsWith(' failed: revert boom'))).toContain(ALICE)
    expect(output.at(-1)).toMatch(/^eth_sendTransaction .* ms .*boom/)
  })

  it('prints the failure reason and the console texts of transactions that are mined later', async () => {
    const { reporter, output } = forPeople()
    const node = await reportedNode(reporter)
    await node.request({ method: 'evm_setAutomine', params: [false] })
    const send = (data: string) =>
      node.request({ method: 'eth_sendTransaction', params: [{ from: ALICE, data, gas: '0x186a0' }] })
    await send(BOOM)
    await send('0xfe')
    // Passes "hi", a bell and a second line to the console contract.
    const text = `0x41304fac${'20'.padStart(64, '0')}${'4'.padStart(64, '0')}${'68690a07'.padEnd(64, '0')}`
    const stores = (text.slice(2).match(/.{1,64}/g) ?? []).map(
      (word, i) => `7f${word.padEnd(64, '0')}60${(32 * i).toString(16).padStart(2, '0')}52`,
    )
    const code = `0x${stores.join('')}6000600060646000${'73000000000000000000636f6e736f6c652e6c6f67'}5afa00`
    await send(code)
    await node.request({ method: 'evm_mine' })
    await node.request({ method: 'eth_call', params: [{ data: code }, 'latest'] })
    await node.close()
    const from = output.findIndex((line) => line.startsWith('Block 1 '))
    expect(output.slice(from + 1, from + 6)).toEqual([
      expect.stringMatching(/ failed: revert boom$/),
      expect.stringMatching(/ failed: invalid opcode$/),
      expect.stringMatching(/, gas \d+$/),
      '    console.log hi',
      '    console.log  ',
    ])
    expect(output.slice(-3)).toEqual([
      'console.log hi',
      'console.log  ',
      expect.stringMatching(/^eth_call \d+\.\d ms$/),
    ])
  })

  it('prints blocks that leave the chain', async () => {
    const { reporter, output } = forPeople()
    const node = await reportedNode(reporter)
    const id = await node.request({ method: 'evm_snapshot' })
    await node.request({ method: 'evm_mine' })
    await node.request({ method: 'evm_revert', params: [id] })
    await node.close()
    expect(output.some((line) => /^Block 1 left the chain 0x/.test(line))).toBe(true)
  })

  it('prints caller input on one line without control characters', () => {
    const { reporter, output } = forPeople()
    reporter.call('eth_\x1b[2Jx\ny', 1, new NodeError('invalid-params', 'bad\r\nline\x07'), ORIGIN)
    expect(output).toEqual(['eth_ [2Jx y 1.0 ms bad line '])
  })

  it('prints what other nodes say on one line without control characters', () => {
    const { reporter, errors } = forPeople()
    const error = new NodeError('upstream', 'failed: \x1b]0;x\x07\nerror forged')
    reporter.logger.warn(`${error.message}; blocks are mined without it`, { error })
    expect(errors).toEqual([
      'warn failed:  ]0;x error forged; blocks are mined without it, error: failed:  ]0;x error forged',
    ])
  })

  it('hides the messages of internal errors', () => {
    const { reporter, output } = forPeople()
    reporter.call('eth_call', 1, new TypeError('undefined is not a function'), ORIGIN)
    expect(output).toEqual(['eth_call 1.0 ms Internal server error'])
  })

  it('follows its level, with warnings on standard error, and always prints that it is ready', () => {
    const { reporter, output, errors } = forPeople({ logLevel: 'error' })
    reporter.call('eth_call', 1, undefined, ORIGIN)
    reporter.logger.info('information')
    reporter.logger.warn('a warning')
    reporter.logger.error('an error', { error: new Error('its words'), count: 3n })
    reporter.ready({ url: 'http://a', ws: 'ws://a', chainId: 33, head: 7, pid: 1 })
    expect(output).toEqual(['Ready on http://a and ws://a (chain id 33, block 7)'])
    expect(errors).toEqual(['error an error, error: its words, count: 3n'])
  })

  it('shows a stack only at level debug', () => {
    const error = new Error('its words')
    const shown = (logLevel: 'info' | 'debug') => {
      const { reporter, errors } = forPeople({ logLevel })
      reporter.logger.error('failed', { error })
      return errors[0]
    }
    expect(shown('info')).toBe('error failed, error: its words')
    expect(shown('debug')).toContain('reporters.test.ts')
  })

  it('omits calls and blocks at level quiet', () => {
    const { reporter, output } = forPeople({ quiet: true })
    reporter.call('eth_call', 1, undefined, ORIGIN)
    reporter.chain({ removed: [], added: [] })
    reporter.logger.info('information')
    expect(output).toEqual(['info information'])
  })
})

describe('output for programs', () => {
  it('is one object a line, for calls, blocks and transactions', async () => {
    const { reporter, parsed } = forPrograms()
    const node = await reportedNode(reporter)
    const hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: ALICE, to: BOB, value: '0x1' }],
    })
    await node.request({ method: 'eth_nope' }).catch(() => {})
    await node.close()
    expect(parsed()).toEqual([
      expect.objectContaining({ level: 'info', msg: 'block', number: 1, transactions: 1, gasUsed: '21000' }),
      expect.objectContaining({
        msg: 'transaction',
        hash,
        from: ALICE,
        to: BOB,
        value: '1',
        succeeded: true,
      }),
      expect.objectContaining({ msg: 'call', method: 'eth_sendTransaction', ms: expect.any(Number) }),
      expect.objectContaining({ msg: 'call', method: 'eth_nope', error: 'method not found' }),
    ])
  })

  it('prints why a transaction failed, and console texts', async () => {
    const { reporter, parsed } = forPrograms()
    const node = await reportedNode(reporter)
    const params = [{ from: ALICE, data: BOOM, gas: '0x186a0' }]
    await node.request({ method: 'eth_sendTransaction', params }).catch(() => {})
    await node.close()
    expect(parsed()).toContainEqual(
      expect.objectContaining({ msg: 'transaction', succeeded: false, failure: 'revert boom' }),
    )
    reporter.console({ texts: ['a\nb'], transaction: '0x12' })
    expect(parsed().at(-1)).toMatchObject({ msg: 'console.log', text: 'a\nb', transaction: '0x12' })
  })

  it('can contain errors and integers of any size', () => {
    const { reporter, parsed } = forPrograms({ logLevel: 'error' })
    reporter.logger.warn('not this')
    reporter.logger.error('failed', { error: new Error('its words'), gas: 10n })
    expect(parsed()).toEqual([
      expect.objectContaining({
        msg: 'failed',
        gas: '10',
        error: expect.objectContaining({ message: 'its words' }),
      }),
    ])
  })

  it('always prints that it is ready', () => {
    const { reporter, parsed } = forPrograms({ logLevel: 'silent', quiet: true })
    const readiness = { url: 'http://a', ws: 'ws://a', chainId: 33, head: 7, pid: 1 }
    reporter.ready(readiness)
    expect(parsed()).toEqual([{ ready: true, ...readiness }])
  })

  it('prints the outcome, the request and the sender of a call', () => {
    const { reporter, parsed } = forPrograms()
    const origin = { label: 'http', owner: 'ci', remote: '10.0.0.7', requestId: 'abc-1' }
    reporter.call(`eth_${'x'.repeat(500)}`, 1.23456, new NodeError('invalid-params', 'bad'), origin)
    const [{ time, ...line }] = parsed()
    expect(line).toEqual({
      level: 'info',
      msg: 'call',
      method: `eth_${'x'.repeat(76)}`,
      ms: 1.235,
      code: -32602,
      error: 'bad',
      request: 'abc-1',
      remote: '10.0.0.7',
      key: 'ci',
    })
  })
})
