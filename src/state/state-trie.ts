/** States in the unified trie: read at a root, commit changes, prove (docs/internals/protocol.md#5-execution-and-state). */
import { type Account, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../chain/account.ts'
import { concat, EMPTY } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { decodeNode, NodeHash, type TrieNode, type TrieValue } from '../encoding/trie-node.ts'
import { bitsOf } from '../encoding/trie-path.ts'
import { type LoadNode, type NewNodes, reportNewNodes, updateTrie } from '../encoding/trie-update.ts'
import { type AccountDifference, byAccount } from './account-differences.ts'
import { addAccountEdits, type StateEdits } from './account-edits.ts'
import { type KeyDifference, keyDifferences } from './key-differences.ts'
import type { CommittedState, NodeSource, StateReader } from './model.ts'
import { OrchidRoots } from './orchid-root.ts'
import type { StateChanges } from './overlay.ts'
import { RecentMap } from './recent-map.ts'
import {
  addressIn,
  cellPrefix,
  createStateKeys,
  decodeAccount,
  type StorageValue,
  slotOf,
  storageValue,
} from './state-keys.ts'
import { type AccountAt, createStateReader, type KeepingReader, type StateKnowledge } from './state-reader.ts'
import { findBelow, findNode, nodesFrom, nodesTo } from './trie-read.ts'

/** Decoded nodes kept by default; one takes about 400 bytes. */
const DEFAULT_CACHE_NODES = 60_000
/** Keys of addresses and slots kept, of each kind. */
const CACHE_KEYS = 20_000
/** Codes kept; the interpreter finds the analysis of code by the identity of its array. */
const CACHE_CODE = 1_000

/** The bits of the keys of code and contract marker behind that of their account. */
const CODE_BITS = bitsOf(Uint8Array.of(0x80))
const MARKER_BITS = bitsOf(Uint8Array.of(0x00))

/** Proofs of an account and some of its storage cells: bytes of trie nodes, leaf first, all of them proving to the state root. */
export interface StateProof {
  /** `undefined` when there is no such account; the proof then shows its absence. */
  readonly account: Account | undefined
  /** Hash of the node of the contract marker, below which the storage is; of an empty trie when there is none. */
  readonly storageHash: Hex
  readonly accountProof: readonly Uint8Array[]
  readonly storageProof: readonly {
    readonly slot: bigint
    readonly value: bigint
    readonly proof: readonly Uint8Array[]
  }[]
}

/** What `commit` knows of a new state, kept until `remember`. */
interface FreshState {
  /** The new nodes, decoded, and the nodes of the state before that they replace. */
  readonly nodes: readonly TrieNode[]
  readonly replaced: readonly Hex[]
  /** Root of the state before, and what was changed. */
  readonly before: Hex
  readonly changes: StateChanges
}

/** All states that the nodes of a source make up. Every read and every commit is synchronous. */
export class StateTrie {
  readonly #source: NodeSource
  readonly #keys = createStateKeys(CACHE_KEYS)
  readonly #nodes: RecentMap<Hex, TrieNode>
  readonly #code = new RecentMap<Hex, Uint8Array>(CACHE_CODE)
  readonly #readers: RecentMap<Hex, KeepingReader> | undefined
  readonly #fresh = new WeakMap<CommittedState, FreshState>()
  /** Committed and not yet on disk; a few at a time. */
  readonly #unsettled = new Set<CommittedState>()
  /** Made when a network's early blocks ask for it. */
  #orchidRoots: OrchidRoots | undefined

  /**
   * `sharedRoots`: of how many roots, at least, the reader is kept with what it has read, for all who read there and for
   * the commit of changes; none unless given.
   */
  constructor(
    source: NodeSource,
    options: { readonly cacheNodes?: number; readonly sharedRoots?: number } = {},
  ) {
    this.#source = source
    this.#nodes = new RecentMap(options.cacheNodes ?? DEFAULT_CACHE_NODES)
    const { sharedRoots } = options
    this.#readers = sharedRoots === undefined ? undefined : new RecentMap(2 * sharedRoots)
  }

  /**
   * The state at a root. Reading throws an Error that names the hash when a node or code is missing.
   */
  reader(root: Hex): StateReader {
    return this.#readerAt(root)
  }

  #readerAt(root: Hex): StateReader {
    return this.#readers?.get(root) ?? this.#addReader(root)
  }

  #addReader(root: Hex, knowledge?: StateKnowledge): StateReader {
    const lookups = {
      account: (address: Hex) => this.#accountAt(root, address),
      cell: (node: TrieNode, slot: bigint) => this.#cell(node, slot),
      cells: (node: TrieNode) => new Map(this.#cells(node, EMPTY)),
      code: (codeHash: Hex) => this.#loadCode(codeHash),
    }
    const reader = createStateReader(lookups, knowledge)
    this.#readers?.set(root, reader)
    return reader
  }

  /** The reader of the new state takes over what was read of the state before it, which is seldom read again. */
  #handReaderOver({ before, changes }: FreshState, root: Hex): void {
    const reader = this.#readers?.get(before)
    if (reader === undefined || this.#readers?.get(root) !== undefined) return
    const knowledge = reader.handOver()
    knowledge.apply(changes)
    this.#addReader(root, knowledge)
  }

  /**
   * The state at `root` with changes applied. Nothing is kept: see `remember`. Throws when a node is missing, and when
   * a cell is written in the storage of an account that does not exist.
   */
  commit(root: Hex, changes: StateChanges): CommittedState {
    const into: StateEdits = { deletions: [], edits: [], code: new Map() }
    const { account } = this.#readerAt(root)
    const before = { keys: this.#keys, account, code: (codeHash: Hex) => this.#loadCode(codeHash) }
    for (const address of new Set([...changes.accounts.keys(), ...changes.storage.keys()])) {
      addAccountEdits(into, address, changes, before)
    }
    const { deletions, edits, code } = into
    const replaced: Hex[] = [root]
    const load: LoadNode = (hash) => {
      replaced.push(hash.hex)
      return this.#load(hash)
    }
    const below = updateTrie(this.#root(root), deletions, load)
    const updated = updateTrie(below, edits, load)
    const nodes = new Map<Hex, Uint8Array>()
    const decoded: TrieNode[] = []
    if (updated !== undefined && updated.hash.hex !== root) {
      const report: NewNodes = {
        node(hash, node) {
          nodes.set(hash, node.bytes)
          decoded.push(node)
        },
        value: (hash, bytes) => code.set(hash, bytes),
      }
      reportNewNodes(updated, report)
      report.node(updated.hash.hex, updated)
      for (const node of decoded) node.detach()
    }
    const committed = { root: updated?.hash.hex ?? EMPTY_TRIE_ROOT, nodes, code }
    this.#fresh.set(committed, {
      nodes: decoded,
      replaced: decoded.length === 0 ? [] : replaced,
      before: root,
      changes,
    })
    return committed
  }

  /** The root of a committed state in the format before RSKIP-126 (docs/internals/protocol.md#58-state-root). */
  orchidRoot(committed: CommittedState): Hex {
    const { root, code } = committed
    const fresh = new Map(this.#fresh.get(committed)?.nodes.map((node) => [node.hash.hex, node]))
    const load: LoadNode = (hash) => fresh.get(hash.hex) ?? this.#load(hash)
    const bytes = (value: TrieValue): Uint8Array =>
      value instanceof Uint8Array || value.bytes !== undefined
        ? this.#bytes(value)
        : (code.get(value.hash.hex) ?? this.#bytes(value))
    this.#orchidRoots ??= new OrchidRoots()
    const top = root === EMPTY_TRIE_ROOT ? undefined : load(NodeHash.fromHex(root))
    return this.#orchidRoots.root(top, { load, bytes })
  }

  /** Makes a committed state readable without the source, and keeps it until `settle`. */
  remember(committed: CommittedState): void {
    // The next block begins with these nodes; as they are here decoded, they need not be read and decoded again. Those
    // that they replace are seldom read again, and would be most of what is kept in memory.
    const fresh = this.#fresh.get(committed)
    if (fresh !== undefined) {
      for (const hash of fresh.replaced) this.#nodes.delete(hash)
      for (const node of fresh.nodes) this.#nodes.set(node.hash.hex, node)
      this.#handReaderOver(fresh, committed.root)
      this.#fresh.delete(committed)
    }
    this.#unsettled.add(committed)
  }

  /** Drops what `remember` was given: the source has it now. */
  settle(committed: CommittedState): void {
    this.#unsettled.delete(committed)
  }

  /** Drops nodes and readers from the caches, whose bytes are parts of larger arrays of the source. */
  forgetRead(): void {
    this.#nodes.clear()
    this.#readers?.clear()
  }

  /** Proofs of an account, present or not, and of cells in its storage. Throws when a node is missing. */
  prove(root: Hex, address: Hex, slots: readonly bigint[]): StateProof {
    const top = this.#root(root)
    const proofOf = (key: Uint8Array): Uint8Array[] =>
      top === undefined ? [] : nodesTo(this.#load, top, key).map(({ bytes }) => bytes)
    const key = this.#keys.account(address)
    const reader = this.reader(root)
    return {
      account: reader.account(address),
      storageHash: this.storageHash(root, address),
      accountProof: proofOf(key),
      storageProof: slots.map((slot) => ({
        slot,
        value: reader.storage(address, slot),
        proof: proofOf(concat(key, this.#keys.cell(slot))),
      })),
    }
  }

  /** The storage cells of an account in the order of the first ten bytes of their hashes, from a hash on (32 bytes). */
  *cellsFrom(root: Hex, address: Hex, start: Hex): Generator<readonly [slot: bigint, value: StorageValue]> {
    const top = this.#root(root)
    const account = top && findNode(this.#load, top, this.#keys.account(address))
    if (account !== undefined) yield* this.#cells(account, bitsOf(cellPrefix(start)))
  }

  /** Hash of the node of an account's contract marker, below which its storage is; of an empty trie when there is none. */
  storageHash(root: Hex, address: Hex): Hex {
    const top = this.#root(root)
    return (top && findNode(this.#load, top, this.#keys.marker(address))?.hash.hex) ?? EMPTY_TRIE_ROOT
  }

  /** The code with this hash, of any account in any state; `undefined` when there is none. */
  codeByHash(codeHash: Hex): Uint8Array | undefined {
    if (codeHash === EMPTY_CODE_HASH) return EMPTY
    return this.#unsettledBytes('code', codeHash) ?? this.#source.code(codeHash)
  }

  /** Addresses of the accounts in which two states differ, in the order of their keys. Throws when a node is missing. */
  changedAccounts(before: Hex, after: Hex): readonly Hex[] {
    const addresses = new Set<Hex>()
    for (const { key } of this.#differences(before, after)) addresses.add(addressIn(key))
    return [...addresses]
  }

  /**
   * The accounts in which two states differ, in the order of their keys; a state of no accounts is that of the empty
   * trie's root. The cost is proportional to what differs. Throws when a node is missing.
   */
  *differences(before: Hex, after: Hex): Generator<AccountDifference, undefined> {
    yield* byAccount(this.#differences(before, after), {
      before: this.#readerAt(before),
      after: this.#readerAt(after),
      read: (value) => this.#value(value),
    })
  }

  #differences(before: Hex, after: Hex): Iterable<KeyDifference> {
    return keyDifferences(this.#load, this.#root(before), this.#root(after))
  }

  readonly #load: LoadNode = ({ hex }) => {
    let node = this.#nodes.get(hex)
    if (node === undefined) {
      const bytes = this.#unsettledBytes('nodes', hex) ?? this.#source.node(hex)
      if (bytes === undefined) throw new Error(`the state lacks trie node ${hex}`)
      node = decodeNode(bytes)
      this.#nodes.set(hex, node)
    }
    return node
  }

  /** What is not on disk. */
  #unsettledBytes(kind: 'nodes' | 'code', hash: Hex): Uint8Array | undefined {
    for (const state of this.#unsettled) {
      const bytes = state[kind].get(hash)
      if (bytes !== undefined) return bytes
    }
    return undefined
  }

  #root(root: Hex): TrieNode | undefined {
    return root === EMPTY_TRIE_ROOT ? undefined : this.#load(NodeHash.fromHex(root))
  }

  #loadCode(codeHash: Hex): Uint8Array {
    if (codeHash === EMPTY_CODE_HASH) return EMPTY
    let code = this.#code.get(codeHash)
    if (code === undefined) {
      code = this.#unsettledBytes('code', codeHash) ?? this.#source.code(codeHash)
      if (code === undefined) throw new Error(`the state lacks code ${codeHash}`)
      this.#code.set(codeHash, code)
    }
    return code
  }

  #accountAt(root: Hex, address: Hex): AccountAt | undefined {
    const top = this.#root(root)
    const node = top && findNode(this.#load, top, this.#keys.account(address))
    if (node?.value === undefined) return undefined
    const { nonce, balance } = decodeAccount(this.#bytes(node.value))
    const code = node.isLeaf ? undefined : findBelow(this.#load, node, CODE_BITS)?.value
    const marker = node.isLeaf ? undefined : findBelow(this.#load, node, MARKER_BITS)?.value
    return {
      account: {
        nonce,
        balance,
        codeHash: code === undefined ? EMPTY_CODE_HASH : hashOfValue(code),
        isContract: marker !== undefined,
      },
      node,
    }
  }

  #cell(account: TrieNode, slot: bigint): StorageValue {
    return this.#value(findBelow(this.#load, account, bitsOf(this.#keys.cell(slot)))?.value)
  }

  #value(value: TrieValue | undefined): StorageValue {
    return value === undefined ? 0n : storageValue(this.#bytes(value))
  }

  /** The storage cells below an account's node, from the key that these bits begin. */
  *#cells(account: TrieNode, start: Uint8Array): Generator<readonly [slot: bigint, value: StorageValue]> {
    for (const { bits, node } of nodesFrom(this.#load, account, start)) {
      const slot = slotOf(bits)
      if (slot !== undefined && node.value !== undefined) yield [slot, this.#value(node.value)]
    }
  }

  #bytes(value: TrieValue): Uint8Array {
    return value instanceof Uint8Array ? value : (value.bytes ?? this.#loadCode(value.hash.hex))
  }
}

function hashOfValue(value: TrieValue): Hex {
  return value instanceof Uint8Array ? keccakHex(value) : value.hash.hex
}
