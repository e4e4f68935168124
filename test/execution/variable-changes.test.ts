/** Names of changed slots within the bounds of one answer. */
import { describe, expect, it } from 'vitest'
import { readStorageLayout } from '../../src/abi/storage/layout.ts'
import { placeOf } from '../../src/abi/storage/place.ts'
import { SeenWords } from '../../src/abi/storage/seen-words.ts'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { VariableChanges } from '../../src/execution/variable-changes.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { NOTHING } from '../support/execution.ts'
import { solcArtifact } from '../support/kinds.ts'

const HERE = '0x00000000000000000000000000000000000000c0'
const layout = readStorageLayout(solcArtifact('Kinds').storageLayout)
const owner = (i: number) => toHex(new Uint8Array(20).fill(i))

/** A state where balances of these owners are 5, and one without. */
function states(paths: readonly string[]) {
  const before = new Overlay(NOTHING)
  before.putAccount(HERE, EMPTY_ACCOUNT)
  const after = new Overlay(before)
  const slots = paths.map((path) => placeOf(layout, path).slot)
  for (const slot of slots) after.putStorage(HERE, slot, 5n)
  return { before, after, slots }
}

describe('changed variables', () => {
  it('have keys among the words that were seen, each place of them', () => {
    const keys = [1, 2, 3, 4].map(owner)
    const paths = keys.map((key) => `balances[${key}]`)
    const { before, after, slots } = states(paths)
    const words = new SeenWords()
    words.addAddress(owner(1) as `0x${string}`)
    const call = new Uint8Array(36).fill(2, 16)
    words.addCallData(call)
    words.addLog({
      topics: [`0x${'9'.repeat(64)}`, `0x${'03'.repeat(20).padStart(64, '0')}`],
      data: new Uint8Array(32).fill(4, 12),
    })
    const found = new VariableChanges(before, after, () => layout, words).of(HERE, slots)
    expect(new Set(found)).toEqual(new Set(paths.map((path) => ({ path, from: '0', to: '5' }))))
  })

  it('are looked for within a number of hashes that all accounts of an answer share', () => {
    const path = `allowance[${owner(1)}][${owner(2)}]`
    const { before, after, slots } = states([path])
    const words = new SeenWords()
    for (const i of [1, 2]) words.addAddress(owner(i) as `0x${string}`)
    const changes = new VariableChanges(before, after, () => layout, words)
    const named = () => changes.of(HERE, slots).length
    expect(named()).toBe(1)
    // A slot of no variable takes all hashes that a search may do.
    let rounds = 0
    while (named() === 1 && rounds < 100_000) {
      changes.of(HERE, [1n << 200n])
      rounds += 1
    }
    expect(rounds).toBeGreaterThan(1)
    expect(rounds).toBeLessThan(16_384)
  })

  it('are none where words and layout tell nothing', () => {
    const { before, after, slots } = states([`balances[${owner(1)}]`])
    expect(new VariableChanges(before, after, () => layout, new SeenWords()).of(HERE, slots)).toEqual([])
    expect(new VariableChanges(before, after, () => undefined, new SeenWords()).of(HERE, slots)).toEqual([])
  })
})

describe('SeenWords', () => {
  it('is bounded, with addresses first', () => {
    const words = new SeenWords()
    for (let i = 0; i < 40; i++) {
      const data = new Uint8Array(4 + 300 * 32)
      for (let word = 0; word < 300; word++) data.set([i + 1, word % 251, word >> 4], 4 + word * 32)
      words.addCallData(data)
      if (i === 3) words.addAddress(HERE)
    }
    expect(words.isFull).toBe(true)
    expect(words.list).toHaveLength(4096)
    expect(words.list[0]).toBe(0xc0n)
  })

  it('are found in a layout with more paths than can be followed', () => {
    const word = { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' }
    // Each struct has the next one twice, in the same slot: 2^30 paths.
    const structs = Array.from({ length: 30 }, (_, i) => [
      `t_s${i}`,
      {
        encoding: 'inplace',
        label: `struct S${i}`,
        numberOfBytes: '32',
        members: ['a', 'b'].map((label) => ({
          label,
          slot: '0',
          offset: 0,
          type: i === 29 ? 't_word' : `t_s${i + 1}`,
        })),
      },
    ])
    const list = { encoding: 'dynamic_array', label: 'struct S0[]', numberOfBytes: '32', base: 't_s0' }
    const storage = [
      { label: 'first', slot: '1', offset: 0, type: 't_word' },
      { label: 'deep', slot: '0', offset: 0, type: 't_s0' },
      { label: 'list', slot: '2', offset: 0, type: 't_list' },
    ]
    const types = { t_word: word, t_list: list, ...Object.fromEntries(structs) }
    const deep = readStorageLayout({ storage, types })
    const { before, after } = states([])
    for (const slot of [0n, 1n, 2n]) after.putStorage(HERE, slot, 5n)
    const found = new VariableChanges(before, after, () => deep, new SeenWords())
    expect(found.of(HERE, [1n])).toEqual([{ path: 'first', from: '0', to: '5' }])
    // More values than are read for one answer.
    expect(found.of(HERE, [0n, 1n, 2n])).toEqual([])
  })
})
