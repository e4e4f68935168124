/** Simulations with random overrides: as if the values were set for real, and without a trace in the node. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble } from '../../support/assembler.ts'
import { REFUSED_OVERRIDES, word } from '../../support/override-cases.ts'

/** A new one in each run; a failure repeats with it. */
const SEED = Date.now() % 2 ** 31

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const CONTRACTS = [1, 2, 3].map((n) => `0x${`c0de${n}`.padStart(40, '0')}`)
/** An account that is not there, unless an override makes it. */
const MISSING = `0x${'e'.repeat(40)}`
const ACCOUNTS = [...CONTRACTS, MISSING, A]

let node: Node
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
const outcome = (method: string, ...params: unknown[]) =>
  ask(method, ...params).catch(({ code, message, data }) => ({ code, message, data }))

/** Code that takes words from all places that overrides reach, and returns a number made of them. */
const address = fc.constantFrom(...ACCOUNTS)
const small = fc.integer({ min: 0, max: 3 })
const step: fc.Arbitrary<string> = fc.oneof(
  small.map((slot) => `${slot} SLOAD`),
  fc.tuple(small, small).map(([slot, value]) => `${value} ${slot} SSTORE ${slot} SLOAD`),
  address.map((one) => `${one} BALANCE`),
  address.map((one) => `${one} EXTCODESIZE`),
  address.map((one) => `${one} EXTCODEHASH`),
  fc.constant('SELFBALANCE'),
  // The address of a new contract follows from the nonce.
  fc.constant('0 0 0 CREATE'),
  fc
    .tuple(fc.constantFrom('CALL', 'CALLCODE'), address, small)
    .map(([kind, to, value]) => `32 32 0 0 ${value} ${to} 20000 ${kind} 32 MLOAD ADD`),
  fc
    .tuple(fc.constantFrom('STATICCALL', 'DELEGATECALL'), address)
    .map(([kind, to]) => `32 32 0 0 ${to} 20000 ${kind} 32 MLOAD ADD`),
)
const program = fc
  .array(step, { minLength: 1, maxLength: 8 })
  .map((steps) =>
    toHex(assemble(`1 ${steps.map((one) => `${one} ADD 31 MUL`).join(' ')} 0 MSTORE 32 0 RETURN`)),
  )

const storage = fc
  .array(fc.tuple(small, fc.integer({ min: 0, max: 1000 })), { maxLength: 4 })
  .map((cells) => Object.fromEntries(cells.map(([slot, value]) => [word(slot), word(value)])))
const quantity = (most: number) => fc.integer({ min: 1, max: most }).map((value) => `0x${value.toString(16)}`)

interface Override {
  balance?: string
  nonce?: string
  code?: string
  state?: Record<string, string>
  stateDiff?: Record<string, string>
}
const override: fc.Arbitrary<Override> = fc
  .tuple(
    fc.record({ balance: quantity(1e9), nonce: quantity(100), code: program }, { requiredKeys: [] }),
    fc.oneof(
      fc.constant({}),
      storage.map((state) => ({ state })),
      storage.map((stateDiff) => ({ stateDiff })),
    ),
  )
  .map(([members, cells]) => ({ ...members, ...cells }))
const overrides = fc.uniqueArray(fc.tuple(fc.constantFrom(...CONTRACTS, MISSING), override), {
  selector: ([account]) => account,
  minLength: 1,
  maxLength: 3,
})
const call = fc.record({
  from: fc.constantFrom(A, ...CONTRACTS),
  to: fc.constantFrom(...CONTRACTS, MISSING),
  value: quantity(100),
  gas: fc.constant('0x7a120'),
})

async function setCells(account: string, cells: Record<string, string>): Promise<void> {
  for (const [slot, value] of Object.entries(cells)) await ask('hardhat_setStorageAt', account, slot, value)
}

/** Sets for real what an override holds. */
async function setForReal(
  account: string,
  { balance, nonce, code, state, stateDiff }: Override,
): Promise<void> {
  if (balance !== undefined) await ask('hardhat_setBalance', account, balance)
  if (nonce !== undefined) await ask('hardhat_setNonce', account, nonce)
  if (code !== undefined) await ask('hardhat_setCode', account, code)
  if (state !== undefined) for (const slot of [0, 1, 2, 3]) await setCells(account, { [word(slot)]: word(0) })
  await setCells(account, state ?? stateDiff ?? {})
}

