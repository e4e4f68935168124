/** After the largest things that a client can send or cause, the process holds no more than before, while the node is open. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { toHex } from '../../src/encoding/hex.ts'
import { assemble, deployer } from '../support/assembler.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** What may differ: code of V8, and what its allocator has not given back. */
const MOST_KEPT = 4 << 20
/** The text of a log in the answers that are kept, and the log in the block that is: they count for a time. */
const KEPT_OF_LOGS = 12 << 20
const MAX_BODY = 64 << 20

const dataDir = mkdtempSync(join(tmpdir(), 'tandem-'))
let served: ServedNode
let from: string
/** Reads memory at the offset in the call data. */
let memory: string
/** Emits as many logs as the call data says. */
let logger: string

/** Heap and buffers after garbage collection, bytes. */
async function held(): Promise<number> {
  for (let i = 0; i < 8; i++) {
    // What a task or a socket still has ends with it.
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const word = (value: number) => value.toString(16).padStart(64, '0')

async function deploy(code: string): Promise<string> {
  const data = toHex(deployer(assemble(code)))
  const hash = await served.call('eth_sendTransaction', { from, data, gas: '0x100000' })
  return (await served.call('eth_getTransactionReceipt', hash)).contractAddress
}

beforeAll(async () => {
  served = await servedNode({ dataDir, callGasCap: 10_000_000_000n }, { maxBodyBytes: MAX_BODY })
  ;[from] = await served.call('eth_accounts')
  memory = await deploy('PUSH1 0 CALLDATALOAD MLOAD STOP')
  logger = await deploy(
    'PUSH1 0 CALLDATALOAD JUMPDEST PUSH1 32 PUSH1 0 LOG0 PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI STOP',
  )
})
afterAll(async () => {
  await served?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Over WebSocket. */
function overSocket(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(served.wsUrl)
    socket.onopen = () => socket.send(request)
    socket.onerror = () => reject(new Error('the socket failed'))
    socket.onmessage = ({ data }) => {
      socket.onclose = () => resolve(String(data))
      socket.close()
    }
  })
}

/** A call with so many bytes of data in a body of six times as many. */
const hashOf = (size: number) =>
  `${' '.repeat(4 * size)}${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'web3_sha3', params: [`0x${'5a'.repeat(size)}`] })}`

const send = async (to: string, data: string) =>
  served.call('eth_sendTransaction', { from, to, data, gas: '0x660000' })

/** What is sent or caused, at a size; a small one comes first, so that what is loaded once is there. */
const CASES: readonly [
  string,
  small: number,
  large: number,
  cause: (size: number) => Promise<unknown>,
  most?: number,
][] = [
  ['a body over HTTP', 10, 10 << 20, async (size) => (await served.post(hashOf(size))).body.result],
  ['a message over WebSocket', 10, 10 << 20, (size) => overSocket(hashOf(size))],
  ['a transaction', 10, 120_000, (size) => send(from, `0x${'00'.repeat(size)}`)],
  [
    'a block with logs, and answers with them',
    1,
    5_000,
    async (size) => {
      await send(logger, `0x${word(size)}`)
      const logs = await served.call('eth_getLogs', { address: logger, fromBlock: 'latest' })
      expect(logs).toHaveLength(size)
    },
    KEPT_OF_LOGS,
  ],
  [
    'a trace of each step',
    1,
    2_000,
    async (size) => {
      const hash = await send(logger, `0x${word(size)}`)
      const { structLogs } = await served.call('debug_traceTransaction', hash)
      expect(structLogs.length).toBeGreaterThan(8 * size)
    },
  ],
  [
    'the memory of calls, interpreted and compiled',
    32,
    40 << 20,
    async (size) => {
      for (let calls = 0; calls < 40; calls++) {
        const data = `0x${word(calls < 38 ? 32 : size)}`
        await served.call('eth_call', { from, to: memory, data, gas: '0x200000000' }, 'latest')
      }
    },
  ],
]

it.each(CASES)('%s', async (_name, small, large, cause, most = MOST_KEPT) => {
  for (let i = 0; i < 3; i++) await cause(small)
  const before = await held()
  await cause(large)
  await cause(small)
  const kept = (await held()) - before
  expect(kept).toBeLessThan(most)
})
