/** Blocks of rich random chains run again, whoever listens: what they did the first time, to the root. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/account.ts'
import type { ExecutedBlock } from '../../../src/chain/block.ts'
import { receiptsRoot } from '../../../src/chain/receipt.ts'
import { contractAddress } from '../../../src/chain/transaction.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { CallTracer } from '../../../src/evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../../src/evm/tracing/trace-budget.ts'
import type { Tracer } from '../../../src/evm/tracing/tracer.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { StateTrie } from '../../../src/state/state-trie.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { createForge, transfer } from '../../support/forge.ts'
import { genesisOf } from '../../support/replay.ts'

/** Executes the action of the call data's first byte, then calls the address in the last word with the rest. */
const WORKER = `
  PUSH1 0 CALLDATALOAD PUSH1 248 SHR
  DUP1 1 EQ @create JUMPI   DUP1 2 EQ @create2 JUMPI   DUP1 3 EQ @revert JUMPI
  DUP1 4 EQ @destroy JUMPI  DUP1 5 EQ @burn JUMPI      DUP1 6 EQ @native JUMPI
  DUP1 7 EQ @store JUMPI    DUP1 8 EQ @log JUMPI       DUP1 9 EQ @again JUMPI
  DUP1 10 EQ @static JUMPI  DUP1 11 EQ @borrow JUMPI   STOP
  create:  PUSH1 0 PUSH1 0 PUSH1 1 CREATE PUSH1 0 SSTORE STOP
  create2: 0x602a60005260016000f3 PUSH1 0 MSTORE CALLDATASIZE PUSH1 10 PUSH1 22 PUSH1 0 CREATE2 PUSH1 1 SSTORE STOP
  revert:  PUSH1 7 PUSH1 0 MSTORE PUSH1 1 PUSH1 2 SSTORE PUSH1 32 PUSH1 0 REVERT
  destroy: CALLER SUICIDE
  burn:    PUSH1 1 PUSH1 3 SSTORE @burn JUMP
  native:  PUSH1 32 PUSH1 0 CALLDATASIZE PUSH1 0 PUSH1 1 PUSH1 4 GAS CALL STOP
  store:   PUSH1 4 SLOAD ISZERO PUSH1 4 SSTORE STOP
  log:     CALLDATASIZE PUSH1 0 PUSH1 0 CALLDATACOPY TIMESTAMP CALLDATASIZE PUSH1 0 LOG1 STOP
  again:   @rest JUMP
  rest:    PUSH1 1 CALLDATASIZE SUB PUSH1 1 PUSH1 0 CALLDATACOPY
           PUSH1 0 PUSH1 0 PUSH1 1 CALLDATASIZE SUB PUSH1 0 PUSH1 0 ADDRESS PUSH2 30000 CALL
           PUSH1 0 PUSH1 0 PUSH1 1 CALLDATASIZE SUB PUSH1 0 PUSH1 0 ADDRESS PUSH2 30000 CALL STOP
  static:  PUSH1 1 CALLDATASIZE SUB PUSH1 1 PUSH1 0 CALLDATACOPY
           PUSH1 0 PUSH1 0 PUSH1 1 CALLDATASIZE SUB PUSH1 0 ADDRESS PUSH2 30000 STATICCALL STOP
  borrow:  PUSH1 1 CALLDATASIZE SUB PUSH1 1 PUSH1 0 CALLDATACOPY
           PUSH1 0 PUSH1 0 PUSH1 1 CALLDATASIZE SUB PUSH1 0 ADDRESS PUSH2 30000 DELEGATECALL STOP`

const act = fc.integer({ min: 0, max: 12 })
const plannedTransaction = fc.record({
  sender: fc.nat(2),
  acts: fc.array(act, { minLength: 1, maxLength: 4 }),
  value: fc.bigInt(0n, 2n),
  gasPrice: fc.bigInt(0n, 2n),
  creates: fc.integer({ min: 0, max: 4 }).map((luck) => luck === 0),
  plain: fc.integer({ min: 0, max: 4 }).map((luck) => luck === 0),
})
const plan = fc.array(
  fc.record({ transactions: fc.array(plannedTransaction, { maxLength: 4 }), siblings: fc.nat(1) }),
  { minLength: 14, maxLength: 18 },
)