beforeAll(async () => {
  node = await createNode({ mining: 'manual', frozenClock: 1_800_000_000 })
  const codes = fc.sample(program, { seed: 1, numRuns: CONTRACTS.length })
  for (const [n, account] of CONTRACTS.entries()) {
    await setForReal(account, { code: codes[n] as string, balance: '0x3e8', nonce: '0x1' })
    await setCells(account, { [word(0)]: word(n + 1), [word(2)]: word(77) })
  }
  await ask('eth_sendTransaction', {
    from: A,
    to: CONTRACTS[0],
    value: '0x1',
    gas: '0x7a120',
    gasPrice: '0x1',
  })
  await ask('evm_mine')
  // One waits in the pool.
  await ask('eth_sendTransaction', { from: A, to: CONTRACTS[1], gas: '0x7a120', gasPrice: '0x1' })
})
afterAll(() => node.close())

describe(`random overrides (seed ${SEED})`, () => {
  it('have the effect of the same values set in the state', async () => {
    await fc.assert(
      fc.asyncProperty(overrides, call, async (given, request) => {
        const state = Object.fromEntries(given)
        const simulated = [
          await outcome('eth_call', request, 'latest', state),
          await outcome('eth_estimateGas', request, 'latest', state),
          await outcome('eth_createAccessList', request, 'latest', state),
          await outcome('trace_call', request, ['trace', 'stateDiff'], 'latest', state),
          await outcome('debug_traceCall', request, 'latest', {
            tracer: 'structLogger',
            stateOverrides: state,
          }),
          await outcome('evm_simulate', { steps: [{ call: request }], stateOverrides: state }),
          await outcome('evm_simulate', { steps: [{ set: state }, { send: request }] }),
          await outcome('tenderly_simulateTransaction', request, 'latest', state),
          await outcome('tenderly_estimateGas', request, 'latest', state),
        ]
        const snapshot = await ask('evm_snapshot')
        for (const [account, members] of given) await setForReal(account, members)
        const real = [
          await outcome('eth_call', request, 'latest'),
          await outcome('eth_estimateGas', request, 'latest'),
          await outcome('eth_createAccessList', request, 'latest'),
          await outcome('trace_call', request, ['trace', 'stateDiff'], 'latest'),
          await outcome('debug_traceCall', request, 'latest', { tracer: 'structLogger' }),
          await outcome('evm_simulate', { steps: [{ call: request }] }),
          await outcome('evm_simulate', { steps: [{ set: {} }, { send: request }] }),
          await outcome('tenderly_simulateTransaction', request, 'latest'),
          await outcome('tenderly_estimateGas', request, 'latest'),
        ]
        expect(await ask('evm_revert', snapshot)).toBe(true)
        expect(simulated).toEqual(real)
      }),
      { seed: SEED, numRuns: 100 },
    )
  }, 120_000)
})

/** All that a simulation could change. */
async function observed() {
  const { queries, dev } = node.engine
  const head = queries.head()
  const state = await queries.state({ tag: 'latest' })
  return {
    head: [head.hash, head.postState, await ask('eth_getBlockByNumber', 'pending', true)],
    pool: [await ask('txpool_content'), queries.pendingNonce(A)],
    modes: dev.modes(),
    dump: dev.dump(true),
    cells: ACCOUNTS.map((account) => [
      state?.account(account as `0x${string}`),
      state?.cells(account as `0x${string}`),
    ]),
    traces: await ask('trace_block', 'latest'),
    replays: await ask('trace_replayBlockTransactions', 'latest', ['trace', 'stateDiff', 'vmTrace']),
    answers: await Promise.all(CONTRACTS.map((to) => outcome('eth_call', { to, from: A }, 'latest'))),
    gas: await Promise.all(CONTRACTS.map((to) => outcome('eth_estimateGas', { to, from: A }))),
  }
}

