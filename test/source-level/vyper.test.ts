/** What Vyper itself made of a contract (`fixtures/vyper`): its map, and the stack trace and debugger of a failed call. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { SENDER } from '../support/debugger-cases.ts'

interface Artifact {
  readonly abi: readonly object[]
  readonly source: string
  readonly sourcemap: string
  readonly deploymentBytecode: { readonly bytecode: Hex }
  readonly runtimeBytecode: { readonly bytecode: Hex }
  readonly pcmap: Readonly<
    Record<string, { readonly location: readonly [number, number, number, number] | null }>
  >
  readonly ast: {
    readonly children: readonly {
      readonly name: string
      readonly src: { readonly start: number; readonly length: number }
    }[]
  }
}
const PATH = 'sub_reverts.vy'
const NAME = 'sub_reverts'
const artifact: Artifact = JSON.parse(
  readFileSync(new URL('../../fixtures/vyper/sub-reverts-0.3.9.json', import.meta.url), 'utf8'),
)

/** The artifact in the form of Vyper's standard JSON interface. */
function buildInfo() {
  const body = artifact.ast.children.map(({ name, src }) => ({
    ast_type: 'FunctionDef',
    name,
    src: `${src.start}:${src.length}:0`,
    args: { args: [{}] },
    decorator_list: [{ ast_type: 'Name', id: 'external' }],
  }))
  return {
    solcVersion: '0.3.9',
    input: { language: 'Vyper', sources: { [PATH]: { content: artifact.source } }, settings: {} },
    output: {
      sources: { [PATH]: { id: 0, ast: { ast_type: 'Module', body } } },
      contracts: {
        [PATH]: {
          [NAME]: {
            abi: artifact.abi,
            evm: {
              bytecode: { object: artifact.deploymentBytecode.bytecode.slice(2) },
              deployedBytecode: {
                object: artifact.runtimeBytecode.bytecode.slice(2),
                sourceMap: artifact.sourcemap,
              },
              methodIdentifiers: { 'revertStrings(uint256)': '0xd8046e7d' },
            },
          },
        },
      },
    },
  }
}

describe('Vyper 0.3.9', () => {
  let node: Node
  let to: Hex
  beforeAll(async () => {
    node = await createNode()
    await node.addSources(buildInfo())
    const params = [{ from: SENDER, data: artifact.deploymentBytecode.bytecode, gas: '0x3d0900' }]
    const hash = await node.request({ method: 'eth_sendTransaction', params })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    to = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterAll(() => node.close())

  it('has each instruction where the compiler says that it is, but for uses of variables', () => {
    const code = new CompilationMap(readCompilation(buildInfo())).code({ file: PATH, name: NAME }, false)
    const places = Object.keys(artifact.pcmap).map((pc) => {
      const range = code?.at(Number(pc))?.range
      if (range === undefined) return [pc, null]
      const [start, end] = [range.file.positionOf(range.start), range.file.positionOf(range.end)]
      return [pc, [start.line, start.column - 1, end.line, end.column - 1]]
    })
    const lines = artifact.source.split('\n')
    const told = Object.entries(artifact.pcmap).map(([pc, { location }]) => {
      const [line, column, end, endColumn] = location ?? [0, 0, 0, 0]
      const text = line === end ? lines[line - 1]?.slice(column, endColumn) : undefined
      // The use of a variable may be placed where another use is.
      return [pc, /^\w+$/.test(text ?? '') && Number.isNaN(Number(text)) ? null : location]
    })
    expect(places).toEqual(told)
    expect(places.length).toBeGreaterThan(20)
  })

  it('has a stack trace that ends at the assertion', async () => {
    const data = `0xd8046e7d${'0'.repeat(64)}`
    const found = await node.request({ method: 'evm_stackTrace', params: [{ to, data }] })
    expect((found as { stackTrace: object[] }).stackTrace).toEqual([
      expect.objectContaining({ contract: NAME, function: 'revertStrings', file: PATH, line: 5 }),
    ])
  })

  it('stops at lines in the debugger, at the failing one first', async () => {
    const data = `0xd8046e7d${'0'.repeat(64)}`
    const request = (method: string, ...params: unknown[]) => node.request({ method, params })
    const place = (await request('evm_debugCall', { to, data })) as { session: Hex }
    expect(place).toMatchObject({ reason: 'failure', stack: [{ function: 'revertStrings', line: 5 }] })
    const back = await request('evm_debugMove', place.session, 'over', 'back')
    expect(back).toMatchObject({ stack: [{ function: 'revertStrings' }] })
  })
})
