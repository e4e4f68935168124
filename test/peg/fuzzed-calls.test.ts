/** Random calls of every method of the peg: a result, or an error that says what is wrong. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digitsOf } from '../../src/bitcoin/displayed-hash.ts'
import { encodeKey } from '../../src/bitcoin/private-key.ts'
import { createNode, type Node } from '../../src/index.ts'
import type { AnyMethod } from '../../src/rpc/method.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { openSession } from '../../src/rpc/session.ts'
import { HOSTILE } from '../hostile/hostile-values.ts'
import { faultOf } from '../hostile/reply-check.ts'
import { COW } from '../support/noting-chain.ts'
import { valuesOf } from '../support/schema-values.ts'

/** Random calls of each method. `npm run fuzz:peg` sets it. */
const CALLS = Number(process.env.PEG_CALLS ?? 10)
/** Calls after which the chains are reverted, so that they stay short. */
const STRETCH = 50

const methods = METHODS.filter(({ namespace }) => namespace === 'btc' || namespace === 'fed')

let node: Node
let texts: readonly string[] = []

/** The reply to a call as a client reads it. */
async function reply(method: string, params: unknown): Promise<string> {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return String(await node.dispatcher.dispatchText(message, openSession('http')))
}

beforeAll(async () => {
  node = await createNode({ bitcoin: true })
  const { bitcoin: peg } = node
  if (peg === undefined) throw new Error('the node has no Bitcoin chain')
  const { bitcoinTransaction } = await peg.pegIn(COW, 5_000_000n)
  const { active, bitcoin } = await peg.status()
  const key = encodeKey({ secret: new Uint8Array(32).fill(7), isCompressed: true })
  texts = [COW, bitcoinTransaction, bitcoin.hash, active.address, key, digitsOf(new Uint8Array(32).fill(9))]
})
afterAll(() => node.close())

/** Blocks and depths as small as a test can wait for; amounts that the faucet has; anything. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    1,
    2,
    5,
    '0x1',
    '0x3',
    null,
    true,
    false,
    546,
    500_000,
    499_999,
    1_000_000,
    21e14,
  ),
  fc.constantFrom<unknown>(...HOSTILE),
  fc.nat(5).map((at) => texts[at]),
)

function paramsOf({ params }: AnyMethod): fc.Arbitrary<readonly unknown[]> {
  const fitting = params.map(({ parameter }) =>
    fc.oneof(valuesOf(parameter), { weight: 2, arbitrary: value }),
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(...fitting) },
    fc.array(value, { maxLength: params.length + 1 }),
  )
}

describe('a random call', () => {
  it.each(methods.map((method) => [method.name, method] as const))(
    'of %s is answered',
    async (name, method) => {
      for (let left = CALLS; left > 0; left -= STRETCH) {
        const snapshot = await node.request({ method: 'evm_snapshot' })
        await fc.assert(
          fc.asyncProperty(paramsOf(method), async (params) => {
            const text = await reply(name, params)
            expect(faultOf(text), text).toBeUndefined()
          }),
          { numRuns: Math.min(left, STRETCH) },
        )
        await node.request({ method: 'evm_revert', params: [snapshot] })
      }
      expect(await node.request({ method: 'btc_status' })).toMatchObject({ locked: 5_000_000 })
    },
  )
})
