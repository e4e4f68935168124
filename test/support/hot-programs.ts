/** Random programs that get hot: pieces of code in loops that end, which read what compiling does and does not know. */
import fc from 'fast-check'
import { OPERATIONS } from '../../src/evm/opcodes/table.ts'
import { NOBODY, OTHER, SENDER } from './execution.ts'

type Code = readonly number[]

const push = (value: bigint): number[] => {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return [0x5f + bytes.length, ...bytes]
}

/** Numbers around the limits of lanes, of memory and of gas. */
const LIMITS = [2n ** 20n, 2n ** 30n, 2n ** 32n, 2n ** 40n, 2n ** 53n, 2n ** 64n]
const wide = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc
    .tuple(fc.constantFrom(...LIMITS, 2n ** 128n, 2n ** 255n, 2n ** 256n), fc.bigInt({ min: -2n, max: 2n }))
    .map(([limit, more]) => (limit + more) % 2n ** 256n),
)
/** An offset or a length: small, or so large that no gas pays for it. */
const near = fc.oneof(
  { weight: 60, arbitrary: fc.bigInt({ min: 0n, max: 200n }) },
  { weight: 1, arbitrary: fc.constantFrom(...LIMITS) },
)
const address = fc.constantFrom(OTHER, OTHER, NOBODY, SENDER, `0x${'4'.padStart(40, '0')}`).map(BigInt)

/** A number as code that pushes it: known, from the call data (which holds zeros behind its words), or from the stack. */
function operand(value: fc.Arbitrary<bigint>): fc.Arbitrary<Code> {
  return fc.oneof(
    { weight: 8, arbitrary: value.map(push) },
    { weight: 4, arbitrary: value.map((word) => [...push(word), 0x36, 0x60, 96, 0x03, 0x35, 0x01]) },
    { weight: 2, arbitrary: fc.nat(5).map((word) => [0x60, 32 * word, 0x35]) },
    { weight: 1, arbitrary: fc.nat(15).map((depth) => [0x80 + depth]) },
    { weight: 1, arbitrary: fc.constantFrom([0x5a], [0x3d], [0x59], [0x47]) },
  )
}

/** What the operands of an opcode are, the top first; any words where it is not stated. */
const OPERANDS: Readonly<Record<number, readonly fc.Arbitrary<bigint>[]>> = (() => {
  const slot = fc.constantFrom(0n, 1n, 2n, 2n ** 64n)
  const value = fc.constantFrom(0n, 0n, 1n, 2n ** 200n)
  const gas = fc.constantFrom(0n, 700n, 30_000n, 100_000n, 2n ** 255n)
  const wei = fc.constantFrom(0n, 0n, 0n, 1n)
  const call = [near, near, near, near]
  return {
    32: [near, fc.oneof(near, fc.constantFrom(64n, 600n, 3000n))],
    49: [address],
    53: [near],
    55: [near, near, near],
    57: [near, near, near],
    59: [address],
    60: [address, near, near, near],
    62: [near, fc.constantFrom(0n, 0n, 1n), fc.constantFrom(0n, 1n, 32n)],
    63: [address],
    81: [near],
    82: [near, wide],
    83: [near, wide],
    84: [slot],
    85: [slot, value],
    92: [slot],
    93: [slot, value],
    94: [near, near, near],
    ...Object.fromEntries([0, 1, 2, 3, 4].map((n) => [0xa0 + n, [near, near]])),
    240: [wei, near, fc.constant(0n)],
    245: [wei, near, fc.constant(0n), wide],
    241: [gas, address, wei, ...call],
    242: [gas, address, wei, ...call],
    244: [gas, address, ...call],
    250: [gas, address, ...call],
  }
})()

/** Stops, jumps and pushes have pieces of their own, or come with the operands. */
const PLAIN = OPERATIONS.filter(({ code, pops }) => {
  const isPush = code >= 0x60 && code <= 0x7f
  const ends = [0x00, 0xf3, 0xfd, 0xff].includes(code)
  return !isPush && !ends && code !== 0x56 && code !== 0x57 && pops < 20
})
const OFTEN = [0x20, 0x51, 0x52, 0x54, 0x55, 0x55, 0xf1, 0xf4, 0xfa, 0x5d]

