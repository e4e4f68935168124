/** Collecting states, one entry at a time, while a model of a chain changes: whatever it still needs is there. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../../src/chain/account.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import type { Hex } from '../../../src/encoding/hex.ts'
import { decodeNode, NodeHash, type TrieNode } from '../../../src/encoding/trie-node.ts'
import { StateCollector } from '../../../src/engine/blockchain/state-collector.ts'
import type { StateReader } from '../../../src/state/model.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import { StateTrie } from '../../../src/state/state-trie.ts'
import type { CollectionPace } from '../../../src/store/collected-table.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { nodeSource, putCommitted } from '../../../src/store/state-nodes.ts'

const ACCOUNTS = 12
const addressOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
/** Few values, so that states come back to what they were. */
const change = fc.record({ account: fc.nat(ACCOUNTS - 1), balance: fc.bigInt(0n, 2n), code: fc.nat(2) })
const changes = fc.array(change, { minLength: 1, maxLength: 3 })
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

const back = fc.nat(3)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('extend'), changes }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit'), changes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('branch'), back, changes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('snapshot') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('revert'), back }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('load'), back, changes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold'), back }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release') }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A chain as a list of heights with the roots that blocks there need, the last one that of the state after the canonical one. */
class Model {
  readonly store: ReturnType<typeof createMemoryStore>
  readonly #trie: StateTrie
  readonly #collector: StateCollector
  readonly #heights: Hex[][] = []
  readonly #snapshots: { readonly height: number; readonly root: Hex }[] = []
  readonly #held: { readonly root: Hex; readonly reader: StateReader; readonly release: () => void }[] = []
  /** All that was ever written. */
  readonly #all = new Map<Hex, Uint8Array>()

