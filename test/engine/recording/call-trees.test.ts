/** Transactions that a node ran in its own blocks are traced without a replay. */
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import type { BlockWithState } from '../../../src/engine/blockchain/blockchain.ts'
import type { BlockView } from '../../../src/engine/model.ts'
import { ChainReplays } from '../../../src/engine/queries/replay.ts'
import { CallTrees } from '../../../src/engine/recording/call-trees.ts'
import { createNode, type Node, type NodeOptions } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { createForge, transfer } from '../../support/forge.ts'
import { solveWork } from '../../support/parent-block.ts'
import { servedNode } from '../../support/served-node.ts'
import { openSharedEngine } from '../../support/shared-writes.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const CODE = assemble(`0 0 0 0 0 ${B} 3000 CALL POP 0 0 LOG0`)
/** Creates a contract with that code, or runs it as init code. */
const CREATION = toHex(deployer(CODE))
const INIT = toHex(CODE)
/** Calls until its gas is gone. */
const TIRELESS = toHex(assemble(`a: 0 0 0 0 ${B} 0 STATICCALL POP @a JUMP`))
const replay = vi.spyOn(ChainReplays.prototype, 'replay')
afterAll(() => replay.mockRestore())

const nodes: Node[] = []
afterEach(async () => {
  replay.mockClear()
  await Promise.all(nodes.splice(0).map((node) => node.close()))
})

async function open(options: NodeOptions = {}) {
  const node = await createNode({ mining: 'manual', ...options })
  nodes.push(node)
  const call = (method: string, ...params: unknown[]) => node.request({ method, params })
  const send = (fields: object) => call('eth_sendTransaction', { from: A, ...fields }) as Promise<Hex>
  const head = () => node.engine.queries.head()
  return { node, call, send, head }
}

/** The kinds of the calls of a transaction, its own first. */
async function kinds({ engine }: Node, block: ExecutedBlock, index: number): Promise<string[]> {
  const { root, transaction } = await engine.queries.trace(block, index)
  expect(transaction).toBe(block.block.transactions[index])
  return [root, ...root.calls].map(({ kind }) => kind)
}

