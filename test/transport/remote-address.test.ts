import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRemoteAddressOf } from '../../src/transport/remote-address.ts'

function seen(proxies: readonly string[], peer: string | undefined, forwarded?: string | string[]): string {
  const request = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } }
  return createRemoteAddressOf(proxies)(request as unknown as IncomingMessage)
}

describe('the remote address', () => {
  it('is the socket’s where no proxy is trusted', () => {
    expect(seen([], '::ffff:9.9.9.9', '1.1.1.1')).toBe('9.9.9.9')
    expect(seen([], undefined)).toBe('')
  })

  it('is the socket’s when the peer is not one of the proxies', () => {
    expect(seen(['10.0.0.0/8'], '9.9.9.9', '1.1.1.1')).toBe('9.9.9.9')
  })

  it('is what the last untrusted hop was seen as, whatever that hop claims', () => {
    expect(seen(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1')).toBe('1.1.1.1')
    expect(seen(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2')).toBe('1.1.1.1')
    expect(seen(['10.0.0.0/8'], '::ffff:10.0.0.1', ['6.6.6.6', '1.1.1.1'])).toBe('1.1.1.1')
  })

  it('reads entries with ports and in IPv6', () => {
    expect(seen(['10.0.0.1'], '10.0.0.1', '1.1.1.1:5555')).toBe('1.1.1.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '[2001:DB8::1]:5555')).toBe('2001:db8::1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '::ffff:1.1.1.1')).toBe('1.1.1.1')
  })

  it('stays with the proxy when it vouches for nobody, or for nonsense', () => {
    expect(seen(['10.0.0.1'], '10.0.0.1')).toBe('10.0.0.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '1.1.1.1, unknown')).toBe('10.0.0.1')
    expect(seen(['10.0.0.1'], '10.0.0.1', '')).toBe('10.0.0.1')
  })

  it('is never moved by what a caller puts before the proxy’s own entry', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (claimed, caller) => {
        fc.pre(!caller.startsWith('10.'))
        expect(seen(['10.0.0.0/8'], '10.0.0.1', `${claimed}, ${caller}`)).toBe(caller)
      }),
    )
  })
})
