import { describe, expect, it } from 'vitest'
import { WireStateDiff } from '../../src/cli/remote-trace.ts'
import { stateDiffLines } from '../../src/cli/state-diff-lines.ts'

const A = `0x${'a1'.repeat(20)}`
const B = `0x${'b2'.repeat(20)}`

function lines(pre: object, post: object): string[] {
  const made = stateDiffLines(WireStateDiff.parse({ pre, post }), (address) => `<${address.slice(0, 4)}>`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
  return made.map((line) => line.replace(/\x1b\[\d+m/g, ''))
}

describe('state changes', () => {
  it('are printed account by account', () => {
    const pre = { [A]: { balance: '0xde0b6b3a7640000', nonce: 1, storage: { '0x02': '0x5' } } }
    const post = {
      [A]: {
        balance: '0xb1a2bc2ec50000',
        nonce: 2,
        storage: { '0x02': '0x6', '0x03': `0x${'ff'.repeat(32)}` },
      },
    }
    expect(lines(pre, post)).toEqual([
      '<0xa1>',
      '  balance 1 → 0.05 (-0.95)',
      '  nonce 1 → 2',
      '  slot 0x2 5 → 6',
      `  slot 0x3 0 → 0x${'ff'.repeat(32)}`,
    ])
  })

  it('show created and destroyed contracts', () => {
    expect(lines({ [B]: { balance: '0x1' } }, { [A]: { balance: '0x0', code: '0x6000' } })).toEqual([
      '<0xb2>',
      '  is gone',
      '<0xa1>',
      '  balance 0 → 0 (+0)',
      '  code none → 2 bytes',
    ])
  })

  it('omit unchanged values, and slots that stay empty', () => {
    expect(lines({ [A]: { balance: '0x1', nonce: 5 } }, { [A]: { balance: '0x1' } })).toEqual([])
    expect(lines({ [A]: { storage: { '0x1': '0x9' } } }, { [A]: {} })).toEqual(['<0xa1>', '  slot 0x1 9 → 0'])
  })
})
