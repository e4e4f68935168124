/** Output of Vyper 0.4 (`fixtures/vyper`): maps as the compiler explains them, and stack traces whose frames are read off the sources. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { Interface, type InterfaceAbi } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import type { SourceFrame } from '../../src/errors.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { immutableBytes } from '../../src/sources/vyper-code.ts'

const PATH = 'Vault.vy'
const NAME = 'Vault'

interface VyperMap {
  readonly pc_pos_map: Readonly<Record<string, readonly [number, number, number, number]>>
  readonly pc_ast_map: Readonly<Record<string, readonly [number, number]>>
}

interface Output {
  readonly sources: Record<string, { readonly id: number }>
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly abi: InterfaceAbi
            readonly evm: {
              readonly bytecode: { readonly object: string }
              readonly deployedBytecode: { readonly object: string; readonly sourceMap: VyperMap }
            }
          }
        >
      >
    >
  >
}

interface Build {
  readonly input: { readonly sources: Readonly<Record<string, { readonly content: string }>> }
  readonly output: Output
}

function buildOf(version: string): Build {
  const file = new URL(`../../fixtures/vyper/vault-${version}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

/** The number of the line that has a text; of the first one, if several have. */
function lineOf(build: Build, path: string, text: string): number {
  const lines = (build.input.sources[path]?.content ?? '').split('\n')
  const line = lines.findIndex((one) => one.includes(text)) + 1
  expect(line).toBeGreaterThan(0)
  return line
}

/** A contract of a build on a node of its own. */
class Deployed {
  readonly node: Node
  readonly #coder: Interface
  readonly #code: Hex
  #from: Hex = '0x'
  other: Hex = '0x'
  to: Hex = '0x'

  constructor(node: Node, { output }: Build) {
    this.node = node
    const contract = output.contracts[PATH]?.[NAME]
    if (contract === undefined) throw new Error('the fixture has the contract')
    this.#coder = new Interface(contract.abi)
    this.#code = contract.evm.bytecode.object as Hex
  }

