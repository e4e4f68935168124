/** `tandem fork import-state`, with a state whose root is in a header that the reference node made. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toQuantity } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import type { NodeOptions } from '../../src/options/options.ts'
import { openStore } from '../../src/store/level.ts'
import { nodeSource } from '../../src/store/state-nodes.ts'
import { runCommand } from '../support/command.ts'
import { exportedState } from '../support/export-state.ts'
import { nodeWithReferenceBlocks } from '../support/reference-answers.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { request } from '../support/upstream-chain.ts'

const BRIDGE: Hex = '0x0000000000000000000000000000000001000006'
const COW: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
/** A contract of the recorded chain. */
const STORE: Hex = '0x03f23ae1917722d5a27a2ea0bcc98725a2a2a49a'
const HEIGHT = 18

let upstream: ServedNode
let fork: Node
let lines: readonly string[]
let options: NodeOptions = {}
const folder = mkdtempSync(join(tmpdir(), 'tandem-'))
const dataDir = join(folder, 'fork')
const file = join(folder, 'state.txt.gz')

beforeAll(async () => {
  const original = join(folder, 'original')
  const first = await nodeWithReferenceBlocks((given) => {
    options = { ...given, dataDir: original }
    return createNode(options)
  }, 'all')
  const { stateRoot } = first.engine.queries.head().block.header
  const { name: chain, chainId } = first.engine.config
  await first.close()
  const store = await openStore({ dataDir: original, chain, chainId })
  lines = exportedState(nodeSource(store), stateRoot)
  await store.close()
  writeFileSync(file, gzipSync(`${lines.join('\n')}\n`))
  upstream = await servedNode(options)
  const imported = await runCommand([
    ...['fork', 'import-state', file, '--fork', `${upstream.url}@${HEIGHT}`],
    ...['--fork-cache-dir', join(folder, 'cache'), '--data-dir', dataDir],
  ])
  expect(imported).toMatchObject({ code: 0, stderr: '' })
  expect(imported.stdout).toContain(`proven by its state root ${stateRoot}`)
  fork = await createNode({ ...options, dataDir, fork: upstream.url, forkCache: false })
})
afterAll(async () => {
  await fork?.close()
  await upstream?.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

const both = async (method: string, ...params: unknown[]) => {
  const answer = (node: Node) =>
    request<unknown>(node, method, ...params).catch((error: Error) => error.message)
  return [await answer(fork), await answer(upstream.node)] as const
}

describe('a fork whose whole state was imported', () => {
  it('answers proofs, whole storages and Bridge calls like the original', async () => {
    const receiveHeader = new Interface(['function receiveHeader(bytes)'])
    const write = receiveHeader.encodeFunctionData('receiveHeader', ['0x00'])
    for (const [method, ...params] of [
      ['eth_blockNumber'],
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getProof', STORE, ['0x0', '0x1'], 'latest'],
      ['eth_getProof', COW, [], 'latest'],
      ['eth_getAccount', STORE, 'latest'],
      ['eth_call', { to: BRIDGE, data: '0x14c89c01' }, 'latest'],
      ['eth_call', { from: COW, to: BRIDGE, data: write, gas: '0x100000' }, 'latest'],
      ['eth_estimateGas', { from: COW, to: BRIDGE, data: write }],
      ['eth_getBlockByNumber', '0x3', true],
    ] as const) {
      const [here, there] = await both(method, ...params)
      expect(here, method).toEqual(there)
    }
  })

  it('has the roots of the original after the same transactions', async () => {
    const transactions = [
      { from: COW, to: NOBODY, value: '0x5' },
      { from: COW, to: STORE, gas: '0x20000' },
      { from: COW, data: '0x602a600055600160005560006000f3', gas: '0x50000' },
      { from: COW, to: BRIDGE, data: '0x14c89c01', gas: '0x50000' },
    ]
    for (const [index, transaction] of transactions.entries()) {
      const outcomes = []
      for (const node of [upstream.node, fork]) {
        const hash = await request<Hex>(node, 'eth_sendTransaction', {
          ...transaction,
          gasPrice: '0x3b9aca00',
        })
        await request(node, 'evm_mine')
        const { status, gasUsed, blockNumber } = await request(node, 'eth_getTransactionReceipt', hash)
        expect(blockNumber).toBe(toQuantity(HEIGHT + 1 + index))
        outcomes.push({ status, gasUsed })
      }
      expect(outcomes[0]).toEqual(outcomes[1])
      const [here, there] = await both('eth_getBlockByNumber', 'latest', true)
      const { stateRoot, syntheticStateRoot } = here as Record<string, unknown>
      expect(stateRoot).toBe((there as { stateRoot: Hex }).stateRoot)
      expect(syntheticStateRoot).toBeUndefined()
    }
    const [here, there] = await both('eth_getProof', COW, [], 'latest')
    expect(here).toEqual(there)
  })

  it('continues after a restart, and shows the past of its upstream', async () => {
    const height = await request(fork, 'eth_blockNumber')
    await fork.close()
    fork = await createNode({ ...options, dataDir, fork: upstream.url, forkCache: false })
    expect(await request(fork, 'eth_blockNumber')).toBe(height)
    const [here, there] = await both('eth_getProof', NOBODY, [], 'latest')
    expect(here).toEqual(there)
    const [balance, original] = await both('eth_getBalance', COW, '0x5')
    expect(balance).toBe(original)
  })
})

describe('tandem fork import-state', () => {
  const at = () => ['--fork', `${upstream.url}@${HEIGHT}`]
  it.each<[string, () => readonly string[], number, RegExp]>([
    [
      'no upstream',
      () => [file, '--data-dir', join(folder, 'a')],
      2,
      /^tandem: Name the node that has the block: --fork <url>@<block>\.\n$/,
    ],
    [
      'no directory',
      () => [file, ...at()],
      2,
      /^tandem: Name the directory of the fork: --data-dir <dir>\.\n$/,
    ],
    [
      'no file',
      () => ['/nowhere', ...at(), '--data-dir', join(folder, 'b')],
      2,
      /^tandem: The file \/nowhere cannot be read: ENOENT: no such file or directory, open '\/nowhere'\.\n$/,
    ],
    [
      'another block',
      () => [file, '--fork', `${upstream.url}@3`, '--data-dir', join(folder, 'c')],
      1,
      /^tandem: The file begins with the state root 0x[0-9a-f]{64}, and that of the block is 0x[0-9a-f]{64}\. The state cannot be used; import one that is whole\.\n$/,
    ],
    [
      'a file that is cut off',
      () => {
        writeFileSync(join(folder, 'cut.txt'), lines.slice(0, -3).join('\n'))
        return [join(folder, 'cut.txt'), ...at(), '--data-dir', join(folder, 'd')]
      },
      1,
      /^tandem: The file ends without the (trie node|value) 0x[0-9a-f]{64}\. The state cannot be used; import one that is whole\.\n$/,
    ],
  ])('with %s ends with a message', async (_, args, code, sentence) => {
    const outcome = await runCommand(['fork', 'import-state', ...args()], { XDG_CACHE_HOME: folder })
    expect(outcome.stderr).toMatch(sentence)
    expect(outcome.code).toBe(code)
  })
})
