/** The accounts in which two states differ, against a comparison account by account. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'

interface Plain {
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly slots: ReadonlyMap<bigint, bigint>
}
type PlainState = ReadonlyMap<Hex, Plain>

const address = fc.oneof(
  fc.constantFrom<Hex>('0x00', `0x${'00'.repeat(20)}`, `0x${'00'.repeat(19)}01`),
  fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
)
const account: fc.Arbitrary<Plain> = fc.record({
  nonce: fc.bigInt({ min: 0n, max: 3n }),
  code: fc.uint8Array({ minLength: 0, maxLength: 40 }),
  slots: fc
    .uniqueArray(fc.tuple(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 1n, max: 3n })), {
      selector: ([slot]) => slot,
      maxLength: 3,
    })
    .map((slots) => new Map(slots)),
})
const state = fc
  .uniqueArray(fc.tuple(address, account), { selector: ([one]) => one, maxLength: 12 })
  .map((accounts): PlainState => new Map(accounts))
/** Two states with most accounts in common. */
const pair = fc
  .tuple(state, state, state)
  .map(
    ([common, first, second]) => [new Map([...common, ...first]), new Map([...common, ...second])] as const,
  )

function shown(one: Plain | undefined): string {
  if (one === undefined) return 'none'
  const slots = [...one.slots].sort(([a], [b]) => Number(a - b))
  return `${one.nonce} ${Buffer.from(one.code).toString('hex')} ${slots.join(' ')}`
}

it('finds the accounts that differ, and no others', () => {
  fc.assert(
    fc.property(pair, ([before, after]) => {
      const trie = new StateTrie({ node: () => undefined, code: () => undefined })
      const rootOf = (accounts: PlainState): Hex => {
        const overlay = new Overlay(trie.reader(EMPTY_TRIE_ROOT))
        for (const [at, { nonce, code, slots }] of accounts) {
          overlay.putAccount(at, { ...EMPTY_ACCOUNT, nonce })
          // The account of the REMASC transaction's sender never has code or storage.
          if (at === '0x00') continue
          overlay.putCode(at, code)
          for (const [slot, word] of slots) overlay.putStorage(at, slot, word)
        }
        const committed = trie.commit(EMPTY_TRIE_ROOT, overlay.changes())
        trie.remember(committed)
        return committed.root
      }
      const differ = [...new Set([...before.keys(), ...after.keys()])].filter((at) => {
        const [old, now] = [before.get(at), after.get(at)]
        return at === '0x00' ? old?.nonce !== now?.nonce : shown(old) !== shown(now)
      })
      expect([...trie.changedAccounts(rootOf(before), rootOf(after))].sort()).toEqual(differ.sort())
    }),
    { numRuns: 200 },
  )
})
