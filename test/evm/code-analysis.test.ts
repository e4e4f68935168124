import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse, isJumpDestination } from '../../src/evm/code-analysis.ts'

const JUMPDEST = 0x5b
const [PUSH1, PUSH32] = [0x60, 0x7f]

/** Every place where an opcode stands and not the data of a push, from the first byte of the code to its last. */
function opcodePlaces(code: Uint8Array, start: number): ReadonlySet<number> {
  const places = new Set<number>()
  for (let pc = start; pc < code.length; ) {
    const op = code[pc] as number
    places.add(pc)
    pc += op >= PUSH1 && op <= PUSH32 ? op - PUSH1 + 2 : 1
  }
  return places
}

/** Code of jump destinations and pushes above all. */
const code = fc
  .array(fc.oneof(fc.constant(JUMPDEST), fc.integer({ min: PUSH1, max: PUSH32 }), fc.nat({ max: 255 })), {
    maxLength: 120,
  })
  .map((bytes) => Uint8Array.from(bytes))
const pcs = fc.array(fc.oneof(fc.nat({ max: 130 }), fc.constant(2 ** 31), fc.constant(2 ** 256)), {
  maxLength: 40,
})

describe('jump destinations', () => {
  it('are found in any order of queries', () => {
    fc.assert(
      fc.property(code, pcs, (bytes, asked) => {
        const analysis = analyse(bytes, false)
        const places = opcodePlaces(bytes, 0)
        for (const pc of asked) {
          const expected = bytes[pc] === JUMPDEST && places.has(pc)
          expect(isJumpDestination(analysis, pc)).toBe(expected)
          expect(analysis.jumpDestinations[pc] === 1).toBe(expected)
        }
        for (let pc = 0; pc < bytes.length; pc++) {
          expect(isJumpDestination(analysis, pc)).toBe(bytes[pc] === JUMPDEST && places.has(pc))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('are not in a code header', () => {
    const bytes = Uint8Array.of(0xfc, JUMPDEST, JUMPDEST, 2, JUMPDEST, PUSH1, JUMPDEST, PUSH1, JUMPDEST)
    const found = (hasHeaders: boolean) => {
      const analysis = analyse(bytes, hasHeaders)
      return [...bytes.keys()].filter((pc) => isJumpDestination(analysis, pc))
    }
    expect(found(true)).toEqual([6])
    expect(found(false)).toEqual([1, 2, 4])
    expect(found(true)).toEqual([6])
  })

  it('are searched only up to the highest queried offset', () => {
    const bytes = new Uint8Array(1000).fill(JUMPDEST)
    const analysis = analyse(bytes, false)
    expect(isJumpDestination(analysis, 10)).toBe(true)
    expect(analysis.jumpDestinations.indexOf(0)).toBe(11)
  })
})
