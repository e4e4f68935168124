/** Scenarios of contracts made by transactions, CREATE and CREATE2, and of their destruction. */
import { contractAddress } from '../../src/chain/transaction.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { assemble, deployer } from '../../test/support/assembler.ts'
import { COINBASE, CONTRACT, type Given, NOBODY, OTHER, SENDER } from '../../test/support/execution.ts'
import { CALL_KINDS, calling, contract, creating, ending, keep, pairs, type Scenario } from './scenario.ts'

const INITCODES: Readonly<Record<string, Uint8Array>> = {
  nothing: new Uint8Array(),
  'stores and leaves no code': assemble('CALLER 1 SSTORE CALLVALUE 2 SSTORE'),
  'leaves code': deployer(assemble('CALLER 0 SSTORE')),
  'leaves code that begins with ef': deployer(Uint8Array.of(0xef, 0)),
  'leaves 24576 bytes': assemble('24576 0 RETURN'),
  'leaves 24577 bytes': assemble('24577 0 RETURN'),
  reverts: assemble('1 1 SSTORE 0x99 0 MSTORE 32 0 REVERT'),
  fails: assemble('1 1 SSTORE #fe'),
  'burns all gas': assemble('x: @x JUMP'),
  'destroys itself': assemble('CALLER SELFDESTRUCT'),
  'destroys itself for itself': assemble('ADDRESS SELFDESTRUCT'),
  'creates a child': assemble(`${creating('CREATE', assemble('7 7 SSTORE'))} 0 SSTORE`),
  'looks at itself': assemble('ADDRESS EXTCODESIZE 0 SSTORE CODESIZE 1 SSTORE ADDRESS EXTCODEHASH 2 SSTORE'),
}

const gasLimit = 900_000n
/** Enough for the deposit of the largest code. */
const MUCH_GAS = 6_000_000n

function byTransaction(): Scenario[] {
  return pairs(Object.entries(INITCODES), [0n, 5n]).map(([[name, data], value]) => ({
    name: `a transaction with ${value} wei whose initcode is or does: ${name}`,
    transaction: { to: null, data, value, gasLimit: MUCH_GAS },
  }))
}

function byContract(): Scenario[] {
  return pairs(['CREATE', 'CREATE2'] as const, Object.entries(INITCODES)).flatMap(
    ([kind, [name, initcode]]) =>
      [0n, 5n, 101n].map((value) =>
        contract(
          `${kind} with ${value} wei: ${name}`,
          `${creating(kind, initcode, value)} DUP1 ${keep(0)} EXTCODEHASH ${keep(1)} RETURNDATASIZE ${keep(2)} GAS ${keep(3)}`,
          { transaction: { gasLimit: name.startsWith('leaves 24') ? MUCH_GAS : gasLimit } },
        ),
      ),
  )
}

/** What stands already where the contract will be. */
function collisions(): Scenario[] {
  const standing: Readonly<Record<string, Given>> = {
    code: { code: '1 1 SSTORE' },
    'a nonce': { nonce: 1n },
    'a balance': { balance: 9n },
    nothing: {},
  }
  const data = INITCODES['leaves code'] as Uint8Array
  return Object.entries(standing).flatMap(([name, given]) => [
    {
      name: `a transaction creates where there is ${name}`,
      accounts: { [contractAddress(SENDER, 1n)]: given },
      transaction: { to: null, data, gasLimit },
    },
    contract(`CREATE where there is ${name}`, `${creating('CREATE', data)} ${keep(0)}`, {
      accounts: { [contractAddress(CONTRACT, 0n)]: given },
      transaction: { gasLimit },
    }),
  ])
}

