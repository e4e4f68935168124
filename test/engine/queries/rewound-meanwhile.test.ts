/** What a query answers when the blocks that it reads are removed while it runs. */
import { afterEach, expect, it } from 'vitest'
import { toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** REMASC reads ancestors from this height on. */
const HEIGHT = 30
/** Runs until its gas is gone, over several slices of time. */
const SPENDER = toHex(deployer(assemble('a: PUSH1 1 POP @a JUMP')))

let node: Node
afterEach(() => node.close())

const call = (method: string, ...params: unknown[]) => node.request({ method, params })

/** Makes a chain of some height with a transaction that takes long in its pool; the snapshot of its genesis. */
async function start(): Promise<unknown> {
  node = await createNode({ mining: 'manual' })
  const snapshot = await call('evm_snapshot')
  const hash = await call('eth_sendTransaction', { from: A, data: SPENDER, gas: '0x30d40' })
  await call('hardhat_mine', `0x${HEIGHT.toString(16)}`)
  const { contractAddress } = (await call('eth_getTransactionReceipt', hash)) as { contractAddress: string }
  await call('eth_sendTransaction', { from: A, to: contractAddress, gas: '0x600000' })
  return snapshot
}

it('builds the pending block on the latest head', async () => {
  const snapshot = await start()
  const pending = call('eth_getBlockByNumber', 'pending', false)
  expect(await call('evm_revert', snapshot)).toBe(true)
  const { hash } = (await call('eth_getBlockByNumber', 'earliest', false)) as { hash: string }
  expect(await pending).toMatchObject({ parentHash: hash })
})

it('refuses to replay a block whose ancestors were removed meanwhile', async () => {
  const snapshot = await start()
  await call('evm_mine')
  const { parentHash } = (await call('eth_getBlockByNumber', 'latest', false)) as { parentHash: string }
  const replayed = call('trace_replayBlockTransactions', 'latest', ['stateDiff'])
  const refused = expect(replayed).rejects.toMatchObject({
    code: -32600,
    message: `State not found for block with hash ${parentHash}`,
  })
  expect(await call('evm_revert', snapshot)).toBe(true)
  await refused
})
