/**
 * Hashes of binary-trie nodes in the format before RSKIP-126, which never embeds a child
 * (docs/internals/protocol.md#58-state-root).
 */
import { concat, EMPTY, oneByte } from './bytes.ts'
import { keccak256 } from './hash.ts'
import { packedBits } from './trie-path.ts'

const ARITY = oneByte(2)
const SECURE = 1
const LONG_VALUE = 2
const HAS_LEFT = 1
const HAS_RIGHT = 2
const MAX_SHORT_VALUE = 32

/** One node; children by their hashes. */
export interface OrchidNode {
  /** Bits, one per element. */
  readonly path: Uint8Array
  readonly value: Uint8Array | undefined
  readonly left: Uint8Array | undefined
  readonly right: Uint8Array | undefined
  /** Are keys hashed before they are stored? Those of the state are, those of a block's lists are not. */
  readonly isSecure: boolean
}

/** The hash of a node. */
export function orchidNodeHash({ path, value, left, right, isSecure }: OrchidNode): Uint8Array {
  const isLong = value !== undefined && value.length > MAX_SHORT_VALUE
  const flags = (isSecure ? SECURE : 0) | (isLong ? LONG_VALUE : 0)
  const children = (left === undefined ? 0 : HAS_LEFT) | (right === undefined ? 0 : HAS_RIGHT)
  return keccak256(
    concat(
      ARITY,
      Uint8Array.of(flags, 0, children, path.length >> 8, path.length & 0xff),
      packedBits(path),
      left ?? EMPTY,
      right ?? EMPTY,
      value === undefined ? EMPTY : isLong ? keccak256(value) : value,
    ),
  )
}
