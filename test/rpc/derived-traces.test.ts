/**
 * Gas, failures and numbers of steps of the trace cases, derived by hand from the assembly and the gas schedule
 * (docs/internals/protocol.md). Inputs, outputs and values are compared with Anvil's in anvil-traces.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { play, type Stage, TRACE_CASES } from '../support/trace-cases.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

/** Intrinsic gas of a transaction without data. */
const TRANSACTION = 21_000
/** PUSH, DUP, MSTORE without expansion and the like; MSTORE with the first word of memory. */
const LOW = 3
const MSTORE = LOW + 3
const CALL = 700
const VALUE = 9000
const STIPEND = 2300
const NEW_ACCOUNT = 25_000
const CREATE = 32_000
const INIT_WORD = 2 // a word of init code (EIP-3860)
const HASH_WORD = 6
const DEPOSIT_BYTE = 200
const SET = 20_000
const RESET = 5000
/** 375 and 375 for its topic, 8 for each of 32 bytes. */
const LOG1 = 375 + 375 + 8 * 32
/** `LOG` of the trace cases: six operands; its MSTORE opens the first word of memory, or finds it open. */
const FIRST_LOG = 5 * LOW + MSTORE + LOG1
const LATER_LOG = 5 * LOW + LOW + LOG1
/** Operands of `call`: seven words. */
const OPERANDS = 7 * LOW
/** `initcode`: PUSH, PUSH1, SHL, PUSH1, MSTORE. */
const INITCODE = 4 * LOW + MSTORE
/** Init code that deploys one byte: four PUSH1, MSTORE, RETURN. */
const DEPLOY_ONE = 4 * LOW + MSTORE + DEPOSIT_BYTE
const LIMIT = 400_000

/** A row of `trace_transaction`: gas given, then gas used or the error. */
type Row = readonly [
  path: string,
  kind: string,
  gas: number | undefined,
  outcome: number | string | undefined,
]

interface Derived {
  readonly rows: readonly Row[]
  readonly steps: number
  /** Steps of creations by a contract, which the default tracer leaves out. */
  readonly hidden?: number
}

const program = (name: string, message: string) =>
  `org.ethereum.vm.program.Program$${name}Exception: ${message}`
/** `given` to the frame, of which `available` is left. */
const notEnough = (name: string, required: number, available: number, given: number) =>
  program(
    'OutOfGas',
    `Not enough gas for '${name}' cause spending: invokeGas[${given}], gas[${required}], usedGas[${given - available}], tx[T]`,
  )

const LIBRARY = 2 + LOW + FIRST_LOG + 2 * LOW
const DELEGATED = 6 * LOW + CALL + LIBRARY + SET
/** `REVERT_NO`: 14 operations on the stack and four MSTORE; three of them open a word of memory. */
const REVERT_NO = 14 * LOW + LOW + 3 * MSTORE
/** A jump back: JUMPDEST, PUSH1, POP, PUSH2, JUMP. */
const ROUND = 1 + LOW + 2 + LOW + 8