function oddities(): Scenario[] {
  const data = INITCODES['leaves code'] as Uint8Array
  const twice = `${creating('CREATE2', data)} ${keep(0)} ${creating('CREATE2', data)} ${keep(1)}`
  const large = assemble('1000 0 RETURN')
  return [
    contract('CREATE2 twice with one salt', twice, { transaction: { gasLimit } }),
    contract(
      'CREATE2 with two salts',
      `${creating('CREATE2', data, 0n, 1n)} ${keep(0)} ${creating('CREATE2', data, 0n, 2n ** 255n)} ${keep(1)}`,
      { transaction: { gasLimit } },
    ),
    {
      name: 'CREATE by an account of the last nonce',
      accounts: { [CONTRACT]: { nonce: 2n ** 64n - 1n, code: `${creating('CREATE', data)} ${keep(0)}` } },
      transaction: { gasLimit },
    },
    ...[230_000n, 254_000n, 290_000n].flatMap((gas) => [
      { name: `1000 bytes of code on ${gas} gas`, transaction: { to: null, data: large, gasLimit: gas } },
      contract(`CREATE of 1000 bytes of code on ${gas} gas`, `${creating('CREATE', large)} ${keep(0)}`, {
        transaction: { gasLimit: gas },
      }),
    ]),
    contract(
      'creates, calls, and destroys the child',
      `${creating('CREATE', deployer(assemble('CALLER SELFDESTRUCT')), 3n)} DUP1 ${keep(0)} ${calling('CALL', 'DUP6', { value: 4n })} ${keep(1)}`,
      { transaction: { gasLimit } },
    ),
  ]
}

const BENEFICIARIES: Readonly<Record<string, string>> = {
  another: OTHER,
  itself: 'ADDRESS',
  nobody: NOBODY,
  'a precompile': ending('2'),
  'the coinbase': COINBASE,
  'the sender': SENDER,
}

function destructions(): Scenario[] {
  const direct = pairs(Object.entries(BENEFICIARIES), [0n, 9n]).map(([[name, beneficiary], balance]) => ({
    name: `a contract of ${balance} wei leaves all to ${name}`,
    accounts: {
      [CONTRACT]: { balance, code: `1 1 SSTORE ${beneficiary} SELFDESTRUCT`, storage: { 0: 4n } },
      [OTHER]: { balance: 1n },
    },
  }))
  const ways: Readonly<Record<string, string>> = {
    '': '',
    ', undone': '0 0 REVERT',
    ', then paid': `${calling('CALL', ending('d1'), { value: 2n })} POP`,
  }
  const called = pairs(
    CALL_KINDS,
    pairs(Object.entries(BENEFICIARIES).slice(0, 3), Object.entries(ways)),
  ).map(([kind, [[name, beneficiary], [way, after]]]) =>
    contract(
      `${kind} of one who leaves all to ${name}${way}`,
      `${calling(kind, ending('d1'), { gas: '60000' })} 0 SSTORE ${after}`,
      {
        accounts: {
          [ending('d1')]: { balance: 7n, code: `${beneficiary} SELFDESTRUCT`, storage: { 1: 1n } },
        },
      },
    ),
  )
  const twice = contract(
    'calls one twice who destroys itself',
    `${calling('CALL', ending('d1'), { value: 1n })} 0 SSTORE ${calling('CALL', ending('d1'), { value: 2n })} 1 SSTORE ${ending('d1')} EXTCODESIZE 2 SSTORE`,
    {
      accounts: { [ending('d1')]: { balance: 7n, code: `${NOBODY} SELFDESTRUCT` } },
      transaction: { gasLimit },
    },
  )
  const refund = contract(
    'gas back for three destructions, within the half',
    ['d1', 'd2', 'd3'].map((at) => `${calling('CALL', ending(at))} POP`).join(' '),
    {
      accounts: Object.fromEntries(
        ['d1', 'd2', 'd3'].map((at): [Hex, Given] => [ending(at), { code: 'CALLER SELFDESTRUCT' }]),
      ),
    },
  )
  return [...direct, ...called, twice, refund].map((scenario) => ({
    ...scenario,
    transaction: { gasLimit: 300_000n, ...('transaction' in scenario ? scenario.transaction : {}) },
  }))
}

export const CREATIONS: readonly Scenario[] = [
  ...byTransaction(),
  ...byContract(),
  ...collisions(),
  ...oddities(),
]
export const DESTRUCTIONS: readonly Scenario[] = destructions()
