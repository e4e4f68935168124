/** Every pure opcode in compiled code, on operands that are known when it is compiled and on others, against the interpreter. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { CHAIN_RULES } from '../../../src/evm/rules.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, run, word, world } from '../../support/execution.ts'

const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
const compiled = createVm({ chainId: 33, hotAfter: 0 })

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const PURE = [...range(0x01, 0x0b), ...range(0x10, 0x1d)]

/** Words around the limits of lanes, bytes and signs. */
const operand = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc
    .tuple(fc.constantFrom(8n, 32n, 63n, 64n, 127n, 128n, 192n, 255n, 256n), fc.bigInt({ min: -2n, max: 2n }))
    .map(([bits, more]) => (2n ** bits + more) % 2n ** 256n),
)

const push = (value: bigint) => [0x7f, ...fromBigIntFixed(value, 32)]

/** Code that returns the result of an opcode on words of the call data, or on pushed ones where `isKnown`. */
function program(opcode: number, operands: readonly bigint[], isKnown: readonly boolean[]): Uint8Array {
  const pushes = operands
    .map((value, i) => (isKnown[i] ? push(value) : [0x60, 32 * i, 0x35]))
    .toReversed()
    .flat()
  return Uint8Array.from([...pushes, opcode, 0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3])
}

describe('compiled arithmetic', () => {
  it.each(PURE.map((opcode) => [CHAIN_RULES.opcodes[opcode]?.name, opcode] as const))(
    '%s',
    async (_name, opcode) => {
      const count = CHAIN_RULES.opcodes[opcode]?.pops ?? 0
      const operands = fc.tuple(...new Array<typeof operand>(count).fill(operand))
      const known = fc.tuple(...new Array<fc.Arbitrary<boolean>>(count).fill(fc.boolean()))
      await fc.assert(
        fc.asyncProperty(operands, known, async (values, isKnown) => {
          const data = Buffer.concat(values.map((value) => fromBigIntFixed(value, 32)))
          const state = () => world({ [CONTRACT]: { code: program(opcode, values, isKnown) } })
          const expected = await run(state(), { data }, { vm: interpreted })
          const found = await run(state(), { data }, { vm: compiled })
          expect(word(found)).toBe(word(expected))
          expect(found.gasUsed).toBe(expected.gasUsed)
        }),
        { numRuns: 60, seed: 7 },
      )
    },
  )
})
