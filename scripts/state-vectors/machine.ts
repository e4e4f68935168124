/** Scenarios of single opcodes: arithmetic, memory, stack, jumps, environment. */

import { COINBASE, CONTRACT, type Given, NOBODY, OTHER, SENDER } from '../../test/support/execution.ts'
import { PETERSBURG } from '../../test/support/petersburg-rules.ts'
import { calling, contract, ending, keep, pairs, type Scenario } from './scenario.ts'

const WORDS = [
  '0',
  '1',
  '2',
  '31',
  '255',
  '256',
  '0x80',
  `0x80${'00'.repeat(31)}`,
  `0x${'ff'.repeat(32)}`,
  `0x7f${'ff'.repeat(31)}`,
]
const FEW = ['0', '1', '3', `0x${'ff'.repeat(32)}`]
const UNARY = ['ISZERO', 'NOT']
const BINARY =
  'ADD MUL SUB DIV SDIV MOD SMOD EXP SIGNEXTEND LT GT SLT SGT EQ AND OR XOR BYTE SHL SHR SAR'.split(' ')
const TERNARY = ['ADDMOD', 'MULMOD']

/** Folds the results into one hash, which it stores. The shift brings bits beyond the 256th into sight, which memory would cut. */
function folding(programs: readonly string[]): string {
  return `${programs.map((program) => `${program} DUP1 1 SHR XOR 0 MSTORE 64 0 SHA3 32 MSTORE`).join(' ')} 32 MLOAD ${keep(0)}`
}

export const ARITHMETIC: readonly Scenario[] = [
  ...UNARY.map((op) => contract(op, folding(WORDS.map((word) => `${word} ${op}`)))),
  ...BINARY.map((op) => contract(op, folding(pairs(WORDS, WORDS).map(([a, b]) => `${a} ${b} ${op}`)))),
  ...TERNARY.map((op) =>
    contract(op, folding(pairs(FEW, pairs(FEW, FEW)).map(([a, [b, c]]) => `${a} ${b} ${c} ${op}`))),
  ),
].map((scenario) => ({ ...scenario, transaction: { gasLimit: 400_000n } }))

const OFFSETS = [
  '0',
  '1',
  '31',
  '32',
  '700',
  '23000',
  '0x100000',
  '0xffffffff',
  `0x1${'00'.repeat(8)}`,
  `0x${'ff'.repeat(32)}`,
]

/** Opcodes that open memory; `?` is the offset. */
const OPENERS: Readonly<Record<string, string>> = {
  MSTORE: '7 ? MSTORE',
  MSTORE8: '7 ? MSTORE8',
  MLOAD: `? MLOAD ${keep(0)}`,
  SHA3: `33 ? SHA3 ${keep(0)}`,
  CALLDATACOPY: '33 0 ? CALLDATACOPY',
  CODECOPY: '33 0 ? CODECOPY',
  EXTCODECOPY: '33 0 ? ADDRESS EXTCODECOPY',
  LOG: '33 ? LOG0',
  'CALL, in': `0 0 33 ? 0 4 50000 CALL ${keep(0)} RETURNDATASIZE ${keep(1)}`,
  'CALL, out': `33 ? 0 0 0 4 50000 CALL ${keep(0)}`,
  CREATE: `33 ? 0 CREATE ${keep(0)}`,
  RETURN: '33 ? RETURN',
  REVERT: '33 ? REVERT',
}

function memory(): Scenario[] {
  return pairs(Object.entries(OPENERS), OFFSETS).flatMap(([[name, code], offset]) => {
    const full = `${code.replace('?', offset)} MSIZE ${keep(2)} GAS ${keep(3)}`
    const made = contract(`${name} at ${offset}`, full)
    // No length, no memory, wherever it is.
    return code.includes('33 ?') && offset.length > 8
      ? [made, contract(`${name} of nothing at ${offset}`, full.replace('33', '0'))]
      : [made]
  })
}

export const MEMORY: readonly Scenario[] = [
  ...memory(),
  ...['0', '1', '32', '33'].map((length) =>
    contract(
      `RETURNDATACOPY of ${length} bytes of 32`,
      `0x77 0 MSTORE 32 32 32 0 0 4 50000 CALL POP ${length} 0 200 RETURNDATACOPY 200 MLOAD ${keep(0)}`,
    ),
  ),
  contract('RETURNDATACOPY of nothing from far away', `0 0 NOT 0 RETURNDATACOPY 1 ${keep(0)}`),
  contract(
    'copies past the ends',
    `64 3 0 CALLDATACOPY 0 MLOAD ${keep(0)} 64 10 32 CODECOPY 32 MLOAD ${keep(1)} 40 0 NOT 64 CALLDATACOPY 64 MLOAD ${keep(2)}`,
    {
      transaction: { data: Uint8Array.from({ length: 40 }, (_, i) => i + 1) },
    },
  ),
].map((scenario) => ({ ...scenario, transaction: { gasLimit: 300_000n, ...scenario.transaction } }))

/** Tries each code in a frame of its own and keeps whether it went well and what gas it took. */
function trials(name: string, codes: readonly Uint8Array[]): Scenario {
  const accounts: Record<string, Given> = {}
  const calls = codes.map((code, i) => {
    const at = ending((0x7000 + i).toString(16))
    accounts[at] = { code }
    return `GAS ${calling('CALL', at, { gas: '40000' })} GAS 2 MUL ADD XOR ${keep(i)}`
  })
  return contract(name, calls.join(' '), { accounts, transaction: { gasLimit: 3_000_000n } })
}

function groups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  )
}

