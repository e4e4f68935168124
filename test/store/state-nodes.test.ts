import { describe, expect, it } from 'vitest'
import { keccakHex } from '../../src/encoding/hash.ts'
import { nodeSource, putCommitted } from '../../src/store/state-nodes.ts'
import { ENGINES } from './store-cases.ts'

const node = Uint8Array.of(0xc1, 0x80)
const code = Uint8Array.of(0x60, 0x00)
const committed = {
  nodes: new Map([[keccakHex(node), node]]),
  code: new Map([[keccakHex(code), code]]),
}

describe.each(ENGINES)('state nodes in $name', ({ withStore }) => {
  it('are readable once written, each in its own table', () =>
    withStore(async (store) => {
      const source = nodeSource(store)
      expect(source.node(keccakHex(node))).toBeUndefined()
      expect(source.code(keccakHex(code))).toBeUndefined()
      await store.batch(putCommitted(committed))
      expect(source.node(keccakHex(node))).toEqual(node)
      expect(source.code(keccakHex(code))).toEqual(code)
      expect(source.node(keccakHex(code))).toBeUndefined()
      expect(source.code(keccakHex(node))).toBeUndefined()
    }))

  it('return the same array for the same code', () =>
    withStore(async (store) => {
      await store.batch(putCommitted(committed))
      const source = nodeSource(store)
      expect(source.code(keccakHex(code))).toBe(source.code(keccakHex(code)))
    }))
})
