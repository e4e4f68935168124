/** A fork of a served node of our own: everything that it answers about its chain and state comes over the network. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import type { RemoteChain } from '../../../src/state/remote/model.ts'
import { openRemoteChain } from '../../../src/state/remote/remote-chain.ts'
import { remoteSettings, testDeps } from '../../support/remote.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
/** Stores 1 to 5 in slots 0 to 4, emits an event of 32 zero bytes with topic 0, and is left with the code `60 00 54`. */
const INIT =
  `0x${['6001600055', '6002600155', '6003600255', '6004600355', '6005600455'].join('')}600060206000a162600054600052600360 1df3`.replace(
    ' ',
    '',
  ) as Hex

let node: ServedNode
let chain: RemoteChain
let from: Hex

beforeAll(async () => {
  node = await servedNode({ accounts: 2 })
  ;[from] = await node.call('eth_accounts')
  await node.call('eth_sendTransaction', { from, to: NOBODY, value: '0x5' })
  await node.call('eth_sendTransaction', { from, data: INIT, gas: '0x100000' })
  await node.call('evm_mine')
  chain = await openRemoteChain(remoteSettings([node.url]), testDeps())
})
afterAll(async () => {
  await chain.close()
  await node.close()
})

describe('a fork of a served node', () => {
  it('stands on its head', async () => {
    const latest = await node.call('eth_getBlockByNumber', 'latest', false)
    expect(chain.point).toEqual({ chainId: 33, number: 3, hash: latest.hash })
    expect(chain.upstream.isSameFamily).toBe(true)
    expect(chain.head.hash).toBe(latest.hash)
  })

  it('has blocks with transactions and receipts', async () => {
    for (const number of [0, 1, 2, 3]) {
      const block = await chain.blockByNumber(number)
      const own = await node.node.engine.queries.block({ number })
      expect(block?.hash).toBe(own?.executed.hash)
      expect(block?.block).toEqual(own?.executed.block)
      expect(block?.receipts).toEqual(own?.executed.receipts)
      expect(block?.totalDifficulty).toBe(own?.executed.totalDifficulty)
    }
  })

  it('reads accounts and slots', async () => {
    const state = chain.stateAt(chain.point)
    expect(state.account(NOBODY)).toBeUndefined()
    await state.fetch([{ kind: 'account', address: NOBODY }])
    expect(state.account(NOBODY)?.account?.balance).toBe(5n)
  })
})
