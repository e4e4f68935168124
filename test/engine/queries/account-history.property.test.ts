/**
 * The index of accounts against a scan over all blocks with their call trees: on random trees of blocks with
 * reorganisations, snapshot reverts and restarts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { PRECOMPILE_ADDRESS } from '../../../src/chain/config.ts'
import { contractAddress, type Transaction } from '../../../src/chain/transaction.ts'
import { EMPTY } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex } from '../../../src/encoding/hex.ts'
import type { CallFrame } from '../../../src/evm/tracing/call-frame.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { createForge, type Forge, transfer } from '../../support/forge.ts'

const NOW = 1_700_000_000
const ZERO: Hex = '0x0000000000000000000000000000000000000000'
const STRANGER: Hex = `0x${'b0'.repeat(20)}`
const BENEFICIARY: Hex = `0x${'bb'.repeat(20)}`

/** Init code that deploys nothing, in a word of memory. */
const CHILD = '0x60006000f3 PUSH1 216 SHL PUSH1 0 MSTORE'
/**
 * A contract that does what the first byte of its input selects: 0 forwards its value to a stranger, 1 creates, 2 creates
 * at a fixed address, 3 creates and reverts, 4 destroys itself, anything else delegates to a precompiled contract.
 */
const ROUTER = deployer(
  assemble(`
  PUSH1 0 CALLDATALOAD PUSH1 248 SHR
  DUP1 ISZERO @forward JUMPI
  DUP1 PUSH1 1 EQ @create JUMPI
  DUP1 PUSH1 2 EQ @create2 JUMPI
  DUP1 PUSH1 3 EQ @undo JUMPI
  DUP1 PUSH1 4 EQ @die JUMPI
  PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 4 5000 DELEGATECALL STOP
  forward: PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 CALLVALUE ${STRANGER} PUSH1 0 CALL STOP
  create: ${CHILD} PUSH1 5 PUSH1 0 PUSH1 0 CREATE STOP
  create2: ${CHILD} PUSH1 7 PUSH1 5 PUSH1 0 PUSH1 0 CREATE2 STOP
  undo: ${CHILD} PUSH1 5 PUSH1 0 PUSH1 0 CREATE PUSH1 0 PUSH1 0 REVERT
  die: ${BENEFICIARY} SELFDESTRUCT
  `),
)

const plannedTransaction = fc.record({
  sender: fc.nat(2),
  action: fc.oneof(fc.constant('transfer' as const), fc.constant('deploy' as const), fc.nat(5)),
})
const plan = fc.record({
  blocks: fc.array(
    fc.record({
      parent: fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 2, arbitrary: fc.nat(9) }),
      transactions: fc.array(plannedTransaction, { maxLength: 3 }),
      coinbase: fc.constantFrom<Hex>(`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`),
    }),
    { minLength: 1, maxLength: 9 },
  ),
  onDisk: fc.boolean(),
  pageSize: fc.integer({ min: 1, max: 4 }),
})
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

async function grow(forge: Forge, planned: Plan['blocks']): Promise<ExecutedBlock[]> {
  const deployment = transfer(0, { nonce: 0n, to: null, value: 0n, data: ROUTER })
  const router = contractAddress(deployment.from, 0n)
  const tree = [await forge.make(forge.genesis, { transactions: [deployment] })]
  for (const { parent: back, transactions, coinbase } of planned) {
    const parent = tree[Math.max(0, tree.length - 1 - back)] as ExecutedBlock
    const state = forge.stateAfter(parent)
    const nonces = new Map<number, bigint>()
    const signed = transactions.map(({ sender, action }): Transaction => {
      const from = transfer(sender, {}).from
      const nonce = nonces.get(sender) ?? state.account(from)?.nonce ?? 0n
      nonces.set(sender, nonce + 1n)
      if (action === 'transfer') return transfer(sender, { nonce })
      if (action === 'deploy') return transfer(sender, { nonce, to: null, value: 0n, data: EMPTY })
      return transfer(sender, { nonce, to: router, data: fromHex(`0x0${action}`) })
    })
    tree.push(await forge.make(parent, { transactions: signed, coinbase }))
  }
  return tree
}

/** Who takes part in a transaction, and the contracts that it made. */
function scanned(root: CallFrame, transaction: Transaction) {
  const accounts = new Set<Hex>()
  const made: [Hex, Hex][] = []
  const shown = (address: Hex) => (address === '0x00' ? ZERO : address)
  function visit(frame: CallFrame, undone: boolean) {
    const { kind, from, to, failure, calls } = frame
    if (failure?.kind === 'refused') return
    const creates = kind === 'create' || kind === 'create2'
    const gone = undone || failure !== undefined
    accounts.add(shown(from))
    if (to !== undefined && !(creates && failure !== undefined)) accounts.add(to)
    if (creates && !gone && to !== undefined) made.push([to, from])
    for (const call of calls) visit(call, gone)
  }
  visit(root, false)
  // As its receipt, a failed creation names the address of the contract.
  if (transaction.to === null) accounts.add(contractAddress(transaction.from, transaction.nonce))
  return { accounts, made }
}

