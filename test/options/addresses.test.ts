import { describe, expect, it } from 'vitest'
import { addressRanges, createAddressSet, isLoopback, plainAddress } from '../../src/options/addresses.ts'

const isRange = (text: string) => addressRanges.schema().safeParse([text]).success

describe('addresses', () => {
  it('are recognised as this machine or not', () => {
    expect(['localhost', '127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true)
    expect(['0.0.0.0', '::', '10.0.0.1', '127.example', '::ffff:10.0.0.1'].some(isLoopback)).toBe(false)
  })

  it('have one notation', () => {
    expect(plainAddress('::FFFF:10.0.0.1')).toBe('10.0.0.1')
    expect(plainAddress('FE80::1%eth0')).toBe('fe80::1')
  })

  it.each(['1.2.3.4', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fe80::/10', '::ffff:10.0.0.0/104'])(
    'accept %s',
    (text) => {
      expect(isRange(text)).toBe(true)
    },
  )

  it.each([
    '',
    '1.2.3',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    'host',
    '10.0.0.0/a',
    '::ffff:10.0.0.0/8',
  ])('refuse %s', (text) => {
    expect(isRange(text)).toBe(false)
  })

  it('are matched by ranges of either family, IPv4-mapped addresses too', () => {
    const inside = createAddressSet(['10.0.0.0/8', '::ffff:192.168.0.0/112', '2001:db8::/32', '1.2.3.4'])
    for (const address of ['10.200.0.1', '::ffff:10.0.0.1', '192.168.9.9', '2001:DB8::7', '1.2.3.4']) {
      expect(inside(address), address).toBe(true)
    }
    for (const address of ['11.0.0.1', '192.169.0.1', '2001:db9::', '1.2.3.5', '', 'nonsense']) {
      expect(inside(address), address).toBe(false)
    }
  })
})
