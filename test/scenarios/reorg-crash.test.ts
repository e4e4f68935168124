/** Kills a real process with -9 in the middle of reorganisations: its database reopens to either side, never between. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode } from '../../src/index.ts'
import { startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { replayFromGenesis } from '../support/replay.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const COW = new Wallet('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Each depth and each number of answers comes up; `npm run test:crashes` asks for more. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 4)
const REORGS = 8

const signed = (nonce: number) =>
  COW.signTransaction({ type: 0, chainId: 33, nonce, to: BOB, value: 1, gasLimit: 21_000, gasPrice: 0 })

/** What one process had acknowledged when it was killed. */
interface Killed {
  readonly oldHeight: number
  readonly sent: readonly Hex[]
  /** The old head, then that of each reorganisation whose answer came. */
  readonly heads: readonly Hex[]
}

/**
 * Mines a few transactions, asks for reorganisations of their blocks one after the other, and kills the process some
 * turns after the answer to one of them. Each makes the branch longer by one; every second one has the transactions again.
 */
async function reorganiseAndKill(dataDir: string, flags: readonly string[], round: number): Promise<Killed> {
  const node = await startCommand(['--data-dir', dataDir, '--mining', 'manual', ...flags])
  const call = (method: string, ...params: unknown[]) => rpc(node.url, method, params)
  await call('evm_mine')
  const depth = 1 + (round % 5)
  const first = Number(await call('eth_getTransactionCount', COW.address, 'pending'))
  const [raw, sent]: [string[], Hex[]] = [[], []]
  for (let nonce = first; nonce < first + 2 * depth; nonce += 2) {
    for (const each of [nonce, nonce + 1]) {
      raw.push(await signed(each))
      sent.push((await call('eth_sendRawTransaction', raw.at(-1))) as Hex)
    }
    await call('evm_mine')
  }
  const head = (await call('eth_getBlockByNumber', 'latest', false)) as unknown as { hash: Hex; number: Hex }
  const heads = [head.hash]
  const socket = new WebSocket(node.wsUrl)
  await once(socket, 'open')
  const answers = round % REORGS
  await new Promise<void>((resolve) => {
    const kill = async () => {
      for (let turn = 0; turn < (5 * round) % 24; turn++) await new Promise((next) => setImmediate(next))
      node.child.kill('SIGKILL')
      resolve()
    }
    socket.on('message', (text) => {
      heads.push(JSON.parse(String(text)).result.added.at(-1))
      if (heads.length === answers + 1) kill()
    })
    for (let id = 1; id <= REORGS; id++) {
      const blocks = Array.from({ length: depth + id }, () => ({}))
      if (id % 2 === 0) blocks[0] = { transactions: raw }
      const params = [{ depth: depth + id - 1, blocks, uncles: round % 2 === 0 }]
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'evm_reorg', params }))
    }
    if (answers === 0) kill()
  })
  if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close')
  await node.end('SIGKILL')
  return { oldHeight: Number(head.number), sent, heads }
}

describe('a process killed with -9 while it reorganises', () => {
  it.each([
    [[], ROUNDS],
    [['--fsync'], ROUNDS / 2],
  ] as const)(
    'reopens with the old or the new branch, never between, %j, in %d kills',
    async (flags, rounds) => {
      const dataDir = join(temporaryFolder(), 'data')
      for (let round = 0; round < rounds; round++) {
        const { oldHeight, sent, heads } = await reorganiseAndKill(dataDir, flags, round)
        const node = await createNode({ dataDir, mining: 'manual' })
        try {
          const { queries } = node.engine
          const { hash, block } = queries.head()
          // Whole reorganisations only: all that were acknowledged, and perhaps more.
          const chainWriter = block.header.number - oldHeight
          expect(chainWriter).toBeGreaterThanOrEqual(heads.length - 1)
          expect(chainWriter).toBeLessThanOrEqual(REORGS)
          if (chainWriter === heads.length - 1) expect(hash).toBe(heads.at(-1))
          for (const [index, head] of heads.entries())
            expect(queries.isCanonical(head)).toBe(index === chainWriter)
          for (let above = 0; above <= chainWriter; above++) {
            expect(queries.blocksAt(oldHeight + above)).toHaveLength(chainWriter - above + 1)
          }
          expect(queries.blocksAt(oldHeight + chainWriter + 1)).toEqual([])
          // The transactions are mined, or all wait again.
          const mined = chainWriter % 2 === 0
          for (const transaction of sent) {
            expect(queries.transaction(transaction)?.block !== undefined).toBe(mined)
          }
          expect(queries.pendingTransactions()).toHaveLength(mined ? 0 : sent.length)
          await replayFromGenesis(node)
        } finally {
          await node.close()
        }
      }
    },
    24_000 * ROUNDS,
  )
})
