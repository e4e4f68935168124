/** Truncated, oversized and random calls of every method: the Bridge answers or fails as a precompiled contract does, in time. */
import fc from 'fast-check'
import { encodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { concat, fromBigIntFixed } from '../../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../../src/encoding/hex.ts'
import { PrecompileFailure } from '../../../../src/evm/precompiles/precompile.ts'
import { bridge, dataOf, FEDERATOR, freshBridge, type MethodRow, methods, mineChain, texts } from './calls.ts'

/** Random calls of each method with well-formed arguments; half as many with damaged ones. `npm run fuzz:bridge` sets it. */
const CALLS = Number(process.env.BRIDGE_CALLS ?? 100)

const enabled = methods.filter((method) => method.enabled)

/** A bridge with some headers, as a federator calls it. */
function withHeaders() {
  const own = freshBridge({ isTop: true, caller: FEDERATOR })
  own.raw(dataOf('receiveHeaders', texts(mineChain(12))))
  return own
}

const { env } = withHeaders()

/** Runs a call; anything but an answer or a failure is thrown. */
function answers(input: Uint8Array): boolean {
  try {
    bridge.requiredGas(input, env)
    bridge.run(input, { ...env })
    return true
  } catch (error) {
    if (error instanceof PrecompileFailure) return true
    throw error
  }
}

function typesOf({ signature }: MethodRow): string[] {
  return signature
    .slice(signature.indexOf('(') + 1, -1)
    .split(',')
    .filter(Boolean)
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map(toHex)

/** Bytes that begin like what methods take: transactions, trees, headers, keys, signatures, addresses. */
const plausible = fc.oneof(
  bytes(300),
  fc
    .tuple(
      fc.constantFrom<Hex>('0x01000000', '0x02000000', '0x020000000001', '0x3006', '0x02', '0x6f', '0xc4'),
      bytes(200),
    )
    .map(([head, rest]): Hex => `${head}${rest.slice(2)}`),
  fc.uint8Array({ minLength: 80, maxLength: 80 }).map(toHex),
  fc.uint8Array({ minLength: 32, maxLength: 33 }).map(toHex),
  fc.uint8Array({ minLength: 21, maxLength: 21 }).map(toHex),
)

const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  int256: fc.oneof(
    fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
    fc.bigInt({ min: -3n, max: 20n }),
  ),
  uint256: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 20n })),
  bool: fc.boolean(),
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex),
  bytes32: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex),
  bytes: plausible,
  string: fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom('btc', 'rsk', 'mst')),
  'bytes[]': fc.array(plausible, { maxLength: 5 }),
  'bytes32[]': fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex), { maxLength: 5 }),
}

/** Well-formed call data of a method with random arguments. */
function callOf(method: MethodRow): fc.Arbitrary<Uint8Array> {
  const name = method.signature.slice(0, method.signature.indexOf('('))
  const types = typesOf(method)
  const abi = [
    {
      type: 'function',
      name,
      inputs: types.map((type) => ({ name: '', type })),
      outputs: [],
      stateMutability: 'view',
    },
  ] as const
  const args = types.map((type) => VALUES[type] as fc.Arbitrary<unknown>)
  return fc
    .tuple(...args)
    .map((values) => fromHex(encodeFunctionData({ abi, functionName: name, args: values as never })))
}

describe('hostile calls of the Bridge', () => {
  it.each(enabled)('$signature answers or fails for any arguments', (method) => {
    fc.assert(
      fc.property(callOf(method), (input) => answers(input)),
      { numRuns: CALLS },
    )
  })

  it.each(enabled)('$signature answers or fails for cut and extended data', (method) => {
    const damaged = fc
      .tuple(callOf(method), fc.nat(), fc.uint8Array({ maxLength: 40 }))
      .map(([data, at, more]) => {
        const end = 4 + (at % Math.max(data.length - 3, 1))
        return concat(data.subarray(0, end), more)
      })
    fc.assert(
      fc.property(damaged, (input) => answers(input)),
      { numRuns: CALLS / 2 },
    )
  })

  it('lengths and offsets at the limits of 32 bits are malformed arguments', () => {
    const selectors = enabled.map((method) => fc.sample(callOf(method), 1)[0]?.slice(0, 4) as Uint8Array)
    const limits = [2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n - 32n, 2n ** 256n - 1n]
    for (const selector of selectors) {
      for (const limit of limits) {
        const word = fromBigIntFixed(limit, 32)
        expect(answers(concat(selector, word, word, word, word, word, word, word, word))).toBe(true)
      }
    }
  })

  it('oversized data are read in time that grows with their length', () => {
    const huge = new Uint8Array(1_000_000).fill(0xff)
    const tree = new Uint8Array(1_000_000)
    for (const [transaction, proof] of [
      [huge, tree],
      [tree, huge],
    ] as const) {
      const register = dataOf('registerBtcTransaction', toHex(transaction), 5n, toHex(proof))
      expect(answers(fromHex(register))).toBe(true)
    }
  })
})