  async deploy(build: Build): Promise<void> {
    await this.node.addSources(build)
    const accounts = (await this.node.request({ method: 'eth_accounts' })) as [Hex, Hex]
    ;[this.#from, this.other] = accounts
    const params = [{ from: this.#from, data: this.creation(100), gas: '0x5b8d80' }]
    const hash = await this.node.request({ method: 'eth_sendTransaction', params })
    const receipt = await this.node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    this.to = (receipt as { contractAddress: Hex }).contractAddress
  }

  creation(highest: number): string {
    return this.#code + this.#coder.encodeDeploy([highest]).slice(2)
  }

  data(name: string, ...values: readonly unknown[]): string {
    return this.#coder.encodeFunctionData(name, values)
  }

  /** Frames as `kind contract.function line`, and the last message. */
  async failure(call: object): Promise<readonly [readonly string[], string | undefined]> {
    const params = [{ from: this.#from, to: this.to, ...call }]
    const found = await this.node.request({ method: 'evm_stackTrace', params })
    const { stackTrace } = found as { stackTrace: SourceFrame[] }
    return [
      stackTrace.map(({ kind, contract, function: name, line }) => `${kind} ${contract}.${name} ${line}`),
      stackTrace.at(-1)?.message,
    ]
  }
}

describe.each(['0.4.0', '0.4.3', '0.4.3-venom'])('Vyper %s', (version) => {
  const build = buildOf(version)

  it('has each instruction where the compiler says that it is, but for uses of variables, which it confuses', () => {
    const code = new CompilationMap(readCompilation(build)).code({ file: PATH, name: NAME }, false)
    const map = build.output.contracts[PATH]?.[NAME]?.evm.deployedBytecode.sourceMap
    if (code === undefined || map === undefined) throw new Error('the fixture has a map')
    const paths = Object.keys(build.output.sources)
    let count = 0
    for (const [pc, [line, column, endLine, endColumn]] of Object.entries(map.pc_pos_map)) {
      const range = code.at(Number(pc))?.range
      const path = paths.find((one) => build.output.sources[one]?.id === map.pc_ast_map[pc]?.[0])
      const text = build.input.sources[path ?? '']?.content.split('\n')[line - 1]?.slice(column, endColumn)
      if (range === undefined) {
        expect([line, text]).toEqual([endLine, expect.stringMatching(/^\w+$/)])
        continue
      }
      if (pc === '0') continue
      const [start, end] = [range.file.positionOf(range.start), range.file.positionOf(range.end)]
      expect([range.file.path, start.line, start.column - 1, end.line, end.column - 1]).toEqual([
        path,
        line,
        column,
        endLine,
        endColumn,
      ])
      count++
    }
    expect(count).toBeGreaterThan(80)
  })

  it('says in its metadata how many bytes immutable variables take', () => {
    const creation = build.output.contracts[PATH]?.[NAME]?.evm.bytecode.object ?? ''
    expect(immutableBytes(Buffer.from(creation.slice(2), 'hex'))).toBe(32)
    const limits = build.output.contracts['limits.vy']?.limits?.evm.bytecode.object ?? ''
    expect(immutableBytes(Buffer.from(limits.slice(2), 'hex'))).toBe(0)
  })
})

describe.each(['0.4.0', '0.4.3'])('a stack trace of Vyper %s', (version) => {
  const build = buildOf(version)
  const line = (text: string) => lineOf(build, PATH, text)
  const inLimits = (text: string) => lineOf(build, 'limits.vy', text)
  let vault: Deployed
  beforeAll(async () => {
    vault = new Deployed(await createNode(), build)
    await vault.deploy(build)
  })
  afterAll(() => vault.node.close())

  const failing = (kind: number, given: number) => vault.failure({ data: vault.data('fail', kind, given) })
  const check = (words: string) => `reverted by a check of the compiler: ${words}`

  it.each([
    [0, 1, 'assert given > 10, "small"', 'reverted: small'],
    [2, 1, 'raise "raised"', 'reverted: raised'],
    [5, 7, 'self.total - given', check('an underflow of a subtraction (safesub)')],
    [6, 0, '100 // given', check('clamp gt 0')],
    [7, 1, 'self.amounts[given]', check('DynArray[uint256, 4] bounds check')],
    [8, 300, 'convert(given, uint8)', check('uint8 bounds check')],
    [9, 1, 'self.amounts.pop()', check('clamp gt 0')],
    [10, 1, 'self._deeper(given) * 2', check('an overflow of a multiplication (safemul)')],
  ])('is at the line of what fails: %i, %i', async (kind, given, text, message) => {
    expect(await failing(kind, given)).toEqual([[`revert Vault.fail ${line(text)}`], message])
  })

  it('is at an assertion without a reason, at `raise`, and at what is unreachable', async () => {
    const asserted = line('assert given > 10, "small"') + 2
    expect(await failing(1, 1)).toEqual([[`revert Vault.fail ${asserted}`], 'reverted without a reason'])
    const raised = line('raise "raised"') + 2
    expect(await failing(3, 1)).toEqual([[`revert Vault.fail ${raised}`], 'reverted without a reason'])
    const found = await vault.failure({ from: vault.other, data: vault.data('fail', 4, 1) })
    expect(found).toEqual([
      [`invalid-opcode Vault.fail ${line('UNREACHABLE')}`],
      'invalid opcode: an assertion of what is unreachable',
    ])
  })

  it('goes through internal functions, also of modules, and of the constructor', async () => {
    expect(await failing(10, 3)).toEqual([
      [`call Vault.fail ${line('self._deeper(given)')}`, `revert Vault._deeper ${line('assert i < 2')}`],
      'reverted: deep',
    ])
    expect(await vault.failure({ data: vault.data('store', 101) })).toEqual([
      [`call Vault.store ${line('limits._check')}`, `revert Vault._check ${inLimits('"too much"')}`],
      'reverted: too much',
    ])
    expect(await vault.failure({ to: undefined, data: vault.creation(0) })).toEqual([
      [
        `call Vault.constructor ${line('limits.__init__(')}`,
        `revert Vault.constructor ${inLimits('"no limit"')}`,
      ],
      'reverted: no limit',
    ])
  })

  it('does not keep internal functions that have returned', async () => {
    const data = vault.data('fail', 10, 1)
    expect((await vault.failure({ data }))[0]).toHaveLength(1)
  })

  it('goes through calls, to functions that a module exports too', async () => {
    expect(await vault.failure({ data: vault.data('ask', vault.to, 300) })).toEqual([
      [`call Vault.ask ${line('staticcall Other')}`, `revert Vault.room ${inLimits('self.highest - used')}`],
      check('an underflow of a subtraction (safesub)'),
    ])
    const [frames] = await vault.failure({ data: vault.data('call', vault.to, 3) })
    expect(frames).toEqual([
      `call Vault.call ${line('extcall Other')}`,
      `revert Vault.<fallback> ${line('"no such function"')}`,
    ])
    const [missing] = await vault.failure({ data: vault.data('call', vault.other, 3) })
    expect(missing).toEqual([`account-without-code Vault.call ${line('extcall Other')}`])
  })

  it('is at the function where value or arguments do not fit, or its lock is taken', async () => {
    const data = vault.data('fail', 20, 20)
    const start = line('def fail(')
    expect((await vault.failure({ data, value: '0x1' }))[0]).toEqual([
      `function-not-payable Vault.fail ${start}`,
    ])
    expect((await vault.failure({ data: data.slice(0, 40) }))[0]).toEqual([
      `invalid-arguments Vault.fail ${start}`,
    ])
    expect(await vault.failure({ data: vault.data('again', vault.to) })).toEqual([
      [`call Vault.again ${line('raw_call(self')}`, `revert Vault.again ${line('def again(')}`],
      'reverted without a reason',
    ])
  })

  it('stops in the debugger at what fails', async () => {
    const data = vault.data('store', 101)
    const params = [{ to: vault.to, data }]
    const place = await vault.node.request({ method: 'evm_debugCall', params })
    const stack = [
      { function: '_check', line: inLimits('"too much"') },
      { function: 'store', line: line('limits._check') },
    ]
    expect(place).toMatchObject({ reason: 'failure', stack })
  })

  it('says less where the tree of a module is not known', async () => {
    const { 'limits.vy': _, ...sources } = build.output.sources
    const alone = { ...build, output: { ...build.output, sources } }
    const node = await createNode()
    try {
      const less = new Deployed(node, alone)
      await less.deploy(alone)
      expect((await less.failure({ data: less.data('store', 101) }))[0]).toEqual([
        `revert Vault.store ${line('limits._check')}`,
      ])
    } finally {
      await node.close()
    }
  })
})

/** The newer code generator inlines functions, and maps few instructions. */
describe('a stack trace of Vyper 0.4.3 with Venom', () => {
  it('is at the statement that fails where that is mapped, and at the called function otherwise', async () => {
    const build = buildOf('0.4.3-venom')
    const node = await createNode()
    try {
      const vault = new Deployed(node, build)
      await vault.deploy(build)
      const assertion = lineOf(build, PATH, 'assert given > 10, "small"')
      const start = lineOf(build, PATH, 'def fail(')
      for (const [kind, given, exact] of [
        [0, 1, assertion],
        [1, 1, assertion + 2],
        [5, 7, lineOf(build, PATH, 'self.total - given')],
        [6, 0, lineOf(build, PATH, '100 // given')],
        [10, 1, lineOf(build, PATH, 'self._deeper(given) * 2')],
      ] as const) {
        const [frames] = await vault.failure({ data: vault.data('fail', kind, given) })
        expect([`revert Vault.fail ${exact}`, `revert Vault.fail ${start}`]).toContain(frames.at(-1))
      }
      const [payable] = await vault.failure({ data: vault.data('fail', 20, 20), value: '0x1' })
      expect(payable).toEqual([`function-not-payable Vault.fail ${start}`])
    } finally {
      await node.close()
    }
  })
})
