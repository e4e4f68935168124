/** What differs between two states, against a comparison of plain maps. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { codeHashOf } from './state-model.ts'

interface Plain {
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly slots: ReadonlyMap<bigint, bigint>
}
type PlainState = ReadonlyMap<Hex, Plain>

const address = fc.oneof(
  fc.constantFrom<Hex>(`0x${'00'.repeat(20)}`, `0x${'00'.repeat(19)}01`),
  fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
)
const account: fc.Arbitrary<Plain> = fc.record({
  nonce: fc.bigInt({ min: 0n, max: 3n }),
  code: fc.uint8Array({ maxLength: 40 }),
  slots: fc
    .uniqueArray(
      fc.tuple(fc.constantFrom(0n, 1n, 2n, 255n, 2n ** 256n - 1n), fc.bigInt({ min: 1n, max: 3n })),
      { selector: ([slot]) => slot, maxLength: 4 },
    )
    .map((slots) => new Map(slots)),
})
const state = fc
  .uniqueArray(fc.tuple(address, account), { selector: ([one]) => one, maxLength: 12 })
  .map((accounts): PlainState => new Map(accounts))
/** Two states with most accounts in common, and the sender of the REMASC transaction, whose address is one byte. */
const pair = fc
  .tuple(state, state, state, fc.nat(2), fc.nat(2))
  .map(([common, first, second, before, after]) => {
    const remasc = (nonce: number): PlainState =>
      new Map([['0x00', { nonce: BigInt(nonce), code: new Uint8Array(0), slots: new Map() }]])
    return [
      new Map([...common, ...first, ...remasc(before)]),
      new Map([...common, ...second, ...remasc(after)]),
    ] as const
  })

function commit(trie: StateTrie, accounts: PlainState): Hex {
  const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
  for (const [at, { nonce, code, slots }] of accounts) {
    overlay.putAccount(at, { ...EMPTY_ACCOUNT, nonce })
    overlay.putCode(at, code)
    for (const [slot, word] of slots) overlay.putStorage(at, slot, word)
  }
  const committed = trie.commit(EMPTY_TRIE_ROOT, overlay.changes())
  trie.remember(committed)
  return committed.root
}

/** Nonce, code hash and cells of the accounts that differ, as text that can be compared. */
function expected(before: PlainState, after: PlainState): string[] {
  const lines: string[] = []
  for (const at of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(at), after.get(at)]
    const cells: string[] = []
    for (const slot of new Set([...(old?.slots.keys() ?? []), ...(now?.slots.keys() ?? [])])) {
      const [was, is] = [old?.slots.get(slot) ?? 0n, now?.slots.get(slot) ?? 0n]
      if (was !== is) cells.push(`${slot}: ${was} ${is}`)
    }
    const head = (one: Plain | undefined): string =>
      one === undefined ? 'none' : `${one.nonce} ${codeHashOf(one.code)}`
    if (head(old) !== head(now) || cells.length > 0) {
      lines.push(`${at} ${head(old)} ${head(now)} ${cells.sort().join(', ')}`)
    }
  }
  return lines.sort()
}

it('finds accounts and cells that differ, and no others', () => {
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const trie = new StateTrie({ node: () => undefined, code: () => undefined })
      const found = [...trie.differences(commit(trie, before), commit(trie, after))].map((one) => {
        const head = (side: (typeof one)['before']): string =>
          side === undefined ? 'none' : `${side.nonce} ${side.codeHash}`
        const cells = [...one.cells].map(([slot, values]) => `${slot}: ${values.before} ${values.after}`)
        return `${one.address} ${head(one.before)} ${head(one.after)} ${cells.sort().join(', ')}`
      })
      expect(found.sort()).toEqual(expected(before, after))
    }),
    { numRuns: 120 },
  )
})

it('reads only the nodes that differ', () => {
  const nodes = new Map<Hex, Uint8Array>()
  const code = new Map<Hex, Uint8Array>()
  const writer = new StateTrie({ node: (hash) => nodes.get(hash), code: (hash) => code.get(hash) })
  const many = new Overlay(writer.reader(EMPTY_TRIE_ROOT))
  for (let i = 0; i < 2000; i++) {
    many.putAccount(`0x${i.toString(16).padStart(40, '0')}`, { ...EMPTY_ACCOUNT, nonce: BigInt(i) })
  }
  const first = writer.commit(EMPTY_TRIE_ROOT, many.changes())
  for (const [hash, bytes] of first.nodes) nodes.set(hash, bytes)
  const one = new Overlay(writer.reader(first.root))
  one.putAccount(`0x${'7'.padStart(40, '0')}`, EMPTY_ACCOUNT)
  const second = writer.commit(first.root, one.changes())
  for (const [hash, bytes] of second.nodes) nodes.set(hash, bytes)

  let reads = 0
  const reader = new StateTrie({
    node: (hash) => {
      reads++
      return nodes.get(hash)
    },
    code: () => undefined,
  })
  expect([...reader.differences(first.root, second.root)]).toHaveLength(1)
  // A path of about log2(2000) nodes in each of the two tries.
  expect(reads).toBeLessThan(60)
})
