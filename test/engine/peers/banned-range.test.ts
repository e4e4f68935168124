/** What can be banned, and how it is written. */
import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBannedRange } from '../../../src/engine/peers/banned-range.ts'

const texts = (...given: string[]) => given.map((text) => parseBannedRange(text)?.text)

describe('the text of a ban', () => {
  it('is an address, with one key for all its notations', () => {
    expect(
      texts(
        '192.0.2.1',
        '2001:DB8:0:0::1',
        '::ffff:192.0.2.1',
        '::FFFF:c000:0201',
        '::ffff:192.0.2.1/120',
        'fe80::/10',
        '192.168.51.1/16',
      ),
    ).toEqual([
      '192.0.2.1',
      '2001:db8::1',
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.1/24',
      'fe80::/10',
      '192.168.51.1/16',
    ])
  })

  it.each([
    '',
    ' ',
    '/8',
    '192.0.2',
    '192.0.2.256',
    'example.org',
    '192.0.2.1/',
    '192.0.2.1/0',
    '192.0.2.1/33',
    '192.0.2.1/x',
    '192.0.2.1/8/8',
    '192.0.2.1/-1',
    '2001:db8::1/129',
    '::ffff:192.0.2.1/90',
    'fe80::1%eth0',
    '127.0.0.1',
    '127.1.2.3/8',
    'localhost',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
    '0.0.0.0/1',
    '::',
    '::/3',
  ])('is not %j', (text) => {
    expect(parseBannedRange(text)).toBeUndefined()
  })

  it('is a range, with one key for all its notations', () => {
    const keys = (...given: string[]) => new Set(given.map((text) => parseBannedRange(text)?.key)).size
    expect(keys('192.168.51.1/16', '192.168.0.0/16', '::ffff:192.168.9.9/112')).toBe(1)
    expect(keys('2001:db8::1/32', '2001:db8:0:0:0:0:192.0.2.1/32')).toBe(1)
    expect(keys('192.168.0.0/16', '192.168.0.0/17', '192.168.0.0', '2001:db8::/16')).toBe(4)
  })

  it('has the same key for two ranges exactly when each contains the other’s address', () => {
    const byte = fc.nat({ max: 255 })
    const group = fc.nat({ max: 0xffff })
    const v4 = fc.tuple(fc.integer({ min: 1, max: 32 }), fc.tuple(fc.constant(203), byte, byte, byte))
    const v6 = fc.tuple(
      fc.integer({ min: 1, max: 128 }),
      fc.tuple(fc.constant(0x2001), ...Array.from({ length: 7 }, () => group)),
    )
    const four = v4.map(([bits, bytes]) => ({ family: 'ipv4' as const, bits, address: bytes.join('.') }))
    const six = v6.map(([bits, groups]) => ({
      family: 'ipv6' as const,
      bits,
      address: groups.map((value) => value.toString(16)).join(':'),
    }))
    const pairs = fc.oneof(fc.tuple(four, four), fc.tuple(six, six))
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        const bits = Math.min(a.bits, b.bits)
        const list = new BlockList()
        list.addSubnet(a.address, bits, a.family)
        const key = ({ address }: typeof a) => parseBannedRange(`${address}/${bits}`)?.key
        expect(key(a) === key(b)).toBe(list.check(b.address, b.family))
      }),
    )
  })
})
