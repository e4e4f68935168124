/** Random histories on a node that collects its states all the time, beside one that never does: both have every state, byte for byte. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contractAddress } from '../../../src/chain/transaction.ts'
import { concat, fromBigIntFixed } from '../../../src/encoding/bytes.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { decodeNode, NodeHash, type TrieNode } from '../../../src/encoding/trie-node.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { createNodeFrom } from '../../../src/node/node.ts'
import { originOf } from '../../../src/node/origin.ts'
import type { StateReader } from '../../../src/state/model.ts'
import type { CollectionPace } from '../../../src/store/collected-table.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { nodeSource } from '../../../src/store/state-nodes.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const OPTIONS = { frozenClock: true, mining: 'manual', seed: 'states' } as const
const ACCOUNTS = 4
/** Writes the second word of the call data into the slot that is the first. */
const WRITER = 'PUSH1 32 CALLDATALOAD PUSH1 0 CALLDATALOAD SSTORE STOP'

const small = fc.nat(3)
/** Few values, so that states come back to what they were. */
const value = fc.bigInt(0n, 2n)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pay'), from: small, to: small, value }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write'), from: small, slot: value, value }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deploy'), from: small, code: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('edit'), to: small, slot: value, value, code: small }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('mine'), back: small, blocks: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('snapshot') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('revert'), back: small, useUp: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rollback'), depth: small }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace'), depth: small, from: small }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reorg'), depth: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hold'), back: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('load') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset') }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A state that is being read, on one node. */
interface Held {
  readonly state: StateReader
  readonly contracts: readonly Hex[]
}

/** A node with what the steps need of it. */
class Subject {
  readonly node: Node
  readonly store: ReturnType<typeof createMemoryStore>
  readonly accounts: readonly Hex[]
  readonly contracts: Hex[] = []
  readonly snapshots: number[] = []
  readonly held: Held[] = []

  private constructor(node: Node, store: Subject['store']) {
    this.node = node
    this.store = store
    this.accounts = node.engine.accounts.list().slice(0, ACCOUNTS)
  }

  static async open(base: Node, pace: CollectionPace): Promise<Subject> {
    const store = createMemoryStore(undefined, pace)
    return new Subject(await createNodeFrom(OPTIONS, { ...originOf(base).start(), store }), store)
  }

  get height(): number {
    return this.node.engine.queries.head().block.header.number
  }

  account(index: number): Hex {
    return this.accounts[index] as Hex
  }

  async send(from: number, to: Hex | null | undefined, amount: bigint, data: Uint8Array): Promise<void> {
    const { commands } = this.node.engine
    await commands.send({
      from: this.account(from),
      to: to ?? null,
      value: amount,
      data,
      gas: 200_000n,
      gasPrice: 1n,
    })
    await commands.mine()
  }

  /** Makes a step; its result, or the message of its error. */
  async take(step: Step): Promise<unknown> {
    try {
      return await this.#take(step)
    } catch (error) {
      return (error as Error).message
    }
  }

  async #take(step: Step): Promise<unknown> {
    const { commands, queries, dev } = this.node.engine
    switch (step.kind) {
      case 'pay':
        return this.send(step.from, this.account(step.to), step.value, new Uint8Array())
      case 'write': {
        const data = concat(fromBigIntFixed(step.slot, 32), fromBigIntFixed(step.value, 32))
        return this.send(step.from, this.contracts.at(-1), 0n, data)
      }
      case 'deploy': {
        // Longer than a value that stands in its node.
        const code = assemble(`${WRITER} ${`PUSH1 ${step.code} `.repeat(20)}`)
        const from = this.account(step.from)
        this.contracts.push(contractAddress(from, queries.pendingNonce(from)))
        return this.send(step.from, undefined, 0n, deployer(code))
      }
      case 'edit': {
        const storage = new Map([[step.slot, step.value]])
        // Code of at most 32 bytes stands in its trie node.
        const code = assemble(`${WRITER} ${`PUSH1 ${step.code} `.repeat(step.code % 2 === 0 ? 18 : 1)}`)
        const contract = this.contracts.at(-1)
        await dev.editState([{ address: this.account(step.to), balance: 10n ** 20n + step.value }])
        if (contract !== undefined) await dev.editState([{ address: contract, storage, code }])
        return undefined
      }
      case 'mine': {
        const [parent] = queries.blocksAt(Math.max(0, this.height - step.back))
        const blocks = await commands.mine({ blocks: step.blocks, parent: parent?.hash as Hex })
        return blocks.map(({ hash }) => hash)
      }
      case 'snapshot':
        this.snapshots.push(await commands.snapshot())
        return this.snapshots.at(-1)
      case 'revert':
        return commands.revert(this.snapshots.at(-1 - step.back) ?? 1, { useUp: step.useUp })
      case 'rollback':
        return dev.rollback(step.depth)
      case 'replace': {
        const request = { from: this.account(step.from), to: this.account(0), value: 1n, gas: 21_000n }
        return dev.replaceBlocks(step.depth, [{ transaction: { request }, block: 0 }])
      }
      case 'reorg':
        return (await commands.reorg({ depth: step.depth, uncles: true })).added.map(({ hash }) => hash)
      case 'hold': {
        const state = await queries.state({ number: Math.max(0, this.height - step.back) })
        if (state === undefined) return undefined
        this.node.engine.holdStates()
        this.held.push({ state, contracts: [...this.contracts] })
        return undefined
      }
      case 'load': {
        const dump = dev.dump(true)
        const blocks = [...(dump.history ?? [])]
        return dev.loadChain({ head: dump.head, blocks, pool: [] })
      }
      case 'reset':
        return commands.reset()
    }
  }

  /** What the held states say, which nobody has read before. */
  readHeld(): unknown {
    return this.held.map(({ state, contracts }) => [
      this.accounts.map((address) => state.account(address)),
      contracts.map((address) => {
        const account = state.account(address)
        return [account, [...state.cells(address)], account && state.code(account.codeHash)]
      }),
    ])
  }

  /** All blocks at all heights, with their states and proofs. */
  async chain(): Promise<unknown> {
    const { queries } = this.node.engine
    const heights = Array.from({ length: this.height + 8 }, (_, height) => height)
    const address = this.contracts.at(-1) ?? this.account(0)
    return Promise.all(
      heights.map(async (height) => [
        queries.blocksAt(height).map(({ hash, postState }) => [hash, postState]),
        await queries.proof(address, [0n, 1n], { number: height }),
      ]),
    )
  }

  /** Roots of the states that the node must have. */
  roots(): Hex[] {
    const { queries } = this.node.engine
    const roots: Hex[] = []
    for (let height = 0; height <= this.height; height++) {
      for (const { block, postState } of queries.blocksAt(height))
        roots.push(block.header.stateRoot, postState)
    }
    return roots
  }
}

