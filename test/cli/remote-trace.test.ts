import { describe, expect, it } from 'vitest'
import { WireCallTree } from '../../src/cli/remote-trace.ts'

const A = `0x${'a1'.repeat(20)}`
const B = `0x${'B2'.repeat(20)}`

describe('a call tree from the wire', () => {
  it('is read in the format of geth', () => {
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

  it('is read in the format of the Java node: quantities as output, NONE for a self-destruct, no positions', () => {
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

  const TX = `0x${'3c'.repeat(32)}`
  const PROGRAM = 'org.ethereum.vm.program.Program$'
  it.each([
    [
      `Not enough gas for 'MSTORE' operation executing: opGas[9223372036854775807], programGas[5], tx[${TX}]`,
      'OutOfGasException',
      'out of gas',
    ],
    [
      `Not enough gas for 'call' cause spending: invokeGas[9], gas[7], usedGas[3], tx[${TX}]`,
      'OutOfGasException',
      'out of gas',
    ],
    [`Gas value overflow: actualGas[1], gasLimit[2], tx[${TX}]`, 'OutOfGasException', 'out of gas'],
    [`Invalid operation code: opcode[fe], tx[${TX}]`, 'IllegalOperationException', 'invalid opcode'],
    [`Operation with pc isn't 'JUMPDEST': PC[3], tx[${TX}]`, 'BadJumpDestinationException', 'invalid JUMP'],
    [`Expected stack size 2 but actual 0, tx: ${TX}`, 'StackTooSmallException', 'stack underflow'],
    ['Expected: overflow 1024 elements stack limit', 'StackTooLargeException', 'stack overflow'],
    [
      `Attempt to call a state modifying opcode inside STATICCALL: tx[${TX}]`,
      'StaticCallModificationException',
      'static state change',
    ],
  ])("translates the Java node's %s", (message, className, reason) => {
    const frame = { type: 'CALL', from: A, to: B }
    const texts = [message, `${PROGRAM}${className}: ${message}`, `class ${PROGRAM}${className}: ${message}`]
    for (const error of texts) {
      const root = WireCallTree.parse({ ...frame, error, calls: [{ ...frame, error }] })
      expect(root.failure).toEqual({ kind: 'failed', reason })
      expect(root.calls[0]?.failure).toEqual({ kind: 'failed', reason })
    }
  })

  it('omits class and transaction from other failures', () => {
    const error = `class org.ethereum.vm.exception.VMException: code size to deposit exceeds maximum code size, tx[${TX}]`
    expect(WireCallTree.parse({ type: 'CREATE', from: A, error }).failure?.reason).toBe(
      'code size to deposit exceeds maximum code size',
    )
  })

  it.each([[null], [{}], [{ type: 'JUMP', from: A }]])('refuses %j', (value) => {
    expect(WireCallTree.safeParse(value).success).toBe(false)
  })
})
