/** A command happens once, or not at all, and the reply states which: random limits of time, callers that go, and repeats. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'
import { COW, COW1 } from '../../src/rpc/methods/example-accounts.ts'
import { openSession } from '../../src/rpc/session.ts'

/** How each command shows at an address of its own that it was carried out: by 1 wei each time. */
const METHODS = {
  anvil_addBalance: (to: string) => [to, '0x1'],
  eth_sendTransaction: (to: string) => [{ from: COW, to, value: '0x1', gas: '0x5208', gasPrice: '0x1' }],
  eth_sendUnsignedTransaction: (to: string) => [
    { from: COW1, to, value: '0x1', gas: '0x5208', gasPrice: '0x1' },
  ],
} as const

interface Command {
  readonly method: keyof typeof METHODS
  /** Blocks that are mined in front of it, in the same turn of the event loop. */
  readonly load: number
  /** How often its caller is asked for until it has gone; a caller that stays is there for ever. */
  readonly stays: number
}

const command: fc.Arbitrary<Command> = fc.record({
  method: fc.constantFrom(...(Object.keys(METHODS) as (keyof typeof METHODS)[])),
  load: fc.constantFrom(0, 0, 0, 1, 20),
  stays: fc.constantFrom(0, 1, Number.POSITIVE_INFINITY),
})

const addressOf = (index: number): string => `0x${(0xabcd_0000 + index).toString(16).padStart(40, '0')}`

/** The reply to one call, whose caller goes after it was asked for so often. */
async function call(node: Node, method: string, params: readonly unknown[], stays: number) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  let asked = 0
  const session = { ...openSession('test'), isGone: () => asked++ >= stays }
  return JSON.parse((await node.dispatcher.dispatchText(text, session)) ?? 'null')
}

async function effectsOf(node: Node, index: number): Promise<number> {
  return Number(await node.request({ method: 'eth_getBalance', params: [addressOf(index), 'latest'] }))
}

describe('a command', () => {
  it('is executed once when its reply is a result, and never when it is an error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(command, { minLength: 1, maxLength: 12 }),
        async (rpcTimeoutMs, commands) => {
          const node = await createNode({ preset: 'anvil', rpcTimeoutMs })
          try {
            const mined: Promise<{ readonly result?: unknown }>[] = []
            const replies = commands.map(async ({ method, load, stays }, index) => {
              if (load > 0)
                mined.push(call(node, 'hardhat_mine', [`0x${load.toString(16)}`], Number.POSITIVE_INFINITY))
              const params = METHODS[method](addressOf(index))
              let reply = await call(node, method, params, stays)
              // Where it is stated that nothing happened, or nothing is seen, a caller repeats its call.
              for (let i = 0; i < 2 && reply.error !== undefined; i++) {
                reply = await call(node, method, params, Number.POSITIVE_INFINITY)
              }
              return { isDone: 'result' in reply, error: reply.error }
            })
            const outcomes = await Promise.all(replies)
            const isMined = await Promise.all(mined)
            // Everything that waits in the queue now would still be carried out.
            await node.engine.commands.stopMining()
            let transactions = 0
            for (const [index, { isDone, error }] of outcomes.entries()) {
              expect(await effectsOf(node, index), JSON.stringify(error)).toBe(isDone ? 1 : 0)
              if (isDone && commands[index]?.method !== 'anvil_addBalance') transactions++
            }
            const loads = commands.map(({ load }) => load).filter((load) => load > 0)
            const blocks = loads.reduce(
              (sum, load, i) => sum + ('result' in (isMined[i] ?? {}) ? load : 0),
              0,
            )
            expect(node.engine.queries.head().block.header.number).toBe(blocks + transactions)
          } finally {
            await node.close()
          }
        },
      ),
      { numRuns: 40 },
    )
  }, 60_000)
})
