import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../src/encoding/hex.ts'
import type { CommittedState } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { decodeWord, encodeAccount } from '../../src/state/state-keys.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { oracleProven } from './trie-oracle.ts'

/** A state trie over maps, and what it takes to write into them. */
function createDisk() {
  const nodes = new Map<Hex, Uint8Array>()
  const code = new Map<Hex, Uint8Array>()
  const source = { node: (hash: Hex) => nodes.get(hash), code: (hash: Hex) => code.get(hash) }
  function write(committed: CommittedState): Hex {
    for (const [hash, rlp] of committed.nodes) nodes.set(hash, rlp)
    for (const [hash, bytes] of committed.code) code.set(hash, bytes)
    return committed.root
  }
  return { nodes, code, source, write }
}

function commitOver(trie: StateTrie, root: Hex, change: (overlay: Overlay) => void): CommittedState {
  const overlay = new Overlay(trie.reader(root))
  change(overlay)
  return trie.commit(root, overlay.changes())
}

const ACCOUNTS = 400
const SLOTS = 300n
const address = (index: number): Hex => toFixedHex(BigInt(index), 20)
const CONTRACT = address(7)
const TWIN = address(8)
const CODE = Uint8Array.of(0x60, 0x00, 0x35)

const disk = createDisk()
const trie = new StateTrie(disk.source)
let root: Hex = EMPTY_TRIE_ROOT
/** Every tenth node that the root reaches. */
let initial: readonly Hex[] = []

beforeAll(() => {
  root = disk.write(
    commitOver(trie, EMPTY_TRIE_ROOT, (overlay) => {
      for (let i = 0; i < ACCOUNTS; i++)
        overlay.putAccount(address(i), { ...EMPTY_ACCOUNT, balance: BigInt(i) })
      overlay.putCode(CONTRACT, CODE)
      for (let slot = 0n; slot < SLOTS; slot++) {
        overlay.putStorage(CONTRACT, slot, slot * slot + 1n)
        overlay.putStorage(TWIN, slot, slot * slot + 1n)
      }
    }),
  )
  initial = [...disk.nodes.keys()].filter((_hash, index) => index % 10 === 0)
})

describe('reader', () => {
  it('finds nothing at the empty root, which is never stored', () => {
    const state = new StateTrie({ node: () => undefined, code: () => undefined }).reader(EMPTY_TRIE_ROOT)
    expect(state.account(CONTRACT)).toBeUndefined()
    expect(state.storage(CONTRACT, 0n)).toBe(0n)
    expect(state.code(EMPTY_ACCOUNT.codeHash)).toEqual(new Uint8Array(0))
  })

  it('gives the same array each time for the same code, also from another root', () => {
    const later = disk.write(commitOver(trie, root, (overlay) => overlay.putAccount(TWIN, EMPTY_ACCOUNT)))
    const { codeHash } = trie.reader(root).account(CONTRACT) ?? EMPTY_ACCOUNT
    expect(trie.reader(root).code(codeHash)).toEqual(CODE)
    expect(trie.reader(later).code(codeHash)).toBe(trie.reader(root).code(codeHash))
  })

  it('names the hash of a node that is lost, whichever it is, and never reads it as absent', () => {
    for (const lost of initial) {
      const node = (hash: Hex) => (hash === lost ? undefined : disk.nodes.get(hash))
      const state = new StateTrie({ ...disk.source, node }).reader(root)
      const wrong: string[] = []
      const readAll = () => {
        for (let slot = 0n; slot < SLOTS; slot++) {
          if (state.storage(CONTRACT, slot) !== slot * slot + 1n) wrong.push(`slot ${slot}`)
        }
        for (let i = 0; i < ACCOUNTS; i++) {
          if (state.account(address(i))?.balance !== BigInt(i)) wrong.push(`account ${i}`)
        }
      }
      expect(readAll).toThrow(`the state lacks trie node ${lost}`)
      expect(wrong).toEqual([])
    }
  })

  it('names the hash of code that is lost', () => {
    const state = new StateTrie({ ...disk.source, code: () => undefined }).reader(root)
    expect(() => state.code(keccakHex(CODE))).toThrow(`the state lacks code ${keccakHex(CODE)}`)
  })
})

