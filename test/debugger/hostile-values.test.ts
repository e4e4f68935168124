/** Sources and expressions that no compiler and no editor sends must not cost more than their length. */
import { describe, expect, it } from 'vitest'
import type { StorageType } from '../../src/abi/storage/layout.ts'
import { CallDataReader } from '../../src/debugger/memory-value.ts'
import type { SourceTypes } from '../../src/debugger/source-types.ts'
import { StorageHistory } from '../../src/debugger/storage-history.ts'
import { toHex } from '../../src/encoding/hex.ts'

const NESTED = 30
const LEAF: StorageType = { kind: 'uint', label: 'uint256', size: 32 }

/** Structs of which each holds the next one ten times. */
function nestedTypes(): { readonly types: SourceTypes; readonly reads: () => number } {
  let reads = 0
  const types = {
    typeOf(key: string): StorageType {
      if (++reads > 100_000) throw new Error('the types are read again and again')
      const depth = Number(key)
      if (depth === NESTED) return LEAF
      const members = Array.from({ length: 10 }, (_, index) => ({
        name: `m${index}`,
        slot: 0n,
        offset: 0,
        type: String(depth + 1),
      }))
      return { kind: 'struct', label: `struct S${depth}`, slots: 1n, members }
    },
    membersOf: () => undefined,
  }
  return { types: types as unknown as SourceTypes, reads: () => reads }
}

describe('values of hostile sources', () => {
  it('reads each type of nested structs in call data once', () => {
    const { types } = nestedTypes()
    const reader = new CallDataReader(new Uint8Array(64).fill(1), types)
    const [value] = reader.tuple([{ name: 'a', type: '0' }], 0n)
    let inner = value
    for (let depth = 0; depth < NESTED; depth++) inner = inner?.part('m0')
    expect(inner?.text).toBe(String(BigInt(toHex(new Uint8Array(32).fill(1)))))
  })

  it('keeps hundreds of thousands of writes of a message that a call made', () => {
    const history = new StorageHistory()
    const address = `0x${'12'.repeat(20)}` as const
    history.enter()
    history.enter()
    history.read(address, 1n, 7n)
    for (let step = 1; step <= 300_000; step++) history.write(step, address, 1n, BigInt(step))
    history.exit(300_001, false)
    expect(history.at(address, 1n, 300_001)).toBe(300_000n)
    history.exit(300_002, true)
    expect(history.at(address, 1n, 300_002)).toBe(7n)
  })
})
