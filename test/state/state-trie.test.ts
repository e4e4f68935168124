import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { provenValue } from '../../src/chain/receipt-proof.ts'
import { fromBigInt, fromBigIntSigned } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import type { CommittedState } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { StateTrie } from '../../src/state/state-trie.ts'
import { NaiveTrie } from '../support/naive-trie.ts'
import { referenceData } from '../support/reference-data.ts'
import { saying } from '../support/refusals.ts'
import { modelAccountKey, modelCellKey } from './state-model.ts'

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
  it('finds no account at the empty root, which is never stored', () => {
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

  it('reports the hash of any missing node, and never treats it as an absent entry', () => {
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
      expect(readAll).toThrow(saying(`the state lacks trie node ${lost}`))
      expect(wrong).toEqual([])
    }
  })

  it('reports the hash of missing code', () => {
    const state = new StateTrie({ ...disk.source, code: () => undefined }).reader(root)
    expect(() => state.code(keccakHex(CODE))).toThrow(saying(`the state lacks code ${keccakHex(CODE)}`))
  })
})

describe('commit', () => {
  it('makes no nodes when the written values are the existing ones', () => {
    const committed = commitOver(trie, root, (overlay) => {
      overlay.putAccount(address(1), { ...EMPTY_ACCOUNT, balance: 1n })
      overlay.putStorage(CONTRACT, 3n, 10n)
      overlay.putStorage(CONTRACT, SLOTS, 0n)
      overlay.deleteAccount(address(ACCOUNTS))
    })
    expect(committed).toEqual({ root, nodes: new Map(), code: new Map() })
  })

  it('returns to the empty root when every account is deleted', () => {
    const committed = commitOver(trie, root, (overlay) => {
      for (let i = 0; i < ACCOUNTS; i++) overlay.deleteAccount(address(i))
    })
    expect(committed).toEqual({ root: EMPTY_TRIE_ROOT, nodes: new Map(), code: new Map() })
  })

  it('keeps the nodes that two contracts share when one of them changes or is deleted', () => {
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

  it('keeps code, storage and marker of an account when its nonce changes', () => {
    const committed = commitOver(trie, root, (overlay) => {
      const account = overlay.account(CONTRACT) ?? EMPTY_ACCOUNT
      overlay.putAccount(CONTRACT, { ...account, nonce: 5n })
    })
    trie.remember(committed)
    const state = trie.reader(committed.root)
    expect(state.account(CONTRACT)).toEqual({ ...trie.reader(root).account(CONTRACT), nonce: 5n })
    expect(state.storage(CONTRACT, 2n)).toBe(5n)
    trie.settle(committed)
  })

  it('refuses words for an account that does not exist', () => {
    const orphan = address(ACCOUNTS)
    expect(() => commitOver(trie, root, (overlay) => overlay.putStorage(orphan, 1n, 1n))).toThrow(orphan)
    expect(commitOver(trie, root, (overlay) => overlay.putStorage(orphan, 1n, 0n)).root).toBe(root)
  })

  it('does not report code that no changed account refers to any more', () => {
    const temporary = Uint8Array.of(1, 2, 3)
    const committed = commitOver(trie, root, (overlay) => {
      overlay.putCode(address(20), temporary)
      overlay.deleteAccount(address(20))
      overlay.putCode(address(21), CODE)
    })
    expect([...committed.code.keys()]).toEqual([keccakHex(CODE)])
  })
})

describe('remember', () => {
  it('makes a committed state readable until it is settled, after which the source must have it', () => {
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
    }).toThrow(/^the state lacks trie node 0x[0-9a-f]{64}$/)
    empty.write(committed)
    expect(fresh().reader(committed.root).account(address(49))?.balance).toBe(49n)
  })
})

describe('prove', () => {
  it('returns proofs of existing entries that lead from the root to them', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: ACCOUNTS - 1 }),
        fc.bigInt({ min: 0n, max: SLOTS - 1n }),
        (index, slot) => {
          const { accountProof } = trie.prove(root, address(index), [])
          const { nonce, balance } = trie.reader(root).account(address(index)) ?? EMPTY_ACCOUNT
          const rlp = encodeRlp([fromBigInt(nonce), fromBigIntSigned(balance)])
          expect(provenValue(accountProof, modelAccountKey(address(index)), root).hash).toEqual(
            keccak256(rlp),
          )
          const { storageProof } = trie.prove(root, CONTRACT, [slot])
          const { proof = [], value = 0n } = storageProof[0] ?? {}
          expect(value).toBe(slot * slot + 1n)
          expect(provenValue(proof, modelCellKey(CONTRACT, slot), root).hash).toEqual(
            keccak256(fromBigInt(value)),
          )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('proves the absence of accounts and cells by the path to the point where it ends', () => {
    for (const [of, slot] of [
      [address(ACCOUNTS + 1), 1n],
      [CONTRACT, SLOTS],
      [address(3), 0n],
    ] as const) {
      const { account, accountProof, storageProof } = trie.prove(root, of, [slot])
      expect(account).toEqual(trie.reader(root).account(of))
      expect(keccakHex(accountProof.at(-1) ?? new Uint8Array(0))).toBe(root)
      const { value, proof = [] } = storageProof[0] ?? {}
      expect(value).toBe(0n)
      expect(keccakHex(proof.at(-1) ?? new Uint8Array(0))).toBe(root)
    }
  })

  it('returns an empty proof for the empty trie', () => {
    expect(trie.prove(EMPTY_TRIE_ROOT, CONTRACT, [1n])).toEqual({
      account: undefined,
      storageHash: EMPTY_TRIE_ROOT,
      accountProof: [],
      storageProof: [{ slot: 1n, value: 0n, proof: [] }],
    })
  })

  it('returns only stored nodes and the nodes embedded in them', () => {
    const { accountProof, storageProof } = trie.prove(root, CONTRACT, [1n])
    for (const proof of [accountProof, storageProof[0]?.proof ?? []]) {
      expect(proof.length).toBeGreaterThan(3)
      for (const [index, bytes] of proof.entries()) {
        const parent = proof[index + 1]
        const isEmbedded = parent !== undefined && toHex(parent).includes(toHex(bytes).slice(2))
        if (!isEmbedded) expect(disk.nodes.get(keccakHex(bytes))).toEqual(bytes)
      }
    }
  })
})

interface RepositoryStep {
  readonly op: string
  readonly address: Hex
  readonly root: Hex
  readonly account: Hex | null
  readonly slot?: Hex
  readonly value?: Hex
  readonly threw?: unknown
}

describe('sequences of the reference node', () => {
  const { sequences } = referenceData<{
    sequences: { name: string; steps: RepositoryStep[]; finalState: [Hex, Hex][] }[]
  }>('trie/repository')

  it.each(sequences)(
    '$name: the final state has its root when it is read at once',
    ({ steps, finalState }) => {
      const trie = new NaiveTrie()
      for (const [key, value] of finalState) trie.put(fromHex(key), fromHex(value))
      expect(trie.root()).toBe(steps.at(-1)?.root)
    },
  )
})