function stack(): Scenario[] {
  const all = Array.from({ length: 256 }, (_, op) => op)
  const pushes = (count: number) => Array.from({ length: count }, () => [0x60, 0x01]).flat()
  const popsOf = (op: number) => PETERSBURG.opcodes[op]?.pops ?? 0
  const withOperands = all.filter((op) => popsOf(op) > 0)
  const absent = all.filter((op) => PETERSBURG.opcodes[op] === undefined)
  const growing = [0x30, 0x34, 0x3d, 0x58, 0x59, 0x5a, 0x60, 0x7f, 0x80, 0x8f]
  const filled = [0x61, 0x03, 0xfd, 0x5b, 0x80, 0x60, 0x01, 0x90, 0x03, 0x80, 0x60, 0x03, 0x57]
  return [
    ...groups(withOperands, 16).map((ops, i) =>
      trials(
        `one word too few, group ${i}`,
        ops.map((op) => Uint8Array.of(...pushes(popsOf(op) - 1), op)),
      ),
    ),
    ...groups(absent, 16).map((ops, i) =>
      trials(
        `no such opcode, group ${i}`,
        ops.map((op) => Uint8Array.of(...pushes(8), op)),
      ),
    ),
    // The loop leaves 1022 words: two more fit, three do not.
    ...[1, 2, 3].map((times) =>
      trials(
        `${times} more words on a full stack`,
        growing.map((op) => Uint8Array.of(...filled, ...new Array<number>(times).fill(op))),
      ),
    ),
    trials('DUP and SWAP', [
      ...Array.from({ length: 16 }, (_, i) => Uint8Array.of(0x60, 9, ...pushes(i), 0x80 + i, 0x60, 0, 0x55)),
      ...Array.from({ length: 16 }, (_, i) =>
        Uint8Array.of(0x60, 9, ...pushes(i + 1), 0x90 + i, 0x60, 0, 0x55),
      ),
    ]),
    trials(
      'PUSH cut off by the end',
      Array.from({ length: 32 }, (_, i) => Uint8Array.of(0x60 + i, 1)),
    ),
  ]
}

export const STACK: readonly Scenario[] = stack()

const TARGETS: Readonly<Record<string, string>> = {
  'a JUMPDEST': '@there',
  'the byte after': '@there 1 ADD',
  'the operand of a push': '@there 3 ADD',
  'the start': '0',
  'beyond the end': '500',
  'the end': 'CODESIZE',
  'a JUMPDEST and 2^32': `@there 0x100000000 ADD`,
  'a JUMPDEST and 2^64': `@there 0x1${'00'.repeat(8)} ADD`,
  'the last word': '0 NOT',
}

export const JUMPS: readonly Scenario[] = [
  ...Object.entries(TARGETS).flatMap(([name, target]) => [
    contract(`JUMP to ${name}`, `CALLER ${target} JUMP #fe there: PC 0x5b ${keep(0)} ${keep(1)}`),
    ...['0', '1', '0 NOT'].map((condition) =>
      contract(
        `JUMPI to ${name} if ${condition}`,
        `CALLER ${condition} ${target} JUMPI 7 ${keep(2)} there: PC 0x5b ${keep(0)} ${keep(1)}`,
      ),
    ),
  ]),
  contract('a loop of a thousand', `1000 again: 1 SWAP1 SUB DUP1 @again JUMPI GAS ${keep(0)}`),
  contract('a loop without end', 'again: @again JUMP'),
].map((scenario) => ({ ...scenario, transaction: { gasLimit: 150_000n } }))

const OWN =
  'ADDRESS ORIGIN CALLER CALLVALUE CALLDATASIZE CODESIZE GASPRICE COINBASE TIMESTAMP NUMBER DIFFICULTY GASLIMIT RETURNDATASIZE PC MSIZE GAS'.split(
    ' ',
  )

export const ENVIRONMENT_OPCODES: readonly Scenario[] = [
  ...['CALL', 'DELEGATECALL', 'CALLCODE'].map((kind) =>
    contract(
      `what one sees by ${kind}`,
      `${calling(kind as 'CALL', ending('c1'), { length: 5 })} 99 SSTORE`,
      {
        accounts: { [ending('c1')]: { balance: 3n, code: OWN.map((op, i) => `${op} ${keep(i)}`).join(' ') } },
      },
    ),
  ),
  ...Object.entries({
    itself: CONTRACT,
    'a contract': OTHER,
    'an account': SENDER,
    nobody: NOBODY,
    'an empty account': ending('e0'),
    'a precompile': ending('1'),
    'the coinbase': COINBASE,
  }).map(([name, at]) =>
    contract(
      `what is seen of ${name}`,
      `${at} BALANCE ${keep(0)} ${at} EXTCODESIZE ${keep(1)} ${at} EXTCODEHASH ${keep(2)} 40 2 1 ${at} EXTCODECOPY 0 MLOAD ${keep(3)} ${at} 0xff${'00'.repeat(20)} OR BALANCE ${keep(4)}`,
      {
        accounts: { [OTHER]: { balance: 8n, code: `0x${'ab'.repeat(32)} POP` }, [ending('e0')]: {} },
      },
    ),
  ),
  ...['0', '743', '744', '745', '998', '999', '1000', '1001', '0x10000000000000000', '0 NOT'].map((height) =>
    contract(`hash of block ${height}`, `${height} BLOCKHASH ${keep(0)}`),
  ),
  ...['0', '1', '8', '9', '40', '0x100000000', '0 NOT'].map((at) =>
    contract(`call data at ${at}`, `${at} CALLDATALOAD ${keep(0)}`, {
      transaction: { data: Uint8Array.from({ length: 40 }, (_, i) => 255 - i) },
    }),
  ),
].map((scenario) => ({
  ...scenario,
  transaction: { gasLimit: 600_000n, value: 2n, ...scenario.transaction },
}))
