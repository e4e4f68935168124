/**
 * Checking what `eth_getProof` answers against the state root of a header, without a node
 * (docs/internals/protocol.md#56-state-keys, docs/internals/protocol.md#57-trie-nodes).
 */
import { concat, equal, fromBigInt, fromBigIntFixed, oneByte, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp } from '../encoding/rlp.ts'
import { decodeNode, NodeHash, type TrieChild, type TrieValue } from '../encoding/trie-node.ts'
import { bitsOf } from '../encoding/trie-path.ts'
import { invalidParams } from '../errors.ts'

/** The proofs of `eth_getProof`, as they are on the wire: each node the RLP of its bytes, leaf first. */
export interface StateProofAnswer {
  readonly address: Hex
  readonly accountProof: readonly Hex[]
  readonly storageProof: readonly { readonly key: Hex; readonly proof: readonly Hex[] }[]
}

/** What a proof shows of an account. */
export interface ProvenAccount {
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  /** The words of the storage keys, in the order of the proof; 0 where the proof shows that there is none. */
  readonly storage: readonly bigint[]
}

/** Bytes of a hash that spread the keys over the trie. */
const HASH_PREFIX = 10

function spread(bytes: Uint8Array): Uint8Array {
  return keccak256(bytes).subarray(0, HASH_PREFIX)
}

/** Is this the child that a node names, by its bytes or by their hash? */
function isChild(child: TrieChild, bytes: Uint8Array): boolean {
  return child instanceof NodeHash ? equal(child.bytes, keccak256(bytes)) : equal(child.bytes, bytes)
}

/**
 * Walks a proof from the root to a key; the value there, or `undefined` when the proof shows that there is none. Throws
 * `invalid-params` when it shows neither. `nodes` are leaf first, root last.
 */
function provenValueAt(nodes: readonly Uint8Array[], key: Uint8Array, root: Hex): TrieValue | undefined {
  const fromRoot = [...nodes].reverse()
  const [top] = fromRoot
  if (top === undefined) throw invalidParams('The proof has no nodes')
  if (toHex(keccak256(top)) !== root) throw invalidParams('The last node of the proof is not the root')
  let bits = bitsOf(key)
  for (const [index, bytes] of fromRoot.entries()) {
    const node = decoded(bytes)
    const next = fromRoot[index + 1]
    const { length } = node.path
    const isOnPath = equal(node.path, bits.subarray(0, length))
    const rest = bits.subarray(length)
    const child = !isOnPath || rest.length === 0 ? undefined : rest[0] === 0 ? node.left : node.right
    if (next !== undefined) {
      if (child === undefined || !isChild(child, next)) {
        throw invalidParams('A node of the proof is not the child of the one above')
      }
      bits = rest.subarray(1)
      continue
    }
    if (child !== undefined) throw invalidParams('The proof ends before the key')
    return isOnPath && rest.length === 0 ? node.value : undefined
  }
  throw invalidParams('The proof has no nodes')
}

function decoded(bytes: Uint8Array) {
  try {
    return decodeNode(bytes)
  } catch (error) {
    if (error instanceof RangeError) throw invalidParams('A node of the proof is malformed')
    throw error
  }
}

function nodesOf(proof: readonly Hex[]): Uint8Array[] {
  return proof.map((rlp) => asBytes(decodeRlp(fromHex(rlp)), 'node of the proof'))
}

function shortValue(value: TrieValue): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw invalidParams('A value of the proof is not stored in its node')
}

/**
 * Checks the answer of `eth_getProof` against the state root of the block's header; `undefined` when it proves that there
 * is no such account. Throws a NodeError `invalid-params` whose message names what is wrong, and a RangeError for a node
 * that is not RLP.
 */
export function verifyStateProof(answer: StateProofAnswer, stateRoot: Hex): ProvenAccount | undefined {
  const address = fromHex(answer.address)
  const key = concat(oneByte(0), spread(address), address)
  const leaf = provenValueAt(nodesOf(answer.accountProof), key, stateRoot)
  const storage = answer.storageProof.map(({ key: slotText, proof }) => {
    const slot = fromBigIntFixed(BigInt(slotText), 32)
    const suffix = BigInt(slotText) === 0n ? oneByte(0) : fromBigInt(BigInt(slotText))
    const value = provenValueAt(nodesOf(proof), concat(key, oneByte(0), spread(slot), suffix), stateRoot)
    return value === undefined ? 0n : toBigInt(shortValue(value))
  })
  if (leaf === undefined) return undefined
  const [nonce, balance] = asList(decodeRlp(shortValue(leaf)), 'account')
  return {
    nonce: asBigInt(nonce, 'nonce'),
    balance: toBigInt(asBytes(balance, 'balance')),
    storage,
  }
}
