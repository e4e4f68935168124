import { describe, expect, it } from 'vitest'
import { panicMessage } from '../../src/abi/panic.ts'
import { fromHex } from '../../src/encoding/hex.ts'

const panic = (code: number) => fromHex(`0x4e487b71${code.toString(16).padStart(64, '0')}`)

describe('a panic', () => {
  it('has a description', () => {
    expect(panicMessage(panic(0x11))).toBe('panic 0x11 (arithmetic overflow or underflow)')
    expect(panicMessage(panic(1))).toBe('panic 0x01 (assertion failed)')
    expect(panicMessage(panic(0x77))).toBe('panic 0x77')
  })

  it('is not recognised in other payloads', () => {
    expect(panicMessage(panic(1).subarray(0, 35))).toBeUndefined()
    expect(panicMessage(fromHex(`0x08c379a0${'0'.repeat(64)}`))).toBeUndefined()
    expect(panicMessage(new Uint8Array(0))).toBeUndefined()
  })
})
