import { describe, expect, it } from 'vitest'
import { WireCallTree } from '../../src/cli/remote-trace.ts'

const A = `0x${'a1'.repeat(20)}`
const B = `0x${'B2'.repeat(20)}`

describe('a call tree from the wire', () => {
  it('is read as geth writes it', () => {
    const root = WireCallTree.parse({
      type: 'CALL',
      from: A,
      to: B,
      value: '0x5',
      gas: '0x100',
      gasUsed: '0x80',
      input: '0x1234',
      output: '0x08c379a0',
      error: 'execution reverted',
      revertReason: 'no',
      logs: [{ address: A, topics: [], data: '0x', position: '0x1', index: 3 }],
      calls: [
        {
          type: 'DELEGATECALL',
          from: B,
          to: A,
          gas: '0x1',
          gasUsed: '0x1',
          input: '0x',
          error: 'out of gas',
        },
        { type: 'SELFDESTRUCT', from: B, to: A, gas: '0x0', gasUsed: '0x0', input: '0x', value: '0x0' },
      ],
    })
    expect(root).toMatchObject({
      kind: 'call',
      to: B.toLowerCase(),
      value: 5n,
      gasUsed: 128n,
      failure: { kind: 'reverted', reason: 'revert no' },
      logs: [{ position: 1 }],
    })
    expect(root.calls.map(({ kind, depth, failure }) => [kind, depth, failure?.reason])).toEqual([
      ['delegatecall', 1, 'out of gas'],
      ['selfdestruct', 1, undefined],
    ])
  })

  it('is read as the Java node writes it: quantities for output, NONE for a self-destruct, no positions', () => {
    const root = WireCallTree.parse({
      type: 'CREATE',
      from: A,
      gas: '0x1',
      gasUsed: '0x1',
      input: '0x',
      output: '0x0',
      logs: [{ index: 0, address: A, topics: [], data: '0x' }],
      calls: [{ type: 'NONE', from: A, to: B, gas: '0x0', gasUsed: '0x0' }],
    })
    expect(root.calls[0]?.kind).toBe('selfdestruct')
    expect(root.logs[0]?.position).toBe(1)
    expect(root.to).toBeUndefined()
  })

  it.each([[null], [{}], [{ type: 'JUMP', from: A }]])('refuses %j', (value) => {
    expect(WireCallTree.safeParse(value).success).toBe(false)
  })
})