const DERIVED: Readonly<Record<string, Derived>> = {
  create: {
    rows: [
      ['', 'call', LIMIT, TRANSACTION + INITCODE + 3 * LOW + CREATE + INIT_WORD + DEPLOY_ONE],
      ['0', 'create', LIMIT - TRANSACTION - INITCODE - 3 * LOW - CREATE - INIT_WORD, DEPLOY_ONE],
    ],
    steps: 10 + 6,
    hidden: 6,
  },
  create2: {
    rows: [
      ['', 'call', LIMIT, TRANSACTION + INITCODE + 4 * LOW + CREATE + INIT_WORD + HASH_WORD + DEPLOY_ONE],
      ['0', 'create2', LIMIT - TRANSACTION - INITCODE - 4 * LOW - CREATE - INIT_WORD - HASH_WORD, DEPLOY_ONE],
    ],
    steps: 11 + 6,
    hidden: 6,
  },
  'failed-creation': {
    // The creation that reverts after two PUSH1 is not listed; the call after it is the first child.
    rows: [
      [
        '',
        'call',
        LIMIT,
        TRANSACTION + INITCODE + 3 * LOW + CREATE + INIT_WORD + 2 * LOW + 2 + OPERANDS + CALL + FIRST_LOG,
      ],
      ['0', 'call', 100_000, FIRST_LOG],
    ],
    steps: 9 + 3 + 1 + 8 + 8 + 1,
    hidden: 3,
  },
  'nested-revert': {
    rows: [
      [
        '',
        'call',
        LIMIT,
        // Four bytes of data; the inner frames return the gas that they did not use.
        TRANSACTION +
          4 * 16 +
          FIRST_LOG +
          OPERANDS +
          CALL +
          // middle: its log, the call of inner, RETURNDATACOPY of 100 bytes to three new words of memory, REVERT
          (FIRST_LOG +
            OPERANDS +
            CALL +
            (FIRST_LOG + REVERT_NO) +
            2 +
            2 * LOW +
            LOW +
            4 * LOW +
            9 +
            2 +
            LOW) +
          LATER_LOG,
      ],
      ['0', 'call', 200_000, 'Reverted'],
      ['0 0', 'call', 100_000, 'Reverted'],
    ],
    steps: 7 + 8 + 7 + 1 + (7 + 8 + 7) + (7 + 19),
  },
  delegatecall: {
    rows: [
      [
        '',
        'call',
        LIMIT,
        // The stipend that the callee leaves is not given back.
        TRANSACTION + DELEGATED + OPERANDS + CALL + VALUE + LIBRARY + RESET,
      ],
      ['0', 'delegatecall', 100_000, LIBRARY + SET],
      ['1', 'callcode', 100_000 + STIPEND, LIBRARY + RESET],
    ],
    steps: 7 + 8 + 1 + 2 * (3 + 7 + 3),
  },
  'static-violation': {
    rows: [
      ['', 'call', LIMIT, TRANSACTION + 6 * LOW + CALL + OPERANDS + CALL + 50_000],
      ['0', 'staticcall', 100_000, OPERANDS + CALL + 50_000],
      [
        '0 0',
        'call',
        50_000,
        program(
          'StaticCallModification',
          'Attempt to call a state modifying opcode inside STATICCALL: tx[T]',
        ),
      ],
    ],
    steps: 8 + 9 + 3,
  },
  'self-destruct': {
    rows: [
      // 24,000 are refunded, but at most half of the gas used.
      ['', 'call', LIMIT, Math.ceil((TRANSACTION + OPERANDS + CALL + VALUE + 2 + 5000) / 2)],
      ['0', 'call', 100_000 + STIPEND, 2 + 5000],
      ['0 0', 'suicide', undefined, undefined],
    ],
    steps: 9 + 2,
  },
  'out-of-gas': {
    rows: [
      ['', 'call', LIMIT, TRANSACTION + OPERANDS + CALL + 5000 + LOW + MSTORE],
      ['0', 'call', 5000, notEnough('SSTORE', SET, 5000 - 2 * LOW, 5000)],
    ],
    steps: 11 + 3,
  },
  'out-of-gas-at-the-top': {
    // 9,000 gas are 529 rounds and 7 gas: JUMPDEST, PUSH1 and POP leave 1.
    rows: [['', 'call', 30_000, `class ${notEnough('PUSH2', 3, 9000 - 529 * ROUND - 6, 30_000)}`]],
    steps: 529 * 5 + 4,
  },
  exceptions: {
    rows: [
      ['', 'call', 600_000, TRANSACTION + 4 * (OPERANDS + CALL + 100_000)],
      ['0', 'call', 100_000, program('IllegalOperation', 'Invalid operation code: opcode[fe], tx[T]')],
      [
        '1',
        'call',
        100_000,
        program('BadJumpDestination', "Operation with pc isn't 'JUMPDEST': PC[3], tx[T]"),
      ],
      ['2', 'call', 100_000, program('StackTooSmall', 'Expected stack size 2 but actual 0, tx: T')],
      [
        '3',
        'call',
        100_000,
        `java.lang.RuntimeException: Illegal RETURNDATACOPY arguments: offset (${'0'.repeat(64)}) + size (${'0'.repeat(63)}1) > RETURNDATASIZE (0)`,
      ],
    ],
    steps: 4 * 8 + 1 + 1 + 2 + 1 + 4,
  },
  native: {
    rows: [
      [
        '',
        'call',
        LIMIT,
        // identity: 15 and 3 per word; SHA-256: 60 and 12 per word; REMASC costs nothing
        TRANSACTION +
          2 * LOW +
          MSTORE +
          (OPERANDS + CALL + 15 + 3) +
          (6 * LOW + CALL + 60 + 12) +
          (6 * LOW + CALL + 10) +
          (OPERANDS + CALL),
      ],
      ['0', 'call', 10_000, 15 + 3],
      ['1', 'staticcall', 10_000, 60 + 12],
      [
        '2',
        'staticcall',
        10,
        program(
          'OutOfGas',
          "Not enough gas for 'precompiled contract' cause spending: invokeGas[10], gas[10], usedGas[10], tx[T]",
        ),
      ],
      [
        '3',
        'call',
        10_000,
        expect.stringMatching(/^org\.ethereum\.vm\.exception\.VMException: .*, tx\[T\]$/),
      ],
    ],
    steps: 3 + 8 + 7 + 7 + 8 + 1,
  },
  'too-little-balance': {
    // Neither the call nor the creation is made, so neither is listed; both are paid. CALLER costs 2.
    rows: [['', 'call', LIMIT, TRANSACTION + OPERANDS - 1 + CALL + VALUE + 3 * LOW + CREATE]],
    steps: 8 + 5,
  },
  'empty-account': {
    rows: [
      ['', 'call', LIMIT, TRANSACTION + OPERANDS + CALL + VALUE + NEW_ACCOUNT],
      ['0', 'call', 30_000 + STIPEND, 0],
    ],
    steps: 9,
  },
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params }) as Promise<never>
beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
})
afterAll(() => node.close())

