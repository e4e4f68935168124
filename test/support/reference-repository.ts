/**
 * The operations of the reference node's MutableRepository on our keys, values and trie, states that no chain reaches
 * among them: hibernated accounts, markers without an account, code without a marker.
 */
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { concat, EMPTY, fromBigInt, fromBigIntSigned, oneByte, toBigInt } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { frameStrings, readFlatStrings } from '../../src/encoding/rlp-frame.ts'
import { TrieNode } from '../../src/encoding/trie-node.ts'
import { packedBits } from '../../src/encoding/trie-path.ts'
import { reportNewNodes, type TrieEdit, updateTrie } from '../../src/encoding/trie-update.ts'
import { CONTRACT_MARKER, cellBytes, createStateKeys, storageValue } from '../../src/state/state-keys.ts'
import { findNode } from '../../src/state/trie-read.ts'

const ZERO_HASH: Hex = `0x${'00'.repeat(32)}`
const keys = createStateKeys(1000)

const inMemory = (): never => {
  throw new Error('all nodes are in memory')
}

interface AccountState {
  readonly nonce: bigint
  readonly balance: bigint
  readonly isHibernated: boolean
}

function entriesBelow(node: TrieNode, before: readonly number[]): { key: Uint8Array; value: Uint8Array }[] {
  const bits = [...before, ...node.path]
  const { value } = node
  const bytes = value === undefined || value instanceof Uint8Array ? value : value.bytes
  return [
    ...(bytes === undefined ? [] : [{ key: packedBits(Uint8Array.from(bits)), value: bytes }]),
    ...[node.left, node.right].flatMap((child, bit) =>
      child instanceof TrieNode ? entriesBelow(child, [...bits, bit]) : [],
    ),
  ]
}

/** One step of a sequence, and what the reference node answered about the address afterwards. */
export interface RepositoryStep extends RepositoryAnswers {
  readonly op: string
  readonly address: Hex
  /** `null` stands for no bytes. */
  readonly value?: string | null
  readonly slot?: Hex
}

/** All recorded answers of the reference node about an address. */
export interface RepositoryAnswers {
  readonly root: Hex
  readonly account: Hex | null
  readonly exists: boolean
  readonly isContract: boolean
  readonly codeLength: number
  readonly codeHashStandard: Hex
  readonly codeHashNonStandard: Hex
  readonly storageStateRoot: Hex
}

/** A repository; immutable tries make each state keep its root. */
export class ReferenceRepository {
  readonly #codes = new Map<Hex, Uint8Array>()
  #root: TrieNode | undefined

  get root(): Hex {
    return this.#root?.hash.hex ?? EMPTY_TRIE_ROOT
  }

  /** Every node and long value of the present state, and all code, by hash. */
  stored(): ReadonlyMap<Hex, Uint8Array> {
    const stored = new Map(this.#codes)
    if (this.#root !== undefined) {
      stored.set(this.#root.hash.hex, this.#root.bytes)
      reportNewNodes(this.#root, {
        node: (hash, { bytes }) => stored.set(hash, bytes),
        value: (hash, bytes) => stored.set(hash, bytes),
      })
    }
    return stored
  }

  /** Every key with its value, in order. */
  entries(): { readonly key: Uint8Array; readonly value: Uint8Array }[] {
    return this.#root === undefined ? [] : entriesBelow(this.#root, [])
  }

  #edit(edit: TrieEdit): void {
    this.#root = updateTrie(this.#root, [edit], inMemory)
  }

