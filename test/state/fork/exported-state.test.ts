import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../../src/chain/account.ts'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import { importState } from '../../../src/state/fork/exported-state.ts'
import type { NodeSource } from '../../../src/state/model.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import { StateTrie } from '../../../src/state/state-trie.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { nodeSource, putCommitted } from '../../../src/store/state-nodes.ts'
import { exportedState } from '../../support/export-state.ts'
import { stateEntries } from '../../support/state-entries.ts'

const CODE = Uint8Array.from({ length: 100 }, (_, index) => index)

/** Forty accounts; those with code share it, and one has a long cell. */
async function exported() {
  const store = createMemoryStore()
  const source = nodeSource(store)
  const trie = new StateTrie(source)
  const state = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  for (let number = 1; number <= 40; number++) {
    const address = toFixedHex(BigInt(number) * 0x1234567n, 20)
    state.putAccount(address, { ...EMPTY_ACCOUNT, nonce: 1n, balance: BigInt(number) })
    if (number % 4 !== 0) continue
    state.putCode(address, CODE)
    state.markContract(address)
    for (let slot = 1n; slot < 4n; slot++) state.putStorage(address, slot, 2n ** 255n + slot)
  }
  const bridge: Hex = '0x0000000000000000000000000000000001000006'
  state.putAccount(bridge, { ...EMPTY_ACCOUNT, balance: 7n, isContract: true })
  state.putCell(
    bridge,
    9n,
    Uint8Array.from({ length: 3000 }, (_, index) => index & 0xff),
  )
  const committed = trie.commit(EMPTY_TRIE_ROOT, state.changes())
  await store.batch(putCommitted(committed))
  return { root: committed.root, source, lines: exportedState(source, committed.root) }
}

async function* each(lines: readonly string[]) {
  yield* lines
}

describe('a state of the reference node', () => {
  it('equals the same state in another store', async () => {
    const { root, source, lines } = await exported()
    const store = createMemoryStore()
    const { nodes, values } = await importState(store, each([...lines, '']), root)
    expect(nodes).toBeGreaterThan(40)
    expect(values).toBeGreaterThanOrEqual(2)
    const entriesIn = ({ node, code }: NodeSource) => stateEntries(root, (hash) => node(hash) ?? code(hash))
    expect(entriesIn(nodeSource(store))).toEqual(entriesIn(source))
  })

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    [
      'of another block',
      (lines) => lines.slice(1),
      /begins with the state root 0x.* and that of the block is 0x/,
    ],
    ['that is empty', () => [''], /The file is empty|ends without/],
    ['that is cut off', (lines) => lines.slice(0, -10), /ends without the (trie node|value) 0x/],
    [
      'without a line',
      (lines) => lines.filter((_, index) => index !== 5),
      /is not part of the state|ends without/,
    ],
    ['with a line of its own', (lines) => [...lines, 'c0ffee'], /Line \d+ \(0x[0-9a-f]{64}\) is not part/],
    ['that is not hex', (lines) => [lines[0] ?? '', 'hello'], /Line 2 is not hex/],
  ])('%s is refused, and its root is not stored', async (_, change, sentence) => {
    const { root, lines } = await exported()
    const store = createMemoryStore()
    await expect(importState(store, each(change(lines)), root)).rejects.toThrow(sentence)
    expect(nodeSource(store).node(root)).toBeUndefined()
  })
})
