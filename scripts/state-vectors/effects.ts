/** Scenarios of transfers, storage, logs, and of what static calls forbid. */
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { COINBASE, CONTRACT, type Given, NOBODY, OTHER, SENDER } from '../../test/support/execution.ts'
import { calling, contract, ending, keep, pairs, type Scenario } from './scenario.ts'

const RICH = 10n ** 24n

function toReceivers(): Scenario[] {
  const receivers: Readonly<Record<string, Hex>> = {
    'a rich account': OTHER,
    nobody: NOBODY,
    'an empty account': ending('e0'),
    itself: SENDER,
    'the coinbase': COINBASE,
    'a contract': CONTRACT,
    'a contract that refuses': ending('c1'),
    sha256: ending('2'),
    ripemd160: ending('3'),
  }
  return pairs(Object.entries(receivers), [0n, 1n, 10n ** 18n]).map(([[name, to], value]) => ({
    name: `${value} wei to ${name}`,
    accounts: {
      [OTHER]: { balance: 5n },
      [ending('e0')]: {},
      [CONTRACT]: { code: 'CALLVALUE 0 SSTORE' },
      [ending('c1')]: { code: '0 0 REVERT' },
    },
    transaction: { to, value, gasLimit: 50_000n },
  }))
}

export const TRANSFERS: readonly Scenario[] = [
  ...toReceivers(),
  ...[0, 1, 32, 100].flatMap((length) =>
    [0, 1].map((byte) => ({
      name: `${length} bytes ${byte} of data`,
      transaction: { to: OTHER, data: new Uint8Array(length).fill(byte), gasLimit: 60_000n },
    })),
  ),
  ...[0n, 2n].map((nonce) => ({ name: `nonce ${nonce} instead of 1`, transaction: { to: OTHER, nonce } })),
  ...[21_000n, 20_999n].map((gasLimit) => ({
    name: `${gasLimit} gas`,
    transaction: { to: OTHER, gasLimit },
  })),
  ...[53_000n, 52_999n].map((gasLimit) => ({
    name: `${gasLimit} gas to create`,
    transaction: { to: null, gasLimit },
  })),
  ...[0n, 1n].map((more) => ({
    name: `all the sender has and ${more} wei more`,
    transaction: { to: OTHER, gasLimit: 21_000n, value: RICH - 2_100_000n + more },
  })),
  { name: 'gas for nothing', transaction: { to: OTHER, gasPrice: 0n, value: 3n } },
  { name: 'gas for nothing, to nobody, coinbase empty', transaction: { to: NOBODY, gasPrice: 0n } },
  { name: 'the sender is the coinbase', coinbase: SENDER, transaction: { to: OTHER, value: 3n } },
  { name: 'the receiver is the coinbase', coinbase: OTHER, transaction: { to: OTHER, value: 3n } },
  contract('the contract is the coinbase and destroys itself', 'ADDRESS SELFDESTRUCT', {
    coinbase: CONTRACT,
  }),
  { name: 'more gas than the block has', transaction: { to: OTHER, gasLimit: 10_000_001n } },
]

const VALUES = [0n, 1n, 2n ** 256n - 1n]

function writes(): Scenario[] {
  return pairs([0n, 1n], pairs(VALUES, VALUES)).map(([before, [first, second]]) =>
    contract(
      `a word ${before} becomes ${toHex(Uint8Array.of(Number(first & 255n)))} and ${toHex(Uint8Array.of(Number(second & 255n)))}`,
      `${first} 5 SSTORE 5 SLOAD 6 SSTORE ${second} 5 SSTORE`,
      {
        accounts: {
          [CONTRACT]: {
            code: `${first} 5 SSTORE 5 SLOAD 6 SSTORE ${second} 5 SSTORE`,
            storage: { 5: before },
          },
        },
      },
    ),
  )
}

function clearings(): Scenario[] {
  return [1, 2, 4, 8].flatMap((count) => {
    const slots = Array.from({ length: count }, (_, i) => i)
    const given: Given = {
      code: slots.map((slot) => `0 ${slot} SSTORE`).join(' '),
      storage: Object.fromEntries(slots.map((slot) => [slot, 9n])),
    }
    const inner = { [ending('c1')]: given }
    return [
      { name: `clears ${count} words`, accounts: { [CONTRACT]: given } },
      contract(`clears ${count} words in another frame`, `${calling('CALL', ending('c1'))} POP`, {
        accounts: inner,
      }),
      contract(`clears ${count} words in a frame undone`, `${calling('CALL', ending('c1'))} POP`, {
        accounts: { [ending('c1')]: { ...given, code: `${given.code} 0 0 REVERT` } },
      }),
    ]
  })
}