async function expectAsScan(node: Node, pageSize: number, hideRemasc = false): Promise<void> {
  const { queries } = node.engine
  const height = queries.head().block.header.number
  const of = new Map<Hex, { hash: Hex; block: number }[]>()
  const origins = new Map<Hex, { hash: Hex; creator: Hex }>()
  const sent = new Map<string, Hex>()
  for (let number = 1; number <= height; number++) {
    const view = await queries.block({ number })
    if (view === undefined) throw new Error('a block is missing')
    for (const { transaction, root } of await queries.traces(view.executed)) {
      if (hideRemasc && transaction.isRemasc) continue
      const { accounts, made } = scanned(root, transaction)
      for (const account of accounts) {
        of.set(account, [...(of.get(account) ?? []), { hash: transaction.hash, block: number }])
      }
      for (const [contract, creator] of made) origins.set(contract, { hash: transaction.hash, creator })
      if (!transaction.isRemasc) sent.set(`${transaction.from} ${transaction.nonce}`, transaction.hash)
    }
  }

  const accounts = [...of.keys(), STRANGER, BENEFICIARY, PRECOMPILE_ADDRESS.remasc]
  for (const account of accounts) {
    const all = [...(of.get(account) ?? [])].reverse()
    expect(await queries.contractOrigin(account)).toEqual(origins.get(account))
    for (const direction of ['before', 'after'] as const) {
      for (
        let from: number | undefined = undefined, first = true;
        first || from !== undefined;
        first = false
      ) {
        const page = await queries.accountTransactions({
          account,
          direction,
          height: from,
          count: pageSize,
          hideRemasc,
        })
        const side = all.filter(({ block }) => {
          if (from === undefined) return true
          return direction === 'before' ? block < from : block > from
        })
        // The nearest ones, and all of the last block.
        const near = direction === 'before' ? side : [...side].reverse()
        const edge = near[pageSize - 1]?.block
        const expected = side.filter(({ block }) => {
          if (edge === undefined) return true
          return direction === 'before' ? block >= edge : block <= edge
        })
        expect(
          page.transactions.map(({ block, index }) => ({
            hash: block.block.transactions[index]?.hash,
            block: block.block.header.number,
          })),
        ).toEqual(expected)
        const start = expected.length > 0 ? all.indexOf(expected[0] as (typeof all)[0]) : -1
        if (start >= 0) {
          expect(page.isFirst).toBe(start === 0)
          expect(page.isLast).toBe(start + expected.length === all.length)
        }
        from = (direction === 'before' ? expected.at(-1) : expected[0])?.block
      }
    }
  }
  for (const sender of [0, 1, 2]) {
    const { from } = transfer(sender, {})
    for (let nonce = 0n; nonce < 12n; nonce++) {
      const found = await queries.transactionBySenderAndNonce(from, nonce)
      expect(found?.transaction.hash).toBe(sent.get(`${from} ${nonce}`))
    }
  }
}

it('gives the same answers as a scan of all blocks', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ blocks, onDisk, pageSize }) => {
      const forge = await createForge()
      const tree = await grow(forge, blocks)
      const dataDir = onDisk ? mkdtempSync(join(tmpdir(), 'accounts-')) : undefined
      const options = { mining: 'manual' as const, now: () => NOW, ...(dataDir && { dataDir }) }
      let node = await createNode(options)
      try {
        const half = Math.ceil(tree.length / 2)
        for (const { block } of tree.slice(0, half)) await node.engine.commands.importBlock(block)
        await expectAsScan(node, pageSize)
        await expectAsScan(node, pageSize, true)
        const snapshot = await node.engine.commands.snapshot()
        const height = node.engine.queries.head().block.header.number
        if (dataDir !== undefined) {
          await node.close()
          node = await createNode(options)
          await expectAsScan(node, pageSize)
        }
        for (const { block } of tree.slice(half)) await node.engine.commands.importBlock(block)
        await expectAsScan(node, pageSize)
        if (dataDir === undefined && (await node.engine.commands.revert(snapshot))) {
          expect(node.engine.queries.head().block.header.number).toBe(height)
          await expectAsScan(node, pageSize)
        }
        await node.engine.commands.reset()
        expect(
          await node.engine.queries.accountTransactions({
            account: STRANGER,
            direction: 'before',
            height: undefined,
            count: 1,
            hideRemasc: false,
          }),
        ).toEqual({ transactions: [], isFirst: true, isLast: true })
      } finally {
        await node.close()
        if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true })
      }
    }),
    { numRuns: 12 },
  )
}, 120_000)