describe('commit', () => {
  it('makes nothing when what is written is what was there', () => {
    const committed = commitOver(trie, root, (overlay) => {
      overlay.putAccount(address(1), { ...EMPTY_ACCOUNT, balance: 1n })
      overlay.putStorage(CONTRACT, 3n, 10n)
      overlay.putStorage(CONTRACT, SLOTS, 0n)
      overlay.deleteAccount(address(ACCOUNTS))
    })
    expect(committed).toEqual({ root, nodes: new Map(), code: new Map() })
  })

  it('goes back to the empty root when every account is deleted', () => {
    const committed = commitOver(trie, root, (overlay) => {
      for (let i = 0; i < ACCOUNTS; i++) overlay.deleteAccount(address(i))
    })
    expect(committed).toEqual({ root: EMPTY_TRIE_ROOT, nodes: new Map(), code: new Map() })
  })

  it('keeps the nodes that two contracts share when one of them changes or goes', () => {
    expect(trie.reader(root).account(TWIN)?.storageRoot).toBe(
      trie.reader(root).account(CONTRACT)?.storageRoot,
    )
    const changed = disk.write(
      commitOver(trie, root, (overlay) => {
        overlay.clearStorage(CONTRACT)
        overlay.putStorage(CONTRACT, 1n, 99n)
      }),
    )
    const gone = disk.write(commitOver(trie, changed, (overlay) => overlay.deleteAccount(CONTRACT)))
    for (const at of [changed, gone]) {
      for (let slot = 0n; slot < SLOTS; slot++) {
        expect(trie.reader(at).storage(TWIN, slot)).toBe(slot * slot + 1n)
      }
    }
    expect(trie.reader(changed).storage(CONTRACT, 1n)).toBe(99n)
    expect(trie.reader(changed).storage(CONTRACT, 2n)).toBe(0n)
  })

  it('takes the storage root from the parent state, whatever the new account holds', () => {
    const committed = commitOver(trie, root, (overlay) => {
      overlay.putAccount(TWIN, { ...EMPTY_ACCOUNT, nonce: 5n })
    })
    trie.remember(committed)
    expect(trie.reader(committed.root).account(TWIN)).toEqual({
      ...EMPTY_ACCOUNT,
      nonce: 5n,
      storageRoot: trie.reader(root).account(TWIN)?.storageRoot,
    })
    trie.settle(committed)
  })

  it('refuses words for an account that does not exist', () => {
    const orphan = address(ACCOUNTS)
    expect(() => commitOver(trie, root, (overlay) => overlay.putStorage(orphan, 1n, 1n))).toThrow(orphan)
    expect(commitOver(trie, root, (overlay) => overlay.putStorage(orphan, 1n, 0n)).root).toBe(root)
  })

  it('reports no code that no changed account refers to any more', () => {
    const fleeting = Uint8Array.of(1, 2, 3)
    const committed = commitOver(trie, root, (overlay) => {
      overlay.putCode(address(20), fleeting)
      overlay.deleteAccount(address(20))
      overlay.putCode(address(21), CODE)
    })
    expect([...committed.code.keys()]).toEqual([keccakHex(CODE)])
  })
})

describe('remember', () => {
  it('makes a committed state readable until settled, after which the source has to have it', () => {
    const empty = createDisk()
    const fresh = () => new StateTrie(empty.source, { cacheNodes: 2 })
    const memory = fresh()
    const committed = commitOver(memory, EMPTY_TRIE_ROOT, (overlay) => {
      for (let i = 0; i < 50; i++) overlay.putAccount(address(i), { ...EMPTY_ACCOUNT, balance: BigInt(i) })
      overlay.putCode(address(0), CODE)
    })
    expect(() => memory.reader(committed.root).account(address(0))).toThrow(committed.root)
    memory.remember(committed)
    for (let i = 0; i < 50; i++) {
      expect(memory.reader(committed.root).account(address(i))?.balance).toBe(BigInt(i))
    }
    expect(memory.reader(committed.root).code(keccakHex(CODE))).toEqual(CODE)
    memory.settle(committed)
    expect(() => {
      for (let i = 0; i < 50; i++) memory.reader(committed.root).account(address(i))
    }).toThrow('the state lacks trie node')
    empty.write(committed)
    expect(fresh().reader(committed.root).account(address(49))?.balance).toBe(49n)
  })
})

describe('prove', () => {
  it('gives proofs of presence and of absence that the library accepts under the root', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 * ACCOUNTS }),
        fc.array(fc.bigInt({ min: 0n, max: 2n * SLOTS }), { maxLength: 4 }),
        async (index, slots) => {
          const of = index % 3 === 0 ? CONTRACT : address(index)
          const { account, accountProof, storageProof } = trie.prove(root, of, slots)
          const state = trie.reader(root)
          expect(account).toEqual(state.account(of))
          expect(keccakHex(accountProof[0] ?? new Uint8Array(0))).toBe(root)
          expect(await oracleProven(root, fromHex(of), accountProof)).toEqual(
            account === undefined ? null : encodeAccount(account),
          )
          expect(storageProof.map(({ slot }) => slot)).toEqual(slots)
          for (const { slot, value, proof } of storageProof) {
            expect(value).toBe(state.storage(of, slot))
            const storageRoot = account?.storageRoot ?? EMPTY_TRIE_ROOT
            if (storageRoot === EMPTY_TRIE_ROOT) expect(proof).toEqual([])
            else {
              const proven = await oracleProven(storageRoot, fromBigIntFixed(slot, 32), proof)
              expect(decodeWord(proven ?? undefined)).toBe(value)
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('proves nothing with no nodes in the empty trie', () => {
    expect(trie.prove(EMPTY_TRIE_ROOT, CONTRACT, [1n])).toEqual({
      account: undefined,
      accountProof: [],
      storageProof: [{ slot: 1n, value: 0n, proof: [] }],
    })
  })

  it('gives just the nodes as they are stored', () => {
    const { accountProof, storageProof } = trie.prove(root, CONTRACT, [1n])
    for (const rlp of [...accountProof, ...(storageProof[0]?.proof ?? [])]) {
      expect(toHex(disk.nodes.get(keccakHex(rlp)) ?? new Uint8Array(0))).toBe(toHex(rlp))
    }
  })
})