/** Listeners of every sort; none may change what happens. */
const LISTENERS: readonly (() => Tracer | undefined)[] = [
  () => undefined,
  () => new CallTracer(new TraceBudget(1 << 24)),
  () => ({ step() {}, stepped() {} }),
  () => ({ wrapState: (before) => before }),
]

async function chainOf(planned: typeof plan extends fc.Arbitrary<infer T> ? T : never) {
  const forge = await createForge()
  const blocks = [
    await forge.make(forge.genesis, {
      transactions: [transfer(0, { nonce: 0n, to: null, data: deployer(assemble(WORKER)) })],
    }),
  ]
  const creator = blocks[0]?.block.transactions[0]
  if (creator === undefined) throw new Error('the worker was not deployed')
  const worker = contractAddress(creator.from, 0n)
  const all = [...blocks]
  for (const { transactions, siblings } of planned) {
    const parent = blocks.at(-1) as ExecutedBlock
    const state = forge.stateAfter(parent)
    const nonces = new Map<number, bigint>()
    const signed = transactions.map(({ sender, acts, value, gasPrice, creates, plain }) => {
      const from = transfer(sender, {}).from
      const nonce = nonces.get(sender) ?? state.account(from)?.nonce ?? 0n
      nonces.set(sender, nonce + 1n)
      const target = creates
        ? { to: null, data: Uint8Array.from(acts) }
        : { to: worker, data: Uint8Array.from(acts) }
      return transfer(sender, { nonce, value, gasPrice, ...(plain ? {} : target) })
    })
    blocks.push(await forge.make(parent, { transactions: signed }))
    all.push(blocks.at(-1) as ExecutedBlock)
    for (let i = 0; i < siblings; i++) {
      all.push(await forge.make(parent, { coinbase: `0x${'5b'.repeat(20)}` as Hex, uncles: [] }))
    }
  }
  return { all, callsOf: forge.callsOf }
}

/** What was recorded when these blocks were built is what a replay gives. */
async function checkRecorded({ engine }: Node, { all, callsOf }: Awaited<ReturnType<typeof chainOf>>) {
  for (const block of all) {
    const traces = await engine.queries.traces(block)
    expect(callsOf(block)?.roots).toEqual(traces.map(({ root }) => root))
  }
}

/** The state roots that replays give, one after another, from genesis on. */
async function replayed(node: Node, listener: () => Tracer | undefined): Promise<number> {
  const { queries, config } = node.engine
  const trie = new StateTrie({ node: () => undefined, code: () => undefined })
  const roots = new Map<Hex, Hex>()
  const genesis = await queries.block({ tag: 'earliest' })
  if (genesis === undefined) throw new Error('no genesis')
  const committed = trie.commit(EMPTY_TRIE_ROOT, genesisOf(config).changes())
  trie.remember(committed)
  roots.set(genesis.executed.hash, committed.root)
  let count = 0
  const head = queries.head().block.header.number
  for (let height = 1; height <= head; height++) {
    for (const executed of queries.blocksAt(height)) {
      const { header } = executed.block
      const { result, state } = await queries.replay(executed, listener)
      const after = trie.commit(roots.get(header.parentHash) as Hex, state.changes())
      trie.remember(after)
      roots.set(executed.hash, after.root)
      expect(result?.receipts).toEqual(executed.receipts)
      expect({
        stateRoot: after.root,
        receiptsRoot: receiptsRoot(result?.receipts ?? []),
        gasUsed: result?.gasUsed,
        paidFees: result?.paidFees,
      }).toEqual({
        stateRoot: header.stateRoot,
        receiptsRoot: header.receiptsRoot,
        gasUsed: header.gasUsed,
        paidFees: header.paidFees,
      })
      count++
    }
  }
  return count
}

it('gives gas, logs, receipts, state and calls of every block of a random chain', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      const chain = await chainOf(planned)
      const { all: blocks } = chain
      const node = await createNode({ mining: 'manual', now: () => 1_700_000_000 })
      try {
        for (const { block } of blocks) await node.engine.commands.importBlock(block)
        for (const listener of LISTENERS) expect(await replayed(node, listener)).toBe(blocks.length)
        await checkRecorded(node, chain)
      } finally {
        await node.close()
      }
    }),
    { numRuns: Number(process.env.REPLAY_RUNS ?? 6) },
  )
}, 600_000)
