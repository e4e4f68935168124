/** Steps that share state: their limits, and the states around them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import type { ExecutedStep, SimulationStep } from '../../../src/engine/queries/simulate-steps.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import { openSession } from '../../../src/rpc/session.ts'

const reference = { tag: 'latest' } as const
const CODE: Hex = '0x0000000000000000000000000000000000c0de01'
/** Never ends by itself. */
const LOOP = '5b600056'
/** Emits a Transfer of itself, and answers any question by an endless loop. */
const TOKEN = (() => {
  const topics = ['0', '0', 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef']
  const emit = `6001600052${topics.map((topic) => `7f${topic.padStart(64, '0')}`).join('')}60206000a300`
  return `36607257${emit}5b607356`
})()
/** Logs a kilobyte again and again. */
const LOGS = '5b6104006000a0600056'
/** Writes the slots from 400 down to 1. */
const WRITES = '6101905b80805560019003806003575000'
/** Logs 2 kilobytes three times. */
const THREE_LOGS = `${'6108006000a0'.repeat(3)}00`

let node: Node
beforeAll(async () => {
  node = await createNode({ maxTraceBytes: 100_000, maxResponseBytes: 10_000 })
})
afterAll(() => node.close())

const called = (): SimulationStep => ({ kind: 'call', request: { to: CODE } })
const simulate = (code: string, steps: readonly SimulationStep[], timeoutMs = 0) => {
  const stateOverrides = new Map([[CODE, { code: fromHex(`0x${code}`) }]])
  return node.engine.queries.simulateSteps({ reference, stateOverrides, timeoutMs }, steps)
}

describe('simulated steps', () => {
  it.each([
    ['in a step', LOOP],
    ['in what a token is asked', TOKEN],
  ])('end at the time limit of all of them, %s', async (_, code) => {
    const steps = Array<SimulationStep>(100).fill(called())
    await expect(simulate(code, steps, 20)).rejects.toMatchObject({ kind: 'limit-exceeded' })
  })

  it.each([
    ['logs', LOGS],
    ['changed slots', WRITES],
  ])('keep no more than a trace: %s', async (_, code) => {
    await expect(simulate(code, [called()])).rejects.toMatchObject({
      kind: 'limit-exceeded',
      message: 'Trace size limit of 100000 bytes exceeded',
    })
  })

  it('answer no more than a reply may have', async () => {
    const steps = Array(4).fill({ call: { to: CODE, gas: '0x1ffff' } })
    const stateOverrides = { [CODE]: { code: `0x${THREE_LOGS}` } }
    const ask = async (method: string, ...params: unknown[]) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const session = { ...openSession('test'), remote: '127.0.0.1' }
      return JSON.parse((await node.dispatcher.dispatchText(text, session)) ?? '')
    }
    const tooLong = { code: -32011, message: 'Response size limit of 10000 bytes exceeded' }
    expect((await ask('evm_simulate', { steps, stateOverrides })).error).toMatchObject(tooLong)
    const calls = steps.map(({ call }) => call)
    expect((await ask('tenderly_simulateBundle', calls, 'latest', stateOverrides)).error).toMatchObject(
      tooLong,
    )
  })

  it('leave the states around each readable', async () => {
    const code = '60005460010180600055'
    const results = await simulate(code, [
      called(),
      called(),
      { kind: 'warp', warp: { blocks: 1 } },
      called(),
    ])
    const slots = results.flatMap((step) =>
      step.kind === 'call' ? [[step.before.storage(CODE, 0n), step.after.storage(CODE, 0n)]] : [],
    )
    expect(slots).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ])
    expect((results[0] as ExecutedStep).changes).toMatchObject([{ address: CODE }])
  })
})
