/** Scenarios of calls of all four kinds, of their failures, and of gas that runs out at some depth. */
import type { Hex } from '../../src/encoding/hex.ts'
import { CONTRACT, type Given, NOBODY, OTHER } from '../../test/support/execution.ts'
import { CALL_KINDS, calling, contract, ending, keep, pairs, type Scenario } from './scenario.ts'

const CALLEES: Readonly<Record<string, { at: Hex; given?: Given }>> = {
  'who stores': {
    at: OTHER,
    given: {
      balance: 5n,
      code: 'CALLER 10 SSTORE CALLVALUE 11 SSTORE ADDRESS 12 SSTORE ADDRESS BALANCE 13 SSTORE',
    },
  },
  'who returns': { at: OTHER, given: { code: '0x1234 0 MSTORE 0x5678 32 MSTORE 96 0 RETURN' } },
  'who reverts': { at: OTHER, given: { code: '7 10 SSTORE 0x5678 0 MSTORE 33 0 REVERT' } },
  'who fails': { at: OTHER, given: { code: '7 10 SSTORE #fe' } },
  'who burns all gas': { at: OTHER, given: { code: 'again: @again JUMP' } },
  'without code': { at: OTHER, given: { balance: 1n } },
  'who does not exist': { at: NOBODY },
  'who is empty': { at: OTHER, given: {} },
  'who copies': { at: ending('4') },
}

/** Calls, and keeps all that can be seen of it. */
function observer(call: string): string {
  return [
    '0xabcdef 0 MSTORE',
    ...[call, keep(0), `RETURNDATASIZE ${keep(1)} 64 MLOAD ${keep(2)} 96 MLOAD ${keep(3)}`],
    `GAS ${keep(4)} ADDRESS BALANCE ${keep(5)}`,
  ].join(' ')
}

const gasLimit = 400_000n

function plainCalls(): Scenario[] {
  return CALL_KINDS.flatMap((kind) =>
    pairs(Object.entries(CALLEES), ['GAS', '0', '2300', '50000']).map(([[name, { at, given }], gas]) =>
      contract(`${kind} with ${gas} gas of one ${name}`, observer(calling(kind, at, { gas, length: 32 })), {
        accounts: given === undefined ? {} : { [at]: given },
        transaction: { gasLimit },
      }),
    ),
  )
}

function callsWithValue(): Scenario[] {
  return pairs(['CALL', 'CALLCODE'] as const, Object.entries(CALLEES)).flatMap(
    ([kind, [name, { at, given }]]) =>
      [3n, 101n].map((value) =>
        contract(
          `${kind} with ${value} wei of one ${name}`,
          observer(calling(kind, at, { gas: '0', value })),
          {
            accounts: given === undefined ? {} : { [at]: given },
            transaction: { gasLimit },
          },
        ),
      ),
  )
}

/** A contract calls itself with all its gas until there is none, and sums what the frames that live have left. */
function towers(): Scenario[] {
  return pairs(CALL_KINDS, [3_000, 20_000, 65_536, 131_072, 200_001, 333_333, 777_777]).map(([kind, gas]) =>
    contract(
      `a tower of ${kind} on ${gas} gas`,
      `${calling(kind, OTHER, { gas: `${gas}` })} ${keep(0)} 64 MLOAD ${keep(1)}`,
      {
        accounts: {
          [OTHER]: { code: `${calling(kind, OTHER)} 64 MLOAD ADD GAS ADD 0 MSTORE 32 0 RETURN` },
        },
        transaction: { gasLimit: BigInt(gas + 100_000) },
      },
    ),
  )
}

/** A chain of four contracts, each of which calls the next and may revert after it. */
function chains(): Scenario[] {
  const ats = [CONTRACT, ending('c1'), ending('c2'), ending('c3')]
  const frame = (next: Hex | undefined, i: number, fails: string) =>
    [
      `CALLVALUE ${keep(i)} ${i} 0 MSTORE 32 0 LOG0`,
      next === undefined ? '' : `${calling('CALL', next, { value: 2n })} ${keep(10 + i)}`,
      fails,
    ].join(' ')
  const ways: Readonly<Record<string, string>> = {
    reverts: '0 0 REVERT',
    fails: '#fe',
    'burns all': 'x: @x JUMP',
  }
  return pairs([0, 1, 2, 3], Object.entries(ways)).map(([which, [way, code]]) => {
    const accounts = Object.fromEntries(
      ats.map((at, i) => [at, { balance: 50n, code: frame(ats[i + 1], i, i === which ? code : '') }]),
    )
    return { name: `frame ${which} of four ${way}`, accounts, transaction: { value: 1n, gasLimit } }
  })
}

/** Runs out of gas a little later each time. */
function shortOfGas(): Scenario[] {
  const inner = `1 0 SSTORE ${calling('CALL', ending('c2'), { gas: '30000' })} POP 2 1 SSTORE`
  const accounts = { [ending('c1')]: { code: inner }, [ending('c2')]: { code: '5 5 SSTORE 0 0 LOG0' } }
  return Array.from({ length: 20 }, (_, i) => 25_000 + 10_000 * i).map((gas) =>
    contract(
      `three frames on ${gas} gas`,
      `3 3 SSTORE ${calling('CALL', ending('c1'))} ${keep(4)} 9 9 SSTORE`,
      {
        accounts,
        transaction: { gasLimit: BigInt(gas) },
      },
    ),
  )
}

export const CALLS: readonly Scenario[] = [
  ...plainCalls(),
  ...callsWithValue(),
  ...towers(),
  ...chains(),
  ...shortOfGas(),
]
