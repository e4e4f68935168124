import { describe, expect, it } from 'vitest'
import { BlockOverrides } from '../../../src/engine/dev/block-overrides.ts'
import { Impersonation } from '../../../src/engine/dev/impersonation.ts'

const C = `0x${'c0'.repeat(20)}` as const
const D = `0x${'d0'.repeat(20)}` as const

describe('block overrides', () => {
  it('are set individually, and restored together', () => {
    const blockOverrides = new BlockOverrides(C)
    expect([blockOverrides.coinbase, blockOverrides.headerOverrides]).toEqual([C, {}])
    blockOverrides.overrideHeader({ gasLimit: 5n })
    const saved = blockOverrides.save()
    blockOverrides.overrideHeader({ minimumGasPrice: 7n })
    blockOverrides.setCoinbase(D)
    expect([blockOverrides.coinbase, blockOverrides.headerOverrides]).toEqual([
      D,
      { gasLimit: 5n, minimumGasPrice: 7n },
    ])
    blockOverrides.restore(saved)
    expect([blockOverrides.coinbase, blockOverrides.headerOverrides]).toEqual([C, { gasLimit: 5n }])
    blockOverrides.reset()
    expect(blockOverrides.headerOverrides).toEqual({})
  })
})

describe('impersonation', () => {
  it('applies to the listed addresses or to all, and afterwards to the listed ones again', () => {
    const impersonation = new Impersonation()
    expect(impersonation.covers(C)).toBe(false)
    impersonation.start(C)
    impersonation.setEverybody(true)
    expect([impersonation.covers(C), impersonation.covers(D)]).toEqual([true, true])
    impersonation.setEverybody(false)
    expect([impersonation.covers(C), impersonation.covers(D)]).toEqual([true, false])
    expect([impersonation.stop(C), impersonation.stop(C)]).toEqual([true, false])
    impersonation.start(D)
    impersonation.setEverybody(true)
    impersonation.clear()
    expect([impersonation.covers(C), impersonation.covers(D)]).toEqual([false, false])
  })
})
