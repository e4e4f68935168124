/** Cells of any length over a state of words. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY, toBigInt } from '../../../src/encoding/bytes.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { readBytes, writeBytes } from '../../../src/evm/precompiles/byte-cells.ts'
import { Overlay } from '../../../src/state/overlay.ts'

const ADDRESS: Hex = `0x${'11'.repeat(20)}`

function emptyState(): Overlay {
  return new Overlay({ account: () => undefined, storage: () => 0n, code: () => EMPTY })
}

describe('a cell of bytes', () => {
  it('gives back what was written last', () => {
    const values = fc.array(fc.uint8Array({ maxLength: 150 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(values, (list) => {
        const state = emptyState()
        for (const bytes of list) {
          writeBytes(state, ADDRESS, 5n, bytes)
          expect(readBytes(state, ADDRESS, 5n)).toEqual(bytes)
        }
        writeBytes(state, ADDRESS, 5n, EMPTY)
        const { slots } = state.changes().storage.get(ADDRESS) ?? { slots: new Map<bigint, bigint>() }
        expect([...slots.values()].every((word) => word === 0n)).toBe(true)
      }),
    )
  })

  it('of at most 32 bytes is the word of these bytes', () => {
    const state = emptyState()
    const bytes = new Uint8Array(32).fill(7)
    writeBytes(state, ADDRESS, 5n, bytes)
    expect(state.storage(ADDRESS, 5n)).toBe(toBigInt(bytes))
    writeBytes(state, ADDRESS, 5n, Uint8Array.of(0, 7))
    expect(state.storage(ADDRESS, 5n)).toBe(0n)
    expect(readBytes(state, ADDRESS, 5n)).toEqual(Uint8Array.of(0, 7))
  })
})
