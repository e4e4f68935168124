import { describe, expect, it } from 'vitest'
import { Dials } from '../../src/engine/dials.ts'
import { Impersonation } from '../../src/engine/impersonation.ts'

const C = `0x${'c0'.repeat(20)}` as const
const D = `0x${'d0'.repeat(20)}` as const

describe('dials', () => {
  it('stand where they were put, one by one, and come back together', () => {
    const dials = new Dials(C)
    expect([dials.coinbase, dials.asked]).toEqual([C, {}])
    dials.ask({ gasLimit: 5n })
    const saved = dials.save()
    dials.ask({ minimumGasPrice: 7n })
    dials.setCoinbase(D)
    expect([dials.coinbase, dials.asked]).toEqual([D, { gasLimit: 5n, minimumGasPrice: 7n }])
    dials.restore(saved)
    expect([dials.coinbase, dials.asked]).toEqual([C, { gasLimit: 5n }])
    dials.reset()
    expect(dials.asked).toEqual({})
  })
})

describe('impersonation', () => {
  it('covers those who are named, or everybody, and those who were named still afterwards', () => {
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
