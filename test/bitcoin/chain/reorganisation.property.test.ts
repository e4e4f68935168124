/** Random sequences of blocks, transactions, reorganisations and restores keep coins, indexes and the mempool consistent. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bitcoin, createBitcoin, decodeState, encodeState } from '../../../src/bitcoin/bitcoin.ts'
import { scriptKey, spentKey } from '../../../src/bitcoin/chain/coin.ts'
import { coinOf, entriesInOrder } from '../../../src/bitcoin/chain/mempool.ts'
import { subsidyAt } from '../../../src/bitcoin/chain/regtest.ts'
import { RuleViolation } from '../../../src/bitcoin/chain/rule-violation.ts'
import { blockAt, type ChainState } from '../../../src/bitcoin/chain/state.ts'
import { coinsInTotal, newNode, START, scriptOf, spend } from './test-chain.ts'

const SCRIPT = scriptOf('legacy')

type Action =
  | { readonly kind: 'mine'; readonly count: number }
  | { readonly kind: 'send'; readonly choice: number; readonly share: number }
  | { readonly kind: 'invalidate'; readonly depth: number }
  | { readonly kind: 'reconsider'; readonly choice: number }
  | { readonly kind: 'save' }
  | { readonly kind: 'restore'; readonly choice: number }

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('mine' as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      kind: fc.constant('send' as const),
      choice: fc.nat(1000),
      share: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ kind: fc.constant('invalidate' as const), depth: fc.nat(4) }),
    fc.record({ kind: fc.constant('reconsider' as const), choice: fc.nat(10) }),
    fc.record({ kind: fc.constant('save' as const) }),
    fc.record({ kind: fc.constant('restore' as const), choice: fc.nat(10) }),
  ),
  { minLength: 5, maxLength: 25 },
)

/** The coins that can be spent now: of blocks and of the mempool. */
function candidates({ chain: { state } }: Bitcoin) {
  const outputs = [...state.mempool.values()].flatMap(({ id, transaction }) =>
    transaction.outputs.map((_, i) => id + i.toString(16).padStart(8, '0')),
  )
  return [...[...state.coins.entries()].map(([key]) => key), ...outputs]
    .filter((key) => !state.spenders.has(key))
    .flatMap((key) => {
      const coin = coinOf(state, key)
      return coin === undefined || coin.value < 100_000n ? [] : [{ key, coin }]
    })
}

function send(node: Bitcoin, choice: number, share: number): void {
  const all = candidates(node)
  const spent = all[choice % all.length]
  if (spent === undefined) return
  const paid = (spent.coin.value * BigInt(share)) / 10n
  const outputs = [
    { value: paid, script: SCRIPT },
    { value: spent.coin.value - paid - 1000n, script: scriptOf('bech32') },
  ]
  try {
    node.chain.accept(spend([spent], outputs))
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error
  }
}

/** What is left of each block's subsidy: coins, and nothing else, as every fee goes to the next miner. */
function issued(state: ChainState): bigint {
  return Array.from({ length: state.active.size - 1 }, (_, i) => subsidyAt(i + 1)).reduce(
    (sum, one) => sum + one,
    0n,
  )
}

/** The same chain, built block by block by a node that saw no other. */
function rebuilt(state: ChainState): ChainState {
  const node = createBitcoin({ clock: () => START + 1_000_000, seed: new Uint8Array(32) })
  for (let height = 1; height < state.active.size; height++) {
    const stored = blockAt(state, height)
    if (stored !== undefined) node.chain.submit(stored.block)
  }
  for (const { transaction } of entriesInOrder(state)) node.chain.accept(transaction)
  return node.chain.state
}

/** What a chain's contents are, without the order in which things came. */
function contents({ coins, coinsOfScripts, places, history, mempool, spenders, best }: ChainState) {
  const maps = [coins, coinsOfScripts, places, history, spenders].map((map) => [...map.entries()])
  return { maps, mempool: [...mempool.values()].map(({ id, fee }) => ({ id, fee })), best }
}

function act(
  node: Bitcoin,
  saved: ReturnType<Bitcoin['snapshot']>[],
  invalid: string[],
  action: Action,
): void {
  const { chain } = node
  if (action.kind === 'mine') node.mine(action.count, SCRIPT)
  else if (action.kind === 'send') send(node, action.choice, action.share)
  else if (action.kind === 'save') saved.push(node.snapshot())
  else if (action.kind === 'restore') {
    const state = saved[action.choice % Math.max(saved.length, 1)]
    if (state !== undefined) node.restore(state)
  } else {
    const hash =
      action.kind === 'reconsider' ? invalid[action.choice % Math.max(invalid.length, 1)] : undefined
    const block = hash === undefined ? undefined : chain.state.blocks.get(hash)
    if (block !== undefined) chain.reconsider(block)
    const found =
      action.kind === 'invalidate'
        ? blockAt(chain.state, chain.state.active.size - 1 - action.depth)
        : undefined
    if (found === undefined) return
    invalid.push(found.hash)
    chain.invalidate(found)
  }
}

describe('a chain under random actions', () => {
  it('conserves coins, has the indexes and the mempool of a chain built anew, and is stored whole', () => {
    fc.assert(
      fc.property(actions, (list) => {
        const stored = new Map<string, Uint8Array>()
        const store = {
          entries: () => stored.entries(),
          write: (changes: Iterable<{ key: string; value: Uint8Array | undefined }>) => {
            for (const { key, value } of changes) {
              if (value === undefined) stored.delete(key)
              else stored.set(key, value)
            }
          },
        }
        const node = newNode({ store })
        node.mine(104, SCRIPT)
        const saved: ReturnType<Bitcoin['snapshot']>[] = []
        const invalid: string[] = []
        for (const action of list) {
          act(node, saved, invalid, action)
          const { state } = node.chain
          expect(coinsInTotal(node)).toBe(issued(state))
          expect(state.coinsOfScripts.size).toBe(state.coins.size)
          for (const [key, coin] of state.coins.entries())
            expect(state.coinsOfScripts.has(scriptKey(coin.script) + key)).toBe(true)
          for (const { transaction } of state.mempool.values())
            for (const input of transaction.inputs) expect(coinOf(state, spentKey(input))).toBeDefined()
        }
        const { state } = node.chain
        expect(contents(rebuilt(state))).toEqual(contents(state))
        const loaded = decodeState(stored)
        expect(contents(loaded.chain)).toEqual(contents(state))
        expect(encodeState(loaded)).toEqual(encodeState(node.snapshot()))
      }),
      { numRuns: 15 },
    )
  })

  it('is the same after a reorganisation there and back', () => {
    const node = newNode()
    node.mine(103, SCRIPT)
    for (const choice of [0, 1, 2]) send(node, choice, 5)
    node.mine(2, SCRIPT)
    const before = contents(node.chain.state)
    const fork = blockAt(node.chain.state, 104)
    if (fork === undefined) throw new Error('no block at height 104')
    node.chain.invalidate(fork)
    node.mine(1, SCRIPT)
    expect(node.chain.state.best).not.toBe(before.best)
    node.chain.reconsider(fork)
    expect(contents(node.chain.state)).toEqual(before)
  })
})
