import { describe, expect, it } from 'vitest'
import { EMPTY_CODE_HASH } from '../../../src/chain/account.ts'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import { TouchedItems } from '../../../src/state/fork/touched.ts'
import type { RemoteState, StateItem } from '../../../src/state/remote/model.ts'

const addressOf = (number: number): Hex => toFixedHex(BigInt(number), 20)
const CODE_HASH: Hex = `0x${'c0'.repeat(32)}`
const [FIRST, SECOND, LIBRARY, NOBODY] = [1, 2, 3, 4].map(addressOf) as [Hex, Hex, Hex, Hex]
/** Of a mapping. */
const DERIVED = 2n ** 200n
/** EIP-1967's slot of the implementation. */
const FIXED = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn

const cell = (address: Hex, slot: bigint): StateItem => ({ kind: 'cell', address, slot })
const account = (address: Hex): StateItem => ({ kind: 'account', address })

/** A state whose accounts are known as far as they are listed; no slot is. */
function stateOf(codes: Readonly<Record<Hex, Hex>>): RemoteState {
  return {
    block: { number: 1, hash: '0x01' },
    account(address) {
      const codeHash = codes[address]
      return codeHash && { account: { nonce: 0n, balance: 0n, codeHash, isContract: true } }
    },
    cell: () => undefined,
    code: () => undefined,
    fetch: async () => {},
    hint: async () => [],
    call: async () => new Uint8Array(),
  }
}

describe('state that code accessed', () => {
  it('is fetched with its account at another block', () => {
    const touched = new TouchedItems()
    touched.note(stateOf({ [FIRST]: CODE_HASH }), [account(FIRST), cell(FIRST, DERIVED)], FIRST)
    touched.note(stateOf({}), [account(LIBRARY)], FIRST)
    expect(touched.itemsBeside(stateOf({}), [account(FIRST)])).toEqual([
      cell(FIRST, DERIVED),
      account(LIBRARY),
    ])
  })

  it('is fetched for another address with the same code when it is common to all such addresses', () => {
    const touched = new TouchedItems()
    const codes = { [FIRST]: CODE_HASH, [SECOND]: CODE_HASH, [LIBRARY]: CODE_HASH }
    touched.note(stateOf(codes), [cell(FIRST, 2n), cell(FIRST, DERIVED), cell(FIRST, FIXED)], FIRST)
    expect(touched.itemsBeside(stateOf(codes), [cell(SECOND, 0n)])).toEqual([cell(SECOND, 2n)])
    touched.note(stateOf(codes), [cell(SECOND, DERIVED + 1n), cell(SECOND, FIXED)], SECOND)
    expect(touched.itemsBeside(stateOf(codes), [cell(LIBRARY, 0n)])).toEqual([
      cell(LIBRARY, 2n),
      cell(LIBRARY, FIXED),
    ])
  })

  it('is empty for accounts without code', () => {
    const touched = new TouchedItems()
    const state = stateOf({ [NOBODY]: EMPTY_CODE_HASH })
    touched.note(state, [account(NOBODY), cell(NOBODY, 1n)], undefined)
    expect(touched.itemsBeside(stateOf({}), [account(NOBODY)])).toEqual([])
  })

  it('never exceeds the remaining space in a request', () => {
    const touched = new TouchedItems()
    const state = stateOf({ [FIRST]: CODE_HASH })
    const called = Array.from({ length: 60 }, (_, index) => addressOf(100 + index))
    const slots = Array.from({ length: 200 }, (_, slot) => cell(FIRST, BigInt(slot)))
    touched.note(state, [...slots, ...called.map(account)], FIRST)
    const missed = (count: number) =>
      Array.from({ length: count }, (_, slot) => cell(FIRST, BigInt(1000 + slot)))
    for (const count of [1, 20, 40, 49, 50, 99]) {
      const ahead = touched.itemsBeside(stateOf({}), missed(count))
      const calls = ahead.reduce((sum, { kind }) => sum + (kind === 'account' ? 3 : 1), count)
      expect(Math.floor(calls / 50), String(count)).toBe(Math.floor(count / 50))
    }
    expect(touched.itemsBeside(stateOf({}), missed(1)).length).toBeGreaterThan(20)
  })

  it('is counted, together with the part that was read', () => {
    const touched = new TouchedItems()
    const state = stateOf({})
    touched.noteAhead(state, [cell(FIRST, 1n), cell(FIRST, 2n)])
    touched.noteRead(state, cell(FIRST, 1n))
    touched.noteRead(state, cell(FIRST, 1n))
    touched.noteRead(state, cell(FIRST, 3n))
    expect(touched.counts).toEqual({ items: 2, read: 1 })
  })
})
