import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { createDeadlines } from '../../src/rpc/deadlines.ts'
import type { AnyMethod } from '../../src/rpc/method.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { openSession } from '../../src/rpc/session.ts'
import { saying } from '../support/refusals.ts'

const named = (name: string) => METHODS.find((method) => method.name === name) as AnyMethod
/** A deadline that no call reaches while a test runs. */
const SOON = () => Date.now() + 5000

describe('the timeout of a method', () => {
  const deadlineOf = createDeadlines(
    { methodTimeouts: { eth: 2000, eth_call: 60_000, evm_mine: 0, rsk: 7 }, rpcTimeoutMs: 5000 },
    METHODS,
  )

  it('is that of the request when no other is set', () => {
    const request = SOON()
    expect(deadlineOf(named('net_version'), request)).toBe(request)
  })

  it('is that of the namespace, and at most that of the request', () => {
    expect(deadlineOf(named('eth_blockNumber'), SOON())).toBeLessThanOrEqual(Date.now() + 2000)
    const past = Date.now() - 10
    expect(deadlineOf(named('eth_blockNumber'), past)).toBe(past)
  })

  it('is that of the method rather than of its namespace, and may exceed that of the request', () => {
    const request = SOON()
    const deadline = deadlineOf(named('eth_call'), request)
    expect(deadline).toBeGreaterThan(request + 50_000)
    expect(deadline).toBeLessThanOrEqual(request + 55_000)
    expect(deadlineOf(named('eth_call'), 0)).toBeGreaterThan(Date.now() + 55_000)
  })

  it('is unlimited when set to 0', () => {
    expect(deadlineOf(named('evm_mine'), SOON())).toBe(0)
  })

  it('applies to the namespace of an alias too', () => {
    const aliased = METHODS.find(({ aliases }) => aliases.some((name) => name.startsWith('rsk_')))
    expect(deadlineOf(aliased as AnyMethod, SOON())).toBeLessThan(Date.now() + 1000)
  })

  it('ends an endless call at its deadline, and then its run', async () => {
    const node = await createNode({ methodTimeouts: { eth_call: 30 }, callGasCap: 0 })
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ to: `0x${'1'.repeat(40)}` }, 'latest', { [`0x${'1'.repeat(40)}`]: { code: '0x5b600056' } }],
    })
    const reply = await node.dispatcher.dispatchText(text, openSession('test'))
    expect(JSON.parse(reply ?? '')).toMatchObject({ error: { code: -32011 } })
    // The place is given back by the run itself, at its own next look at the clock.
    while (node.dispatcher.load.figures.heavyRunning > 0) await new Promise((turn) => setImmediate(turn))
    await node.close()
  })

  it('prevents the start when it names an unknown method or namespace', async () => {
    await expect(createNode({ methodTimeouts: { eth_cal: 1 } })).rejects.toThrow(
      saying('Option "methodTimeouts" names eth_cal, which is neither a method nor a namespace.'),
    )
  })
})