const plain: fc.Arbitrary<Code> = fc
  .oneof(fc.constantFrom(...PLAIN.map(({ code }) => code)), fc.constantFrom(...OFTEN))
  .chain((code) => {
    const row = OPERATIONS.find((operation) => operation.code === code)
    const { pops = 0, pushes = 0 } = row ?? {}
    // DUP and SWAP use the words that are on the stack.
    if (code >= 0x80 && code <= 0x9f) return fc.constant<Code>([code])
    const operands = Array.from({ length: pops }, (_, i) => operand(OPERANDS[code]?.[i] ?? wide))
    const sinks: Code[] = pushes === 0 ? [[]] : [[], [0x50], [0x50], [0x60, 64, 0x52], [0x60, 3, 0x5d]]
    return fc
      .tuple(fc.tuple(...operands), fc.constantFrom(...sinks))
      .map(([codes, sink]) => [...codes.toReversed().flat(), code, ...sink])
  })

/** Some code, or a conditional jump over it; `undefined` where the condition is on the stack. */
interface Piece {
  readonly code: Code
  readonly skippedIf: Code | undefined
}

const piece: fc.Arbitrary<Piece> = fc.record({
  code: plain,
  skippedIf: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: operand(fc.constantFrom(0n, 1n)) },
    // One of the low bits of the counter, or of the gas.
    { weight: 2, arbitrary: fc.nat(3).map((bit) => [0x60, 255, 0x5c, 0x60, 1 << bit, 0x16]) },
    { weight: 1, arbitrary: fc.constant([0x5a, 0x60, 4, 0x16]) },
  ),
})

const ending: fc.Arbitrary<Code> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom([0x00], [0x60, 96, 0x5f, 0xf3], [0x60, 96, 0x5f, 0xf3]) },
  {
    weight: 2,
    arbitrary: fc.constantFrom([0x60, 40, 0x5f, 0xfd], [0xfe], [0x33, 0xff], [0x61, 255, 255, 0x56]),
  },
  { weight: 1, arbitrary: fc.tuple(near, near).map(([a, b]) => [...push(a), ...push(b), 0xf3]) },
)

/** Where a loop counts: transient storage that no piece writes. */
const COUNTER = [0x60, 255]

/**
 * Pieces in a loop of so many rounds, behind words for DUP and SWAP; the end of a round may drop what it left. A callee,
 * which may be static, has no loop.
 */
export function hotPrograms(isCallee: boolean): fc.Arbitrary<Uint8Array> {
  return fc
    .record({
      words: fc.array(wide, { minLength: 0, maxLength: 17 }),
      rounds: isCallee ? fc.constant(0) : fc.integer({ min: 1, max: 60 }),
      pieces: fc.array(piece, { minLength: 1, maxLength: 12 }),
      pops: fc.nat(4),
      ending,
    })
    .map(({ words, rounds, pieces, pops, ending }) => {
      const code: number[] = words.flatMap(push)
      if (rounds > 0) code.push(0x60, rounds, ...COUNTER, 0x5d)
      const start = code.length
      code.push(0x5b)
      for (const { code: inner, skippedIf } of pieces) {
        if (skippedIf !== undefined) {
          const end = code.length + skippedIf.length + 4 + inner.length
          code.push(...skippedIf, 0x61, end >> 8, end & 255, 0x57)
        }
        code.push(...inner)
        if (skippedIf !== undefined) code.push(0x5b)
      }
      for (let i = 0; i < pops && words.length > 4; i++) code.push(0x50, 0x5f)
      if (rounds > 0) {
        code.push(0x60, 1, ...COUNTER, 0x5c, 0x03, 0x80, ...COUNTER, 0x5d)
        code.push(0x61, start >> 8, start & 255, 0x57)
      }
      return Uint8Array.from([...code, ...ending])
    })
}

/** Gas of all sizes that a message may have. */
export const anyGas = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 100_000n, max: 3_000_000n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 100_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 32n - 100_000n, max: 2n ** 32n + 100_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 40n - 100_000n, max: 2n ** 40n + 100_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 53n - 100_000n, max: 2n ** 53n - 1n }) },
)
