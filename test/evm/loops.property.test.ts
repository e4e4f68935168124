/** Random programs: our loop, the traced one and the library's agree on gas, output, logs and state, under both rule sets. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import type { Vm } from '../../src/evm/rules.ts'
import { CHAIN_RULES } from '../../src/evm/rules.ts'
import type { Overlay } from '../../src/state/overlay.ts'
import { CONTRACT, NOBODY, OTHER, run, SENDER, stepping, world } from '../support/execution.ts'
import { createOracleVm, type RuleSet, touchedBy } from '../support/oracle-vm.ts'

const ADDRESSES = [CONTRACT, OTHER, NOBODY, SENDER, '0x0000000000000000000000000000000000000002']

/** Operands that mean something more often than random words do. */
const operand = fc.oneof(
  { weight: 30, arbitrary: fc.bigInt({ min: 0n, max: 96n }) },
  { weight: 1, arbitrary: fc.constantFrom(...ADDRESSES).map((address) => BigInt(address)) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2n ** 255n, 2n ** 256n - 1n, 2n ** 64n, 2n ** 32n, 30_000n, 2n ** 53n),
  },
)

/** Which operand of these opcodes is an address, and which is gas; 0 is the top of the stack. */
const ADDRESS_AT = new Map([0x31, 0x3b, 0x3c, 0x3f, 0xff].map((code) => [code, 0]))
for (const code of [0xf1, 0xf2, 0xf4, 0xfa]) ADDRESS_AT.set(code, 1)
const callGas = fc.constantFrom(0n, 100n, 25_000n, 60_000n, 2n ** 255n)

/** The arithmetic that any words suit. */
const isPlain = (code: number) => code < 0x20 && code !== 0x0a

const wild = fc.oneof(operand, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))

function push(value: bigint): number[] {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  return [0x5f + bytes.length, ...bytes]
}

/** An opcode with the operands that it takes pushed before it, so that programs get somewhere. */
function step(code: number): fc.Arbitrary<number[]> {
  const pops = CHAIN_RULES.opcodes[code]?.pops ?? 0
  const addressAt = ADDRESS_AT.get(code)
  const fromTop = Array.from({ length: pops }, (_, i) => {
    if (i === addressAt) return fc.constantFrom(...ADDRESSES).map((address) => BigInt(address))
    if (i === 0 && addressAt === 1) return callGas
    return isPlain(code) ? wild : operand
  })
  return fc.tuple(...fromTop).map((words) => [...words.reverse().flatMap(push), code])
}

const OPCODES = CHAIN_RULES.opcodes
  .map((row) => row?.name)
  .map((name, code) => ({ name, code }))
  .filter(({ name, code }) => name !== undefined && !(code >= 0x60 && code <= 0x7f))
  .map(({ code }) => code)

/** The most interesting ones come often. */
const opcode = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...OPCODES) },
  { weight: 3, arbitrary: fc.constantFrom(0xf0, 0xf1, 0xf2, 0xf4, 0xf5, 0xfa, 0x54, 0x55, 0xa1, 0x52, 0x3e) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
)

/** Stopping and jumping are rare, else little runs. */
const ENDS = [0x00, 0x56, 0x57, 0xf3, 0xfd, 0xff]
const chunk = fc
  .tuple(opcode, fc.integer({ min: 0, max: 20 }))
  .filter(([code, luck]) => (OPCODES.includes(code) && !ENDS.includes(code)) || luck === 0)
  .chain(([code]) => step(code))

const ending = fc.constantFrom<number[]>(
  [],
  [...push(64n), ...push(0n), 0xf3],
  [...push(64n), ...push(0n), 0xfd],
  [0xfe],
  [...push(BigInt(NOBODY)), 0xff],
)

const program = fc
  .tuple(fc.array(chunk, { minLength: 1, maxLength: 25 }), ending)
  .map(([chunks, end]) => Uint8Array.from([...chunks.flat(), ...end]))

/** Init code for CREATE must lie in memory: one word of it, put there first. */
const programs = fc
  .tuple(program, program, fc.array(operand, { maxLength: 3 }))
  .map(([main, other, words]) => ({
    main: Uint8Array.from([
      ...words.flatMap((value, i) => [...push(value), ...push(BigInt(i * 32)), 0x52]),
      ...main,
    ]),
    other,
  }))

function changes(state: Overlay) {
  const { accounts, storage, code } = state.changes()
  return {
    accounts: [...accounts].sort(([a], [b]) => (a < b ? -1 : 1)),
    storage: [...storage]
      // A slot that was written with the word it held is a change to one loop only.
      .map(([address, { slots }]) => [address, [...slots].filter(([, v]) => v !== 0n).sort()] as const)
      .filter(([, slots]) => slots.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    code: [...code.keys()].sort(),
  }
}

async function observe(
  vm: Vm,
  { main, other }: { main: Uint8Array; other: Uint8Array },
  gas: bigint,
  ruleSet: RuleSet,
) {
  const accounts: Record<
    Hex,
    { code: Uint8Array; balance: bigint; nonce: bigint; storage: Record<string, bigint> }
  > = {
    [CONTRACT]: { code: main, balance: 1000n, nonce: 1n, storage: { 1: 7n } },
    [OTHER]: { code: other, balance: 50n, nonce: 1n, storage: { 2: 9n } },
  }
  const state = world(accounts)
  const data = Uint8Array.from({ length: 70 }, (_, i) => i)
  const result = await run(state, { gas, value: 3n, data }, { vm })
  return {
    ...result,
    output: toHex(result.output),
    // Of two failures at once each loop names the one that it looks for first.
    failure: undefined,
    destroyed: [...result.destroyed].sort(),
    // By Petersburg's rules the library's loop does not record what the index of accounts needs.
    participants: ruleSet === 'chain' ? [...(result.participants ?? [])].sort() : undefined,
    creations: ruleSet === 'chain' ? result.creations : undefined,
    touched: [...touchedBy(result)].sort(),
    changes: changes(state),
  }
}

describe.each(['chain', 'petersburg'] as const)('under the rules %s', (ruleSet) => {
  const own = createOracleVm({ chainId: 33, ruleSet })
  const library = createOracleVm({ chainId: 33, ruleSet, loop: 'library' })
  const traced = stepping(own)

  it('the loops agree', async () => {
    await fc.assert(
      fc.asyncProperty(programs, fc.constantFrom(30_000n, 120_000n, 1_000_000n), async (code, gas) => {
        const seen = await observe(own, code, gas, ruleSet)
        expect(seen).toEqual(await observe(library, code, gas, ruleSet))
        expect(seen).toEqual(await observe(traced, code, gas, ruleSet))
      }),
      { numRuns: 1500 },
    )
  })
})