const stage: Stage = {
  async send(transaction) {
    const hash = (await call('eth_sendTransaction', { from: A, gasPrice: '0x0', ...transaction })) as Hex
    const { contractAddress } = (await call('eth_getTransactionReceipt', hash)) as {
      contractAddress: Hex | null
    }
    return { hash, contractAddress }
  },
}

interface WireRow {
  readonly action: { readonly gas?: Hex; readonly callType?: string; readonly creationMethod?: string }
  readonly type: string
  readonly traceAddress: readonly number[]
  readonly result: { readonly gasUsed: Hex } | null
  readonly error?: string
}

const numberOf = (quantity: Hex | undefined) => (quantity === undefined ? undefined : Number(quantity))

async function trace(name: string) {
  const situation = TRACE_CASES.find((candidate) => candidate.name === name)
  if (situation === undefined) throw new Error(`there is no case ${name}`)
  const snapshot = await call('evm_snapshot')
  const { hash } = await play(situation, stage)
  const rows = (await call('trace_transaction', hash)) as WireRow[]
  const node = (await call('debug_traceTransaction', hash)) as {
    readonly structLogs: readonly Record<string, unknown>[]
    readonly error: string
  }
  const all = (await call('debug_traceTransaction', hash, { tracer: 'structLogger' })) as {
    readonly structLogs: readonly Record<string, unknown>[]
  }
  const tracerConfig = { withLog: true }
  const frame = (await call('debug_traceTransaction', hash, { tracer: 'callTracer', tracerConfig })) as object
  await call('evm_revert', snapshot)
  const short = (text: string | undefined) => text?.replace(hash, 'T')
  return {
    rows: rows.map(({ action, type, traceAddress, result, error }): Row => {
      const kind = action.callType ?? action.creationMethod ?? type
      return [traceAddress.join(' '), kind, numberOf(action.gas), short(error) ?? numberOf(result?.gasUsed)]
    }),
    steps: all.structLogs,
    listed: node.structLogs,
    error: short(node.error),
    frame,
  }
}

