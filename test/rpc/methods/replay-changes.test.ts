/** Mined transactions run again at their places with changes: overrides and another input. Words follow from the code. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { returning, word } from '../../support/override-cases.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Adds the first word of the call data to slot 0, and returns the sum. */
const ADDER = '0 CALLDATALOAD 0 SLOAD ADD DUP1 0 SSTORE 0 MSTORE 32 0 RETURN'

let node: Node
const ask = <T = never>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
const send = (fields: object) =>
  ask<Hex>('eth_sendTransaction', { from: A, gas: '0x186a0', gasPrice: '0x1', ...fields })

let adder: Hex
/** The second of three transactions of a block, which add 1, 2 and 4. */
let second: Hex
let remasc: Hex
let block: Hex

beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  const deployment = await send({ data: toHex(deployer(assemble(ADDER))), gas: '0x7a120' })
  await ask('evm_mine')
  adder = (await ask<{ contractAddress: Hex }>('eth_getTransactionReceipt', deployment)).contractAddress
  await send({ to: adder, data: word(1) })
  second = await send({ to: adder, data: word(2) })
  await send({ to: adder, data: word(4) })
  await ask('evm_mine')
  const mined = await ask<{ number: Hex; transactions: Hex[] }>('eth_getBlockByNumber', 'latest', false)
  block = mined.number
  remasc = mined.transactions[3] as Hex
  await ask('evm_mine')
})
afterAll(() => node.close())

interface Changes {
  readonly stateOverrides?: object | null
  readonly blockOverrides?: object | null
  readonly input?: string | null
}

/** The output of a transaction that is run again. */
interface Replayer {
  readonly method: string
  output(hash: Hex, changes: Changes): Promise<string>
}
const trailing = ({ stateOverrides = null, blockOverrides = null, input = null }: Changes) => [
  stateOverrides,
  blockOverrides,
  input,
]
const REPLAYERS: readonly Replayer[] = [
  {
    method: 'debug_traceTransaction callTracer',
    output: async (hash, changes) =>
      (await ask<{ output: string }>('debug_traceTransaction', hash, { tracer: 'callTracer', ...changes }))
        .output,
  },
  {
    method: 'debug_traceTransaction',
    output: async (hash, changes) =>
      `0x${(await ask<{ result: string }>('debug_traceTransaction', hash, changes)).result}`,
  },
  {
    method: 'trace_replayTransaction',
    output: async (hash, changes) =>
      (await ask<{ output: string }>('trace_replayTransaction', hash, ['trace'], ...trailing(changes)))
        .output,
  },
  {
    method: 'ots_traceTransaction',
    output: async (hash, changes) =>
      (await ask<{ output: string }[]>('ots_traceTransaction', hash, ...trailing(changes)))[0]?.output ?? '',
  },
]

describe.each(REPLAYERS)('$method', ({ output }) => {
  it('replays a transaction without changes as it ran, before and after a replay with changes', async () => {
    for (const changes of [{}, { stateOverrides: {}, blockOverrides: null, input: null }]) {
      expect(await output(second, changes)).toBe(word(3))
      expect(await output(second, { input: word(7) })).toBe(word(8))
    }
    expect(await output(second, {})).toBe(word(3))
  })

  it('replays it after the transactions before it, with other code, storage, input or block', async () => {
    const code = (opcodes: string) => ({ [adder]: { code: returning(opcodes) } })
    // SLOAD of slot 0: what the first transaction left.
    expect(await output(second, { stateOverrides: code('5f54') })).toBe(word(1))
    const stateDiff = { [word(0)]: word(0x10) }
    expect(await output(second, { stateOverrides: { [adder]: { stateDiff } } })).toBe(word(0x12))
    expect(await output(second, { stateOverrides: { [adder]: { state: {} } } })).toBe(word(2))
    expect(await output(second, { input: word(0x20) })).toBe(word(0x21))
    const blockOverrides = { number: '0x64', time: '0x5' }
    expect(await output(second, { stateOverrides: code('434201'), blockOverrides })).toBe(word(105))
    expect(
      await output(second, { stateOverrides: { [adder]: { stateDiff } }, input: word(0x20), blockOverrides }),
    ).toBe(word(0x30))
  })
})

