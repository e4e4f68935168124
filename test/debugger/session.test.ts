/** Moves, the call stack, state variables and what a session keeps, on the contracts of the fixtures. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readStorageLayout } from '../../src/abi/storage/layout.ts'
import type { DebugSession } from '../../src/debugger/debug-session.ts'
import type { Direction, MoveKind } from '../../src/debugger/moves.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { DebuggerCase, debuggerBuild, plain, SENDER } from '../support/debugger-cases.ts'

const NOTHING = { lines: new Map(), events: new Set<Hex>(), failures: false } as const

const place = (session: DebugSession) => session.stack().map(({ function: name, line }) => `${name}:${line}`)

describe('a session', () => {
  let of: DebuggerCase
  let address: Hex
  beforeAll(async () => {
    of = await DebuggerCase.open('Old-0.8.35')
    ;({ address } = await of.deploy(5, `0x${'12'.repeat(32)}`))
  })
  afterAll(() => of.node.close())

  it('opens at the failing line, with the functions that are open there', async () => {
    const { session } = await of.debug(await of.call(address, 'fail', 9))
    expect(session.reason).toBe('failure')
    expect(place(session)).toEqual(['check:136', 'fail:130'])
    expect(session.variables(0, 'locals')?.map(plain)).toEqual(['9', '10', '9'])
    expect(session.variables(1, 'locals')?.map(plain)).toEqual(['9', '10'])
  })

  it('opens at the first statement where nothing failed, and steps over, into and out of calls', async () => {
    const { session } = await of.debug(await of.call(address, 'values', 41, -3, '0x01020304', true))
    // The arguments of the modifier, its body, and the function's.
    expect(place(session)).toEqual(['values:51'])
    const move = async (kind: MoveKind, direction: Direction = 'forward') => {
      await session.move(kind, direction, NOTHING)
      return place(session)
    }
    const lines = [
      'scaled:18',
      'scaled:19',
      'values:52',
      'values:54',
      'values:55',
      'values:56',
      'values:58',
      'values:59',
      'values:60',
      'values:61',
    ]
    for (const line of lines) expect(await move('over')).toEqual([line])
    expect(await move('into')).toEqual(['helper:66', 'values:61'])
    expect(await move('over')).toEqual(['helper:67', 'values:61'])
    expect(await move('into')).toEqual(['pair:73', 'helper:67', 'values:61'])
    expect(await move('out')).toEqual(['helper:67', 'values:61'])
    expect(await move('over')).toEqual(['helper:68', 'values:61'])
    expect(await move('over', 'back')).toEqual(['helper:67', 'values:61'])
    expect(await move('out', 'back')).toEqual(['values:61'])
    expect(await move('over')).toEqual(['values:62'])
    expect(await move('over', 'back')).toEqual(['values:61'])
  })

  it('stops at lines, events and failures, in both directions', async () => {
    const { session } = await of.debug(await of.call(address, 'loops', 3))
    const lines = { ...NOTHING, lines: new Map([['Old.sol', new Set([81])]]) }
    const squares: unknown[] = []
    while ((await session.move('continue', 'forward', lines)).reason === 'breakpoint') {
      squares.push(session.evaluate(0, 'square').text)
    }
    expect(squares).toEqual(['0', '1', '4'])
    expect(session.reason).toBe('end')
    expect((await session.move('continue', 'back', { ...NOTHING, events: true })).reason).toBe('event')
    expect(session.evaluate(0, 'left').text).toBe('2')
    expect((await session.move('continue', 'back', lines)).reason).toBe('breakpoint')
    expect(session.evaluate(0, 'i').text).toBe('2')
    expect(await session.move('continue', 'back', NOTHING)).toEqual({ step: 0, reason: 'start' })
    expect((await session.move('continue', 'forward', { ...NOTHING, failures: true })).reason).toBe('end')
  })

  it('reads the variables of each scope once for an expression', async () => {
    const { session } = await of.debug(await of.call(address, 'loops', 3))
    const variables = vi.spyOn(session, 'variables')
    // Two names, of which one is a key.
    expect(session.evaluate(0, 'balances[msg.sender]').text).toBe('0')
    expect(variables.mock.calls.map(([, scope]) => scope)).toEqual(['locals', 'message', 'state'])
  })

  it('shows the callers in other contracts', async () => {
    const { session } = await of.debug(await of.call(address, 'calling', address, 6))
    const lines = { ...NOTHING, lines: new Map([['Old.sol', new Set([93])]]) }
    await session.move('continue', 'forward', lines)
    await session.move('continue', 'forward', lines)
    expect(place(session)).toEqual(['factorial:93', 'factorial:93', 'calling:141'])
    expect(session.evaluate(2, 'before').text).toBe('8')
    expect(session.evaluate(1, 'n').text).toBe('3')
    expect(session.evaluate(0, 'n').text).toBe('2')
    expect(session.evaluate(0, 'msg.sender').text).toBe(address)
    expect(session.evaluate(2, 'msg.sender').text).toBe(SENDER)
  })

  it('shows what a creation is called with, as its code reads it', async () => {
    const { session } = await of.debug((await of.deploy(5, `0x${'12'.repeat(32)}`)).hash)
    expect(session.evaluate(0, 'msg.sender').text).toBe(SENDER)
    expect(session.evaluate(0, 'msg.data').text).toBe('0x')
    expect(session.evaluate(0, 'msg.sig').text).toBe('0x00000000')
  })

  it('shows what return variables in memory hold before they have a value', async () => {
    const { session } = await of.debug(await of.call(address, 'memories', 2))
    expect(session.evaluate(0, 'out').text).toBe('0x')
  })

  it.each<MoveKind>(['into', 'instruction'])(
    'returns to each place by as many moves back: %s',
    async (kind) => {
      const { session } = await of.debug(await of.call(address, 'memories', 2))
      const state = () => {
        const { pc, stack, memory } = session.machine(0) ?? {}
        return { step: session.step, shown: session.stack(), pc, stack, memory }
      }
      const starts = fc.nat({ max: session.length - 1 })
      await fc.assert(
        fc.asyncProperty(starts, fc.integer({ min: 1, max: 60 }), async (start, count) => {
          session.goTo(start)
          await session.move(kind, 'forward', NOTHING)
          const from = state()
          let made = 0
          for (; made < count; made++) {
            const before = session.step
            await session.move(kind, 'forward', NOTHING)
            if (session.step === before) break
          }
          for (let move = 0; move < made; move++) await session.move(kind, 'back', NOTHING)
          expect(state()).toEqual(from)
        }),
        { numRuns: 25 },
      )
    },
  )
})

describe.each(['Old-0.4.26', 'Old-0.5.17', 'Old-0.6.12', 'Old-0.7.6', 'Old-0.8.35', 'Old-0.8.24-optimized'])(
  'state variables of %s',
  (name) => {
    let of: DebuggerCase
    let session: DebugSession
    beforeAll(async () => {
      of = await DebuggerCase.open(name)
      const { address } = await of.deploy(5, `0x${'12'.repeat(32)}`)
      ;({ session } = await of.debug(await of.call(address, 'memories', 3)))
    })
    afterAll(() => of.node.close())

    it('have the values that the contract wrote', () => {
      session.goTo(session.length - 1)
      const values = Object.fromEntries(
        (session.variables(0, 'state') ?? []).map((value) => [value.name, plain(value)]),
      )
      const kept = { id: '5', from: SENDER, count: '11', label: '"label"', marks: ['1', '2', '3'] }
      expect(values).toEqual({
        small: '9',
        flag: 'true',
        owner: SENDER,
        total: '5',
        kind: 'Old.Kind.Open',
        kept,
        balances: { [SENDER]: '77' },
        items: {
          [SENDER]: {
            4: {
              id: '3',
              from: `0x${'00'.repeat(20)}`,
              count: '0',
              label: '"inner"',
              marks: ['0', '0', '0'],
            },
          },
        },
        list: ['1', '70000'],
        long: `0x${Buffer.from('this value takes more than one slot of storage, as it is long').toString('hex')}`,
        short: '"short"',
        fixedList: ['0', '0', '-8', '0', '0'],
        all: [kept],
      })
      expect(session.evaluate(0, 'items[msg.sender][4].label').text).toBe('"inner"')
      expect(session.evaluate(0, 'list.length').text).toBe('2')
    })

    it('have no values of this transaction before it', () => {
      session.goTo(0)
      const values = Object.fromEntries(
        (session.variables(0, 'state') ?? []).map((value) => [value.name, plain(value)]),
      )
      expect(values).toMatchObject({ total: '5', kind: 'Old.Kind.Closed', list: [], short: '""', all: [] })
    })

    it('stand where the compiler places them', () => {
      const written = debuggerBuild(name).output.contracts['Old.sol']?.Old?.storageLayout
      const places = session.codes[0]?.sources.layoutOf('Old', 'Old.sol')?.variables
      // The compiler writes layouts from 0.5.13 on.
      if (written === undefined) expect(name).toMatch(/0\.4/)
      else {
        const bare = ({ name: called, slot, offset }: { name: string; slot: bigint; offset: number }) => [
          called,
          slot,
          offset,
        ]
        expect(places?.map(bare)).toEqual(readStorageLayout(written).variables.map(bare))
      }
    })
  },
)