export const STORAGE: readonly Scenario[] = [
  ...writes(),
  ...clearings(),
  contract(
    'large slots',
    '1 0x8000000000000000000000000000000000000000000000000000000000000000 SSTORE 2 0 NOT SSTORE 0 NOT SLOAD 3 SSTORE',
  ),
  contract('many words', '40 again: DUP1 DUP1 SSTORE 1 SWAP1 SUB DUP1 @again JUMPI', {
    transaction: { gasLimit: 900_000n },
  }),
  contract(
    'writes with less than 2300 gas left',
    `${calling('CALL', ending('c1'), { gas: '5100' })} 1 SSTORE`,
    {
      accounts: { [ending('c1')]: { code: '7 7 SSTORE', storage: { 7: 1n } } },
    },
  ),
].map((scenario) => ({ transaction: { gasLimit: 200_000n }, ...scenario }))

const TOPICS = ['0xaa', '0 NOT', '0', 'CALLER', 'NUMBER']

function logOf(topics: number, length: number): string {
  return `${TOPICS.slice(0, topics).join(' ')} ${length} 3 LOG${topics}`
}

export const LOGS: readonly Scenario[] = [
  ...pairs([0, 1, 2, 3, 4], [0, 1, 32, 100, 5_000]).map(([topics, length]) =>
    contract(
      `${topics} topics, ${length} bytes`,
      `0 NOT 0 MSTORE 0x0123456789 32 MSTORE ${logOf(topics, length)}`,
    ),
  ),
  contract('several, in order', [0, 1, 2, 3, 4].map((topics) => logOf(topics, topics)).join(' ')),
  ...['', '0 0 REVERT', '#fe'].map((end) =>
    contract(
      `a frame inside logs and ends by ${end || 'itself'}`,
      `${logOf(1, 1)} ${calling('CALL', OTHER, { gas: '20000' })} POP ${logOf(2, 2)}`,
      {
        accounts: { [OTHER]: { code: `${logOf(3, 3)} ${end}` } },
      },
    ),
  ),
  contract('undone as a whole', `${logOf(1, 1)} 0 0 REVERT`),
  ...[21_800n, 22_000n, 22_300n].map((gasLimit) =>
    contract(`32 bytes on ${gasLimit} gas`, logOf(2, 32), { transaction: { gasLimit } }),
  ),
].map((scenario) => ({ transaction: { gasLimit: 100_000n }, ...scenario }))

const FORBIDDEN: Readonly<Record<string, string>> = {
  stores: '1 1 SSTORE',
  'stores what stands there': '0 1 SSTORE',
  ...Object.fromEntries([0, 1, 2, 3, 4].map((topics) => [`logs with ${topics} topics`, logOf(topics, 1)])),
  creates: '0 0 0 CREATE POP',
  'creates at a salt': '0 0 0 0 CREATE2 POP',
  'calls with value': `${calling('CALL', NOBODY, { value: 1n })} POP`,
  'calls without value': `${calling('CALL', NOBODY)} POP`,
  'calls code with value': `${calling('CALLCODE', NOBODY, { value: 1n })} POP`,
  delegates: `${calling('DELEGATECALL', NOBODY)} POP`,
  'destroys itself': 'CALLER SELFDESTRUCT',
  reads: '1 SLOAD POP ADDRESS BALANCE POP',
}

const PATHS: Readonly<Record<string, string>> = {
  'called statically': calling('STATICCALL', OTHER, { gas: '60000' }),
  ...Object.fromEntries(
    (['CALL', 'DELEGATECALL', 'CALLCODE'] as const).map((kind) => [
      `reached from there by ${kind}`,
      calling('STATICCALL', ending(kind === 'CALL' ? 'f1' : kind === 'DELEGATECALL' ? 'f4' : 'f2')),
    ]),
  ),
}

export const STATIC: readonly Scenario[] = pairs(Object.entries(PATHS), Object.entries(FORBIDDEN)).map(
  ([[path, call], [name, code]]) =>
    contract(`one who ${name}, ${path}`, `${call} ${keep(0)} RETURNDATASIZE ${keep(1)} GAS ${keep(2)}`, {
      accounts: {
        [OTHER]: { balance: 5n, code: `${code} 32 0 RETURN` },
        [ending('f1')]: { code: `${calling('CALL', OTHER, { gas: '50000' })} 0 MSTORE 32 0 RETURN` },
        [ending('f2')]: { code: `${calling('CALLCODE', OTHER, { gas: '50000' })} 0 MSTORE 32 0 RETURN` },
        [ending('f4')]: { code: `${calling('DELEGATECALL', OTHER, { gas: '50000' })} 0 MSTORE 32 0 RETURN` },
      },
      transaction: { gasLimit: 300_000n },
    }),
)