describe('changes of a replay', () => {
  const trace = (hash: Hex, changes: object) =>
    ask('debug_traceTransaction', hash, { tracer: 'callTracer', ...changes })

  it('are part of the starting point of state differences', async () => {
    const changed = await ask<{ stateDiff: Record<string, { storage: object }> }>(
      'trace_replayTransaction',
      second,
      ['stateDiff'],
      { [adder]: { stateDiff: { '0x0': '0x10' } } },
      null,
      word(0x20),
    )
    expect(changed.stateDiff[adder]?.storage).toEqual({
      [word(0)]: { '*': { from: word(0x10), to: word(0x30) } },
    })
  })

  it('are refused when the transaction can no longer be in the block', async () => {
    await expect(trace(second, { stateOverrides: { [A]: { balance: '0x0' } } })).rejects.toMatchObject({
      code: -32010,
      message: 'balance 0 does not cover 100000',
    })
    await expect(trace(second, { stateOverrides: { [A]: { nonce: '0x0' } } })).rejects.toMatchObject({
      code: -32010,
    })
    await expect(trace(second, { input: `0x${'ff'.repeat(10_000)}` })).rejects.toMatchObject({
      code: -32010,
      message: 'gas limit 100000 is below the intrinsic gas 181000',
    })
  })

  it('are refused with the path of the member', async () => {
    for (const [changes, message] of [
      [
        { stateOverrides: { [A]: { balance: 'zz' } } },
        `Invalid options.stateOverrides.${A}.balance: expected a hex number with 0x, within range.`,
      ],
      [
        { stateOverrides: { [A]: { state: {}, stateDiff: {} } } },
        `options.stateOverrides.${A}.state and options.stateOverrides.${A}.stateDiff cannot be set at the same time`,
      ],
      [
        { blockOverrides: { time: 'zz' } },
        'Invalid options.blockOverrides.time: expected a whole number from 0 to 8640000000000.',
      ],
      [{ input: 'zz' }, 'Invalid options.input: expected hex text.'],
    ] as const) {
      await expect(trace(second, changes)).rejects.toMatchObject({
        code: -32602,
        message,
      })
    }
  })

  it('are limited to state overrides for the REMASC transaction', async () => {
    for (const changes of [{ input: '0x' }, { blockOverrides: { time: 5 } }]) {
      await expect(trace(remasc, changes)).rejects.toMatchObject({
        code: -32602,
        message: `options.${Object.keys(changes)[0]}: the REMASC transaction takes none`,
      })
    }
    const stateOverrides = { [B]: { balance: '0x1' } }
    await expect(trace(remasc, { stateOverrides })).resolves.toMatchObject({ type: 'CALL' })
  })

  it('do not make unknown transactions known or closed overrides open', async () => {
    const unknown = `0x${'9'.repeat(64)}`
    expect(await ask('trace_replayTransaction', unknown, [], { [A]: { balance: '0x1' } })).toBeNull()
    const closed = await createNode({ stateOverride: false })
    const hash = await closed.request({ method: 'eth_sendTransaction', params: [{ from: A, to: B }] })
    const changed = (changes: object) =>
      closed.request({
        method: 'debug_traceTransaction',
        params: [hash, { tracer: 'callTracer', ...changes }],
      })
    await expect(changed({ stateOverrides: { [A]: { nonce: '0x0' } } })).rejects.toMatchObject({
      code: -32602,
      message: 'State override is not allowed',
    })
    await expect(changed({ input: '0x' })).resolves.toBeDefined()
    await closed.close()
  })
})

describe('a position among the transactions of a block', () => {
  it.each([
    ['0x0', 0],
    ['0x1', 1],
    [2, 3],
    ['3', 7],
  ])('debug_traceCall with txIndex %s sees %i', async (txIndex, sum) => {
    const stateOverrides = { [adder]: { code: returning('5f54') } }
    const options = { tracer: 'callTracer', stateOverrides, txIndex }
    expect(await ask('debug_traceCall', { to: adder }, block, options)).toMatchObject({ output: word(sum) })
    const bundles = [{ transactions: [{ to: adder }] }]
    const context = { blockNumber: block, transactionIndex: Number(txIndex) }
    expect(await ask('eth_callMany', bundles, context, stateOverrides)).toEqual([[{ value: word(sum) }]])
  })

  it('is the end of the block by default', async () => {
    const stateOverrides = { [adder]: { code: returning('5f54') } }
    const options = { tracer: 'callTracer', stateOverrides, txIndex: null }
    expect(await ask('debug_traceCall', { to: adder }, block, options)).toMatchObject({ output: word(7) })
  })
})
