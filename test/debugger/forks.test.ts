/** The debugger on a fork: contracts of the upstream whose sources this node knows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { DebuggerCase, debuggerBuild, SENDER } from '../support/debugger-cases.ts'

interface Place {
  readonly session: Hex
  readonly reason: string
  readonly failure?: string
  readonly stack: readonly { readonly function?: string; readonly line?: number }[]
}

describe('a fork', () => {
  let upstream: DebuggerCase
  let server: Server
  let node: Node
  let address: Hex
  let failed: Hex
  beforeAll(async () => {
    upstream = await DebuggerCase.open('Old-0.8.35')
    ;({ address } = await upstream.deploy(5, `0x${'12'.repeat(32)}`))
    await upstream.call(address, 'memories', 3)
    failed = await upstream.call(address, 'fail', 20)
    server = await serve(upstream.node, { port: 0 })
    node = await createNode({ fork: server.url })
    await node.request({ method: 'evm_addSources', params: [debuggerBuild('Old-0.8.35')] })
  })
  afterAll(async () => {
    await node.close()
    await server.close()
    await upstream.node.close()
  })

  const request = <T>(method: string, ...params: unknown[]) => node.request({ method, params }) as Promise<T>
  const evaluate = async (session: Hex, expression: string) =>
    (await request<{ value: string }>('evm_debugEvaluate', session, 0, expression)).value

  it('opens a call of a contract of the upstream, with the state that it has there', async () => {
    const data = upstream.interface.encodeFunctionData('calling', [address, 6])
    const place = await request<Place>('evm_debugCall', { from: SENDER, to: address, data })
    expect(place.stack[0]).toMatchObject({ function: 'calling', line: 140 })
    expect(await evaluate(place.session, 'kept.label')).toBe('"label"')
    expect(await evaluate(place.session, 'list[1]')).toBe('70000')
    expect(await evaluate(place.session, 'v')).toBe('6')
    await request<Place>('evm_debugMove', place.session, 'over')
    const inner = await request<Place>('evm_debugMove', place.session, 'into')
    expect(inner.stack.map((frame) => frame.function)).toEqual(['factorial', 'calling'])
    await request('evm_debugClose', place.session)
  })

  it('opens a transaction of its own at the failing line', async () => {
    const sent = { from: SENDER, to: address, gas: '0x67c280' }
    const data = upstream.interface.encodeFunctionData('fail', [20])
    await expect(request('eth_sendTransaction', { ...sent, data })).rejects.toThrow('too much')
    const place = await request<Place>('evm_debugFailure')
    expect(place).toMatchObject({ reason: 'failure', failure: expect.stringContaining('too much') })
    expect(place.stack.map((frame) => frame.function)).toEqual(['check', 'fail'])
    expect(await evaluate(place.session, 'rest')).toBe('9')
  })

  it('opens a transaction that the upstream mined', async () => {
    const place = await request<Place | null>('evm_debugTransaction', failed)
    expect(place?.stack.map((frame) => frame.function)).toEqual(['check', 'fail'])
    expect(place?.reason).toBe('failure')
  })
})
