/**
 * State roots in the format before RSKIP-126. The expected roots of the two random states are those that the reference
 * node's ORCHID-0.6.1 computed (its TrieConverterTest, commit 51354cc5cc, whose operations are repeated here).
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { concat, toBigInt } from '../../src/encoding/bytes.ts'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { storageValue } from '../../src/state/state-keys.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { JavaRandom } from '../support/java-random.ts'

const CODE_PREFIX = Uint8Array.of(255, 255, 255, 255)

function memoryTrie(): StateTrie {
  return new StateTrie({ node: () => undefined, code: () => undefined })
}

/** Ten random accounts, the later half with code and cells; `slotBytes`: the lengths of the cells' slots. */
function fill(state: Overlay, slotBytes: readonly number[], count = 10): void {
  const random = new JavaRandom(0n)
  for (let i = 0; i < count; i++) {
    const address: Hex = toHex(random.bytes(20))
    const nonce = toBigInt(random.bytes(4))
    const balance = BigInt(random.below(1000)) * 10n ** 18n
    const isContract = i >= 5
    state.putAccount(address, { ...EMPTY_ACCOUNT, nonce, balance, isContract })
    if (!isContract) continue
    for (const length of slotBytes) {
      const slot = toBigInt(random.bytes(length))
      state.putCell(address, slot, storageValue(random.bytes(random.below(40) + 1)))
    }
    state.putCode(address, concat(CODE_PREFIX, random.bytes(random.below(60 - CODE_PREFIX.length - 1) + 1)))
  }
}

describe('the old root of a state', () => {
  it.each<[string, number[], Hex]>([
    [
      'whole slots',
      [32, 32, 32, 32, 32],
      '0x3513db97e8e9afff71727bce4b2ac01ff3b874e4814cbb31828829b730fd7eca',
    ],
    ['short slots', [32, 32, 20, 20], '0xb5e35460d1ee9e2d7586f4c06c70d9a918cb0d7a1728cd4c37088ea5352a6b0a'],
  ])('is that of the reference node: %s', (_, slotBytes, expected) => {
    const trie = memoryTrie()
    const state = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
    fill(state, slotBytes)
    expect(trie.orchidRoot(trie.commit(EMPTY_TRIE_ROOT, state.changes()))).toBe(expected)
  })

  it('is the same when it is updated block by block', () => {
    const trie = memoryTrie()
    let root: Hex = EMPTY_TRIE_ROOT
    let old: Hex | undefined
    for (let count = 1; count <= 10; count++) {
      const state = new Overlay(trie.reader(root))
      fill(state, [32, 32, 32, 32, 32], count)
      const committed = trie.commit(root, state.changes())
      old = trie.orchidRoot(committed)
      trie.remember(committed)
      root = committed.root
    }
    expect(old).toBe('0x3513db97e8e9afff71727bce4b2ac01ff3b874e4814cbb31828829b730fd7eca')
  })

  it('is that of mainnet at its genesis, and that of the empty trie for an empty state', () => {
    const file = JSON.parse(readFileSync(new URL('../../genesis/mainnet.json', import.meta.url), 'utf8'))
    const trie = memoryTrie()
    const state = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
    parseGenesis(file, CHAINS.mainnet).apply(state)
    expect(file.stateRoot).toMatch(/^0x9fa70f12/)
    expect(trie.orchidRoot(trie.commit(EMPTY_TRIE_ROOT, state.changes()))).toBe(file.stateRoot)
    expect(trie.orchidRoot({ root: EMPTY_TRIE_ROOT, nodes: new Map(), code: new Map() })).toBe(
      EMPTY_TRIE_ROOT,
    )
  })
})
