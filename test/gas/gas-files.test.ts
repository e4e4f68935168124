/** Files and sums of gas reports: pprof by the wire format of protocol buffers, speedscope, differences, sums of processes. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gasDifferences, increases } from '../../src/gas/gas-difference.ts'
import { mergeGas } from '../../src/gas/gas-report.ts'
import type { GasReport } from '../../src/gas/model.ts'
import { pprofFile } from '../../src/gas/pprof.ts'
import { speedscopeFile } from '../../src/gas/speedscope.ts'

const report: GasReport = {
  transactions: 2,
  gasUsed: 70_000_000_000,
  refunds: 4800,
  deployments: [{ contract: 'Vault', calls: 1, min: 300, max: 300, total: 300 }],
  methods: [{ contract: 'Vault', function: 'pay', calls: 2, min: 100, max: 200, total: 300 }],
  functions: [
    { contract: 'Vault', function: 'pay', file: 'Vault.sol', line: 3, calls: 2, self: 10, total: 20 },
  ],
  lines: [{ file: 'Vault.sol', line: 4, gas: 10 }],
  opcodes: [{ contract: 'Vault', group: 'storage', gas: 20 }],
  frames: [
    { name: '(intrinsic gas)' },
    { name: 'Vault.pay', contract: 'Vault', file: 'Vault.sol', line: 3 },
    { name: 'Vault.sol:4', file: 'Vault.sol', line: 4 },
  ],
  stacks: [
    { frames: [0], gas: 70_000_000_000 },
    { frames: [1], gas: 4790 },
    { frames: [1, 2], gas: 10 },
  ],
  notes: [],
}

/** A number of up to 64 bits, seven bits a byte, the low ones first (https://protobuf.dev/programming-guides/encoding). */
function varint(bytes: Uint8Array, at: number): readonly [value: number, next: number] {
  let [value, scale, next] = [0, 1, at]
  for (;;) {
    const byte = bytes[next++] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return [value, next]
    scale *= 128
  }
}

/** The fields of a message. */
function fields(bytes: Uint8Array): readonly (readonly [number, number | Uint8Array])[] {
  const found: [number, number | Uint8Array][] = []
  for (let at = 0; at < bytes.length; ) {
    const [tag, behind] = varint(bytes, at)
    const [value, next] = varint(bytes, behind)
    if (tag % 8 === 0) {
      found.push([tag >> 3, value])
      at = next
    } else {
      expect(tag % 8).toBe(2)
      found.push([tag >> 3, bytes.subarray(next, next + value)])
      at = next + value
    }
  }
  return found
}

const messages = (bytes: Uint8Array, field: number) =>
  fields(bytes).flatMap(([number, value]) => (number === field && value instanceof Uint8Array ? [value] : []))
const numberIn = (bytes: Uint8Array, field: number) =>
  Number(fields(bytes).find(([number]) => number === field)?.[1] ?? 0)
const packed = (bytes: Uint8Array) => {
  const values: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const [value, next] = varint(bytes, at)
    values.push(value)
    at = next
  }
  return values
}

describe('the file for pprof', () => {
  const bytes = gunzipSync(pprofFile(report))
  const texts = messages(bytes, 6).map((text) => Buffer.from(text).toString())

  it('has a table of texts that begins with an empty one, and the type of its values', () => {
    expect(texts[0]).toBe('')
    const [type] = messages(bytes, 1)
    expect(type && [texts[numberIn(type, 1)], texts[numberIn(type, 2)]]).toEqual(['gas', 'gas'])
  })

  it('has the stacks, innermost first, with their gas', () => {
    const nameOf = new Map(messages(bytes, 5).map((one) => [numberIn(one, 1), texts[numberIn(one, 2)]]))
    const functionOf = new Map(
      messages(bytes, 4).map((one) => [
        numberIn(one, 1),
        nameOf.get(numberIn(messages(one, 4)[0] ?? one, 1)),
      ]),
    )
    const samples = messages(bytes, 2).map((one) => [
      packed(messages(one, 1)[0] ?? one).map((id) => functionOf.get(id)),
      packed(messages(one, 2)[0] ?? one),
    ])
    expect(samples).toEqual([
      [['(intrinsic gas)'], [70_000_000_000]],
      [['Vault.pay'], [4790]],
      [['Vault.sol:4', 'Vault.pay'], [10]],
    ])
  })

  it('names files and lines', () => {
    const [, pay] = messages(bytes, 5)
    expect(pay && [texts[numberIn(pay, 4)], numberIn(pay, 5)]).toEqual(['Vault.sol', 3])
  })
})

it('makes a sampled profile for speedscope', () => {
  expect(speedscopeFile(report, 'npm test')).toEqual({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'tandem',
    name: 'npm test: 70000000000 gas, 4800 gas refunded',
    activeProfileIndex: 0,
    shared: {
      frames: [
        { name: '(intrinsic gas)' },
        { name: 'Vault.pay', file: 'Vault.sol', line: 3 },
        { name: 'Vault.sol:4', file: 'Vault.sol', line: 4 },
      ],
    },
    profiles: [
      {
        type: 'sampled',
        name: 'gas',
        unit: 'none',
        startValue: 0,
        endValue: 70_000_004_800,
        samples: [[0], [1], [1, 2]],
        weights: [70_000_000_000, 4790, 10],
      },
    ],
  })
})

it('adds the reports of processes, whose frames have other numbers', () => {
  const other: GasReport = {
    ...report,
    methods: [{ contract: 'Vault', function: 'pay', calls: 1, min: 50, max: 50, total: 50 }],
    frames: [report.frames[1], report.frames[0]].flatMap((frame) => frame ?? []),
    stacks: [
      { frames: [0], gas: 1 },
      { frames: [1], gas: 2 },
    ],
  }
  const sum = mergeGas([report, other])
  expect(sum.methods).toEqual([
    { contract: 'Vault', function: 'pay', calls: 3, min: 50, max: 200, total: 350 },
  ])
  expect(sum.frames).toEqual(report.frames)
  expect(sum.stacks).toEqual([
    { frames: [0], gas: 70_000_000_002 },
    { frames: [1], gas: 4791 },
    { frames: [1, 2], gas: 10 },
  ])
  expect(sum.gasUsed).toBe(2 * report.gasUsed)
})

it('compares averages', () => {
  const after: GasReport = {
    ...report,
    deployments: [],
    methods: [
      { contract: 'Vault', function: 'pay', calls: 4, min: 100, max: 200, total: 612 },
      { contract: 'Vault', function: 'take', calls: 1, min: 7, max: 7, total: 7 },
    ],
  }
  const found = gasDifferences(report, after)
  expect(found).toEqual([
    { contract: 'Vault', before: 300 },
    { contract: 'Vault', function: 'pay', before: 150, after: 153, percent: 2 },
    { contract: 'Vault', function: 'take', after: 7 },
  ])
  expect(increases(found, 2)).toEqual([])
  expect(increases(found, 1.9)).toHaveLength(1)
})
