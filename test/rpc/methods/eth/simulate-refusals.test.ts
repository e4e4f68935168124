/**
 * What eth_simulateV1 refuses, with the codes of its specification (ethereum/execution-apis, src/eth/execute.yaml) and the
 * words of geth, followed by the path of the member or call.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { word } from '../../../support/override-cases.ts'

const [C0, C1] = [`0xc0${'0'.repeat(37)}1`, `0xc1${'0'.repeat(37)}1`] as const
const SHA256 = '0x0000000000000000000000000000000000000002'
const IDENTITY = '0x0000000000000000000000000000000000000004'
const BLOCK = 'payload.blockStateCalls[0]'
const CALL = `${BLOCK}.calls[0]`

let node: Node
beforeAll(async () => {
  node = await createNode({ mining: 'manual' })
  await node.request({ method: 'evm_mine', params: [2_000_000_000] })
})
afterAll(() => node.close())
const simulate = (payload: object, block: unknown = 'latest') =>
  node.request({ method: 'eth_simulateV1', params: [payload, block] })

describe('eth_simulateV1', () => {
  const funded = { stateOverrides: { [C0]: { balance: '0xffffffffff', nonce: '0xa' } } }
  it.each<[number, string, object, object]>([
    [
      -38010,
      `nonce too low: address ${C0}, tx: 0 state: 10 (${CALL})`,
      { ...funded, calls: [{ from: C0, to: C1, nonce: '0x0' }] },
      { validation: true },
    ],
    [
      -38011,
      `nonce too high: address ${C0}, tx: 100 state: 10 (${CALL})`,
      { ...funded, calls: [{ from: C0, to: C1, nonce: '0x64' }] },
      { validation: true },
    ],
    [
      -38012,
      `max fee per gas less than block base fee: address ${C0}, maxFeePerGas: 0, baseFee: 15 (${CALL}: the base fee is the minimum gas price of the block)`,
      { blockOverrides: { baseFeePerGas: '0xf' }, calls: [{ from: C0, to: C1 }] },
      { validation: true },
    ],
    [
      -32602,
      `gas price 1501 is above 100 times the minimum gas price 15 (${CALL})`,
      {
        blockOverrides: { baseFeePerGas: '0xf' },
        calls: [{ from: C0, to: C1, gasPrice: 1501 }],
      },
      { validation: true },
    ],
    [
      -38013,
      `intrinsic gas too low: have 0, want 21000 (${CALL})`,
      { calls: [{ from: C0, to: C1, gas: '0x0' }] },
      {},
    ],
    [
      -38014,
      `insufficient funds for gas * price + value: address ${C0} have 0 want 1000 (${CALL})`,
      { calls: [{ from: C0, to: C1, value: '0x3e8' }] },
      {},
    ],
    [
      -38015,
      `block gas limit reached: 21001 exceeds the 21000 left (${CALL})`,
      { blockOverrides: { gasLimit: '0x5208' }, calls: [{ from: C0, to: C1, gas: '0x5209' }] },
      {},
    ],
    [
      -38015,
      `block gas limit reached: 21000 exceeds the 20999 left (${BLOCK}.calls[1])`,
      {
        blockOverrides: { gasLimit: '0xa40f' },
        calls: [
          { to: C1, gas: '0x5208' },
          { to: C1, gas: '0x5208' },
        ],
      },
      {},
    ],
    [
      -38020,
      `block numbers must be in order: 1 <= 1 (${BLOCK}.blockOverrides.number)`,
      { blockOverrides: { number: '0x1' } },
      {},
    ],
    [
      -38021,
      `block timestamps must be in order: 2000000000 <= 2000000000 (${BLOCK}.blockOverrides.time)`,
      { blockOverrides: { time: 2_000_000_000 } },
      {},
    ],
    [
      -38022,
      `${BLOCK}.stateOverrides.${SHA256}.movePrecompileToAddress: it is the address itself`,
      { stateOverrides: { [SHA256]: { movePrecompileToAddress: SHA256 } } },
      {},
    ],
    [
      -38023,
      `${BLOCK}.stateOverrides.${SHA256}.movePrecompileToAddress: ${IDENTITY} is moved to ${C1} already`,
      {
        stateOverrides: {
          [IDENTITY]: { movePrecompileToAddress: C1 },
          [SHA256]: { movePrecompileToAddress: C1 },
        },
      },
      {},
    ],
    [
      -32602,
      `${BLOCK}.stateOverrides.${SHA256}.movePrecompileToAddress: ${C1} is overridden itself`,
      { stateOverrides: { [SHA256]: { movePrecompileToAddress: C1 }, [C1]: { nonce: '0x1' } } },
      {},
    ],
    [
      -32602,
      `${BLOCK}.stateOverrides.${C1}.movePrecompileToAddress: ${C1} is not a precompiled contract`,
      { stateOverrides: { [C1]: { movePrecompileToAddress: C1 } } },
      {},
    ],
    [
      -38025,
      `max initcode size exceeded: code size 49153 limit 49152 (${CALL})`,
      { calls: [{ from: C0, input: `0x${'00'.repeat(49_153)}` }] },
      {},
    ],
    [
      -32602,
      `${BLOCK}.blockOverrides.blobBaseFee is not supported`,
      { blockOverrides: { blobBaseFee: word(1) } },
      {},
    ],
    [
      -32602,
      `chainId does not match node's (have=1, want=33) (${BLOCK}.calls[1].chainId)`,
      { calls: [{ chainId: '0x21' }, { chainId: 1 }] },
      {},
    ],
    [
      -32602,
      `${BLOCK}.blockOverrides.beaconRoot is not supported`,
      { blockOverrides: { beaconRoot: word(1) } },
      {},
    ],
  ])('returns error %i, %s', async (code, message, block, more) => {
    await expect(simulate({ blockStateCalls: [block], ...more })).rejects.toMatchObject({ code, message })
  })

  it.each<[string, object]>([
    ['Invalid payload.blockStateCalls: expected an array.', { blockStateCalls: {} }],
    ['payload.blockStateCalls: empty input', { blockStateCalls: [] }],
    ['Invalid payload.blockStateCalls[1]: expected an object.', { blockStateCalls: [{}, 5] }],
    ['Invalid payload.blockStateCalls[0].calls: expected an array.', { blockStateCalls: [{ calls: {} }] }],
    [
      'Invalid payload.blockStateCalls[0].calls[1]: expected an object.',
      { blockStateCalls: [{ calls: [{}, 5] }] },
    ],
    [
      'Invalid payload.traceTransfers: expected true or false.',
      { blockStateCalls: [{}], traceTransfers: 'maybe' },
    ],
  ])('refuses with %s', async (message, payload) => {
    await expect(simulate(payload)).rejects.toMatchObject({ code: -32602, message })
  })

  const NUMBER = 'a number, in hex with 0x or in decimal digits'
  const ADDRESS = 'an address'
  it.each<[string, unknown, string]>([
    ['from', 'zz', ADDRESS],
    ['to', '0x12', ADDRESS],
    ['gas', 'zz', NUMBER],
    ['gasLimit', 5.5, NUMBER],
    ['gasPrice', {}, NUMBER],
    ['maxFeePerGas', -1, NUMBER],
    ['value', `0x1${'0'.repeat(65)}`, NUMBER],
    ['nonce', [], NUMBER],
    ['chainId', true, NUMBER],
    ['data', 'zz', 'hex text'],
    ['input', 5, 'hex text'],
  ])('refuses calls with another %s', async (member, value, what) => {
    const calls = [{}, { [member]: value }]
    const message = (path: string) => `Invalid ${path}[1].${member}: expected ${what}.`
    await expect(simulate({ blockStateCalls: [{}, { calls }] })).rejects.toMatchObject({
      code: -32602,
      message: message('payload.blockStateCalls[1].calls'),
    })
    const bundles = [{ transactions: calls }]
    await expect(node.request({ method: 'eth_callMany', params: [bundles] })).rejects.toMatchObject({
      code: -32602,
      message: message('bundles[0].transactions'),
    })
  })

  it('refuses block 257 of a simulation, and no earlier one', async () => {
    const head = 1
    const filled = (number: number) => simulate({ blockStateCalls: [{ blockOverrides: { number } }] })
    expect(await filled(head + 256)).toHaveLength(256)
    const message = `too many blocks (${BLOCK}: at most 256 are simulated)`
    await expect(filled(head + 257)).rejects.toMatchObject({ code: -38026, message })
    await expect(filled(Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: -38026, message })
  })

  it('needs a block', async () => {
    const unknown = word(99)
    const hash = { blockHash: unknown }
    const refused = (block: unknown, message: string) =>
      expect(simulate({ blockStateCalls: [{}] }, block)).rejects.toMatchObject({ code: -32000, message })
    await refused(unknown, `header not found (Block ${unknown} not found)`)
    await refused(hash, `header not found (Block with hash ${unknown} not found)`)
    await refused('0x63', 'header not found (Block 0x63 not found)')
  })
})
