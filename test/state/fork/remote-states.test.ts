/** How many of the upstream's states a fork's trie keeps, and which. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { EMPTY_CODE_HASH } from '../../../src/chain/account.ts'
import { type Hex, toFixedHex } from '../../../src/encoding/hex.ts'
import { NodeError } from '../../../src/errors.ts'
import { Demand } from '../../../src/state/fork/demand.ts'
import { ForkTrie } from '../../../src/state/fork/fork-trie.ts'
import { RemoteStates } from '../../../src/state/fork/remote-states.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import type { RemoteBlockId, RemoteState } from '../../../src/state/remote/model.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const STATES = 4_096
const ADDRESS = toFixedHex(1n, 20)

const blockAt = (number: number): RemoteBlockId => ({
  number,
  hash: toFixedHex((1n << 255n) + BigInt(number), 32),
})

/** An upstream without accounts. */
const stateAt = (block: RemoteBlockId): RemoteState => ({
  block,
  account: () => ({ account: undefined }),
  cell: () => 0n,
  code: () => undefined,
  fetch: async () => {},
  hint: async () => [],
  call: async () => {
    throw new NodeError('upstream', 'not asked for')
  },
})

const NOTHING = { node: () => undefined, code: () => undefined }

/** Can a trie with nothing on disk or in its caches make a new state out of one? */
function isBuiltOn(remoteStates: RemoteStates, root: Hex): boolean {
  const trie = new ForkTrie(NOTHING, {}, { demand: new Demand(), stateAt, remoteStates })
  const overlay = new Overlay(trie.reader(root))
  overlay.putAccount(ADDRESS, { nonce: 1n, balance: 1n, codeHash: EMPTY_CODE_HASH, isContract: false })
  return trie.commit(root, overlay.changes()).root !== root
}

it('keeps the states of the most recently used blocks, and that of the fork point', async () => {
  const states = new RemoteStates(blockAt(7))
  const point = states.root(blockAt(7))
  const used = states.root(blockAt(8))
  const kept: WeakRef<Uint8Array>[] = []
  const roots: Hex[] = []
  for (let number = 100; number < 100 + 4 * STATES; number++) {
    const root = states.root(blockAt(number))
    const bytes = states.node(root)
    if (bytes !== undefined) kept.push(new WeakRef(bytes))
    roots.push(root)
    if (number % 1_000 === 0) expect(states.root(blockAt(8))).toBe(used)
  }
  expect(kept).toHaveLength(4 * STATES)
  for (const root of [point, used, ...roots.slice(-STATES).filter((_, i) => i % 500 === 0)]) {
    expect(isBuiltOn(states, root)).toBe(true)
  }
  // What a WeakRef was made of stays until the end of its task.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  const held = kept.filter((bytes) => bytes.deref() !== undefined).length
  expect(held).toBeGreaterThanOrEqual(STATES - 1)
  expect(held).toBeLessThanOrEqual(2 * STATES)
  expect(states.node(roots[0] as Hex)).toBe(undefined)
  expect(states.root(blockAt(100))).toBe(roots[0])
  expect(isBuiltOn(states, roots[0] as Hex)).toBe(true)
})