describe('the calls of a block', () => {
  it('are recorded when it is mined, those of transfers and of REMASC among them', async () => {
    const { node, call, send, head } = await open()
    await send({ data: INIT, gas: '0x30d40', value: '0x5' })
    await send({ from: B, to: A, value: '0x2', gas: '0x5208' })
    await call('evm_mine')
    const traces = await node.engine.queries.traces(head())
    expect(traces.map(({ root }) => [root.kind, root.gasUsed, root.value])).toEqual([
      ['create', head().receipts[0]?.gasUsed, 5n],
      ['call', 21_000n, 2n],
      ['call', 0n, 0n],
    ])
    expect(traces[2]?.transaction.isRemasc).toBe(true)
    expect(replay).not.toHaveBeenCalled()
  })

  it('are recorded when it is mined at once, and in a branch that replaces others', async () => {
    const { node, call, send, head } = await open({ mining: 'auto' })
    await send({ data: CREATION, gas: '0x30d40' })
    const { contractAddress: to } = (await call(
      'eth_getTransactionReceipt',
      head().block.transactions[0]?.hash,
    )) as {
      contractAddress: Hex
    }
    expect(await kinds(node, head(), 0)).toEqual(['create'])
    const hash = await send({ to, gas: '0x30d40' })
    const mined = head()
    expect(await kinds(node, mined, 0)).toEqual(['call', 'call'])
    const raw = await call('eth_getRawTransactionByHash', hash)
    await call('evm_reorg', { depth: 1, blocks: [{ transactions: [raw] }, {}] })
    const branch = (await node.engine.queries.block({ number: 2 }))?.executed as ExecutedBlock
    expect(branch.hash).not.toBe(mined.hash)
    expect(await kinds(node, branch, 0)).toEqual(['call', 'call'])
    expect(replay).not.toHaveBeenCalled()
  })

  it('are recorded when it is completed by submitted work', async () => {
    const served = await servedNode({ mining: 'manual' })
    await served.call('eth_sendTransaction', { from: A, data: INIT, gas: '0x30d40' })
    await served.call('mnr_submitBitcoinBlock', (await solveWork(served)).block)
    expect(await kinds(served.node, served.node.engine.queries.head(), 0)).toEqual(['create', 'call'])
    expect(replay).not.toHaveBeenCalled()
    await served.close()
  })

  it('are recorded when it is written together with others', async () => {
    const shared = await openSharedEngine(true, () => new Promise((resolve) => setImmediate(resolve)))
    const { commands, queries } = shared.engine
    const sent = [0, 1, 2].map((nonce) => commands.submit(transfer(0, { nonce: BigInt(nonce) })))
    await Promise.all(sent)
    expect(shared.batches).toBeLessThan(3)
    for (const number of [1, 2, 3]) {
      const { executed } = (await queries.block({ number })) as BlockView
      expect((await queries.trace(executed, 0)).root.value).toBe(1n)
    }
    expect(replay).not.toHaveBeenCalled()
    await shared.engine.close()
  })

  it('are not recorded where they are too many, and those of the other transactions are', async () => {
    const { node, call, send, head } = await open()
    await send({ data: TIRELESS, gas: '0x30d40' })
    await send({ to: B, value: '0x1', gas: '0x5208' })
    await call('evm_mine')
    const { trace, traces } = node.engine.queries
    expect(await kinds(node, head(), 1)).toEqual(['call'])
    expect(await kinds(node, head(), 2)).toEqual(['call'])
    expect(replay).not.toHaveBeenCalled()
    expect((await trace(head(), 0)).root.calls.length).toBeGreaterThan(100)
    expect(replay).toHaveBeenCalledTimes(1)
    expect((await traces(head())).map(({ index }) => index)).toEqual([0, 1, 2])
  })

  it('are not recorded of a block made elsewhere, nor beside a recording of coverage', async () => {
    const { call, send, head } = await open()
    await send({ data: INIT, gas: '0x30d40' })
    await call('evm_mine')
    const importing = await open()
    await importing.node.engine.commands.importBlock(head().block)
    const covering = await open({ coverage: ['transactions'] })
    await covering.send({ data: INIT, gas: '0x30d40' })
    await covering.call('evm_mine')
    for (const each of [importing, covering]) {
      expect(await kinds(each.node, each.head(), 0)).toEqual(['create', 'call'])
      expect(replay).toHaveBeenCalledTimes(1)
      replay.mockClear()
    }
  })

  it('are those of a replay where they exceed the limit of a trace', async () => {
    const { node, call, send, head } = await open({ maxTraceBytes: 700 })
    await send({ data: INIT, gas: '0x30d40' })
    await call('evm_mine')
    await expect(node.engine.queries.trace(head(), 0)).rejects.toMatchObject({
      message: 'Trace size limit of 700 bytes exceeded',
    })
    expect((await node.engine.queries.trace(head(), 1)).root.kind).toBe('call')
  })
})

it('counts the memory of the trees that it keeps alone', async () => {
  const forge = await createForge()
  const transactions = [
    transfer(0, { nonce: 0n, to: null, data: fromHex(TIRELESS) }),
    transfer(0, { nonce: 1n }),
  ]
  const { roots = [], bytes } = forge.callsOf(await forge.make(forge.genesis, { transactions })) ?? {}
  // Two frames without data, of the transfer and of REMASC.
  expect([roots.map((root) => root?.kind), bytes]).toEqual([[undefined, 'call', 'call'], 2 * 512])
})

it('keeps the call trees of the last blocks, 4 MiB of them', () => {
  const trees = new CallTrees()
  const hashes = Array.from({ length: 10 }, (_, i) => `0x${`${i}`.repeat(64)}` as Hex)
  const bytes = 1 << 20
  const made = hashes.map((hash) => ({ block: { hash }, result: { calls: { roots: [], bytes } } }))
  trees.keep(made as unknown as BlockWithState[])
  const kept = [...Array(6).fill(undefined), ...Array(4).fill(bytes)]
  expect(hashes.map((hash) => trees.of(hash)?.bytes)).toEqual(kept)
})
