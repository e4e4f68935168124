/** Foundry's cast against a node: sends, reads, runs again, and listens on a socket. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCast, startCast } from '../support/cast.ts'
import { artifact } from '../support/contracts.ts'
import { eventRecorder } from '../support/event-recorder.ts'
import { COW, COW_KEY, type NotingChain, notingChain } from '../support/noting-chain.ts'
import { CAST, describeWith } from '../support/tools.ts'

const NOTE = ['note(uint256,bytes)', '7', '0x12']
const EVENT = 'Noted(uint256 indexed,address indexed,bytes)'

let chain: NotingChain
beforeEach(async () => {
  chain = await notingChain()
})
afterEach(() => chain?.close())

/** The output of a run that ended well. */
async function cast(command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCast([command, '--rpc-url', chain.url, ...args])
  expect(code, stderr).toBe(0)
  return stdout.trim()
}

const send = async (...args: string[]) =>
  JSON.parse(await cast('send', '--json', '--legacy', '--gas-limit', '900000', ...args))

describeWith(CAST, 'Foundry’s cast', () => {
  it('deploys, sends with a key and from an account of the node, calls, and finds events', async () => {
    const made = await send('--private-key', COW_KEY, '--create', artifact('Probe').bytecode)
    const to: string = made.contractAddress
    expect(await send('--private-key', COW_KEY, to, ...NOTE)).toMatchObject({ status: '0x1', type: '0x0' })
    expect(await send('--unlocked', '--from', COW, to, ...NOTE)).toMatchObject({ status: '0x1', from: COW })
    expect(await cast('call', to, 'counter()(uint256)')).toBe('2')
    expect(await cast('storage', to, '1')).toBe(`0x${'2'.padStart(64, '0')}`)
    const logs = JSON.parse(await cast('logs', '--json', '--from-block', '0', '--address', to, EVENT))
    expect(logs).toHaveLength(2)
    const failure = await runCast(['call', to, 'failWithReason()', '--rpc-url', chain.url])
    expect(failure.stderr).toContain('not today')
  })

  it('replays a transaction locally, with enough gas for its own prices', async () => {
    const { transactionHash } = await send('--private-key', COW_KEY, chain.address, ...NOTE)
    const trace = await cast('run', transactionHash)
    expect(trace).toContain('emit topic 0')
    expect(trace).toContain('Transaction successfully executed.')
  })

  it('receives events on a socket, and those of a replaced branch again as removed', async () => {
    const args = ['logs', '--subscribe', '--address', chain.address, '--rpc-url', chain.wsUrl]
    const listener = startCast(args)
    const ended = once(listener, 'close')
    try {
      const removals = eventRecorder<boolean>()
      const lines = createInterface({ input: listener.stdout as Readable })
      lines.on('line', (line) => {
        for (const [, removed] of line.matchAll(/removed: (true|false)/g)) removals.record(removed === 'true')
      })
      await chain.called('eth_subscribe')
      const first = await chain.note(1)
      await chain.replace(first, 2)
      expect(await removals.count(3)).toEqual([false, true, false])
    } finally {
      listener.kill()
      await ended
    }
  })
})
