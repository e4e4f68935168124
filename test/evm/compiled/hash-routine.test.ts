/** SHA3 in compiled code: any length, many pairs of words, and gas that runs out. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, it } from 'vitest'
import { fromBigIntFixed, toBigInt } from '../../../src/encoding/bytes.ts'
import { createVm } from '../../../src/evm/vm.ts'
import { CONTRACT, RETURN_TOP, run, word, world } from '../../support/execution.ts'

const interpreted = createVm({ chainId: 33, hotAfter: Number.POSITIVE_INFINITY })
const compiled = createVm({ chainId: 33, hotAfter: 0 })

const LENGTHS = [0, 1, 31, 32, 33, 63, 64, 65, 135, 136, 137, 272, 1000, 2046, 2047, 2048, 5000]

describe('SHA3 in compiled code', () => {
  it.each(LENGTHS)('hashes %d bytes in existing memory, and expands memory for them', async (length) => {
    const data = Uint8Array.from({ length: length + 7 }, (_, i) => (i * 11) & 0xff)
    const copy = `${data.length} 0 0 CALLDATACOPY`
    for (const code of [
      `${copy} ${length} 7 SHA3 ${RETURN_TOP}`,
      `${copy} ${length} 7 SHA3 POP ${length} 7 SHA3 ${RETURN_TOP}`,
    ]) {
      const result = await run(world({ [CONTRACT]: { code } }), { data }, { vm: compiled })
      expect(word(result)).toBe(toBigInt(keccak_256(data.subarray(7))))
    }
    const opened = await run(
      world({ [CONTRACT]: { code: `${length} 0 SHA3 ${RETURN_TOP}` } }),
      {},
      { vm: compiled },
    )
    expect(word(opened)).toBe(toBigInt(keccak_256(new Uint8Array(length))))
  })

  it('hashes pairs of words in a loop, some of them again', async () => {
    const rounds = 5000
    // 5000 .. 1, and each number's low 6 bits beside it.
    const code = `0 ${rounds} loop: DUP1 0 MSTORE DUP1 63 AND 32 MSTORE SWAP1 64 0 SHA3 XOR SWAP1
      0 0 MSTORE DUP1 63 AND 32 MSTORE SWAP1 64 0 SHA3 ADD SWAP1
      1 SWAP1 SUB DUP1 @loop JUMPI POP ${RETURN_TOP}`
    let expected = 0n
    const pair = (first: bigint, second: bigint) =>
      toBigInt(keccak_256(Buffer.concat([fromBigIntFixed(first, 32), fromBigIntFixed(second, 32)])))
    for (let i = BigInt(rounds); i > 0n; i--) {
      expected ^= pair(i, i & 63n)
      expected = (expected + pair(0n, i & 63n)) % 2n ** 256n
    }
    const result = await run(world({ [CONTRACT]: { code } }), { gas: 10n ** 7n }, { vm: compiled })
    expect(word(result)).toBe(expected)
  })

  it('runs out of gas at the same opcode as the interpreter', async () => {
    const code = `0 64 MSTORE 64 0 SHA3 33 1 SHA3 2000 0 SHA3 96 0 SHA3 ADD ADD ADD ${RETURN_TOP}`
    for (let gas = 0n; gas < 1200n; gas += 13n) {
      const observe = async (vm: typeof compiled) => {
        const { status, failure, gasUsed, output } = await run(
          world({ [CONTRACT]: { code } }),
          { gas },
          { vm },
        )
        return { status, failure, gasUsed, output }
      }
      expect(await observe(compiled), `${gas} gas`).toEqual(await observe(interpreted))
    }
  })
})
