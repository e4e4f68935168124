/** Kills a real process with -9 in the middle of its work, many times, and looks at what its database holds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { replayFromGenesis } from '../support/replay.ts'

const COW = new Wallet('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** `npm run test:crashes` asks for more. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 4)

const directories: string[] = []
function freshDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'durability-'))
  directories.push(dir)
  return dir
}
afterEach(() => {
  for (const dir of directories.splice(0)) rmSync(dir, { recursive: true, force: true })
})

const sign = (nonce: number) =>
  COW.signTransaction({ type: 0, chainId: 33, nonce, to: BOB, value: 1, gasLimit: 21_000, gasPrice: 0 })

/**
 * Sends transactions until the process is killed under it, at a random moment of a random one of them.
 * Returns the hashes that were acknowledged.
 */
async function loadAndKill(
  dir: string,
  mode: 'auto' | 'batch',
  flags: readonly string[],
  random: (bound: number) => number,
  raw: Map<number, string>,
) {
  const mining = mode === 'auto' ? 'auto' : 'manual'
  const node = await startCommand(['--data-dir', dir, '--mining', mining, ...flags])
  const acknowledged: string[] = []
  let nonce = Number(await rpc(node.url, 'eth_getTransactionCount', [COW.address, 'pending']))
  const killAt = random(12)
  let killed = false
  for (let i = 0; !killed; i++) {
    if (!raw.has(nonce)) raw.set(nonce, await sign(nonce))
    const answers = [rpc(node.url, 'eth_sendRawTransaction', [raw.get(nonce)])]
    if (mode === 'batch' && i % 5 === 4) answers.push(rpc(node.url, 'evm_mine'))
    // The kill comes while the request is on its way, in work, or just answered, as the turn of events falls.
    if (i === killAt) {
      const turns = random(40)
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      killed = true
      node.child.kill('SIGKILL')
    }
    const [sent] = await Promise.allSettled(answers)
    if (sent?.status === 'fulfilled') {
      acknowledged.push(sent.value)
      nonce++
    } else if (!killed) {
      // Earlier rounds left as many waiting as the pool takes of one sender.
      await rpc(node.url, 'evm_mine')
    }
  }
  await node.end('SIGKILL')
  return acknowledged
}

describe('a process killed with -9', () => {
  it.each([
    ['auto', [], ROUNDS],
    ['batch', [], ROUNDS],
    ['batch', ['--fsync'], ROUNDS / 2],
  ] as const)(
    'keeps all acknowledged changes, %s-mined, %j, in %d kills',
    async (mode, flags, rounds) => {
      const dir = freshDirectory()
      const random = randomNumbers(mode === 'auto' ? 20260 : 40411)
      const raw = new Map<number, string>()
      const acknowledged: string[] = []
      for (let round = 0; round < rounds; round++) {
        acknowledged.push(...(await loadAndKill(dir, mode, flags, random, raw)))
        const node = await createNode({ dataDir: dir, mining: 'manual' })
        try {
          for (const hash of acknowledged) {
            expect(
              node.engine.queries.transaction(hash as `0x${string}`),
              `${hash} in round ${round}`,
            ).toBeDefined()
          }
          await replayFromGenesis(node)
        } finally {
          await node.close()
        }
      }
      expect(acknowledged.length).toBeGreaterThan(rounds)
    },
    24_000 * ROUNDS,
  )
})

describe('a database', () => {
  it('is continued by the next process: state, blocks, receipts and pooled transactions', async () => {
    const dir = freshDirectory()
    const first = await startCommand(['--data-dir', dir])
    const mined = await rpc(first.url, 'eth_sendRawTransaction', [await sign(0)])
    await rpc(first.url, 'evm_setAutomine', [false] as never)
    const waiting = await rpc(first.url, 'eth_sendRawTransaction', [await sign(1)])
    const block = await rpc(first.url, 'eth_getBlockByNumber', ['latest', true] as never)
    expect(await first.end('SIGTERM')).toBe(0)

    const second = await startCommand(['--data-dir', dir, '--mining', 'manual'])
    expect(await rpc(second.url, 'eth_getBlockByNumber', ['latest', true] as never)).toEqual(block)
    expect(await rpc(second.url, 'eth_getTransactionReceipt', [mined])).toMatchObject({ status: '0x1' })
    expect(await rpc(second.url, 'eth_getTransactionByHash', [waiting])).toMatchObject({ blockHash: null })
    await rpc(second.url, 'evm_mine')
    expect(await rpc(second.url, 'eth_getTransactionReceipt', [waiting])).toMatchObject({ status: '0x1' })
    expect(await second.end('SIGINT')).toBe(0)
  })

  it('is refused with a message to a second process and to another chain', async () => {
    const dir = freshDirectory()
    const holder = await startCommand(['--data-dir', dir])
    const second = await runCommand(['start', '--port', '0', '--data-dir', dir])
    expect(second.code).toBe(1)
    expect(second.stderr + second.stdout).toContain(dir)
    expect(second.stderr).not.toMatch(/\n\s+at /)
    await holder.end('SIGTERM')
    const other = await runCommand(['start', '--port', '0', '--data-dir', dir, '--chain', 'testnet'])
    expect(other.code).toBe(1)
    expect(other.stderr + other.stdout).toMatch(/regtest/)
    const again = await startCommand(['--data-dir', dir])
    expect(await again.end('SIGTERM')).toBe(0)
  })
})