  #get(key: Uint8Array): Uint8Array | undefined {
    const value = this.#root && findNode(inMemory, this.#root, key)?.value
    return value === undefined || value instanceof Uint8Array ? value : value.bytes
  }

  account(address: Hex): AccountState | undefined {
    const bytes = this.#get(keys.account(address))
    if (bytes === undefined) return undefined
    const [nonce = EMPTY, balance = EMPTY, flags] = readFlatStrings(bytes) ?? []
    return { nonce: toBigInt(nonce), balance: toBigInt(balance), isHibernated: flags !== undefined }
  }

  #put(address: Hex, change: Partial<AccountState>): void {
    const old = this.account(address) ?? { nonce: 0n, balance: 0n, isHibernated: false }
    const { nonce, balance, isHibernated } = { ...old, ...change }
    const items = [fromBigInt(nonce), fromBigIntSigned(balance)]
    const value = frameStrings(isHibernated ? [...items, oneByte(1)] : items)
    this.#edit({ key: keys.account(address), value })
  }

  #putCell(address: Hex, slot: bigint, value: Uint8Array): void {
    if (this.account(address) === undefined) {
      this.#put(address, {})
      this.#edit({ key: keys.marker(address), value: CONTRACT_MARKER })
    }
    const key = concat(keys.account(address), keys.cell(slot))
    this.#edit({ key, value: cellBytes(storageValue(value)) })
  }

  /** Applies the operation of a step. */
  run({ op, address, value: given, slot = '0x00' }: RepositoryStep): void {
    const value = given ?? '0x'
    const old = this.account(address)
    switch (op) {
      case 'createAccount':
        this.#put(address, { nonce: 0n, balance: 0n, isHibernated: false })
        break
      case 'increaseNonce':
        this.#put(address, { nonce: (old?.nonce ?? 0n) + 1n })
        break
      case 'setNonce':
        this.#put(address, { nonce: BigInt(value) })
        break
      case 'addBalance':
        this.#put(address, { balance: (old?.balance ?? 0n) + BigInt(value) })
        break
      case 'hibernate':
        this.#put(address, { isHibernated: true })
        break
      case 'setupContract':
        this.#edit({ key: keys.marker(address), value: CONTRACT_MARKER })
        break
      case 'saveCode': {
        const code = fromHex(value as Hex)
        this.#codes.set(keccakHex(code), code)
        this.#edit({ key: keys.code(address), value: code })
        if (code.length > 0 && old === undefined) this.#put(address, {})
        break
      }
      case 'addStorageRow':
        this.#putCell(address, BigInt(slot), fromBigInt(BigInt(value)))
        break
      case 'addStorageBytes':
        this.#putCell(address, BigInt(slot), fromHex(value as Hex))
        break
      case 'delete':
        this.#edit({ key: keys.account(address), value: undefined, subtree: true })
        break
      default:
        throw new Error(`unknown operation ${op}`)
    }
  }

  answers(address: Hex): RepositoryAnswers {
    const rlp = this.#get(keys.account(address))
    const account = this.account(address)
    const marker = this.#root && findNode(inMemory, this.#root, keys.marker(address))
    const isContract = marker?.value !== undefined
    const code = this.#get(keys.code(address))
    const codeHash = (bare: Hex): Hex => {
      if (account === undefined) return ZERO_HASH
      if (!isContract) return EMPTY_CODE_HASH
      return code === undefined ? bare : keccakHex(code)
    }
    return {
      root: this.root,
      account: rlp === undefined ? null : toHex(rlp),
      exists: account !== undefined,
      isContract,
      codeLength: account === undefined || account.isHibernated ? 0 : (code?.length ?? 0),
      codeHashStandard: codeHash(EMPTY_CODE_HASH),
      codeHashNonStandard: codeHash(ZERO_HASH),
      storageStateRoot: marker?.hash.hex ?? EMPTY_TRIE_ROOT,
    }
  }

  /** Can our accounts describe an address: not hibernated, marked only with an account, code only with a marker? */
  isOurs(address: Hex): boolean {
    const { exists, isContract } = this.answers(address)
    const hasCode = this.#get(keys.code(address)) !== undefined
    return this.account(address)?.isHibernated !== true && (exists || !isContract) && (isContract || !hasCode)
  }
}
