import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TraceBudget } from '../../../../src/evm/tracing/trace-budget.ts'
import { RawJson } from '../../../../src/rpc/raw-json.ts'
import { TextBuffer } from '../../../../src/rpc/wire/trace/text-buffer.ts'
import { saying } from '../../../support/refusals.ts'

const step = (index: number) =>
  `{"pc":${index % 991},"op":"PUSH1","gas":${10_000_000 - index},"gasCost":3,"stack":["0x${index.toString(16)}"]},`

describe('a text buffer', () => {
  it('returns the appended text at any length', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary-ascii' }), fc.constant('x'.repeat(300_000)))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = new TextBuffer(new TraceBudget(1 << 26))
        for (const part of pieces) text.append(part)
        expect(new RawJson(text.chunks()).toString() === pieces.join('')).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('uses a tenth of the memory for similar steps', () => {
    const budget = new TraceBudget(1 << 23)
    const text = new TextBuffer(budget)
    let expected = 0
    for (let index = 0; index < 200_000; index++) {
      text.append(step(index))
      expected += step(index).length
    }
    const json = new RawJson(text.chunks())
    expect(json.length).toBe(expected)
    // The first four megabytes stay as they are.
    expect(budget.used - (1 << 22)).toBeLessThan((expected - (1 << 22)) / 5)
    let at = 0
    for (const piece of json.pieces()) {
      expect(piece.length).toBeLessThanOrEqual(1 << 18)
      at += piece.length
    }
    expect(at).toBe(expected)
    expect(json.toString().endsWith(`${step(199_998)}${step(199_999)}`)).toBe(true)
  })

  it('ends at the limits of memory and of text', () => {
    const fill = (budget: TraceBudget) => () => {
      const text = new TextBuffer(budget)
      for (let index = 0; ; index++) text.append(step(index))
    }
    expect(fill(new TraceBudget(1_000_000))).toThrow(saying('Trace size limit of 1000000 bytes exceeded'))
    expect(fill(new TraceBudget(1 << 30, 1_000_000))).toThrow(
      saying('Trace answer limit of 1000000 bytes exceeded'),
    )
  })
})
