import { describe, expect, it } from 'vitest'
import { HostCheck } from '../../src/transport/host-check.ts'

const HOST = 'Host not allowed: see the setting hosts'
const ORIGIN = 'Origin not allowed: see the setting cors'

const check = (options: Partial<ConstructorParameters<typeof HostCheck>[0]> = {}) =>
  new HostCheck({ bindAddress: '127.0.0.1', hosts: [], cors: [], ...options })

describe('the host check', () => {
  it('answers each of several callers by its own host', () => {
    const one = check()
    const callers = ['localhost:4444', 'evil.example', '127.0.0.1', 'evil.example', 'localhost:4444']
    expect(callers.map((host) => one.refusal({ host }) === undefined)).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
  })

  it.each([
    'localhost',
    'LOCALHOST:4444',
    '127.0.0.1',
    '[::1]:4444',
    '[::1]',
    '192.168.0.7:80',
    '127.9.9.9',
    '',
    undefined,
  ])('admits %s on loopback', (host) => {
    expect(check().refusal({ host })).toBeUndefined()
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:4444',
    'evil:localhost',
    '[evil',
    '[::1',
    '[::1].evil.example',
    '[::1]:80.evil.example',
    '1.2.3',
  ])('refuses %s on loopback', (host) => {
    expect(check().refusal({ host })).toBe(HOST)
  })

  it('admits listed names, or all', () => {
    expect(check({ hosts: ['Node.test'] }).refusal({ host: 'node.test:4444' })).toBeUndefined()
    expect(check({ hosts: ['node.test'] }).refusal({ host: 'other.test' })).toBe(HOST)
    expect(check({ hosts: ['*'] }).refusal({ host: 'other.test' })).toBeUndefined()
  })

  it('leaves names to the operator beyond loopback, unless there is a list', () => {
    expect(check({ bindAddress: '0.0.0.0' }).refusal({ host: 'tandem:4444' })).toBeUndefined()
    expect(check({ bindAddress: '0.0.0.0', hosts: ['a'] }).refusal({ host: 'tandem' })).toBe(HOST)
  })

  it('refuses a page on a rebound name even where any name passes', () => {
    const headers = { host: 'evil.example', origin: 'http://evil.example' }
    expect(check({ bindAddress: '0.0.0.0' }).refusal(headers)).toBe(ORIGIN)
  })

  it('admits a client that names the server itself as its origin', () => {
    expect(check().refusal({ host: '127.0.0.1:4444', origin: 'http://127.0.0.1:4444' })).toBeUndefined()
    expect(check().refusal({ host: '127.0.0.1:4444', origin: 'http://127.0.0.1:5555' })).toBe(ORIGIN)
  })

  it.each(['https', 'ws', 'wss'])(
    'admits the server itself as origin by %s, and no other origin',
    (scheme) => {
      const host = 'node.test'
      expect(check({ hosts: [host] }).refusal({ host, origin: `${scheme}://${host}` })).toBeUndefined()
      expect(check({ hosts: [host] }).refusal({ host, origin: `${scheme}://a.test` })).toBe(ORIGIN)
    },
  )
})
