/** docs/internals/protocol.md#61-opcodes: which opcodes there are, and what the odd ones answer. Each row by both loops. */
import { describe, expect, it } from 'vitest'
import { CONTRACT, OTHER, RETURN_TOP, run, vms, word, world } from '../support/execution.ts'

describe.each(['own', 'library'] as const)('the %s loop', (loop) => {
  const vm = vms[loop]

  async function outcome(code: string) {
    return run(world({ [CONTRACT]: { code, balance: 77n }, [OTHER]: { code: 'STOP' } }), {}, { vm })
  }

  async function answer(code: string): Promise<bigint> {
    return word(await outcome(`${code} ${RETURN_TOP}`))
  }

  it.each([
    ['SHL', '1 4 SHL', 16n],
    ['SHR', '16 4 SHR', 1n],
    ['SAR', '0 NOT 4 SAR', 2n ** 256n - 1n],
    [
      'EXTCODEHASH',
      `${OTHER} EXTCODEHASH`,
      0xbc36789e7a1e281436464229828f817d6612f7b477d66591ff96a9e064bcc98an,
    ],
    ['CHAINID', 'CHAINID', 33n],
    ['SELFBALANCE', 'SELFBALANCE', 77n],
    ['BASEFEE, the minimum gas price', 'BASEFEE', 60_000n],
    ['DIFFICULTY, the block’s', 'DIFFICULTY', 7n],
    ['TLOAD and TSTORE', '9 5 TSTORE 5 TLOAD', 9n],
    ['MCOPY', '1234 0 MSTORE 32 0 64 MCOPY 64 MLOAD', 1234n],
    ['PUSH0', 'PUSH0', 0n],
    ['STATICCALL', `0 0 0 0 ${OTHER} 50000 STATICCALL`, 1n],
    ['RETURNDATASIZE', `0 0 0 0 ${OTHER} 50000 STATICCALL RETURNDATASIZE`, 0n],
  ])('%s exists', async (_, code, expected) => {
    expect(await answer(code)).toBe(expected)
  })

  it('CREATE2 exists', async () => {
    expect(await answer('5 0 0 0 CREATE2')).not.toBe(0n)
  })

  it('REVERT exists', async () => {
    expect(await outcome('42 0 MSTORE 32 0 REVERT')).toMatchObject({ status: 'reverted', refund: 0n })
  })

  it('RETURNDATACOPY exists', async () => {
    expect(await outcome('0 0 0 RETURNDATACOPY')).toMatchObject({ status: 'succeeded' })
  })

  it('SELFDESTRUCT exists with its original meaning', async () => {
    const result = await outcome(`${OTHER} SELFDESTRUCT`)
    expect(result).toMatchObject({ status: 'succeeded', destroyed: [CONTRACT] })
  })

  it.each([
    ['BLOBHASH', '49'],
    ['BLOBBASEFEE', '4a'],
    ['DUPN', 'a8'],
    ['SWAPN', 'a9'],
    ['TXINDEX', 'aa'],
    ['HEADER', 'fc'],
    ['CLZ', '1e'],
    ['EXTCALL of EOF', 'f8'],
    ['RETF of EOF', 'e4'],
    ['RJUMP of EOF', 'e0'],
    ['INVALID', 'fe'],
    ['an unassigned one', '0c'],
  ])('%s does not exist', async (_, byte) => {
    const result = await outcome(`0 0 0 0 0 0 0 #${byte}`)
    expect(result).toMatchObject({ status: 'failed', failure: 'invalid opcode', gasUsed: 1_000_000n })
  })
})
