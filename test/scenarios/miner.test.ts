/** The example miner against a served node: its blocks land, and their proofs stand. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getBytes } from 'ethers'
import { afterEach, expect, it } from 'vitest'
import { type NodeOptions, verifyMergedMining } from '../../src/index.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const MINER = fileURLToPath(new URL('../../scripts/miner.mjs', import.meta.url))
const IMPORTED_BEST = '0x494d504f525445445f42455354'

let t: ServedNode
afterEach(() => t.close())

async function mineWithExample(options: NodeOptions, blocks: number) {
  t = await servedNode({ mining: 'manual', ...options })
  const sent = await t.call('eth_sendTransaction', {
    from: '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
    to: '0x7986b3df570230288501eea3d890bd66948c9b79',
    value: '0x1',
    gas: '0x5208',
  })
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [MINER, '--url', t.url, '--blocks', String(blocks)])
  const submitted = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(submitted).toHaveLength(blocks)
  let parentHash = (await t.call('eth_getBlockByNumber', 'earliest')).hash
  for (const [index, { blockImportedResult, blockHash, blockIncludedHeight }] of submitted.entries()) {
    expect(blockImportedResult).toBe(IMPORTED_BEST)
    expect(BigInt(blockIncludedHeight)).toBe(BigInt(index + 1))
    const block = await t.call('eth_getBlockByNumber', blockIncludedHeight)
    expect(block).toMatchObject({ hash: blockHash, parentHash })
    // The coinbase alone, one transaction beside it, two, and so on: the branch grows with the tree.
    expect(getBytes(block.bitcoinMergedMiningMerkleProof)).toHaveLength(32 * Math.ceil(Math.log2(index + 1)))
    const header = verifyMergedMining(
      getBytes(await t.call('ext_getRawBlockHeaderByHash', blockHash)),
      {
        merkleProof: getBytes(block.bitcoinMergedMiningMerkleProof),
        coinbaseTransaction: getBytes(block.bitcoinMergedMiningCoinbaseTransaction),
      },
      'regtest',
    )
    expect(header).toMatchObject({ hash: blockHash, difficulty: BigInt(block.difficulty) })
    parentHash = blockHash
  }
  expect(await t.call('eth_blockNumber')).toBe(submitted.at(-1).blockIncludedHeight)
  const receipt = await t.call('eth_getTransactionReceipt', sent)
  expect(receipt).toMatchObject({ blockHash: submitted[0].blockHash, status: '0x1' })
}

it('mines in all three forms, around trees of one to six transactions', () => mineWithExample({}, 6))

it('searches for a nonce when the difficulty requires it', async () => {
  await mineWithExample({ difficulty: 20_000n }, 3)
  expect((await t.call('eth_getBlockByNumber', 'latest')).difficulty).toBe('0x4e20')
})
