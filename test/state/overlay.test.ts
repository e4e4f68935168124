import { describe, expect, it } from 'vitest'
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { saying } from '../support/refusals.ts'

const A: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B: Hex = '0x7986b3df570230288501eea3d890bd66948c9b79'
const CODE = Uint8Array.of(0x60, 0x01)
const RICH: Account = { ...EMPTY_ACCOUNT, balance: 5n, isContract: true }

/** A state with one account, RICH at A, whose slots hold their own number, and a count of what was asked of it. */
function createBelow() {
  const asked: string[] = []
  const reader: StateReader = {
    account(address) {
      asked.push(`account ${address}`)
      return address === A ? RICH : undefined
    },
    cell(address, slot) {
      asked.push(`storage ${address} ${slot}`)
      return address === A ? slot : 0n
    },
    storage() {
      throw new Error('an overlay reads cells')
    },
    cells: () => new Map(),
    code(codeHash) {
      asked.push(`code ${codeHash}`)
      return CODE
    },
  }
  return { asked, reader }
}

describe('Overlay', () => {
  it('reads each account and slot from the state below once, and does not record reads as changes', () => {
    const { asked, reader } = createBelow()
    const overlay = new Overlay(reader)
    for (let i = 0; i < 3; i++) {
      expect([overlay.account(A), overlay.account(B)]).toEqual([RICH, undefined])
      expect([overlay.storage(A, 3n), overlay.storage(B, 3n)]).toEqual([3n, 0n])
    }
    expect(asked).toEqual([`account ${A}`, `account ${B}`, `storage ${A} 3`, `storage ${B} 3`])
    expect(overlay.changes()).toEqual({ accounts: new Map(), storage: new Map(), code: new Map() })
  })

  it('undoes exactly the changes since each of many checkpoints', () => {
    const overlay = new Overlay(createBelow().reader)
    const deep = 5_000
    for (let i = 1; i <= deep; i++) {
      overlay.checkpoint()
      overlay.putStorage(A, 1n, BigInt(i + 1))
      overlay.putAccount(B, { ...EMPTY_ACCOUNT, nonce: BigInt(i) })
      if (i % 1_000 === 0) overlay.deleteAccount(A)
    }
    expect(overlay.depth).toBe(deep)
    for (let i = deep; i > 0; i--) {
      expect(overlay.account(B)?.nonce).toBe(BigInt(i))
      expect(overlay.storage(A, 1n)).toBe(i % 1_000 === 0 ? 0n : BigInt(i + 1))
      overlay.revert()
    }
    expect([overlay.depth, overlay.account(A), overlay.account(B)]).toEqual([0, RICH, undefined])
    expect(overlay.storage(A, 1n)).toBe(1n)
    expect(overlay.changes()).toEqual({ accounts: new Map(), storage: new Map(), code: new Map() })
  })

  it('keeps changes of a committed inner checkpoint only if the outer one is committed too', () => {
    const overlay = new Overlay(createBelow().reader)
    overlay.checkpoint()
    overlay.checkpoint()
    overlay.putStorage(A, 1n, 7n)
    overlay.putCode(B, CODE)
    overlay.commit()
    expect([overlay.storage(A, 1n), overlay.account(B)?.codeHash]).toEqual([7n, keccakHex(CODE)])
    overlay.revert()
    expect([overlay.storage(A, 1n), overlay.account(B)]).toEqual([1n, undefined])
    expect(overlay.changes().code.size).toBe(0)
  })

  it('refuses to close a checkpoint that was not opened', () => {
    const overlay = new Overlay(createBelow().reader)
    expect(() => overlay.commit()).toThrow(saying('no checkpoint is open'))
    expect(() => overlay.revert()).toThrow(saying('no checkpoint is open'))
  })

  it('hides the storage below from an account that was deleted and created again', () => {
    const overlay = new Overlay(createBelow().reader)
    overlay.putStorage(A, 1n, 7n)
    overlay.deleteAccount(A)
    expect(overlay.account(A)).toBeUndefined()
    overlay.putAccount(A, RICH)
    overlay.putStorage(A, 2n, 8n)
    expect([1n, 2n, 3n].map((slot) => overlay.storage(A, slot))).toEqual([0n, 8n, 0n])
    expect(overlay.changes().storage).toEqual(new Map([[A, { wiped: true, slots: new Map([[2n, 8n]]) }]]))
  })

  it('has no storage once storage is cleared', () => {
    const overlay = new Overlay(createBelow().reader)
    overlay.checkpoint()
    overlay.clearStorage(A)
    expect(overlay.account(A)).toEqual(RICH)
    expect(overlay.storage(A, 9n)).toBe(0n)
    overlay.revert()
    expect(overlay.account(A)).toEqual(RICH)
    expect(overlay.storage(A, 9n)).toBe(9n)
  })

  it('reads its own code first, then the code below', () => {
    const { asked, reader } = createBelow()
    const overlay = new Overlay(reader)
    const own = Uint8Array.of(0xfe)
    overlay.putCode(B, own)
    expect(overlay.code(keccakHex(own))).toBe(own)
    expect(overlay.account(B)).toEqual({ ...EMPTY_ACCOUNT, codeHash: keccakHex(own), isContract: true })
    expect(overlay.code(keccakHex(CODE))).toBe(CODE)
    expect(asked).toContain(`code ${keccakHex(CODE)}`)
    overlay.putCode(B, new Uint8Array(0))
    expect(overlay.account(B)?.codeHash).toBe(EMPTY_CODE_HASH)
  })

  it('does not change the overlay below it', () => {
    const lower = new Overlay(createBelow().reader)
    lower.putStorage(A, 1n, 7n)
    const upper = new Overlay(lower)
    upper.putStorage(A, 1n, 8n)
    upper.clearStorage(A)
    expect([upper.storage(A, 1n), lower.storage(A, 1n)]).toEqual([0n, 7n])
    expect(lower.changes().storage.get(A)).toEqual({ wiped: false, slots: new Map([[1n, 7n]]) })
  })
})
