import { afterEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../../src/index.ts'
import { COW } from '../support/noting-chain.ts'

const RECEIVER: Hex = '0x00000000000000000000000000000000000b0b01'
const WEI_PER_SATOSHI = 10n ** 10n

let node: Node | undefined
afterEach(async () => {
  await node?.close()
  node = undefined
})

async function started(options: NodeOptions = {}) {
  node = await createNode({ bitcoin: true, ...options })
  const { bitcoin: peg } = node
  if (peg === undefined) throw new Error('the node has no Bitcoin chain')
  const call = (method: string, ...params: unknown[]) => (node as Node).request({ method, params })
  const balance = async (address: Hex) => BigInt((await call('eth_getBalance', address, 'latest')) as string)
  return { peg, call, balance, engine: node.engine }
}

describe('the peg', () => {
  it('lets coins in and out again', async () => {
    const { peg, balance } = await started()
    const before = await balance(RECEIVER)
    const incoming = await peg.pegIn(RECEIVER, 50_000_000n)
    expect(incoming).toMatchObject({ status: 'registered', satoshi: 50_000_000n })
    expect((await balance(RECEIVER)) - before).toBe(50_000_000n * WEI_PER_SATOSHI)
    expect((await peg.status()).locked).toBe(50_000_000n)

    const outgoing = await peg.pegOut(COW, 1_000_000n)
    expect(outgoing).toMatchObject({ status: 'released' })
    expect((await peg.status()).locked).toBe(49_000_000n)
    const id = outgoing.bitcoinTransaction as string
    expect(peg.bitcoin.chain.state.places.get(id)).toBeDefined()
  })
})