describe(`a thousand random simulations (seed ${SEED})`, () => {
  it('leave head, state, pool and caches unchanged', async () => {
    const before = await observed()
    const { transactions } = await ask<{ transactions: string[] }>('eth_getBlockByNumber', 'latest', false)
    const raw = await ask('eth_signTransaction', {
      from: A,
      to: CONTRACTS[0],
      nonce: await ask('eth_getTransactionCount', A, 'latest'),
      gas: '0x7a120',
      gasPrice: '0x1',
    })
    const block = fc.record(
      {
        number: quantity(1000),
        time: quantity(1e9),
        gasLimit: fc.constantFrom('0x989680', '0x30d40'),
        coinbase: address,
        prevRandao: quantity(99),
        baseFee: quantity(5),
        blockHash: fc.constant({ 1: `0x${'7'.repeat(64)}` }),
      },
      { requiredKeys: [] },
    )
    const moves = fc.constantFrom(
      {},
      {
        '0x0000000000000000000000000000000001000006': {
          code: '0x00',
          movePrecompileToAddress: `0x${'b'.repeat(40)}`,
        },
      },
      { '0x0000000000000000000000000000000000000004': { movePrecompileToAddress: `0x${'b'.repeat(40)}` } },
      // Refused.
      { '0x0000000000000000000000000000000000000004': { code: '0x00' } },
    )
    const state = fc.oneof(
      {
        arbitrary: fc
          .tuple(overrides, moves)
          .map(([given, moved]) => ({ ...Object.fromEntries(given), ...moved })),
        weight: 9,
      },
      {
        arbitrary: fc.constantFrom(...REFUSED_OVERRIDES.map(({ stateOverrides }) => stateOverrides)),
        weight: 1,
      },
    )
    const at = fc.constantFrom('latest', 'pending', 'earliest', '0x1')
    const hash = fc.constantFrom(...transactions)
    const simulation = fc
      .record({ state, block, call, at, hash, index: fc.constantFrom(0, 1, 2) })
      .chain(({ state: s, block: b, call: c, at: place, hash: h, index }) =>
        fc.constantFrom<[string, ...unknown[]][]>(
          ['eth_call', c, place, s, b],
          ['eth_estimateGas', c, place, s, b],
          ['eth_createAccessList', c, place, s, b],
          [
            'debug_traceCall',
            c,
            place,
            { tracer: 'callTracer', stateOverrides: s, blockOverrides: b, txIndex: index },
          ],
          ['debug_traceCall', c, place, { tracer: 'prestateTracer', stateOverrides: s, blockOverrides: b }],
          ['trace_call', c, ['trace', 'stateDiff'], place, s, b],
          [
            'trace_callMany',
            [
              [c, ['trace']],
              [c, ['stateDiff']],
            ],
            place,
            s,
            b,
          ],
          [
            'eth_callMany',
            [{ transactions: [c, c], blockOverride: b }],
            { blockNumber: place, transactionIndex: index },
            s,
          ],
          [
            'eth_simulateV1',
            { blockStateCalls: [{ calls: [c], stateOverrides: s, blockOverrides: b }] },
            place,
          ],
          [
            'debug_traceTransaction',
            h,
            { tracer: 'callTracer', stateOverrides: s, blockOverrides: b, input: '0x01' },
          ],
          ['debug_traceTransaction', h, { tracer: 'prestateTracer', stateOverrides: s, blockOverrides: b }],
          ['trace_replayTransaction', h, ['trace', 'stateDiff'], s, b],
          ['ots_traceTransaction', h, s, b, '0x02'],
          ['ots_getInternalOperations', h, s, b, '0x02'],
          ['eth_callBundle', { txs: [raw], stateBlockNumber: place, blockNumber: '0x9', stateOverrides: s }],
          [
            'evm_simulate',
            {
              steps: [{ send: c }, { set: s }, { warp: { blocks: 1, seconds: 5 } }, { call: c }, { send: c }],
              stateOverrides: s,
              blockOverrides: b,
            },
            place,
          ],
          ['alchemy_simulateAssetChanges', c],
          ['alchemy_simulateAssetChangesBundle', [c, c]],
          ['alchemy_simulateExecution', c],
          ['alchemy_simulateExecutionBundle', [c, c]],
          ['tenderly_simulateTransaction', c, place, s, b],
          ['tenderly_simulateBundle', [c, c], place, s, b],
          ['tenderly_estimateGas', c, place, s, b],
        ),
      )
    let answered = 0
    await fc.assert(
      fc.asyncProperty(simulation, async ([method, ...params]) => {
        const answer = await outcome(method, ...params)
        if (typeof answer !== 'object' || answer === null || !('code' in answer)) answered++
        // A refusal is one of the known kinds, never an internal error.
        else expect(answer).not.toMatchObject({ code: -32603 })
      }),
      { seed: SEED, numRuns: 1000 },
    )
    expect(answered).toBeGreaterThan(300)
    expect(await observed()).toEqual(before)
  }, 120_000)
})
