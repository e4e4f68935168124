/**
 * Checking what `eth_getProof` answers against the state root of a header, without a node
 * (docs/internals/protocol.md#56-state-keys, docs/internals/protocol.md#57-trie-nodes).
 */
import { concat, fromBigInt, fromBigIntFixed, oneByte, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import { asBigInt, asBytes, asList, decodeRlp } from '../encoding/rlp.ts'
import type { TrieValue } from '../encoding/trie-node.ts'
import { invalidParams } from '../errors.ts'
import { walkProof } from './trie-proof.ts'

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

/** Number of bytes of a key's hash that precede it, so that keys are spread over the trie. */
export const HASH_PREFIX = 10

function spread(bytes: Uint8Array): Uint8Array {
  return keccak256(bytes).subarray(0, HASH_PREFIX)
}

/** The value at a key; `undefined` when the proof shows that there is none. Throws `invalid-params` when it shows neither. */
function provenValueAt(nodes: readonly Uint8Array[], key: Uint8Array, root: Hex): TrieValue | undefined {
  const { node, isOnPath, rest, next } = walkProof(nodes, key, root)
  if (next !== undefined) throw invalidParams('The proof ends before the key')
  return isOnPath && rest.length === 0 ? node.value : undefined
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
