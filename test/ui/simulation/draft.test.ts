/** What the fields of the simulation page describe: back and forth, and what is refused. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Draft,
  draftOf,
  EMPTY_DRAFT,
  emptyStep,
  isOn,
  type StepDraft,
  scenarioOf,
} from '../../../src/ui/simulation/draft.ts'
import { parametersOf, type StepKind, scenarioFrom } from '../../../src/ui/simulation/scenario.ts'
import { anyScenario } from './scenarios.ts'

const WHO = `0x${'Ab'.repeat(20)}`
const WHERE = WHO.toLowerCase()
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

function stepWith(kind: StepKind, fields: Partial<StepDraft>): Draft {
  return { ...EMPTY_DRAFT, steps: [{ ...emptyStep(kind), ...fields }] }
}
const message = (fields: Partial<StepDraft['message']>) => ({ ...emptyStep('call').message, ...fields })

describe('the fields of a scenario', () => {
  it('describe it again', () => {
    fc.assert(
      fc.property(anyScenario, (scenario) => {
        const read = scenarioOf(draftOf(scenario))
        expect(read).toEqual(scenario)
        expect(scenarioFrom(JSON.parse(JSON.stringify(read)))).toEqual(scenario)
      }),
    )
  })

  it('take coins, decimal numbers, spaces and upper case', () => {
    const fields = message({
      from: ` ${WHO} `,
      to: WHO,
      value: '1.5',
      gas: '1_000 000',
      nonce: '0x0A',
      data: '0xAB cd',
    })
    expect(scenarioOf({ ...stepWith('send', { message: fields }), block: ' 1 000 ', place: '2' })).toEqual({
      block: '0x3e8',
      transactionIndex: 2,
      steps: [
        {
          send: {
            from: WHERE,
            to: WHERE,
            data: '0xabcd',
            value: '0x14d1120d7b160000',
            gas: '0xf4240',
            nonce: '0xa',
          },
        },
      ],
    })
  })

  it('leave out empty rows, and gather the rows of an account', () => {
    const rows = [
      { address: WHO, what: 'balance', name: '', value: '2' },
      { address: '', what: 'nonce', name: '', value: ' ' },
      { address: WHERE, what: 'variables', name: 'balances[0x1]', value: '5' },
      { address: WHERE, what: 'variables', name: 'points', value: '[1, 99999999999999999999]' },
      { address: WHERE, what: 'stateDiff', name: '3', value: '0xff' },
    ] as const
    expect(scenarioOf({ ...EMPTY_DRAFT, overrides: rows }).stateOverrides).toEqual({
      [WHERE]: {
        balance: '0x1bc16d674ec80000',
        variables: { 'balances[0x1]': '5', points: ['1', '99999999999999999999'] },
        stateDiff: { [word('3')]: word('ff') },
      },
    })
    expect(scenarioOf({ ...EMPTY_DRAFT, overrides: [rows[1]] })).toEqual({ block: 'latest', steps: [] })
  })

  it.each<[string, Draft]>([
    [
      'Block: expected a height, a hash, or latest, pending, earliest, safe or finalized',
      { ...EMPTY_DRAFT, block: 'newest' },
    ],
    ['Place in the block: expected a whole number, decimal or hex', { ...EMPTY_DRAFT, place: '-1' }],
    [
      'Step 1: to: expected an address: 0x and 40 hex digits',
      stepWith('call', { message: message({ to: '0x12' }) }),
    ],
    [
      'Step 1: value: expected an amount of coins, such as 1.5',
      stepWith('send', { message: message({ to: WHO, value: '1 coin' }) }),
    ],
    [
      'Step 1: data: expected bytes: 0x and two hex digits a byte',
      stepWith('send', { message: message({ data: '0x1' }) }),
    ],
    ['Step 1: expected an address to call, or the init code of a contract as data', stepWith('call', {})],
    ['Step 1: expected an account to change', stepWith('set', {})],
    ['Step 1: expected seconds, blocks or a time', stepWith('warp', {})],
    [
      'Step 1: seconds: expected a smaller number',
      stepWith('warp', { warp: { seconds: '1e18', blocks: '', time: '' } }),
    ],
    [
      'Step 1: row 1, account: expected an address: 0x and 40 hex digits',
      stepWith('set', { rows: [{ address: 'me', what: 'balance', name: '', value: '1' }] }),
    ],
    [
      'Step 1: row 1: expected the name of a variable, such as balances[0x…]',
      stepWith('set', { rows: [{ address: WHO, what: 'variables', name: '', value: '1' }] }),
    ],
    [
      'Override 2: an account has either all of its slots replaced or some of them, not both',
      {
        ...EMPTY_DRAFT,
        overrides: [
          { address: WHO, what: 'state', name: '1', value: '1' },
          { address: WHO, what: 'stateDiff', name: '2', value: '1' },
        ],
      },
    ],
    [
      'Block override 1: expected a whole number, decimal or hex',
      { ...EMPTY_DRAFT, blockOverrides: [{ what: 'time', name: '', value: 'noon' }] },
    ],
  ])('%s', (text, draft) => {
    expect(() => scenarioOf(draft)).toThrow(new Error(text))
  })

  it('may leave out the steps that are off, whatever their fields hold', () => {
    const { steps } = stepWith('warp', { warp: { seconds: '', blocks: '3', time: '' } })
    const draft = { ...EMPTY_DRAFT, steps: [{ ...emptyStep('call'), isOff: true }, ...steps] }
    expect(scenarioOf(draft, isOn).steps).toEqual([{ warp: { blocks: 3 } }])
    expect(() => scenarioOf(draft)).toThrow(
      new Error('Step 1: expected an address to call, or the init code of a contract as data'),
    )
    const many = Array.from({ length: 101 }, () => emptyStep('call'))
    expect(() => scenarioOf({ ...draft, steps: many })).toThrow(new Error('There are more than 100 steps'))
  })

  it('a function and its arguments are the input', () => {
    const entry = {
      type: 'function' as const,
      name: 'f',
      inputs: [{ name: 'amount', type: 'uint256' }],
      selector: '0xb3de648b' as const,
    }
    const fields = { message: message({ to: WHO, data: '0xff' }) }
    expect(scenarioOf(stepWith('call', { ...fields, form: { entry, texts: ['7'] } })).steps).toEqual([
      { call: { to: WHERE, data: `0xb3de648b${word('7').slice(2)}` } },
    ])
    expect(() => scenarioOf(stepWith('call', { ...fields, form: { entry, texts: ['x'] } }))).toThrow(
      new Error('Step 1: amount: expected a whole number of this type (uint256)'),
    )
  })
})

describe('the parameters of evm_simulate', () => {
  it('are the steps that are on, without marks, and the overrides', () => {
    const call = { to: `0x${'11'.repeat(20)}` } as const
    const stateOverrides = { [call.to]: { nonce: '0x1' } } as const
    expect(
      parametersOf({
        block: '0x5',
        transactionIndex: 0,
        stateOverrides,
        blockOverrides: { time: '0x6' },
        steps: [{ call, off: true }, { send: call }, { warp: { blocks: 2 } }],
      }),
    ).toEqual([
      {
        steps: [{ send: call }, { warp: { blocks: 2 } }],
        stateOverrides,
        blockOverrides: { time: '0x6' },
        transactionIndex: 0,
      },
      '0x5',
    ])
    expect(parametersOf({ block: 'latest', steps: [] })).toEqual([{ steps: [] }, 'latest'])
  })
})
