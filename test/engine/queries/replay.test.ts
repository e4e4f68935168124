import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { saying } from '../../support/refusals.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Runs until its gas is gone. */
const SPENDER = toHex(assemble('a: PUSH1 1 POP @a JUMP'))
/** Calls an account without code, with a megabyte, again and again. */
const HOARDER = `a: PUSH1 0 PUSH1 0 1000000 PUSH1 0 ${B} PUSH1 0 STATICCALL POP @a JUMP`

/** Builds the blocks, and so has recorded their calls. */
let miner: Node
/** Imports them. */
let node: Node
let block: ExecutedBlock
const send = (fields: object) =>
  miner.request({ method: 'eth_sendTransaction', params: [{ from: A, ...fields }] }) as Promise<Hex>
const head = () => node.engine.queries.head()

async function mine(): Promise<void> {
  await miner.request({ method: 'evm_mine', params: [] })
  await node.engine.commands.importBlock(miner.engine.queries.head().block)
}

/** Blocks of several transactions. */
beforeAll(async () => {
  miner = await createNode({ mining: 'manual' })
  node = await createNode({ mining: 'manual', maxTraceBytes: 20_000_000 })
  await send({ to: B, value: '0x1', gas: '0x5208' })
  await send({ data: toHex(deployer(assemble('PUSH1 1 PUSH1 1 SSTORE STOP'))), gas: '0x30d40' })
  await send({ from: B, to: A, value: '0x2', gas: '0x5208' })
  await mine()
  block = head()
})
afterAll(() => Promise.all([miner.close(), node.close()]))

describe('a block of several transactions', () => {
  it('is traced as a whole or one by one, with the same result', async () => {
    const { trace, traces } = node.engine.queries
    expect(block.block.transactions).toHaveLength(4)
    const first = []
    for (const index of [0, 2]) first.push(await trace(block, index))
    const whole = await traces(block)
    expect(whole.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(whole.map(({ transaction }) => transaction)).toEqual(block.block.transactions)
    expect(first).toEqual([whole[0], whole[2]])
    expect(await trace(block, 3)).toBe(whole[3])
    await expect(trace(block, 4)).rejects.toThrow(saying(`block ${block.hash} has no transaction 4`))
  })

  it('runs once for one transaction that is traced again', async () => {
    await send({ to: B, value: '0x1', gas: '0x5208' })
    await mine()
    const { trace } = node.engine.queries
    const mined = head()
    const first = await trace(mined, 0)
    expect(await trace(mined, 0)).toBe(first)
    expect((await trace(mined, 1)).transaction.isRemasc).toBe(true)
  })

  it('runs only up to the requested transaction', async () => {
    const traced: number[] = []
    const listen = (_: unknown, index: number) => {
      traced.push(index)
      return undefined
    }
    const { result, state } = await node.engine.queries.replay(block, listen, { lastIndex: 1 })
    expect(traced).toEqual([0, 1])
    expect(result).toBeUndefined()
    expect(state.account(A)?.nonce).toBe(2n)
    expect(state.account(B)?.nonce ?? 0n).toBe(0n)
  })
})

describe('a replay', () => {
  it('is refused for genesis, which has no parent', async () => {
    const genesis = (await node.engine.queries.block({ tag: 'earliest' }))?.executed as ExecutedBlock
    await expect(node.engine.queries.replay(genesis, () => undefined)).rejects.toMatchObject({
      kind: 'block-not-found',
    })
    expect(await node.engine.queries.traces(genesis)).toEqual([])
  })

  it('ends at its deadline', async () => {
    await send({ data: SPENDER, gas: '0x632ea0' })
    await mine()
    await expect(
      node.engine.queries.replay(head(), () => undefined, { timeoutMs: 0.01 }),
    ).rejects.toMatchObject({ kind: 'limit-exceeded' })
    const { result } = await node.engine.queries.replay(head(), () => undefined, { timeoutMs: 0 })
    expect(result?.gasUsed).toBe(6_500_000n)
  })

  it('stays within its memory limit, and still traces the other transactions of the block', async () => {
    await send({ data: toHex(assemble(HOARDER)), gas: '0x205940' })
    await send({ to: B, value: '0x1', gas: '0x5208' })
    await mine()
    const { traces, trace } = node.engine.queries
    const tooMuch = { kind: 'limit-exceeded', message: 'Trace size limit of 20000000 bytes exceeded' }
    await expect(traces(head())).rejects.toMatchObject(tooMuch)
    await expect(trace(head(), 0)).rejects.toMatchObject(tooMuch)
    for (let i = 0; i < 2; i++) expect((await trace(head(), 1)).root).toMatchObject({ to: B, value: 1n })
  })
})
