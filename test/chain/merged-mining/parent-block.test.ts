import { describe, expect, it } from 'vitest'
import { branchFromHashes, rootOfBranch } from '../../../src/chain/merged-mining/merkle-branch.ts'
import { plainTransaction, solutionFromBlock } from '../../../src/chain/merged-mining/parent-block.ts'
import { concat } from '../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { fromHex, toHex } from '../../../src/encoding/hex.ts'

/** The first transaction of the first block of the parent chain: public, and its id is known by everyone. */
const FIRST_COINBASE = fromHex(
  `0x01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000`,
)
const FIRST_ID = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'

/** Two inputs, an output with a script longer than one length byte can say. */
function transaction(seed: number, witness: Uint8Array | undefined): Uint8Array {
  const input = concat(
    new Uint8Array(36).fill(seed),
    Uint8Array.of(2, seed, seed),
    new Uint8Array(4).fill(0xff),
  )
  const output = concat(new Uint8Array(8), Uint8Array.of(0xfd, 0x2c, 0x01), new Uint8Array(300).fill(seed))
  return concat(
    Uint8Array.of(1, 0, 0, 0),
    witness === undefined ? new Uint8Array(0) : Uint8Array.of(0, 1),
    Uint8Array.of(2),
    input,
    input,
    Uint8Array.of(1),
    output,
    witness ?? new Uint8Array(0),
    new Uint8Array(4).fill(seed),
  )
}

/** Of the first input two items, of the second none. */
const WITNESS = Uint8Array.of(2, 3, 9, 9, 9, 1, 8, 0)

describe('parent-chain transactions', () => {
  it('have the id of their plain bytes', () => {
    const plain = plainTransaction(FIRST_COINBASE)
    expect(plain).toEqual(FIRST_COINBASE)
    expect(toHex(doubleSha256(plain).reverse())).toBe(`0x${FIRST_ID}`)
  })

  it('are stripped of their witness', () => {
    expect(toHex(plainTransaction(transaction(4, WITNESS)))).toBe(toHex(transaction(4, undefined)))
  })

  it('are refused when bytes are missing or left over', () => {
    const whole = transaction(4, WITNESS)
    expect(() => plainTransaction(whole.subarray(0, whole.length - 1))).toThrow(RangeError)
    expect(() => plainTransaction(concat(whole, Uint8Array.of(0)))).toThrow(RangeError)
    expect(() => plainTransaction(concat(new Uint8Array(4), new Uint8Array(9).fill(0xff)))).toThrow(
      RangeError,
    )
  })
})

describe('a whole parent-chain block', () => {
  const header = new Uint8Array(80).fill(6)

  it('gives header, plain coinbase and its branch', () => {
    const bodies = [transaction(1, WITNESS), transaction(2, undefined), transaction(3, WITNESS)]
    const plain = [1, 2, 3].map((seed) => transaction(seed, undefined))
    const solution = solutionFromBlock(concat(header, Uint8Array.of(3), ...bodies))
    expect(solution.parentHeader).toEqual(header)
    expect(toHex(solution.coinbase)).toBe(toHex(plain[0] as Uint8Array))
    expect(solution.merkleBranch).toEqual(branchFromHashes(plain.map(doubleSha256)))
    expect(rootOfBranch(doubleSha256(solution.coinbase), solution.merkleBranch)).toHaveLength(32)
  })

  it('is refused without transactions, truncated, or with trailing bytes', () => {
    const body = transaction(1, undefined)
    expect(() => solutionFromBlock(concat(header, Uint8Array.of(0)))).toThrow(RangeError)
    expect(() => solutionFromBlock(concat(header, Uint8Array.of(2), body))).toThrow(RangeError)
    expect(() => solutionFromBlock(concat(header, Uint8Array.of(1), body, body))).toThrow(RangeError)
    expect(() => solutionFromBlock(header.subarray(0, 79))).toThrow(RangeError)
  })
})
