/**
 * Cells of the Bridge that no node has written, as overrides of a simulation, setters of storage and state files can leave
 * them: every method answers or fails as a precompiled contract does.
 */
import fc from 'fast-check'
import { encodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { EMPTY, fromBigInt, toBigInt } from '../../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../../src/encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../../../../src/encoding/rlp.ts'
import { createBridge } from '../../../../src/evm/precompiles/bridge/bridge.ts'
import { MAINNET } from '../../../../src/evm/precompiles/bridge/constants/mainnet.ts'
import { REGTEST } from '../../../../src/evm/precompiles/bridge/constants/regtest.ts'
import { PrecompileFailure, type PrecompileStorage } from '../../../../src/evm/precompiles/precompile.ts'
import { CELL } from '../../../../src/state/bridge-cells.ts'
import { FEDERATOR, freshBridge, type MethodRow, methods } from './calls.ts'

const KEY: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const HASH: Hex = `0x${'11'.repeat(32)}`

const SAMPLES: Readonly<Record<string, unknown>> = {
  int256: 5n,
  uint256: 5n,
  bool: true,
  address: FEDERATOR,
  bytes32: HASH,
  bytes: KEY,
  string: 'btc',
  'bytes[]': ['0x3006020101020101'],
  'bytes32[]': [HASH],
}

/** A call of a method. */
function inputOf({ signature }: MethodRow): Uint8Array {
  const at = signature.indexOf('(')
  const types = signature
    .slice(at + 1, -1)
    .split(',')
    .filter(Boolean)
  const functionName = signature.slice(0, at)
  const inputs = types.map((type) => ({ name: '', type }))
  const abi = [
    { type: 'function', name: functionName, inputs, outputs: [], stateMutability: 'view' },
  ] as const
  return fromHex(encodeFunctionData({ abi, functionName, args: types.map((type) => SAMPLES[type]) as never }))
}

const CALLS = [new Uint8Array(0), ...methods.map(inputOf)]

/** What cells are made of: numbers, hashes, keys, transactions, and other bytes. */
const part = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    EMPTY,
    Uint8Array.of(1),
    new Uint8Array(20).fill(7),
    new Uint8Array(32).fill(255),
    fromHex(KEY),
    new Uint8Array(33).fill(2),
    fromHex('0x01000000000000000000'),
  ),
)

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ maxDepth: 4, depthSize: 'small' }, part, fc.array(tie('item'), { maxLength: 6 })),
}))

/** A federation whose members have any keys. */
const federation = fc
  .tuple(fc.nat(6000), fc.nat(6000), fc.array(fc.tuple(part, part, part), { maxLength: 5 }))
  .map(([time, height, members]) =>
    encodeRlp([fromBigInt(BigInt(time)), fromBigInt(BigInt(height)), members.map((keys) => encodeRlp(keys))]),
  )

/** Bytes of a cell. A stored header has 116 bytes or 96. */
const cell = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  item.map(encodeRlp),
  federation,
  ...[116, 96].map((length) => fc.uint8Array({ minLength: length, maxLength: length })),
)

const SLOTS = Object.values(CELL)
const cells = fc
  .array(fc.tuple(fc.constantFrom(...SLOTS), cell), { minLength: 1, maxLength: 4 })
  .map((entries) => new Map(entries))

/** A storage with these cells, and `others` in those that have no name. */
function storageOf(named: ReadonlyMap<bigint, Uint8Array>, others: Uint8Array): PrecompileStorage {
  const written = new Map(named)
  const bytes = (slot: bigint) => written.get(slot) ?? (SLOTS.includes(slot) ? EMPTY : others)
  return { bytes, get: (slot) => toBigInt(bytes(slot)), setBytes: (slot, value) => written.set(slot, value) }
}

describe('damaged cells', () => {
  it.each([
    ['local network, all rules', REGTEST, () => true],
    ['local network, first rules', REGTEST, () => false],
    ['main network, all rules', MAINNET, () => true],
    ['main network, first rules', MAINNET, () => false],
  ])('let every method answer or fail: %s', (_, network, isActive) => {
    const contract = createBridge(network, isActive)
    const answers = (input: Uint8Array, env: ReturnType<typeof freshBridge>['env']) => {
      try {
        contract.methodGas(input, env)
        contract.run(input, { ...env })
      } catch (error) {
        if (!(error instanceof PrecompileFailure)) throw error
      }
    }
    fc.assert(
      fc.property(
        fc.record({ named: cells, others: fc.oneof(fc.constant(EMPTY), cell) }),
        fc.record({ isTop: fc.boolean(), number: fc.constantFrom(1, 500, 5000) }),
        ({ named, others }, { isTop, number }) => {
          for (const input of CALLS) {
            const storage = storageOf(named, others)
            answers(input, freshBridge({ caller: FEDERATOR, isTop, number, storage }).env)
          }
        },
      ),
      { numRuns: 100 },
    )
    expect(CALLS.length).toBeGreaterThan(70)
  })
})
