/** Sources beside the call tree: in `tandem trace`, and in the terminal of a node. */
import { Command } from 'commander'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createConsoleReporter } from '../../src/cli/console-reporter.ts'
import { createFailureTrees } from '../../src/cli/failure-trees.ts'
import { fillTraceCommand } from '../../src/cli/trace.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { caseBuildInfo, compiledCases } from '../support/stack-trace-cases.ts'

const CASE = '0_8/call-message/external-calls/try-catch-and-back-and-forth'
/** The selector of `test1()`. */
const TEST1 = '0x6b59084d'

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
const plain = (line: string): string => line.replace(/\x1b\[\d+m/g, '')

let served: ServedNode
let to: Hex
let printed: (string | Promise<readonly string[]>)[]
beforeEach(async () => {
  printed = []
  const writer = {
    write: (line: string) => void printed.push(line),
    later: (lines: Promise<readonly string[]>) => void printed.push(lines),
    flush: async () => {},
  }
  const trees = createFailureTrees()
  const options = { logLevel: 'info', quiet: false, json: false, readyFile: undefined } as const
  const reporter = createConsoleReporter(options, writer, writer, trees)
  served = await servedNode({ minedReverts: 'hash', onCall: reporter.call, logger: reporter.logger })
  served.node.engine.events.on('chain', reporter.chain)
  trees.attach(served.node)
  const compiled = compiledCases('0.8.35')
  await served.call('evm_addSources', caseBuildInfo(CASE, compiled))
  const [from] = await served.call('eth_accounts')
  const code = compiled.outputs[CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
  const hash = await served.call('eth_sendTransaction', { from, data: `0x${code}`, gas: '0x3d0900' })
  to = (await served.call('eth_getTransactionReceipt', hash)).contractAddress
})
afterEach(() => served.close())

const failing = async (): Promise<Hex> => {
  const [from] = await served.call('eth_accounts')
  return served.call('eth_sendTransaction', { from, to, data: TEST1, gas: '0x3d0900' })
}

async function trace(...args: string[]): Promise<string[]> {
  const lines: string[] = []
  const program = new Command().exitOverride()
  const writer = { write: (line: string) => void lines.push(line), flush: async () => {} }
  fillTraceCommand(program.command('trace'), { output: writer, errors: writer })
  await program.parseAsync(['trace', '--url', served.url, ...args], { from: 'user' })
  return lines.map(plain)
}

const STACK = [
  'reverted: D failed',
  '    at D.fail (d.sol:12:5)',
  '    at C.test3 (c.sol:19:5)',
  '    at D.test2 (d.sol:8:5)',
  '    at C.test1 (c.sol:14:7)',
]

it('tandem trace names contracts and functions by their sources, with the site of each call, and the stack', async () => {
  const lines = await trace(await failing())
  const tree = lines.slice(lines.indexOf('') + 1)
  expect(tree.slice(0, -2)).toEqual([
    expect.stringMatching(/^\[\d+\] C@\S+\.test1\(\)$/),
    expect.stringMatching(/^├─ \[\d+\] D@\S+\.fail\(\) {2}c\.sol:13:9$/),
    '│  └─ ← revert D failed',
    expect.stringMatching(/^├─ \[\d+\] D@\S+\.test2\(\) {2}c\.sol:14:7$/),
    expect.stringMatching(/^│ {2}├─ \[\d+\] C@\S+\.test3\(\) {2}d\.sol:8:5$/),
    expect.stringMatching(/^│ {2}│ {2}├─ \[\d+\] D@\S+\.fail\(\) {2}c\.sol:19:5$/),
    '│  │  │  └─ ← revert D failed',
    '│  │  └─ ← revert D failed',
    '│  └─ ← revert D failed',
    '└─ ← revert D failed',
    '',
    'Stack',
    ...STACK,
    '',
    'Caught, in call 0',
    'reverted: D failed',
    '    at D.fail (d.sol:12:5)',
    '',
    'State changes',
  ])
})

it('tandem trace --json has them in sources', async () => {
  const [text = ''] = await trace(await failing(), '--json')
  const { sources } = JSON.parse(text)
  expect(sources.stackTrace).toHaveLength(4)
  expect(sources.stackTrace.at(-1)).toMatchObject({ function: 'fail', file: 'd.sol', line: 12 })
})

it.each(['eth_call', 'eth_sendTransaction'])(
  'the terminal prints the stack below the tree of %s',
  async (method) => {
    if (method === 'eth_call') await served.reply(method, [{ to, data: TEST1 }])
    else await failing()
    const lines = (await Promise.all(printed)).flat().map(plain)
    const start = lines.lastIndexOf(`    ${STACK[0]}`)
    expect(lines.slice(start, start + STACK.length)).toEqual(STACK.map((line) => `    ${line}`))
  },
)
