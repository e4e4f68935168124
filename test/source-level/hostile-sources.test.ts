/** Compilations that are damaged, or are not those of the code: less is shown, and nothing fails. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { caseBuildInfo, compiledCases } from '../support/stack-trace-cases.ts'

const CASE = '0_8/call-message/external-calls/try-catch-and-back-and-forth'
const compiled = compiledCases('0.8.35')

/** Parts of a build-info that the tests damage. */
interface BuildInfo {
  solcVersion: string
  input: { sources: Record<string, { content?: string }> }
  output: {
    sources: Record<string, { id?: unknown; ast?: unknown }>
    contracts: Record<
      string,
      Record<string, { abi: unknown[]; evm: Record<string, Record<string, unknown>> }>
    >
  }
}

const fresh = (): BuildInfo => structuredClone(caseBuildInfo(CASE, compiled)) as BuildInfo
const codes = ({ output }: BuildInfo) =>
  Object.values(output.contracts)
    .flatMap(Object.values)
    .flatMap(({ evm }) => [evm.bytecode, evm.deployedBytecode] as Record<string, unknown>[])

/** A list that nests itself as deep as a stack would overflow at. */
function deep(depth: number): object {
  let node: object = { nodeType: 'ContractDefinition' }
  for (let i = 0; i < depth; i++) node = { nodeType: 'ContractDefinition', nodes: [node] }
  return node
}

const DAMAGES: Record<string, (info: BuildInfo) => void> = {
  'maps that are cut off': (info) => {
    for (const code of codes(info)) code.sourceMap = String(code.sourceMap).slice(0, 50)
  },
  'maps of nonsense': (info) => {
    for (const code of codes(info)) code.sourceMap = '-1:99999999:7:i;'.repeat(500)
  },
  'ranges behind the end of the source': (info) => {
    for (const code of codes(info)) code.sourceMap = '4000000:9:0:i;4000000:9:1:o;'
  },
  'no maps': (info) => {
    for (const code of codes(info)) code.sourceMap = { not: 'a text' }
  },
  'no syntax trees': (info) => {
    for (const source of Object.values(info.output.sources)) delete source.ast
  },
  'trees of nonsense': (info) => {
    for (const source of Object.values(info.output.sources)) source.ast = { nodes: [null, 7, 'x', deep(500)] }
  },
  'contracts that inherit each other': (info) => {
    const text = JSON.stringify(info.output.sources)
    info.output.sources = JSON.parse(
      text.replaceAll(/"linearizedBaseContracts":\[\d+\]/g, '"linearizedBaseContracts":[1,2,3,1]'),
    )
  },
  'no texts of sources': (info) => {
    for (const source of Object.values(info.input.sources)) source.content = ''
  },
  'ids of sources that are no numbers': (info) => {
    for (const source of Object.values(info.output.sources)) source.id = '0'
  },
  'an unreadable ABI': (info) => {
    for (const contract of Object.values(info.output.contracts).flatMap(Object.values))
      contract.abi = [7, null]
  },
  'another version': (info) => {
    info.solcVersion = 'no version'
  },
}

describe('a stack trace', () => {
  let node: Node
  let to: Hex
  beforeEach(async () => {
    node = await createNode()
    const [from] = (await node.request({ method: 'eth_accounts' })) as [Hex]
    const code = compiled.outputs[CASE]?.contracts['c.sol']?.C?.evm.bytecode.object
    const params = [{ from, data: `0x${code}`, gas: '0x3d0900' }]
    const hash = await node.request({ method: 'eth_sendTransaction', params })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    to = (receipt as { contractAddress: Hex }).contractAddress
  })
  afterEach(() => node.close())

  it.each(Object.keys(DAMAGES))('says less with %s', async (name) => {
    const info = fresh()
    DAMAGES[name]?.(info)
    await node.addSources(info)
    const params = [{ to, data: '0x6b59084d' }]
    const found = await node.request({ method: 'evm_stackTrace', params })
    const { failed, stackTrace } = found as {
      failed: boolean
      stackTrace: { kind: string; message?: string }[]
    }
    expect(failed).toBe(true)
    expect(stackTrace.at(-1)?.message).toBe('reverted: D failed')
    const error = await node.request({ method: 'eth_call', params }).catch((thrown: Error) => thrown)
    expect((error as Error).message).toBe('VM Exception while processing transaction: revert D failed')
  })

  it('has no places of sources that are not those of the code', async () => {
    const info = fresh()
    for (const code of codes(info)) code.object = `60${String(code.object).slice(2).replaceAll('5b', '00')}`
    await node.addSources(info)
    const params = [{ to, data: '0x6b59084d' }]
    const found = (await node.request({ method: 'evm_stackTrace', params })) as { stackTrace: object[] }
    expect(JSON.stringify(found)).not.toContain('.sol')
    expect(found.stackTrace).toHaveLength(4)
  })
})
