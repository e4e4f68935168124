/** The standard contracts against another implementation, on random input. */
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM, getActivePrecompiles, type PrecompileInput } from '@ethereumjs/evm'
import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { describe, expect, it } from 'vitest'
import { addressOf, CURVE_ORDER, sign } from '../../../src/chain/signature.ts'
import { concat, fromBigIntFixed, padLeft } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { contractAt, gasOf, outcome } from './vectors.ts'

const common = new Common({ chain: Mainnet, hardfork: Hardfork.Istanbul })
const evm = await createEVM({ common })
const precompiles = getActivePrecompiles(common)

/** What the library answers, in our words. */
async function expected(address: string, data: Uint8Array): Promise<Hex | 'failure'> {
  const precompile = precompiles.get(address.padStart(40, '0'))
  if (precompile === undefined) throw new Error(`no precompile ${address}`)
  const input: PrecompileInput = { data, gasLimit: 2n ** 60n, common, _EVM: evm }
  const { exceptionError, returnValue } = await precompile(input)
  return exceptionError === undefined ? toHex(returnValue) : 'failure'
}

async function agree(address: string, input: Uint8Array): Promise<void> {
  expect(outcome(contractAt(address), toHex(input))).toBe(await expected(address, input))
}

const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const bytes = (maxLength: number) => fc.uint8Array({ maxLength })
const words = (...values: readonly bigint[]) => concat(...values.map((value) => fromBigIntFixed(value, 32)))
const generator = words(1n, 2n)

/** A multiple of the generator of bn128, by the library. */
async function multiple(scalar: bigint): Promise<Uint8Array> {
  const output = await expected('7', concat(generator, words(scalar)))
  if (output === 'failure') throw new Error('the generator is no point')
  return fromHex(output)
}

describe('against another implementation', () => {
  it.each(['2', '3', '4'])('hashes and copies (0x%s)', async (address) => {
    await fc.assert(
      fc.asyncProperty(bytes(300), (input) => agree(address, input)),
      { numRuns: 50 },
    )
  })

  it('recovers signers', async () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((seed) => {
      const scalar = seed.slice()
      scalar[0] = 1
      return scalar
    })
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    await fc.assert(
      fc.asyncProperty(key, hash, async (secret, message) => {
        const { r, s, parity } = sign(message, secret)
        const input = concat(message, words(BigInt(27 + parity), r, s))
        expect(outcome(contractAt('1'), toHex(input))).toBe(toHex(padLeft(fromHex(addressOf(secret)), 32)))
        await agree('1', input)
        await agree('1', concat(message, words(BigInt(28 - parity), r, s)))
      }),
      { numRuns: 20 },
    )
  })

  it('exponentiates', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(bytes(6), bytes(40)),
        fc.oneof(bytes(3), bytes(40), bytes(400)),
        fc.oneof(bytes(6), bytes(40), bytes(130)),
        fc.nat({ max: 40 }),
        async (base, exponent, modulus, missing) => {
          const lengths = words(BigInt(base.length), BigInt(exponent.length), BigInt(modulus.length))
          const whole = concat(lengths, base, exponent, modulus)
          const input = whole.subarray(0, Math.max(96, whole.length - missing))
          await agree('5', input)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('exponentiates by long exponents modulo short integers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        fc.uint8Array({ minLength: 60, maxLength: 300 }),
        fc.uint8Array({ minLength: 1, maxLength: 5 }),
        async (base, exponent, modulus) => {
          const lengths = words(BigInt(base.length), BigInt(exponent.length), BigInt(modulus.length))
          await agree('5', concat(lengths, base, exponent, modulus))
        },
      ),
      { numRuns: 150 },
    )
  })

  it('adds and multiplies on bn128', async () => {
    await fc.assert(
      fc.asyncProperty(word, word, word, async (a, b, scalar) => {
        const [p, q] = [await multiple(a), await multiple(b)]
        await agree('6', concat(p, q))
        await agree('7', concat(p, words(scalar)))
      }),
      { numRuns: 8 },
    )
  })

  it('refuses points that are not on bn128', async () => {
    await fc.assert(
      fc.asyncProperty(bytes(140), async (input) => {
        await agree('6', input)
        await agree('7', input)
      }),
      { numRuns: 50 },
    )
  })

  it('compresses', async () => {
    const block = fc.uint8Array({ minLength: 208, maxLength: 208 })
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 300 }), block, fc.nat({ max: 2 }), async (rounds, middle, final) => {
        const input = concat(fromBigIntFixed(BigInt(rounds), 4), middle, Uint8Array.of(final))
        await agree('9', input)
        expect(gasOf(contractAt('9'), toHex(input))).toBe(BigInt(rounds))
      }),
      { numRuns: 60 },
    )
  })

  it('adds and multiplies on secp256k1', () => {
    const scalar = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n })
    const point = (key: bigint) => secp256k1.publicKeyCreate(fromBigIntFixed(key, 32), false)
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        fc.pre(a !== b && a + b !== CURVE_ORDER)
        const [p, q] = [point(a), point(b)]
        const sum = outcome(contractAt('1000016'), toHex(concat(p.subarray(1), q.subarray(1))))
        expect(sum).toBe(toHex(secp256k1.publicKeyCombine([p, q], false).subarray(1)))
        const product = outcome(contractAt('1000017'), toHex(concat(p.subarray(1), words(b))))
        expect(product).toBe(toHex(secp256k1.publicKeyTweakMul(p, fromBigIntFixed(b, 32), false).subarray(1)))
      }),
      { numRuns: 30 },
    )
  })
})
