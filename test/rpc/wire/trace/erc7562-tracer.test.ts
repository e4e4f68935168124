/** geth's own cases of `erc7562Tracer` (fixtures/erc7562). Gas is left out: this chain's costs differ. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../../src/index.ts'
import { assemble } from '../../../support/assembler.ts'
import { fixture } from '../../../support/fixture.ts'

const hex = z.templateLiteral(['0x', z.string()])
const Frame = z.looseObject({
  type: z.string(),
  from: hex,
  to: hex,
  input: hex,
  value: hex.optional(),
  accessedSlots: z.looseObject({ reads: z.record(hex, z.array(hex)), writes: z.record(hex, z.number()) }),
  keccak: z.array(hex).optional(),
  get calls() {
    return z.array(Frame).optional()
  },
})
type Frame = z.infer<typeof Frame>
const Case = z.object({
  alloc: z.record(
    hex,
    z.object({
      balance: hex.optional(),
      nonce: z.union([hex, z.string()]).optional(),
      code: hex.optional(),
      storage: z.record(hex, hex).optional(),
    }),
  ),
  context: z.object({ timestamp: z.string() }),
  result: Frame,
})

/** What does not depend on the costs of opcodes and the price of gas. */
function withoutGas({
  gas: _gas,
  gasUsed: _used,
  value: _value,
  input,
  output: _output,
  calls = [],
  ...frame
}: Frame): object {
  return { ...frame, selector: input.slice(0, 10), calls: calls.map(withoutGas) }
}

let node: Node | undefined
afterAll(() => node?.close())

describe('the cases of geth', () => {
  it.each(['simple', 'deployer', 'paymaster'])('%s', async (name) => {
    const { alloc, context, result } = Case.parse(fixture(`erc7562/${name}.json`))
    const accounts = Object.entries(alloc).map(
      ([address, { balance = '0x0', nonce = '0x0', code, storage = {} }]) =>
        [
          address as Hex,
          {
            balance: BigInt(balance),
            nonce: BigInt(nonce),
            ...(code !== undefined && { code: fromHex(code) }),
            storage: new Map(Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)])),
          },
        ] as const,
    )
    node = await createNode({
      alloc: new Map(accounts),
      rules: 'next',
      chainId: 1337,
      genesisTime: Number(context.timestamp) - 1,
      blockGasLimit: 30_000_000n,
    })
    const { from, to, input, value = '0x0' } = result
    const message = { from, to, data: input, value, gas: '0x7a1200', gasPrice: '0x0' }
    const overrides = { time: `0x${Number(context.timestamp).toString(16)}` }
    const traced = Frame.parse(
      await node.request({
        method: 'debug_traceCall',
        params: [message, 'latest', { tracer: 'erc7562Tracer', blockOverrides: overrides }],
      }),
    )
    await node.close()
    node = undefined
    expect(withoutGas(traced)).toEqual(withoutGas(result))
  })
})

describe('what code does', () => {
  const [CODE, OTHER] = [`0x${'c'.repeat(40)}`, `0x${'d'.repeat(40)}`] as const
  let local: Node
  beforeAll(async () => {
    local = await createNode({ alloc: new Map([[OTHER as Hex, { code: fromHex('0x600160005500') }]]) })
  })
  afterAll(() => local.close())

  async function trace(code: string, config: object = {}): Promise<Frame & Record<string, unknown>> {
    await local.request({ method: 'hardhat_setCode', params: [CODE, toHex(assemble(code))] })
    const options = { tracer: 'erc7562Tracer', tracerConfig: config }
    const message = { to: CODE, gas: '0x30d40' }
    return Frame.parse(
      await local.request({ method: 'debug_traceCall', params: [message, 'latest', options] }),
    )
  }

  it('is an access of code unless its size is only compared with zero', async () => {
    const word = `PUSH20 ${OTHER}`
    expect((await trace(`${word} EXTCODESIZE ISZERO STOP`)).extCodeAccessInfo).toEqual([])
    expect((await trace(`${word} EXTCODESIZE POP STOP`)).extCodeAccessInfo).toEqual([OTHER])
    expect((await trace(`${word} EXTCODEHASH POP STOP`)).contractSize).toEqual({
      [OTHER]: { contractSize: 6, opcode: 0x3f },
    })
  })

  it('counts GAS only where no call follows', async () => {
    const call = `PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH20 ${OTHER} GAS CALL POP`
    expect((await trace(`${call} STOP`)).usedOpcodes).toEqual({ '0x0': 1, '0xf1': 1 })
    expect((await trace('GAS POP STOP')).usedOpcodes).toEqual({ '0x0': 1, '0x5a': 1 })
    expect((await trace('GAS POP STOP', { ignoredOpcodes: ['0x0'] })).usedOpcodes).toEqual({
      '0x50': 1,
      '0x5a': 1,
    })
  })

  it('lists the slots by value and count, and what was hashed', async () => {
    const { accessedSlots, keccak } = await trace(
      'PUSH1 1 SLOAD POP PUSH1 9 PUSH1 2 SSTORE PUSH1 2 SLOAD POP PUSH1 5 PUSH1 2 SSTORE PUSH1 4 PUSH1 0 SHA3 POP PUSH1 2 PUSH1 100 SHA3 STOP',
    )
    const slot = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
    expect(accessedSlots).toEqual({
      reads: { [slot(1)]: [slot(0)] },
      writes: { [slot(2)]: 2 },
      transientReads: {},
      transientWrites: {},
    })
    expect(keccak).toEqual(['0x0000', '0x00000000'])
    // More than the gas pays for: the opcode fails, and nothing was hashed.
    const unpaid = await trace('PUSH4 0xffffff PUSH1 0 SHA3 STOP')
    expect(unpaid.keccak).toBeUndefined()
  })

  it('says of a call below that its gas ran out', async () => {
    const call = `PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH20 ${OTHER} PUSH2 100 CALL POP STOP`
    const { calls, outOfGas } = await trace(call)
    expect(outOfGas).toBe(false)
    expect(calls?.[0]).toMatchObject({ to: OTHER, outOfGas: true })
  })
})
