/** The Merkle-Patricia state: reads at a root, commits changes to a new root, proves. */
import { type Account, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { CommittedState, NodeSource, StateReader } from './model.ts'
import type { StateChanges, StorageChanges } from './overlay.ts'
import { RecentMap } from './recent-map.ts'
import { createStateKeys, decodeAccount, decodeWord, encodeAccount, encodeWord } from './state-keys.ts'
import { createStateReader } from './state-reader.ts'
import { decodeNode, type MptNode } from './trie-node.ts'
import { type LoadNode, proveTrie, readTrie } from './trie-read.ts'
import { type Edit, type ReportNode, updateTrie } from './trie-update.ts'

/** Decoded nodes kept by default: a branch takes about 2 kB, so some tens of megabytes. */
const DEFAULT_CACHE_NODES = 8_000
/** Hashed addresses and slots kept, of each sort. */
const CACHE_KEYS = 20_000
/** Contracts kept; the interpreter knows analysed code by the identity of its array. */
const CACHE_CODE = 1_000

/** Merkle-Patricia proofs of an account and some of its slots (EIP-1186): RLP of nodes, root first. */
export interface StateProof {
  /** `undefined` when there is no such account; the proof then shows its absence. */
  readonly account: Account | undefined
  readonly accountProof: readonly Uint8Array[]
  readonly storageProof: readonly {
    readonly slot: bigint
    readonly value: bigint
    readonly proof: readonly Uint8Array[]
  }[]
}

/** All states over the nodes of a source. Every read and every commit is synchronous. */
export class StateTrie {
  readonly #source: NodeSource
  readonly #keys = createStateKeys(CACHE_KEYS)
  readonly #nodes: RecentMap<Hex, MptNode>
  readonly #code = new RecentMap<Hex, Uint8Array>(CACHE_CODE)
  /** Accounts as they were last read or committed, with the value of their leaf. */
  readonly #accounts = new RecentMap<Hex, { readonly rlp: Uint8Array; readonly account: Account }>(CACHE_KEYS)
  /** Nodes of states committed here, decoded. */
  readonly #decoded = new WeakMap<CommittedState, readonly [Hex, MptNode][]>()
  /** Committed and not yet known to be on disk. */
  readonly #unsettledNodes = new Map<Hex, Uint8Array>()
  readonly #unsettledCode = new Map<Hex, Uint8Array>()

  constructor(source: NodeSource, options: { readonly cacheNodes?: number } = {}) {
    this.#source = source
    this.#nodes = new RecentMap(options.cacheNodes ?? DEFAULT_CACHE_NODES)
  }

  /** The state at a root. Reading throws an Error that names the hash when a node or code is missing. */
  reader(root: Hex): StateReader {
    return createStateReader({
      account: (address) => this.#account(root, address),
      word: (storageRoot, slot) => this.#word(storageRoot, slot),
      code: (codeHash) => this.#loadCode(codeHash),
    })
  }

  /**
   * The state at `root` with changes applied. Nothing is kept: see `remember`. An account's storage root is worked
   * out from the parent state and the changes, whatever the changed account holds. Throws when a node is missing,
   * and when a word is put into the storage of an account that does not exist.
   */
  commit(root: Hex, changes: StateChanges): CommittedState {
    const nodes = new Map<Hex, Uint8Array>()
    const decoded: [Hex, MptNode][] = []
    const report: ReportNode = (hash, rlp, node) => {
      nodes.set(hash, rlp)
      decoded.push([hash, node])
    }
    const code = new Map<Hex, Uint8Array>()
    const edits: Edit[] = []
    for (const address of new Set([...changes.accounts.keys(), ...changes.storage.keys()])) {
      const key = this.#keys.account(address)
      const before = this.#account(root, address)
      const changed = changes.accounts.get(address)
      const account = changed === undefined ? before : (changed ?? undefined)
      const storage = changes.storage.get(address)
      if (account === undefined) {
        if (storage !== undefined) refuseWords(address, storage)
        if (before !== undefined) edits.push({ key, value: undefined })
        continue
      }
      const oldStorageRoot = before?.storageRoot ?? EMPTY_TRIE_ROOT
      const storageRoot =
        storage === undefined ? oldStorageRoot : this.#commitStorage(oldStorageRoot, storage, report)
      edits.push({ key, value: encodeAccount({ ...account, storageRoot }) })
      const newCode = changes.code.get(account.codeHash)
      if (newCode !== undefined) code.set(account.codeHash, newCode)
    }
    const committed = { root: updateTrie(this.#load, root, edits, report), nodes, code }
    this.#decoded.set(committed, decoded)
    return committed
  }

  /** Makes a committed state readable without the source, and keeps it until `settle`. */
  remember(committed: CommittedState): void {
    // The next block begins with these nodes; as they are here decoded, they need not be read and decoded again.
    for (const [hash, node] of this.#decoded.get(committed) ?? []) this.#nodes.set(hash, node)
    for (const [hash, rlp] of committed.nodes) this.#unsettledNodes.set(hash, rlp)
    for (const [hash, code] of committed.code) this.#unsettledCode.set(hash, code)
  }

  /** The source has now what `remember` was given, so that it may be forgotten. */
  settle(committed: CommittedState): void {
    for (const hash of committed.nodes.keys()) this.#unsettledNodes.delete(hash)
    for (const hash of committed.code.keys()) this.#unsettledCode.delete(hash)
  }

  /** Proofs of an account, present or not, and of slots in its storage. Throws when a node is missing. */
  prove(root: Hex, address: Hex, slots: readonly bigint[]): StateProof {
    const account = this.#account(root, address)
    const storageRoot = account?.storageRoot ?? EMPTY_TRIE_ROOT
    return {
      account,
      accountProof: proveTrie(this.#load, root, this.#keys.account(address)),
      storageProof: slots.map((slot) => ({
        slot,
        value: this.#word(storageRoot, slot),
        proof: proveTrie(this.#load, storageRoot, this.#keys.slot(slot)),
      })),
    }
  }

  readonly #load: LoadNode = (hash) => {
    let node = this.#nodes.get(hash)
    if (node === undefined) {
      const rlp = this.#unsettledNodes.get(hash) ?? this.#source.node(hash)
      if (rlp === undefined) throw new Error(`the state lacks trie node ${hash}`)
      node = decodeNode(rlp)
      this.#nodes.set(hash, node)
    }
    return node
  }

  #loadCode(codeHash: Hex): Uint8Array {
    if (codeHash === EMPTY_CODE_HASH) return EMPTY
    let code = this.#code.get(codeHash)
    if (code === undefined) {
      code = this.#unsettledCode.get(codeHash) ?? this.#source.code(codeHash)
      if (code === undefined) throw new Error(`the state lacks code ${codeHash}`)
      this.#code.set(codeHash, code)
    }
    return code
  }

  #account(root: Hex, address: Hex): Account | undefined {
    const rlp = readTrie(this.#load, root, this.#keys.account(address))
    if (rlp === undefined) return undefined
    const recent = this.#accounts.get(address)
    if (recent?.rlp === rlp) return recent.account
    const account = decodeAccount(rlp)
    this.#accounts.set(address, { rlp, account })
    return account
  }

  #word(storageRoot: Hex, slot: bigint): bigint {
    if (storageRoot === EMPTY_TRIE_ROOT) return 0n
    return decodeWord(readTrie(this.#load, storageRoot, this.#keys.slot(slot)))
  }

  #commitStorage(root: Hex, { wiped, slots }: StorageChanges, report: ReportNode): Hex {
    const edits: Edit[] = []
    for (const [slot, word] of slots) edits.push({ key: this.#keys.slot(slot), value: encodeWord(word) })
    return updateTrie(this.#load, wiped ? EMPTY_TRIE_ROOT : root, edits, report)
  }
}

/** Words without an account would be lost silently; that is a mistake of the caller's. */
function refuseWords(address: Hex, { slots }: StorageChanges): void {
  for (const word of slots.values()) {
    if (word !== 0n) throw new Error(`storage was written at ${address}, where there is no account`)
  }
}