  constructor(pace: CollectionPace) {
    this.store = createMemoryStore(undefined, pace)
    this.#trie = new StateTrie(nodeSource(this.store), { sharedRoots: 1, cacheNodes: 4 })
    this.#collector = new StateCollector({
      states: this.store.states,
      blocks: { first: 0, rootsAt: (height) => this.#heights[height] ?? [] },
      onDropped: () => this.#trie.forgetRead(),
    })
    this.#collector.addRoots(() => this.#snapshots.map(({ root }) => root))
  }

  async start(): Promise<void> {
    const all = Array.from({ length: ACCOUNTS }, (_, account) => ({ account, balance: 5n, code: 0 }))
    this.#heights.push([await this.#written(EMPTY_TRIE_ROOT, all)])
  }

  get #top(): Hex[] {
    return this.#heights.at(-1) as Hex[]
  }

  #rootAt(height: number): Hex {
    return this.#heights[Math.max(0, height)]?.at(-1) as Hex
  }

  /** The root of a state with changes, which are in the store. */
  async #written(root: Hex, changed: readonly Change[]): Promise<Hex> {
    const overlay = new Overlay(this.#trie.reader(root))
    for (const { account, balance, code } of changed) {
      const address = addressOf(account)
      overlay.putAccount(address, { ...(overlay.account(address) ?? EMPTY_ACCOUNT), balance })
      if (code > 0) overlay.putCode(address, new Uint8Array(code % 2 === 0 ? 40 : 3).fill(code))
    }
    const committed = this.#trie.commit(root, overlay.changes())
    for (const [hash, bytes] of [...committed.nodes, ...committed.code]) this.#all.set(hash, bytes)
    this.#trie.remember(committed)
    await this.store.batch(putCommitted(committed))
    this.#trie.settle(committed)
    return committed.root
  }

  async take(taken: Step): Promise<void> {
    await this.#take(taken)
    this.#collector.step()
  }

  async #take(taken: Step): Promise<void> {
    const last = this.#heights.length - 1
    switch (taken.kind) {
      case 'extend':
        this.#heights.push([await this.#written(this.#rootAt(last), taken.changes)])
        return
      case 'edit': {
        const before = this.#rootAt(last)
        const root = await this.#written(before, taken.changes)
        this.#heights[last] = [this.#top[0] as Hex, root]
        this.#collector.left([before], root)
        return
      }
      case 'branch': {
        const height = Math.max(1, last - taken.back)
        if (height > last) return
        const root = await this.#written(this.#rootAt(height - 1), taken.changes)
        this.#heights[height]?.unshift(root)
        return
      }
      case 'snapshot':
        this.#snapshots.push({ height: last, root: this.#rootAt(last) })
        return
      case 'revert': {
        const at = this.#snapshots.length - 1 - taken.back
        const snapshot = this.#snapshots[at]
        if (snapshot === undefined || snapshot.height > last) return
        this.#snapshots.length = at
        const left = this.#heights.slice(snapshot.height).flat()
        this.#heights.length = snapshot.height + 1
        this.#heights[snapshot.height] = [this.#top[0] as Hex, snapshot.root]
        this.#collector.left(left, snapshot.root)
        return
      }
      case 'load': {
        const from = Math.max(1, last - taken.back)
        const roots: Hex[] = []
        for (const each of taken.changes) {
          roots.push(await this.#written(roots.at(-1) ?? this.#rootAt(from - 1), [each]))
        }
        const left = this.#heights.slice(from).flat()
        this.#heights.length = from
        for (const root of roots) this.#heights.push([root])
        this.#collector.left(left, this.#rootAt(this.#heights.length - 1))
        return
      }
      case 'hold': {
        const root = this.#rootAt(last - taken.back)
        this.#held.push({ root, reader: this.#trie.reader(root), release: this.#collector.hold() })
        return
      }
      case 'release':
        this.#held.shift()?.release()
    }
  }

  /** Throws where the store lacks something of a state that is needed. */
  check(): void {
    const source = nodeSource(this.store)
    const seen = new Set<Hex>()
    const stored = (hash: Hex, found: Uint8Array | undefined): Uint8Array | undefined => {
      if (hash === EMPTY_TRIE_ROOT || seen.has(hash)) return undefined
      seen.add(hash)
      if (found === undefined) throw new Error(`${hash} was lost`)
      if (Buffer.compare(found, this.#all.get(hash) as Uint8Array) !== 0)
        throw new Error(`${hash} has changed`)
      return found
    }
    const walk = (bytes: Uint8Array | undefined): void => {
      if (bytes !== undefined) walkNode(decodeNode(bytes))
    }
    const walkNode = ({ left, right, value }: TrieNode): void => {
      if (value instanceof Uint8Array) {
        // Short code stands in its node; that it is code shows in what was written.
        const hash = keccakHex(value)
        if (this.#all.has(hash)) stored(hash, source.code(hash))
      } else if (value !== undefined) {
        stored(value.hash.hex, source.code(value.hash.hex))
      }
      for (const child of [left, right]) {
        if (child instanceof NodeHash) walk(stored(child.hex, source.node(child.hex)))
        else if (child !== undefined) walkNode(child)
      }
    }
    const roots = [...this.#heights.flat(), ...this.#snapshots.map(({ root }) => root)]
    for (const root of [...roots, ...this.#held.map((held) => held.root)]) {
      walk(stored(root, source.node(root)))
    }
  }

  /** What the held readers say, of accounts that most of them have not read before. */
  read(): void {
    for (const { reader } of this.#held) {
      for (let account = 0; account < ACCOUNTS; account++) {
        const found = reader.account(addressOf(account))
        if (found !== undefined) reader.code(found.codeHash)
      }
    }
  }

  get written(): number {
    return this.#all.size
  }
}

describe('the collection of states', () => {
  it('keeps what blocks, branches, snapshots and readers need, wherever it is interrupted', async () => {
    let [written, stored] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 50 }),
        fc.record({ leastNew: fc.integer({ min: 1, max: 20 }), leastStep: fc.integer({ min: 0, max: 12 }) }),
        async (steps, pace) => {
          const model = new Model(pace)
          await model.start()
          for (const each of steps) {
            await model.take(each)
            model.check()
          }
          model.read()
          written += model.written
          stored += model.store.states.nodes.size + model.store.states.code.size
        },
      ),
      { numRuns: 100 },
    )
    expect(stored).toBeLessThan(written)
  })

  it('keeps a state that moves from a snapshot to a block that was already marked', async () => {
    const edit = (account: number, balance: bigint): Step => ({
      kind: 'edit',
      changes: [{ account, balance, code: 0 }],
    })
    // The collection begins with the first edit.
    for (let steps = 0; steps < 80; steps++) {
      const model = new Model({ leastNew: 1, leastStep: 1 })
      await model.start()
      for (let account = 1; account < 6; account++) {
        await model.take({ kind: 'extend', changes: [{ account, balance: 1n, code: 0 }] })
      }
      await model.take(edit(0, 1n))
      await model.take({ kind: 'snapshot' })
      await model.take(edit(0, 2n))
      for (let i = 0; i < steps; i++) await model.take({ kind: 'release' })
      await model.take({ kind: 'revert', back: 0 })
      for (let i = 0; i < 150; i++) await model.take({ kind: 'release' })
      model.check()
    }
  })
})
