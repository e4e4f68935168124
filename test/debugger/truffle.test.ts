/**
 * Variables as Truffle's debugger decodes them (`@truffle/debugger`; recorded by `scripts/tools/debugger`, see
 * fixtures/debugger/README.md), at the same steps of the same transactions.
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { debugged, debuggerBuild, plain, SENDER, sendTo } from '../support/debugger-cases.ts'

type Decoded = string | readonly Decoded[] | { readonly [name: string]: Decoded }

interface Recorded {
  /** Libraries and the contract first. */
  readonly sent: readonly { readonly to?: Hex; readonly data: Hex }[]
  readonly transactions: readonly {
    readonly index: number
    /** Step, program counter, and values by name; those that Truffle cannot decode are absent. */
    readonly steps: readonly (readonly [number, number, Readonly<Record<string, Decoded>>])[]
  }[]
}

function recorded(name: string): Recorded {
  const file = new URL(`../../fixtures/debugger/truffle-${name}.json.br`, import.meta.url)
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString())
}

/** As Truffle has it: enums without the contract that declares them, mappings without known keys as empty. */
const asTruffle = (value: unknown): unknown => {
  if (typeof value === 'string' && value.startsWith('mapping(')) return {}
  if (typeof value === 'string') return value.replace(/^\w+\.(Phase\.\w+)$/, '$1')
  if (Array.isArray(value)) return value.map(asTruffle)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asTruffle(one)]))
}

describe.each(['Variables-0.5.17'])('%s', (name) => {
  const { sent, transactions } = recorded(name)
  let node: Node
  const hashes: Hex[] = []
  beforeAll(async () => {
    node = await createNode()
    await node.request({ method: 'evm_addSources', params: [debuggerBuild(name)] })
    for (const transaction of sent) hashes.push(await sendTo(node, { from: SENDER, ...transaction }))
  })
  afterAll(() => node.close())

  it.each(transactions)('transaction $index', async ({ index, steps }) => {
    const { session } = await debugged(node, hashes[index] as Hex)
    expect(steps.length).toBeGreaterThan(0)
    for (const [step, pc, values] of steps) {
      session.goTo(step)
      expect(session.machine(0)?.pc).toBe(pc)
      const shown = (['state', 'locals', 'message'] as const).flatMap(
        (scope) => session.variables(0, scope) ?? [],
      )
      const own = Object.fromEntries(shown.map((value) => [value.name, asTruffle(plain(value))]))
      // Ours are more: keys of mappings that are used later.
      expect({ step, own }).toMatchObject({ step, own: values })
    }
  })
})
