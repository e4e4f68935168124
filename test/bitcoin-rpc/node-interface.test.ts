/** The node in the process and a client of it over a socket answer alike. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { idOf } from '../../src/bitcoin/chain/block.ts'
import { bestBlock } from '../../src/bitcoin/chain/state.ts'
import { displayed } from '../../src/bitcoin/displayed-hash.ts'
import { LocalBitcoinNode } from '../../src/bitcoin/local-node.ts'
import { proveByTree } from '../../src/bitcoin/merkle-tree.ts'
import type { BitcoinNode, BlockSummary } from '../../src/bitcoin/node-interface.ts'
import { CoreClient } from '../../src/bitcoin-rpc/core-client.ts'
import { scriptOf, spend, spendable } from '../bitcoin/chain/test-chain.ts'
import { PASSWORD, ServedBitcoin, USER } from './bitcoin-server.ts'

const SCRIPT = scriptOf('bech32')
const UNKNOWN = 'ab'.repeat(32)

const KINDS: readonly [string, (served: ServedBitcoin) => BitcoinNode][] = [
  ['the node in the process', ({ bitcoin }) => new LocalBitcoinNode(bitcoin)],
  [
    'a client of Bitcoin Core',
    ({ server }) =>
      new CoreClient({
        url: server.url.replace('//', `//${USER}:${encodeURIComponent(PASSWORD)}@`),
        pollMs: 5,
      }),
  ],
]

describe.each(KINDS)('%s', (_, create) => {
  let served: ServedBitcoin
  let node: BitcoinNode
  beforeEach(async () => {
    served = await ServedBitcoin.start()
    served.bitcoin.mine(102, SCRIPT)
    node = create(served)
  })
  afterEach(async () => {
    await node.close()
    await served.server.close()
  })

  const payment = () => {
    const [spent] = spendable(served.bitcoin)
    if (spent === undefined) throw new Error('nothing to spend')
    return spend([spent], [{ value: spent.coin.value - 10_000n, script: SCRIPT }])
  }

  it('has blocks, transactions and proofs', async () => {
    const { hash } = bestBlock(served.bitcoin.chain.state)
    expect(await node.bestBlock()).toMatchObject({ hash, height: 102 })
    expect(await node.hashAt(102)).toBe(hash)
    expect(await node.hashAt(103)).toBeUndefined()
    expect(await node.header(UNKNOWN)).toBeUndefined()
    expect(await node.block(UNKNOWN)).toBeUndefined()
    expect(await node.transaction(UNKNOWN)).toBeUndefined()
    const transaction = payment()
    const id = await node.broadcast(transaction)
    expect(id).toBe(idOf(transaction))
    expect(await node.mempool()).toEqual([id])
    expect(await node.transaction(id)).toEqual({ transaction, block: undefined, confirmations: 0 })
    const [mined = ''] = served.bitcoin.mine(1, SCRIPT)
    const block = await node.block(mined)
    expect(block?.transactions).toHaveLength(2)
    expect(await node.transaction(id)).toMatchObject({
      block: { hash: mined, height: 103 },
      confirmations: 1,
    })
    const tree = await node.partialTree([id], mined)
    const proof = proveByTree(tree as Uint8Array)
    expect(proof.matches.map(displayed)).toEqual([id])
    expect(proof.root).toEqual(block?.header.merkleRoot)
    expect(await node.partialTree([UNKNOWN], mined)).toBeUndefined()
  })

  it('says why a transaction is refused', async () => {
    const transaction = payment()
    const [output] = transaction.outputs
    const wrong = { ...transaction, outputs: [{ ...output, value: 1n, script: SCRIPT }] }
    await expect(node.broadcast(wrong)).rejects.toMatchObject({
      kind: 'transaction-refused',
      message: 'dust',
    })
  })

  it('tells of new blocks', async () => {
    const told = new Promise<BlockSummary>((resolve) => {
      const stop = node.onBlock((best) => {
        stop()
        resolve(best)
      })
    })
    // A client looks for the best block first, then for another.
    await node.bestBlock()
    const mining = setInterval(() => served.bitcoin.mine(1, SCRIPT), 20)
    const best = await told
    clearInterval(mining)
    expect(served.bitcoin.chain.state.blocks.has(best.hash)).toBe(true)
    expect(best.height).toBeGreaterThan(102)
  })
})

describe('a client of Bitcoin Core', () => {
  it('tells of a wrong password and of no node without the password in the message', async () => {
    const served = await ServedBitcoin.start()
    const wrong = new CoreClient({ url: served.server.url.replace('//', '//tandem:secret@') })
    await expect(wrong.bestBlock()).rejects.toMatchObject({
      kind: 'upstream',
      message: expect.stringMatching(/refuses the user and password/),
    })
    await served.server.close()
    await expect(wrong.bestBlock()).rejects.toMatchObject({ message: expect.not.stringContaining('secret') })
    await wrong.close()
  })
})
