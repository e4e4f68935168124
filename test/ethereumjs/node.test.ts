/** Nodes with each EVM: the same transactions give the same blocks, byte for byte. */
import { Interface } from 'ethers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decodeBlock, encodeBlock } from '../../src/chain/block.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { ChainEvm } from '../../src/ethereumjs/chain-evm.ts'
import { createNode, type Node } from '../../src/index.ts'
import type { EvmChoice } from '../../src/options/engine-settings.ts'
import { artifact } from '../support/contracts.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const probe = artifact('Probe')
const coder = new Interface(probe.abi)
const EVMS: readonly EvmChoice[] = ['tandem', 'ethereumjs', 'both']

const open: Node[] = []
afterEach(async () => {
  for (const node of open.splice(0)) await node.close()
})

async function nodeWith(evm: EvmChoice): Promise<Node> {
  const node = await createNode({ evm, seed: 'evm', frozenClock: 1_700_000_000, minedReverts: 'hash' })
  open.push(node)
  return node
}

/** Deploys a contract, calls it with success and failure, moves value; the last transaction's trace and the head. */
async function use(node: Node) {
  const call = (method: string, ...params: unknown[]) => node.request({ method, params })
  const send = (parts: object) => call('eth_sendTransaction', { from: ALICE, gas: '0x4c4b40', ...parts })
  const { contractAddress: to } = (await call(
    'eth_getTransactionReceipt',
    await send({ data: probe.bytecode }),
  )) as { contractAddress: Hex }
  const data = (name: string, ...values: unknown[]) => coder.encodeFunctionData(name, values)
  await send({ to, data: data('set', 1n, 2n) })
  const failed = await send({ to, data: data('failWithReason') })
  await send({ to: `0x${'77'.repeat(20)}`, value: '0x5' })
  await send({ to, data: data('arithmetic', 3n) })
  return {
    head: await call('eth_getBlockByNumber', 'latest', true),
    receipt: await call('eth_getTransactionReceipt', failed),
    trace: await call('debug_traceTransaction', failed, { tracer: 'callTracer' }),
    estimate: await call('eth_estimateGas', { from: ALICE, to, data: data('set', 4n, 5n) }),
    error: await call('eth_call', { to, data: data('failWithReason') }).catch((error) => ({
      ...error,
      message: error.message,
    })),
  }
}

describe('the choice of the EVM', () => {
  it('changes no block, receipt, trace, estimate or error', async () => {
    const [own, ...others] = await Promise.all(EVMS.map(async (evm) => use(await nodeWith(evm))))
    for (const other of others) expect(other).toEqual(own)
  })

  it.each(['ethereumjs', 'both'] as const)('%s executes what is mined by the library', async (evm) => {
    const node = await nodeWith(evm)
    const executed = vi.spyOn(ChainEvm.prototype, 'execute')
    await node.request({
      method: 'eth_sendTransaction',
      params: [{ from: ALICE, gas: '0x4c4b40', data: probe.bytecode }],
    })
    const { length: runs } = executed.mock.calls
    executed.mockRestore()
    expect(runs).toBe(1)
  })

  it('appears in web3_clientVersion', async () => {
    const versions = await Promise.all(
      EVMS.map(async (evm) => (await nodeWith(evm)).request({ method: 'web3_clientVersion', params: [] })),
    )
    expect(versions.map((version) => `${version}`.split('/').at(-1))).toEqual([
      'EMULATOR',
      'EMULATOR+ethereumjs',
      'EMULATOR+both',
    ])
  })

  it('holds for imported blocks', async () => {
    const source = await nodeWith('tandem')
    await use(source)
    for (const evm of ['ethereumjs', 'both'] as const) {
      const node = await nodeWith(evm)
      const { config, queries } = source.engine
      const height = queries.head().block.header.number
      for (let number = 1; number <= height; number++) {
        const block = (await queries.block({ number }))?.executed.block
        if (block === undefined) throw new Error(`no block ${number}`)
        await node.engine.commands.importBlock(decodeBlock(encodeBlock(block, config), config))
      }
      expect(node.engine.queries.head().hash).toBe(queries.head().hash)
    }
  })

  it('does not affect the deadline of a call', async () => {
    const node = await createNode({ evm: 'ethereumjs', rpcTimeoutMs: 200 })
    open.push(node)
    const loop = { data: '0x5b600056' }
    await expect(
      node.request({ method: 'eth_call', params: [{ ...loop, gas: '0x1000000000' }] }),
    ).rejects.toMatchObject({
      code: -32011,
      message: 'Execution has got timeout out.',
    })
  })
})
