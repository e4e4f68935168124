import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { CallMeter, DURATION_BOUNDS } from '../../src/rpc/call-meter.ts'

const METHODS = [
  { name: 'eth_call', aliases: [] },
  { name: 'ext_x', aliases: ['rsk_x'] },
]
const by = (owner: string) => ({ label: 'test', owner })

describe('the meter of calls', () => {
  it('counts by method and key, aliases under the name of their method', () => {
    const meter = new CallMeter(METHODS)
    meter.count('eth_call', 2, undefined, by('ci'))
    meter.count('rsk_x', 20_000, undefined, by(''))
    meter.count('ext_x', 0, new NodeError('invalid-params', 'bad'), by(''))
    meter.count('ext_x', 0, new TypeError('ours'), by(''))
    const [call, ext] = meter.figures()
    expect(call).toMatchObject({ method: 'eth_call', key: 'ci', seconds: 0.002 })
    expect(call?.classes.indexOf(1)).toBe(DURATION_BOUNDS.indexOf(0.005))
    expect(ext).toMatchObject({ method: 'ext_x', key: '', seconds: 20 })
    expect(ext?.classes).toEqual([2, ...Array(DURATION_BOUNDS.length - 1).fill(0), 1])
    expect([...(ext?.errors ?? [])]).toEqual([
      [-32602, 1],
      [-32603, 1],
    ])
  })

  it('has at most one entry for each method, whatever callers request', () => {
    const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'eth_call'))
    fc.assert(
      fc.property(fc.array(names), (called) => {
        const meter = new CallMeter(METHODS)
        for (const name of called) meter.count(name, 1, undefined, by(''))
        const figures = meter.figures()
        expect(figures.length).toBeLessThanOrEqual(2)
        const count = figures.flatMap(({ classes }) => classes).reduce((sum, each) => sum + each, 0)
        expect(count).toBe(called.length)
        const known = figures.find(({ method }) => method === 'eth_call')
        expect(known !== undefined).toBe(called.includes('eth_call'))
      }),
    )
  })
})
