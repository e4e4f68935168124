/** Code that costs as much time as it can between two looks at the clock: to compile, or in long lines without jumps. */

const repeat = (times: number, ...bytes: readonly number[]): number[] =>
  Array.from({ length: times }, () => bytes).flat()

/** The counter of a loop, in memory that its body leaves alone. */
const COUNTER = [0x61, 4, 0]

/** Where the body of a loop begins. */
const BODY_AT = 8

/** Runs a body, which leaves the stack unchanged, this many times. */
function loop(rounds: number, body: readonly number[]): Uint8Array {
  const head = [0x61, rounds >> 8, rounds & 255, ...COUNTER, 0x52]
  return Uint8Array.from([
    ...[...head, 0x5b, ...body],
    ...[0x60, 1, ...COUNTER, 0x51, 0x03, 0x80, ...COUNTER, 0x52, 0x60, head.length, 0x57, 0],
  ])
}

/** Blocks one behind the other; each is made from its place and ends where the next begins. */
function blocks(count: number, size: number, block: (next: number) => readonly number[]): number[] {
  return Array.from({ length: count }, (_, i) => block(BODY_AT + (i + 1) * size)).flat()
}

const push2 = (value: number) => [0x61, value >> 8, value & 255]
/** A word that is not known at compile time, in all four lanes. */
const WORD = [0x36, 0x80, 0x19, 0x01]
/** All bits. */
const ONES = [0x5f, 0x19]

/** By what makes it bad; each runs `rounds` times, which has to be more than it takes to be compiled. */
export function worstCodes(rounds: number): Readonly<Record<string, Uint8Array>> {
  return {
    'many words and many exits': loop(rounds, [
      ...[...repeat(200, ...WORD), ...repeat(600, 0x5f, 0x35, 0x51, 0x50), ...repeat(200, 0x50)],
    ]),
    'as many words as the stack has': loop(rounds, [...repeat(1000, ...WORD), ...repeat(1000, 0x50)]),
    'branches that are not taken': loop(rounds, [
      ...[...repeat(200, ...WORD), ...repeat(1200, 0x5f, 0x51, 0x60, 7, 0x57), ...repeat(200, 0x50)],
    ]),
    'branches that are taken at times': loop(
      rounds,
      blocks(1500, 12, (next) => [
        ...[0x5a, 0x60, 1, 0x16],
        ...push2(next - 1),
        ...[0x57, 0x36, 0x51, 0x50, 0x5b],
      ]),
    ),
    'a jump every few bytes': loop(
      rounds,
      blocks(8000, 6, (next) => [...push2(next - 1), 0x56, 0xfe, 0x5b]),
    ),
    'destinations without end': loop(rounds, repeat(24_000, 0x5b)),
    'deep DUP and SWAP': loop(rounds, [
      ...[...repeat(16, ...WORD), ...repeat(6000, 0x8f, 0x9f, 0x8e, 0x50, 0x50), ...repeat(16, 0x50)],
    ]),
    'a long line of additions': loop(rounds, [0x36, ...repeat(12_000, 0x80, 0x01), 0x50]),
    'a long line of products': loop(rounds, [...ONES, ...repeat(12_000, 0x80, 0x02), 0x50]),
    'a long line of quotients': loop(rounds, repeat(4000, ...ONES, 0x80, 0x04, 0x50)),
    'a long line of products modulo': loop(rounds, repeat(3000, ...ONES, 0x80, 0x80, 0x09, 0x50)),
    'a long line of powers': loop(rounds, repeat(5000, ...ONES, 0x80, 0x0a, 0x50)),
    'a long line of hashes': loop(rounds, repeat(4000, ...push2(2047), 0x5f, 0x20, 0x50)),
    'a line of a megabyte': loop(rounds, repeat(500_000, 0x5f, 0x50)),
  }
}
