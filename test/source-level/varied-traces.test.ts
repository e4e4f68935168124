/**
 * Stack traces of contracts of our own with the frames that Hardhat shows without the optimiser (`fixtures/stack-traces`): also
 * optimised and via IR, where the lines are the same.
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import type { SourceFrame } from '../../src/errors.ts'
import { createNode, type Node } from '../../src/node/node.ts'

interface Code {
  readonly object: string
  readonly linkReferences: Readonly<
    Record<string, Readonly<Record<string, readonly { readonly start: number }[]>>>
  >
}
interface Build {
  readonly solcVersion: string
  readonly input: object
  readonly output: {
    readonly contracts: Readonly<
      Record<string, Readonly<Record<string, { readonly evm: { readonly bytecode: Code } }>>>
    >
  }
}
/** Contract, or a function outside of contracts; the line is absent in code of the compiler. */
type Site = readonly [string, number | null]
interface Recorded {
  readonly file: string
  readonly builds: Readonly<Record<string, Build>>
  readonly cases: readonly {
    readonly name: string
    readonly call: { readonly data: Hex; readonly value?: Hex }
    /** Innermost first. */
    readonly frames: readonly Site[]
  }[]
}

function recorded(version: string): Recorded {
  const file = new URL(`../../fixtures/stack-traces/varied-${version}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

/**
 * What takes all gas takes that of the caller here (docs/internals/protocol.md#63-calls-and-creations): a static call that
 * writes, a creation where a contract is. Elsewhere the caller goes on.
 */
const OTHER_GAS_RULE: Readonly<Record<string, readonly Site[]>> = {
  t_staticWrite: [
    ['Varied', 331],
    ['Varied', 328],
  ],
  t_create2Twice: [['Varied', 293]],
}
/** Hardhat cannot say why a creation was not made, and shows nothing where memory for an array is more than gas can pay. */
const UNKNOWN_TO_HARDHAT: Readonly<Record<string, readonly Site[]>> = {
  t_tooMuchCreate: [['Varied', 284]],
  t_memory: [['Varied', 149]],
}

/** In these the optimiser leaves no trace of some calls in between, or merges statements. */
const LESS: Readonly<Record<string, readonly string[]>> = {
  '0.5.17 optimized': ['t_modifierLimit', 't_modifierTwice', 't_modifierOwner', 't_parent1'],
  '0.8.24 optimized': ['t_hook1', 't_hook2'],
}
/** In these the failing line is that of the function or the contract, or of the call of it. */
const AROUND: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.5.17 optimized': { t_yulRevert: 'Varied:151' },
  '0.8.24 via-ir': {
    t_decodeEnum: 'Varied:191',
    t_deep: 'Varied:312',
    t_yulRevert: 'Varied:264',
    missing: 'Varied:133',
  },
}

/** Without frames on the same line one after another: of a function and of code that the compiler made for it. */
function collapsed(sites: readonly Site[]): string[] {
  const texts = sites.flatMap(([name, line]) => (line === null ? [] : [`${name}:${line}`]))
  return texts.filter((text, index) => text !== texts[index - 1])
}

/** Where frames are, innermost first; without those around functions. */
function sitesOf(frames: readonly SourceFrame[]): Site[] {
  return frames.toReversed().map(({ contract, function: called, kind, line }) => {
    const isAround = called === undefined && (kind === 'call' || kind === 'internal-call')
    return [contract ?? called ?? '', isAround ? null : (line ?? null)]
  })
}

async function deploy(node: Node, { output }: Build, file: string): Promise<{ from: Hex; to: Hex }> {
  await node.request({ method: 'evm_setBlockGasLimit', params: ['0x1c9c380'] })
  await node.request({ method: 'evm_mine', params: [] })
  const [from] = (await node.request({ method: 'eth_accounts' })) as [Hex]
  const send = async (object: string, value: Hex = '0x0') => {
    const params = [{ from, data: `0x${object}`, gas: '0x7a1200', value }]
    const hash = await node.request({ method: 'eth_sendTransaction', params })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    return (receipt as { contractAddress: Hex }).contractAddress
  }
  const contracts = output.contracts[file] ?? {}
  const { object = '', linkReferences = {} } = contracts.Varied?.evm.bytecode ?? {}
  let linked = object
  for (const [name, places] of Object.entries(linkReferences[file] ?? {})) {
    const address = await send(contracts[name]?.evm.bytecode.object ?? '')
    for (const { start } of places) {
      linked = linked.slice(0, 2 * start) + address.slice(2) + linked.slice(2 * start + 40)
    }
  }
  return { from, to: await send(linked, '0x2710') }
}

describe.each(['0.5.17', '0.8.24'])('solc %s', (version) => {
  const { file, builds, cases } = recorded(version)

  it.each(Object.keys(builds))('fails at the lines that Hardhat shows: %s', async (mode) => {
    const made = builds[mode] as Build
    const node = await createNode()
    try {
      await node.addSources(made)
      const place = await deploy(node, made, file)
      const differing: unknown[] = []
      for (const { name, call, frames } of cases) {
        const params = [{ ...place, gas: '0x5b8d80', ...call }]
        const found = await node.request({ method: 'evm_stackTrace', params })
        const { stackTrace } = found as { stackTrace: SourceFrame[] }
        const own = collapsed(sitesOf(stackTrace))
        const told = name === 't_memory' && version !== '0.5.17' ? undefined : UNKNOWN_TO_HARDHAT[name]
        const expected = collapsed(OTHER_GAS_RULE[name] ?? told ?? frames)
        const build = `${version} ${mode}`
        const around = AROUND[build]?.[name]
        // Via IR call sites are often those of other calls that have the same code.
        const isInnermost = mode === 'via-ir' || LESS[build]?.includes(name) === true
        if (around !== undefined) expect([name, own[0]]).toEqual([name, around])
        else if (isInnermost ? own[0] !== expected[0] : own.join() !== expected.join()) {
          differing.push({ name, own, expected })
        }
      }
      expect(differing).toEqual([])
      expect(cases.length).toBeGreaterThan(50)
    } finally {
      await node.close()
    }
  })
})
