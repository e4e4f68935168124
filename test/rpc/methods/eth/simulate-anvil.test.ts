/**
 * Random simulations as a running Anvil answers them: status, return data, and logs with transfers of every call. What
 * Anvil has no rule for (order of blocks, gaps, validation, moves) is compared with recorded answers of geth
 * (test/rpc/methods/eth/simulate-exchanges.test.ts).
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNode, type Node } from '../../../../src/index.ts'
import { type Anvil, startAnvil } from '../../../support/anvil-frames.ts'
import { word } from '../../../support/override-cases.ts'
import { ANVIL, describeWith } from '../../../support/tools.ts'

const SEED = Date.now() % 2 ** 31

const account = (digits: string) => `0x${digits.repeat(10)}`
const SENDERS = [account('c0c0'), account('c1c1')]
/**
 * Without input it stops. Otherwise it calls the account in the first word with the rest of its input and half the value,
 * logs whether that succeeded, adds one to slot 0, and returns it.
 */
const PASSES_ON = '361560305760203603806020600037600060008260003460011c6000355af160006000a1'
const COUNTS = '60005460010180600055600052'
const END = '5b00'
/** Runs the counter with these opcodes at its end. */
const program = (last: string) => {
  const body = PASSES_ON + COUNTS + last
  return `0x${body.replace('603057', `60${(body.length / 2).toString(16)}57`)}${END}`
}
const RETURNING = account('d0d0')
const REVERTING = account('d1d1')
const PLAIN = account('d2d2')
const SHA256 = '0x0000000000000000000000000000000000000002'
const CODE = {
  [RETURNING]: { code: program('60206000f3') },
  [REVERTING]: { code: program('60206000fd') },
}

const target = fc.constantFrom(RETURNING, RETURNING, REVERTING, PLAIN, SHA256, SENDERS[0])
const call = fc
  .record({
    from: fc.constantFrom(...SENDERS),
    route: fc.array(target, { maxLength: 4 }),
    value: fc.integer({ min: 0, max: 50 }),
  })
  .map(({ from, route: [to = RETURNING, ...next], value }) => ({
    from,
    to,
    value: `0x${value.toString(16)}`,
    gas: '0x7a120',
    input: `0x${next.map((one) => word(one ?? 0).slice(2)).join('')}`,
  }))
const changes = fc.constantFrom(
  {},
  { [RETURNING]: { stateDiff: { [word(0)]: word(40) } } },
  { [REVERTING]: { state: { [word(0)]: word(70) } } },
  { [PLAIN]: { code: '0x602a60005260206000f3' } },
  { [PLAIN]: { balance: '0x63' } },
)
const simulations = fc.record({
  blocks: fc.array(fc.record({ calls: fc.array(call, { maxLength: 4 }), stateOverrides: changes }), {
    minLength: 1,
    maxLength: 3,
  }),
  traceTransfers: fc.boolean(),
})

interface Call {
  readonly status: string
  readonly returnData: string
  readonly logs: readonly { readonly address: string; readonly topics: unknown; readonly data: string }[]
  readonly error?: { readonly data?: string }
}

/** What both nodes must have. Anvil has the payload of a revert as return data. */
function shapeOf(blocks: unknown) {
  return (blocks as { calls: readonly Call[] }[]).map(({ calls }) =>
    calls.map(({ status, returnData, logs, error }) =>
      status === '0x1'
        ? { returnData, logs: logs.map(({ address, topics, data }) => ({ address, topics, data })) }
        : { payload: error?.data ?? returnData },
    ),
  )
}

describeWith(ANVIL, `random simulations as in Anvil (seed ${SEED})`, () => {
  let anvil: Anvil
  let node: Node
  beforeAll(async () => {
    anvil = await startAnvil(ANVIL.path)
    node = await createNode({ preset: 'anvil', mining: 'manual' })
  }, 60_000)
  afterAll(async () => {
    await anvil.close()
    await node.close()
  })

  it('have the same calls', async () => {
    let logged = 0
    await fc.assert(
      fc.asyncProperty(simulations, async ({ blocks: [first, ...others], traceTransfers }) => {
        const funds = Object.fromEntries(SENDERS.map((sender) => [sender, { balance: '0x3e8' }]))
        const begun = { ...first, stateOverrides: { ...funds, ...CODE, ...first?.stateOverrides } }
        const blockStateCalls = [begun, ...others]
        // Anvil keeps the transfers of frames that revert.
        const isKept = JSON.stringify(blockStateCalls.map(({ calls }) => calls)).includes(REVERTING.slice(2))
        const params = [{ blockStateCalls, traceTransfers: traceTransfers && !isKept }, 'latest']
        const ours = shapeOf(await node.request({ method: 'eth_simulateV1', params }))
        expect(ours).toEqual(shapeOf(await anvil.call('eth_simulateV1', params)))
        logged += ours.flat().filter(({ logs = [] }) => logs.length > 0).length
      }),
      { seed: SEED, numRuns: 150 },
    )
    expect(logged).toBeGreaterThan(50)
  }, 60_000)
})