/** Walks the states of one store in both; fails at the first node or code that is not the same. Returns how many there are. */
function compareStates(roots: readonly Hex[], whole: Subject, collected: Subject): number {
  const [expected, found] = [nodeSource(whole.store), nodeSource(collected.store)]
  const seen = new Set<Hex>()
  const waiting: TrieNode[] = []
  function look(hash: Hex, kind: 'node' | 'code'): Uint8Array | undefined {
    if (seen.has(hash)) return undefined
    seen.add(hash)
    const bytes = expected[kind](hash)
    const own = found[kind](hash)
    if (bytes === undefined) throw new Error(`the node that keeps all lacks ${kind} ${hash}`)
    if (own === undefined || Buffer.compare(bytes, own) !== 0) throw new Error(`${kind} ${hash} was lost`)
    return bytes
  }
  for (const root of roots) {
    const bytes = look(root, 'node')
    if (bytes !== undefined) waiting.push(decodeNode(bytes))
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      const { left, right, value } = node
      if (value instanceof Uint8Array) {
        // Short code stands in its node; the node that keeps all has it among its code.
        const hash = keccakHex(value)
        if (expected.code(hash) !== undefined) look(hash, 'code')
      } else if (value !== undefined) look(value.hash.hex, 'code')
      for (const child of [left, right]) {
        if (child instanceof NodeHash) {
          const below = look(child.hex, 'node')
          if (below !== undefined) waiting.push(decodeNode(below))
        } else if (child !== undefined) waiting.push(child)
      }
    }
  }
  return seen.size
}

it('keeps every state that a block, a snapshot or a reader uses', async () => {
  const base = await createNode(OPTIONS)
  let [dropped, kept] = [0, 0]
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 40 }),
        fc.record({ leastNew: fc.integer({ min: 1, max: 80 }), leastStep: fc.integer({ min: 0, max: 60 }) }),
        async (steps, pace) => {
          const whole = await Subject.open(base, { leastNew: Number.POSITIVE_INFINITY, leastStep: 0 })
          const collected = await Subject.open(base, pace)
          const compare = async () => {
            expect(await collected.chain()).toEqual(await whole.chain())
            return compareStates(whole.roots(), whole, collected)
          }
          try {
            for (const [at, each] of steps.entries()) {
              expect(await collected.take(each)).toEqual(await whole.take(each))
              if (at % 8 === 7) await compare()
            }
            expect(collected.readHeld()).toEqual(whole.readHeld())
            kept += await compare()
            for (const id of whole.snapshots.reverse()) {
              const reverted = await whole.node.engine.commands.revert(id)
              expect(await collected.node.engine.commands.revert(id)).toBe(reverted)
              if (reverted) await compare()
            }
            dropped += whole.store.states.nodes.size - collected.store.states.nodes.size
          } finally {
            await Promise.all([whole.node.close(), collected.node.close()])
          }
        },
      ),
      { numRuns: 10 },
    )
  } finally {
    await base.close()
  }
  // Otherwise nothing was tried.
  expect(kept).toBeGreaterThan(0)
  expect(dropped).toBeGreaterThan(0)
})
