/** A served node with a few blocks behind a proxy of faults, and forks of it, for the tests of one file. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import type { RemoteChain, StateItem } from '../../src/state/remote/model.ts'
import { openRemoteChain } from '../../src/state/remote/remote-chain.ts'
import type { RemoteSettings } from '../../src/upstream/settings.ts'
import { type FaultProxy, faultProxy } from './fault-proxy.ts'
import { remoteSettings, testClock, testDeps } from './remote.ts'
import { type ServedNode, servedNode } from './served-node.ts'

/** An account with 5 wei from block 1 on. */
export const NOBODY: Hex = '0x00000000000000000000000000000000000dead1'
/** Code of the contract. */
export const CODE = '0x600054'
/** Stores 1 to 5 in slots 0 to 4, emits an event of 32 zero bytes with topic 0, and is left with CODE. */
const INIT = '0x60016000556002600155600360025560046003556005600455600060206000a162600054600052600360' + '1df3'

/** What the tests share. Block 1 has a transfer, block 2 the creation of a contract, block 3 is empty. */
export interface ForkedNode {
  readonly node: ServedNode
  readonly proxy: FaultProxy
  readonly from: Hex
  readonly contract: Hex
  /** Hash of the transaction that made it. */
  readonly creation: Hex
  /** Forks the node through the proxy, until the test ends; its clock does not wait. */
  fork(settings?: Partial<RemoteSettings>, deps?: ReturnType<typeof testDeps>): Promise<RemoteChain>
  hashAt(number: number): Promise<Hex>
  /** The first slots of the contract. */
  slots(count: number): StateItem[]
}

/** Starts the node before the tests of a file; the result can be used within tests. */
export function forkedNode(): () => ForkedNode {
  let made: ForkedNode | undefined
  beforeAll(async () => {
    const node = await servedNode({ accounts: 2 })
    const [from] = await node.call('eth_accounts')
    await node.call('eth_sendTransaction', { from, to: NOBODY, value: '0x5' })
    const creation = await node.call('eth_sendTransaction', { from, data: INIT, gas: '0x100000' })
    const contract = (await node.call('eth_getTransactionReceipt', creation)).contractAddress
    await node.call('evm_mine')
    const proxy = await faultProxy(node.url)
    made = {
      node,
      proxy,
      from,
      contract,
      creation,
      async fork(settings = {}, deps = testDeps({ clock: testClock() })) {
        const chain = await openRemoteChain(remoteSettings([proxy.url], settings), deps)
        onTestFinished(() => chain.close())
        return chain
      },
      hashAt: async (number) =>
        (await node.call('eth_getBlockByNumber', `0x${number.toString(16)}`, false)).hash,
      slots: (count) =>
        Array.from({ length: count }, (_, slot) => ({ kind: 'cell', address: contract, slot: BigInt(slot) })),
    }
  })
  afterAll(async () => {
    await made?.proxy.close()
    await made?.node.close()
  })
  return () => {
    if (made === undefined) throw new Error('the node starts before the first test')
    return made
  }
}
