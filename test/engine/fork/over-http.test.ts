import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/node/node.ts'
import type { NodeOptions } from '../../../src/options/options.ts'
import { saying } from '../../support/refusals.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  LIST_LENGTH,
  readWord,
  request,
  sendCall,
  tokenAbi,
  type UpstreamChain,
  upstreamChain,
  WALK_LIST,
} from '../../support/upstream-chain.ts'

const balanceOf = (account: Hex | undefined) => tokenAbi.encodeFunctionData('balanceOf', [account])
const transferTo = (account: Hex | undefined, amount: bigint) =>
  tokenAbi.encodeFunctionData('transfer', [account, amount])

let upstream: ServedNode
let chain: UpstreamChain
const open: Node[] = []

async function forkOf(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode({ fork: upstream.url, forkCache: false, forkRetries: 0, ...options })
  open.push(node)
  return node
}

beforeAll(async () => {
  upstream = await servedNode()
  chain = await upstreamChain(upstream.node)
})

afterAll(async () => {
  for (const node of open) await node.close()
  await upstream.close()
})

describe('a fork over HTTP', () => {
  it('reads and writes on the state of its upstream', async () => {
    const fork = await forkOf()
    const { accounts, token, list, transfer } = chain
    expect(await readWord(fork, token, balanceOf(accounts[1]))).toBe(1000n)
    expect(await readWord(fork, list, WALK_LIST)).toBe(BigInt(LIST_LENGTH))
    const hash = await sendCall(fork, accounts[1], token, transferTo(accounts[2], 400n))
    expect(await request(fork, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await readWord(fork, token, balanceOf(accounts[2]))).toBe(400n)
    expect(await request(fork, 'eth_getTransactionReceipt', transfer)).toEqual(
      await request(upstream.node, 'eth_getTransactionReceipt', transfer),
    )
    expect(await request(fork, 'debug_traceTransaction', transfer, { tracer: 'callTracer' })).toEqual(
      await request(upstream.node, 'debug_traceTransaction', transfer, { tracer: 'callTracer' }),
    )
  })

  it('answers the calls of one list in at most 10 requests', async () => {
    const fork = await forkOf()
    const requests = () => fork.engine.fork?.remote.usage().requests ?? 0
    const before = requests()
    expect(await readWord(fork, chain.list, WALK_LIST)).toBe(BigInt(LIST_LENGTH))
    expect(requests() - before).toBeLessThanOrEqual(10)
  })

  it.each(['evm_reset', 'hardhat_reset', 'anvil_reset'])(
    'forks another block at run time by %s',
    async (reset) => {
      const fork = await forkOf({ forkBlock: 1 })
      expect(await request(fork, 'eth_blockNumber')).toBe('0x1')
      expect(await request(fork, 'eth_getCode', chain.list, 'latest')).toBe('0x')
      await request(fork, reset, { forking: { jsonRpcUrl: upstream.url, blockNumber: 2 } })
      expect(await request(fork, 'eth_blockNumber')).toBe('0x2')
      expect(await request(fork, 'eth_getCode', chain.list, 'latest')).not.toBe('0x')
      expect(await request(fork, 'anvil_nodeInfo')).toMatchObject({ forkConfig: { forkBlockNumber: 2 } })
    },
  )

  it('forks the state before a transaction', async () => {
    const { accounts, token } = chain
    await request(upstream.node, 'evm_setAutomine', false)
    const hashes = [
      await sendCall(upstream.node, accounts[0], token, transferTo(accounts[8], 11n)),
      await sendCall(upstream.node, accounts[0], token, transferTo(accounts[8], 22n)),
    ]
    await request(upstream.node, 'evm_mine')
    await request(upstream.node, 'evm_setAutomine', true)
    const fork = await forkOf({ forkTransactionHash: hashes[1] })
    expect(await readWord(fork, token, balanceOf(accounts[8]))).toBe(11n)
    const receipt = await request(fork, 'eth_getTransactionReceipt', hashes[0])
    expect(receipt).toMatchObject({ status: '0x1', blockNumber: await request(fork, 'eth_blockNumber') })
  })

  it('forks at run time on a node without a fork, which keeps its chain when that fails', async () => {
    const node = await createNode({ forkRetries: 0, forkCache: false })
    open.push(node)
    await request(node, 'evm_mine')
    await expect(
      request(node, 'anvil_reset', { forking: { jsonRpcUrl: 'http://127.0.0.1:1' } }),
    ).rejects.toThrow(
      saying(
        'The upstream http://127.0.0.1:1 cannot be used: ECONNREFUSED, connect ECONNREFUSED 127.0.0.1:1 (attempt 1). Check the URL, or add a second --fork <url>.',
      ),
    )
    expect(await request(node, 'eth_blockNumber')).toBe('0x1')
    const filter = await request(node, 'eth_newBlockFilter')
    await request(node, 'anvil_reset', { forking: { jsonRpcUrl: upstream.url } })
    expect(await readWord(node, chain.token, balanceOf(chain.accounts[1]))).toBe(1000n)
    await request(node, 'evm_mine')
    expect(await request(node, 'eth_getFilterChanges', filter)).toHaveLength(1)
  })

  it('continues the fork in its data directory, and refuses another one', async () => {
    const dataDir = temporaryFolder()
    const { accounts, token } = chain
    const first = await createNode({ fork: upstream.url, forkCache: false, dataDir })
    const hash = await sendCall(first, accounts[1], token, transferTo(accounts[5], 9n))
    const receipt = await request(first, 'eth_getTransactionReceipt', hash)
    const balance = await request(first, 'eth_getBalance', accounts[1], 'latest')
    await first.close()
    await request(upstream.node, 'evm_mine')
    const second = await createNode({ fork: upstream.url, forkCache: false, dataDir })
    expect(await request(second, 'eth_getTransactionReceipt', hash)).toEqual(receipt)
    expect(await request(second, 'eth_getBalance', accounts[1], 'latest')).toBe(balance)
    expect(await readWord(second, token, balanceOf(accounts[5]))).toBe(9n)
    await second.close()
    await expect(createNode({ fork: upstream.url, forkCache: false, dataDir, forkBlock: 1 })).rejects.toThrow(
      new RegExp(
        `^The database in ${dataDir} holds a fork at block (\\d+) \\(0x[0-9a-f]{64}\\), not at block 1 \\(0x[0-9a-f]{64}\\): start with --fork <url>@\\1 to continue it, or choose another directory\\.$`,
      ),
    )
    for (const settings of [{ dataDir }, { dataDir, chain: 'testnet' }] as const) {
      await expect(createNode(settings)).rejects.toThrow(
        new RegExp(
          `^The database in ${dataDir} holds a fork at block (\\d+) \\(0x[0-9a-f]{64}\\): start with --fork <url>@\\1 to continue it, or choose another directory\\.$`,
        ),
      )
    }
  })
})
