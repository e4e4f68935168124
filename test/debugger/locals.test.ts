/** Variables at the events of the fixtures, which the contracts log with their values: an oracle that the EVM computes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VariableError } from '../../src/abi/storage/path.ts'
import type { DebugSession } from '../../src/debugger/debug-session.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { DebuggerCase, loggedVariables, plain } from '../support/debugger-cases.ts'

const ALL = { lines: new Map(), events: true, failures: false } as const

type Call = { readonly called: string; readonly args: readonly unknown[] }

interface Found {
  readonly logged: Readonly<Record<string, unknown>>
  /** What the debugger answers for the same names; without those that it does not know. */
  readonly shown: Readonly<Record<string, unknown>>
}

function evaluated(session: DebugSession, names: readonly string[]): Record<string, unknown> {
  const found = names.flatMap((name) => {
    try {
      return [[name, plain(session.evaluate(0, name))] as const]
    } catch (error) {
      expect(error).toBeInstanceOf(VariableError)
      return []
    }
  })
  return Object.fromEntries(found)
}

async function atEvents(of: DebuggerCase, hash: Hex): Promise<Found[]> {
  const { session } = await of.debug(hash)
  session.goTo(0)
  const found: Found[] = []
  for (const { log } of session.execution.events) {
    await session.move('continue', 'forward', ALL)
    const logged = loggedVariables(log.data)
    found.push({ logged, shown: evaluated(session, Object.keys(logged)) })
  }
  return found
}

describe.each([
  ['Old-0.4.26', true],
  ['Old-0.5.17', true],
  ['Old-0.6.12', true],
  ['Old-0.7.6', true],
  ['Old-0.8.35', true],
  ['Old-0.4.26-optimized', false],
  ['Old-0.7.6-optimized', false],
  ['Old-0.8.24-optimized', false],
])('%s', (name, isExact) => {
  let of: DebuggerCase
  let address: Hex
  let deployment: Hex
  beforeAll(async () => {
    of = await DebuggerCase.open(name)
    ;({ address, hash: deployment } = await of.deploy(5, `0x${'12'.repeat(32)}`))
  })
  afterAll(() => of.node.close())

  const CALLS: readonly Call[] = [
    { called: 'values', args: [41, -3, '0x01020304', true] },
    { called: 'loops', args: [4] },
    { called: 'factorial', args: [4] },
    { called: 'memories', args: [3] },
    { called: 'calling', args: ['SELF', 6] },
  ]
  it.each(CALLS)('$called($args)', async ({ called, args }) => {
    const found = await atEvents(
      of,
      await of.call(address, called, ...args.map((one) => (one === 'SELF' ? address : one))),
    )
    expect(found.length).toBeGreaterThan(0)
    for (const { logged, shown } of found) {
      if (isExact) expect(shown).toEqual(logged)
      else expect(logged).toMatchObject(shown)
    }
  })

  it('the constructors', async () => {
    for (const { logged, shown } of await atEvents(of, deployment)) {
      expect(shown).toEqual(isExact ? logged : {})
    }
  })
})

describe.each([
  ['New-0.8.24', true],
  ['New-0.8.35', true],
  ['New-0.8.24-optimized', false],
  ['New-0.8.35-via-ir', false],
])('%s', (name, isExact) => {
  let of: DebuggerCase
  let address: Hex
  beforeAll(async () => {
    of = await DebuggerCase.open(name)
    ;({ address } = await of.deploy())
  })
  afterAll(() => of.node.close())

  it.each<Call>([
    { called: 'data', args: [[4, 5, 6], '0x010203', [7, 8], 'a text'] },
    {
      called: 'lines',
      args: [
        [
          [
            [1, 2],
            [3, 4],
          ],
          'name',
          [5, 6],
        ],
      ],
    },
    { called: 'attempts', args: [0] },
    { called: 'attempts', args: [1] },
    { called: 'attempts', args: [2] },
    { called: 'pointers', args: [3] },
  ])('$called($args)', async ({ called, args }) => {
    const found = await atEvents(of, await of.call(address, called, ...args))
    expect(found.length).toBeGreaterThan(0)
    for (const { logged, shown } of found) {
      if (isExact) expect(shown).toEqual(logged)
      else expect(logged).toMatchObject(shown)
    }
  })
})
