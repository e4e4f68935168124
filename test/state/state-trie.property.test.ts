import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { CommittedState, StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { codeHashOf, type Model, modelRoot } from './state-model.ts'

const ADDRESSES: readonly Hex[] = [
  '0x00',
  '0x0000000000000000000000000000000001000008',
  '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
  '0x7986b3df570230288501eea3d890bd66948c9b79',
  '0x0a3aa774752ec2042c46548456c094a76c7f3a79',
]
const SLOTS: readonly bigint[] = [0n, 1n, 2n, 1n << 64n, 2n ** 256n - 1n, 2n ** 255n + 7n]

const address = fc.constantFrom(...ADDRESSES)
const slot = fc.constantFrom(...SLOTS)
const word = fc.oneof(fc.constantFrom(0n, 1n, 0x7fn, 0x80n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))
const amount = fc.bigInt({ min: 0n, max: 2n ** 70n })

type Step =
  | {
      readonly do: 'putAccount'
      readonly address: Hex
      readonly nonce: bigint
      readonly balance: bigint
      readonly keep: boolean
    }
  | { readonly do: 'putStorage'; readonly address: Hex; readonly slot: bigint; readonly word: bigint }
  | { readonly do: 'putCode'; readonly address: Hex; readonly code: Uint8Array }
  | { readonly do: 'deleteAccount' | 'clearStorage'; readonly address: Hex }
  | { readonly do: 'checkpoint' | 'commit' | 'revert' | 'stack' | 'unstack' | 'commitState' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('putAccount'),
      address,
      nonce: amount,
      balance: amount,
      keep: fc.boolean(),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('putStorage'), address, slot, word }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('putCode'), address, code: fc.uint8Array({ maxLength: 40 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('deleteAccount', 'clearStorage'), address }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('checkpoint') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('commit', 'revert') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stack', 'unstack') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('commitState') }) },
)

/** Reads everything there is to read and compares. */
function expectSame(state: StateReader, model: Model): void {
  for (const known of ADDRESSES) {
    const expected = model.get(known)
    const account = state.account(known)
    expect(account === undefined).toBe(expected === undefined)
    if (account !== undefined && expected !== undefined) {
      expect([account.nonce, account.balance]).toEqual([expected.nonce, expected.balance])
      expect(account.codeHash).toBe(codeHashOf(expected.code))
      expect(state.code(account.codeHash)).toEqual(expected.code)
    }
    const set = [...(expected?.slots ?? [])].filter(([, value]) => value !== 0n)
    expect(new Map(state.cells(known))).toEqual(new Map(set))
    for (const place of SLOTS) expect(state.storage(known, place)).toBe(expected?.slots.get(place) ?? 0n)
  }
}

/** A database of nodes and code, the state trie over it, and what the last committed state should hold. */
class World {
  readonly #nodes = new Map<Hex, Uint8Array>()
  readonly #code = new Map<Hex, Uint8Array>()
  readonly source = { node: (hash: Hex) => this.#nodes.get(hash), code: (hash: Hex) => this.#code.get(hash) }
  readonly trie: StateTrie
  readonly committed: { root: Hex; model: Model }[] = []
  root: Hex = EMPTY_TRIE_ROOT
  model: Model = new Map()
  layers: { overlay: Overlay; before: Model; checkpoints: Model[] }[] = []

  constructor(options: { readonly sharedRoots?: number }) {
    this.trie = new StateTrie(this.source, { cacheNodes: 4, ...options })
    this.#open(this.trie.reader(this.root))
  }

  get overlay(): Overlay {
    return this.#top.overlay
  }

  get #top() {
    const top = this.layers.at(-1)
    if (top === undefined) throw new Error('the bottom layer never goes')
    return top
  }

  async run(step: Step): Promise<void> {
    const { overlay, checkpoints } = this.#top
    const { model } = this
    switch (step.do) {
      case 'putAccount': {
        const { nonce, balance } = step
        const old = model.get(step.address)
        const base = (step.keep ? overlay.account(step.address) : undefined) ?? EMPTY_ACCOUNT
        overlay.putAccount(step.address, {
          ...base,
          nonce,
          balance,
          codeHash: codeHashOf(old?.code ?? new Uint8Array(0)),
          isContract: old?.isContract ?? false,
        })
        const fresh = { code: new Uint8Array(0), isContract: false, slots: new Map() }
        model.set(step.address, { ...fresh, ...old, nonce, balance })
        return
      }
      case 'putStorage': {
        const old = model.get(step.address)
        if (old === undefined) return
        overlay.putStorage(step.address, step.slot, step.word)
        model.set(step.address, { ...old, slots: new Map(old.slots).set(step.slot, step.word) })
        return
      }
      case 'putCode': {
        overlay.putCode(step.address, step.code)
        const fresh = { nonce: 0n, balance: 0n, isContract: false, slots: new Map() }
        const old = model.get(step.address) ?? fresh
        const isContract = old.isContract || step.code.length > 0
        model.set(step.address, { ...old, code: step.code, isContract })
        return
      }
      case 'deleteAccount':
        overlay.deleteAccount(step.address)
        model.delete(step.address)
        return
      case 'clearStorage': {
        overlay.clearStorage(step.address)
        const old = model.get(step.address)
        if (old !== undefined) model.set(step.address, { ...old, slots: new Map() })
        return
      }
      case 'checkpoint':
        overlay.checkpoint()
        checkpoints.push(new Map(model))
        return
      case 'commit':
        if (checkpoints.pop() !== undefined) overlay.commit()
        return
      case 'revert': {
        const before = checkpoints.pop()
        if (before === undefined) return
        overlay.revert()
        this.model = before
        return
      }
      case 'stack':
        this.#open(overlay)
        return
      case 'unstack':
        if (this.layers.length > 1) this.model = this.layers.pop()?.before ?? model
        return
      case 'commitState':
        while (this.layers.length > 1) this.model = this.layers.pop()?.before ?? model
        await this.#commitState()
    }
  }

  async #commitState(): Promise<void> {
    const state: CommittedState = this.trie.commit(this.root, this.#top.overlay.changes())
    expect(state.root).toBe(modelRoot(this.model))
    this.root = state.root
    this.committed.push({ root: state.root, model: new Map(this.model) })
    this.trie.remember(state)
    expectSame(this.trie.reader(state.root), this.model)
    for (const [hash, rlp] of state.nodes) this.#nodes.set(hash, rlp)
    for (const [hash, code] of state.code) this.#code.set(hash, code)
    this.trie.settle(state)
    this.layers = []
    this.#open(this.trie.reader(state.root))
  }

  #open(below: StateReader): void {
    this.layers.push({ overlay: new Overlay(below), before: new Map(this.model), checkpoints: [] })
  }
}

describe('overlay and state trie', () => {
  it.each([
    ['a reader for each use', {}],
    ['readers that hand on what they have read', { sharedRoots: 2 }],
  ])('read at each step and commit to the roots that a plain model gives, with %s', async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 200, size: 'max' }), async (steps) => {
        const world = new World(options)
        for (const each of steps) {
          await world.run(each)
          expectSame(world.overlay, world.model)
        }
        await world.run({ do: 'commitState' })
        const afresh = new StateTrie(world.source)
        for (const { root, model } of world.committed) {
          const state = afresh.reader(root)
          expectSame(state, model)
          expectSame(state, model)
          expectSame(world.trie.reader(root), model)
        }
      }),
      { numRuns: 30 },
    )
  })
})
