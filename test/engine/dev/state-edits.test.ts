/** Edits of the state after the head: who sees them, what takes them back, what the disk keeps. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../../src/chain/config.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../../../src/index.ts'
import { assemble } from '../../support/assembler.ts'
import { transfer } from '../../support/forge.ts'
import { saying } from '../../support/refusals.ts'

const A: Hex = `0x${'a1'.repeat(20)}`
const B: Hex = `0x${'b2'.repeat(20)}`

const open: Node[] = []
async function nodeOf(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode(options)
  open.push(node)
  return node
}
afterEach(async () => {
  for (const node of open.splice(0)) await node.close()
})

/** What the node's methods say of an account at a block. */
async function look({ engine: { queries } }: Node, address: Hex, slot = 0n, at: object = { tag: 'latest' }) {
  const state = await queries.state(at as { tag: 'latest' })
  const account = state?.account(address)
  return (
    account && {
      balance: account.balance,
      nonce: account.nonce,
      code: toHex(state?.code(account.codeHash) ?? new Uint8Array(0)),
      word: state?.storage(address, slot),
    }
  )
}

describe('an edited state', () => {
  it('is visible at the head at once, by its tag, number and hash, and not below', async () => {
    const { engine } = await nodeOf()
    const node = open[0] as Node
    await engine.commands.mine()
    const { hash, block } = engine.queries.head()
    await engine.dev.editState([
      { address: A, balance: 5n, nonce: 7n, code: fromHex('0x6001'), storage: new Map([[1n, 9n]]) },
      { address: B, storage: new Map([[0n, 0n]]) },
    ])
    const edited = { balance: 5n, nonce: 7n, code: '0x6001', word: 9n }
    for (const at of [{ tag: 'latest' }, { tag: 'pending' }, { number: 1 }, { hash }]) {
      expect(await look(node, A, 1n, at)).toEqual(edited)
    }
    expect(await look(node, A, 1n, { number: 0 })).toBeUndefined()
    expect(await look(node, B)).toEqual({ balance: 0n, nonce: 0n, code: '0x', word: 0n })
    expect(engine.queries.head().hash).toBe(hash)
    expect(engine.queries.head().block.header.stateRoot).toBe(block.header.stateRoot)
    expect(engine.queries.head().postState).not.toBe(block.header.stateRoot)

    const proof = await engine.queries.proof(A, [1n], { tag: 'latest' })
    expect(proof).toMatchObject({ account: { balance: 5n }, storageProof: [{ slot: 1n, value: 9n }] })

    await engine.commands.mine()
    expect(await look(node, A, 1n)).toEqual(edited)
    expect(engine.queries.head().postState).toBe(engine.queries.head().block.header.stateRoot)
  })

  it('can remove code; a nonce below the account’s is refused and changes nothing', async () => {
    const node = await nodeOf()
    const { dev, queries } = node.engine
    await dev.editState([{ address: A, code: fromHex('0x6001'), nonce: 4n }])
    await dev.editState([{ address: A, code: new Uint8Array(0) }])
    expect(await look(node, A)).toMatchObject({ code: '0x', nonce: 4n })
    const before = queries.head().postState
    await expect(
      dev.editState([
        { address: B, balance: 1n },
        { address: A, nonce: 3n },
      ]),
    ).rejects.toThrow(saying("nonce: 3 is below the account's 4"))
    await expect(dev.editState([{ address: A, nonce: 2n ** 64n }])).rejects.toThrow(
      saying('nonce: 18446744073709551616 exceeds 18446744073709551615'),
    )
    expect(queries.head().postState).toBe(before)
    await dev.editState([{ address: A, nonce: 4n }])
    expect(queries.head().postState).toBe(before)
  })

  it('is used by transactions, calls and estimates', async () => {
    const node = await nodeOf()
    const { dev, commands, queries } = node.engine
    const code = assemble('PUSH1 0 SLOAD PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN')
    await dev.editState([{ address: A, code, storage: new Map([[0n, 42n]]) }])
    const answer = await queries.call({ to: A }, { tag: 'latest' })
    expect(BigInt(toHex(answer))).toBe(42n)
    const { mined } = await commands.submit(transfer(0, { nonce: 0n, to: A, value: 3n }))
    expect(mined?.view.receipt.succeeded).toBe(true)
    expect(await look(node, A)).toMatchObject({ balance: 3n, word: 42n })
  })

  it('validates the pool again, in memory and on disk', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'edits-'))
    try {
      const node = await nodeOf({ dataDir, mining: 'manual' })
      const { dev, commands, queries, accounts } = node.engine
      const rich = accounts.list()[0] as Hex
      const [first, second, far] = [0n, 1n, 5n].map((nonce) => transfer(0, { nonce }))
      for (const transaction of [first, second, far]) await commands.submit(transaction as never)
      expect(queries.pendingTransactions()).toHaveLength(2)
      await dev.editState([{ address: rich, nonce: 5n }])
      expect(queries.pendingTransactions().map(({ hash }) => hash)).toEqual([far?.hash])
      await dev.editState([{ address: B, balance: 1n }])
      expect(queries.pendingTransactions()).toHaveLength(1)
      await dev.editState([{ address: rich, balance: 0n }])
      expect(queries.pendingTransactions()).toHaveLength(0)
      await commands.mine()
      expect(queries.head().block.transactions).toHaveLength(1)
      await node.close()
      const again = await nodeOf({ dataDir, mining: 'manual' })
      await again.engine.dev.editState([{ address: rich, balance: 10n ** 18n }])
      expect(again.engine.queries.pendingTransactions()).toHaveLength(0)
      expect(await look(again, rich)).toMatchObject({ nonce: 5n, balance: 10n ** 18n })
    } finally {
      for (const node of open.splice(0)) await node.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  it('is undone by evm_revert, and by a reset even at genesis', async () => {
    const node = await nodeOf()
    const { dev, commands, queries } = node.engine
    const pristine = queries.head().postState
    await dev.editState([{ address: A, balance: 1n }])
    const id = await commands.snapshot()
    await dev.editState([{ address: A, balance: 2n }])
    expect(await commands.revert(id)).toBe(true)
    expect(await look(node, A)).toMatchObject({ balance: 1n })
    await dev.editState([{ address: A, balance: 3n }])
    await commands.mine({ blocks: 2 })
    await dev.editState([{ address: A, balance: 4n }])
    expect(await look(node, A, 0n, { tag: 'earliest' })).toMatchObject({ balance: 3n })
    expect(await commands.revert(id)).toBe(true)
    expect(await look(node, A)).toMatchObject({ balance: 1n })
    expect(await look(node, A, 0n, { tag: 'earliest' })).toMatchObject({ balance: 1n })
    await commands.reset()
    expect(queries.head().postState).toBe(pristine)
    expect(await look(node, A)).toBeUndefined()
  })

  it('stays with its block through a reorganisation away and back', async () => {
    const node = await nodeOf()
    const { dev, commands, queries } = node.engine
    await commands.mine({ blocks: 2 })
    await dev.editState([{ address: A, balance: 9n }])
    const old = queries.head().hash
    await commands.reorg({ depth: 1, blocks: [{}, {}] })
    expect(await look(node, A)).toBeUndefined()
    await commands.mine({ parent: old, blocks: 3 })
    expect(await look(node, A)).toMatchObject({ balance: 9n })
    expect(await look(node, A, 0n, { hash: old })).toMatchObject({ balance: 9n })
  })

  it('invalidates mining work: a proof for the old state is refused', async () => {
    const node = await nodeOf()
    const { dev, commands, queries } = node.engine
    const stale = await queries.work()
    await dev.editState([{ address: A, balance: 1n }])
    for (let nonce = 0; nonce < 64; nonce++) {
      expect(await commands.submitNonce(stale.hash, nonce)).toBeUndefined()
    }
    const fresh = await queries.work()
    expect(fresh.hash).not.toBe(stale.hash)
    let landed: unknown
    for (let nonce = 0; landed === undefined; nonce++) landed = await commands.submitNonce(fresh.hash, nonce)
    expect(landed).toMatchObject({ outcome: 'best', height: 1 })
    expect(await look(node, A)).toMatchObject({ balance: 1n })
  })

  it('may set a precompiled contract’s balance', async () => {
    const node = await nodeOf()
    await node.engine.dev.editState([{ address: PRECOMPILE_ADDRESS.bridge, balance: 77n }])
    await node.engine.commands.mine()
    expect(await look(node, PRECOMPILE_ADDRESS.bridge)).toMatchObject({ balance: 77n })
  })
})

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('edit' as const), slot: fc.nat(3), value: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mine' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('revert' as const), id: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const) }) },
)