describe('traces derived by hand', () => {
  it('exist for every case', () => {
    expect(Object.keys(DERIVED).concat('depth-limit').sort()).toEqual(
      TRACE_CASES.map(({ name }) => name).sort(),
    )
  })

  it.each(Object.keys(DERIVED))('%s', async (name) => {
    const { rows, steps, hidden = 0 } = DERIVED[name] as Derived
    const found = await trace(name)
    expect(found.rows).toEqual(rows)
    expect(found.steps).toHaveLength(steps)
    expect(found.listed).toHaveLength(steps - hidden)
    const outcome = rows[0]?.[3]
    expect(found.error).toBe(typeof outcome === 'string' ? outcome : '')
  })

  it('depth-limit: 401 frames, each of which passes on all its remaining gas', async () => {
    const { rows, steps, listed } = await trace('depth-limit')
    // Five PUSH1; ADDRESS and GAS cost 2 each.
    const frame = 5 * LOW + 2 + 2 + CALL
    expect(rows).toHaveLength(401)
    expect(steps).toHaveLength(401 * 9)
    expect(listed).toHaveLength(401 * 9)
    for (const [depth, [path, , gas, gasUsed]] of rows.entries()) {
      expect(path.split(' ').filter(Boolean)).toHaveLength(depth)
      const below = (401 - depth) * frame
      const expected: unknown[] =
        depth === 0 ? [3_000_000, TRANSACTION + below] : [3_000_000 - TRANSACTION - depth * frame, below]
      expect([gas, gasUsed]).toEqual(expected)
    }
  })

  it('create: every step', async () => {
    const { steps, listed } = await trace('create')
    const start = LIMIT - TRANSACTION
    const init = start - INITCODE - 3 * LOW - CREATE - INIT_WORD
    const rowOf = ({ depth, pc, op, gas, gasCost }: Record<string, unknown>) => [depth, pc, op, gas, gasCost]
    const rows: readonly (readonly [depth: number, pc: number, op: string, gas: number, cost: number])[] = [
      [0, 0, 'PUSH10', start, 3],
      [0, 11, 'PUSH1', start - 3, 3],
      [0, 13, 'SHL', start - 6, 3],
      [0, 14, 'PUSH1', start - 9, 3],
      [0, 16, 'MSTORE', start - 12, 6],
      [0, 17, 'PUSH1', start - 18, 3],
      [0, 19, 'PUSH1', start - 21, 3],
      [0, 21, 'PUSH1', start - 24, 3],
      [0, 23, 'CREATE', start - 27, CREATE + INIT_WORD],
      [1, 0, 'PUSH1', init, 3],
      [1, 2, 'PUSH1', init - 3, 3],
      [1, 4, 'MSTORE', init - 6, 6],
      [1, 5, 'PUSH1', init - 12, 3],
      [1, 7, 'PUSH1', init - 15, 3],
      [1, 9, 'RETURN', init - 18, 0],
      [0, 24, 'STOP', init - DEPLOY_ONE, 0],
    ]
    // Depths count from 1 in geth's shape.
    expect(steps.map(rowOf)).toEqual(rows.map(([depth, ...rest]) => [depth + 1, ...rest]))
    expect(listed.map(rowOf)).toEqual(rows.filter(([depth]) => depth === 0))
  })

  it('nested-revert: only the logs of the successful frame, each with its position', async () => {
    const { frame } = await trace('nested-revert')
    expect(frame).toMatchObject({
      logs: [
        { index: 0, position: '0x0' },
        { index: 1, position: '0x1' },
      ],
      calls: [{ error: 'execution reverted', revertReason: 'no', calls: [{ revertReason: 'no' }] }],
    })
    expect((frame as { calls: object[] }).calls[0]).not.toHaveProperty('logs')
  })

  it('too-little-balance: both attempts are frames of callTracer', async () => {
    const { frame } = await trace('too-little-balance')
    const refused = { gasUsed: '0x0', error: 'insufficient balance for transfer', value: '0x9' }
    expect(frame).toMatchObject({
      calls: [
        { type: 'CALL', ...refused },
        { type: 'CREATE', ...refused },
      ],
    })
  })

  it('depth-limit: the call that is too deep is a frame of callTracer', async () => {
    const { frame } = await trace('depth-limit')
    let deepest = frame as { calls?: { error?: string }[]; error?: string }
    let depth = 0
    for (; deepest.calls?.[0] !== undefined; depth++) deepest = deepest.calls[0]
    expect({ depth, error: deepest.error }).toEqual({ depth: 401, error: 'max call depth exceeded' })
  })
})
