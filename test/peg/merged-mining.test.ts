import { afterEach, describe, expect, it } from 'vitest'
import { encodeBlock } from '../../src/bitcoin/chain/block.ts'
import { decodeHeader, hashOfHeader } from '../../src/bitcoin/chain/header.ts'
import { bestBlock, blockAt } from '../../src/bitcoin/chain/state.ts'
import { displayed } from '../../src/bitcoin/displayed-hash.ts'
import { OP, push } from '../../src/bitcoin/script.ts'
import { TAG } from '../../src/chain/merged-mining/commitment.ts'
import { checkProof } from '../../src/chain/merged-mining/proof.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { BOB, COW } from '../support/noting-chain.ts'

let node: Node | undefined
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function started(options: NodeOptions = {}) {
  const opened = await createNode({ bitcoin: true, frozenClock: true, federation: 'off', ...options })
  node = opened
  if (opened.bitcoin === undefined) throw new Error('the node has no Bitcoin chain')
  const { bitcoin: peg, engine } = opened
  const call = (method: string, ...params: unknown[]) => opened.request({ method, params })
  const bitcoin = () => bestBlock(peg.bitcoin.chain.state)
  /** Hash of the Bitcoin block that proves the head. */
  const proof = () => displayed(hashOfHeader(decodeHeader(engine.queries.head().block.header.bitcoinHeader)))
  return { peg, engine, call, bitcoin, proof }
}

describe('blocks', () => {
  it('are proven by blocks of the Bitcoin chain', async () => {
    const { engine, call, bitcoin, proof } = await started({ bitcoinBlocksPer: 1 })
    for (let i = 1; i <= 3; i++) {
      await call('evm_mine')
      const { header } = engine.queries.head().block
      checkProof(header, engine.config)
      expect(bitcoin()).toMatchObject({ height: 450 + i, hash: proof() })
    }
  })

  it('are proven by blocks that commit to transactions of the mempool', async () => {
    const { peg, engine, call, bitcoin, proof } = await started({ bitcoinBlocksPer: 1 })
    const id = await peg.faucet('mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 100_000n, 0)
    await call('evm_mine')
    checkProof(engine.queries.head().block.header, engine.config)
    expect(bitcoin().hash).toBe(proof())
    expect(bitcoin().ids).toContain(id)
  })

  it('add a Bitcoin block at a ratio, or none', async () => {
    const { call, bitcoin, engine } = await started({ bitcoinBlocksPer: 4 })
    await call('hardhat_mine', '0xa')
    checkProof(engine.queries.head().block.header, engine.config)
    expect(bitcoin().height).toBe(452)
    await node?.close()
    const never = await started({ bitcoinBlocksPer: 0 })
    await never.call('hardhat_mine', '0xa')
    expect(never.bitcoin().height).toBe(450)
  })

  it('have hashes of their own where siblings have the same content', async () => {
    const { call, engine } = await started()
    await call('evm_mine')
    const parent = engine.queries.head().block.header.parentHash
    await call('evm_mine', { parent })
    expect(new Set(engine.queries.blocksAt(1).map(({ hash }) => hash)).size).toBe(2)
  })

  it('keep what they proved of the other chain in a reorganisation', async () => {
    const { call, engine, bitcoin } = await started({ bitcoinBlocksPer: 1 })
    await call('hardhat_mine', '0x3')
    await call('evm_reorg', { depth: 2 })
    checkProof(engine.queries.head().block.header, engine.config)
    expect(engine.queries.head().block.header.number).toBe(4)
    expect(bitcoin().height).toBe(454)
  })

  it('are accepted from miners who found a block of that chain', async () => {
    const { peg, call, engine, bitcoin, proof } = await started({ mining: 'manual' })
    await call('eth_sendTransaction', { from: COW, to: BOB, value: '0x1' })
    const work = (await call('mnr_getWork')) as { blockHashForMergedMining: Hex }
    const commitment = concat(TAG, fromHex(work.blockHashForMergedMining))
    const script = concat(Uint8Array.of(OP.RETURN), push(commitment))
    const [hash] = peg.bitcoin.mine(1, Uint8Array.of(OP[1]), { outputs: [{ value: 0n, script }] })
    const found = blockAt(peg.bitcoin.chain.state, 451)
    if (found === undefined) throw new Error('no block was found')
    const submitted = await call('mnr_submitBitcoinBlock', toHex(encodeBlock(found.block)).slice(2))
    expect(submitted).toMatchObject({ blockIncludedHeight: '0x1' })
    expect(proof()).toBe(hash)
    expect(bitcoin().hash).toBe(hash)
    expect(engine.queries.head().block.transactions).toHaveLength(2)
  })
})