it('edits, blocks and snapshots in any order leave the state of a simple model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const node = await createNode({ mining: 'manual' })
      const { dev, commands, queries } = node.engine
      /** Words after each block, genesis first. */
      let chain: ReadonlyMap<bigint, bigint>[] = [new Map()]
      const saved: (typeof chain)[] = []
      try {
        for (const now of steps) {
          const top = chain.at(-1) as ReadonlyMap<bigint, bigint>
          if (now.do === 'edit') {
            const [slot, value] = [BigInt(now.slot), BigInt(now.value)]
            await dev.editState([{ address: A, storage: new Map([[slot, value]]) }])
            chain = [...chain.slice(0, -1), new Map([...top, [slot, value]])]
          } else if (now.do === 'mine') {
            await commands.mine()
            chain = [...chain, top]
          } else if (now.do === 'snapshot') {
            expect(await commands.snapshot()).toBe(saved.push(chain))
          } else if (now.do === 'revert') {
            const then = saved[now.id - 1]
            expect(await commands.revert(now.id)).toBe(then !== undefined)
            if (then !== undefined) {
              chain = then
              saved.length = now.id
            }
          } else {
            await commands.reset()
            chain = [new Map()]
            saved.length = 0
          }
          expect(queries.head().block.header.number).toBe(chain.length - 1)
          for (const [height, words] of chain.entries()) {
            const state = await queries.state({ number: height })
            for (let slot = 0n; slot < 4n; slot++) {
              expect(state?.storage(A, slot)).toBe(words.get(slot) ?? 0n)
            }
          }
        }
      } finally {
        await node.close()
      }
    }),
    { numRuns: 25 },
  )
}, 60_000)
