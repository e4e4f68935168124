import { describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createHashrates } from '../../../src/engine/mining/hashrates.ts'

const client = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

describe('reported hash rates', () => {
  it('are the sum of the last report of each client', () => {
    const rates = createHashrates(() => 1_000)
    expect(rates.total()).toBe(0n)
    rates.report(client(1), 100n)
    rates.report(client(2), 30n)
    rates.report(client(1), 50n)
    expect(rates.total()).toBe(80n)
  })

  it('expire after a minute', () => {
    let now = 1_000
    const rates = createHashrates(() => now)
    rates.report(client(1), 100n)
    now += 30
    rates.report(client(2), 1n)
    now += 29
    expect(rates.total()).toBe(101n)
    now += 1
    expect(rates.total()).toBe(1n)
    rates.report(client(1), 7n)
    now += 59
    expect(rates.total()).toBe(7n)
    now += 1
    expect(rates.total()).toBe(0n)
  })

  it('drop the client with the oldest report when there are too many', () => {
    const rates = createHashrates(() => 1_000)
    for (let n = 0; n <= 1_000; n++) rates.report(client(n), n === 0 ? 5_000n : 1n)
    expect(rates.total()).toBe(1_000n)
  })
})
