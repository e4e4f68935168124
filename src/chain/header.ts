/** Block headers: their fields, their encodings, and the two hashes made of them. */
import {
  concat,
  EMPTY,
  equal,
  fromBigInt,
  fromBigIntSigned,
  oneByte,
  stripZeros,
  toBigInt,
  toNumber,
} from '../encoding/bytes.ts'
import { keccak256, keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBytes, asList, decodeRlp, type RlpItem } from '../encoding/rlp.ts'
import { frameStrings } from '../encoding/rlp-frame.ts'
import { EMPTY_TRIE_ROOT } from './account.ts'
import type { Rules } from './activations.ts'
import type { ChainConfig } from './config.ts'
import { FORK_DATA_PREFIX, forkDataIn } from './merged-mining/commitment.ts'

/** A block header of any version (docs/internals/protocol.md#12-fields). Immutable. */
export interface Header {
  readonly version: 0 | 1 | 2
  readonly parentHash: Hex
  readonly unclesHash: Hex
  /** The address that is rewarded, 20 bytes. */
  readonly coinbase: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly extraData: Uint8Array
  /** Sum of the fees of the block's transactions, wei. */
  readonly paidFees: bigint
  /** Wei per gas; what BASEFEE answers. */
  readonly minimumGasPrice: bigint
  readonly uncleCount: number
  /** `undefined` where the element does not exist (before UMM); empty today. */
  readonly ummRoot: Uint8Array | undefined
  /** Cumulative end indexes of the parallel sublists; `undefined` for version 0. */
  readonly edges: readonly number[] | undefined
  /** Empty today; `undefined` below version 2. */
  readonly baseEvent: Uint8Array | undefined
  /** 80 bytes; empty while the block has no proof of work. */
  readonly bitcoinHeader: Uint8Array
  /** Sibling hashes, bottom up, in display order; empty when the parent-chain block has one transaction. */
  readonly merkleProof: Uint8Array
  /** The compressed coinbase (docs/internals/protocol.md#21-coinbase). */
  readonly coinbaseTransaction: Uint8Array
  /**
   * Elements whose bytes as received differ from the canonical form of the value (genesis difficulty, null elements,
   * padded gas limits), kept so that re-encoding is stable (docs/internals/protocol.md#12-fields).
   */
  readonly verbatim?: { readonly [element: number]: Uint8Array }
}

/**
 * The encodings of docs/internals/protocol.md#14-encodings. `full`: everything. `raw`: what the raw-header methods
 * answer, without merkle proof and coinbase. `hash`: what the block hash is made of. `mergedMining`: what
 * parent-chain miners commit to.
 */
export type HeaderForm = 'full' | 'raw' | 'hash' | 'mergedMining'

const HEADER_ELEMENTS = 16
const EMPTY_HASH = fromHex(EMPTY_TRIE_ROOT)
const NO_COINBASE = new Uint8Array(20)

/** Numbers of the elements that are looked at alone (docs/internals/protocol.md#12-fields). */
export const ELEMENT = {
  stateRoot: 3,
  receiptsRoot: 5,
  logsBloom: 6,
  difficulty: 7,
  number: 8,
  gasLimit: 9,
  ummRoot: 16,
  version: 17,
} as const

function edgesBytes(edges: readonly number[]): Uint8Array {
  const out = new Uint8Array(edges.length * 2)
  edges.forEach((edge, i) => {
    out[2 * i] = edge
    out[2 * i + 1] = edge >> 8
  })
  return out
}

function edgesOf(bytes: Uint8Array): number[] {
  if (bytes.length % 2 !== 0) throw new RangeError('sublist edges take two bytes each')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true))
}

/**
 * Hash of what versions 1 and 2 take out of the hashed header (RSKIP-351, docs/internals/protocol.md#13-extension).
 * Throws a RangeError for version 0.
 */
export function extensionHash({ version, logsBloom, edges, baseEvent }: Header): Uint8Array {
  if (edges === undefined) throw new RangeError('a header of version 0 has no extension')
  const bloomHash = keccak256(logsBloom)
  const parts =
    version === 2 ? [bloomHash, baseEvent ?? EMPTY, edgesBytes(edges)] : [bloomHash, edgesBytes(edges)]
  return keccak256(frameStrings(parts))
}

function hasProof({ bitcoinHeader, merkleProof, coinbaseTransaction }: Header): boolean {
  return bitcoinHeader.length > 0 || merkleProof.length > 0 || coinbaseTransaction.length > 0
}

/** The first sixteen elements, with the bloom itself. */
function sharedElements(header: Header): Uint8Array[] {
  return [
    fromHex(header.parentHash),
    fromHex(header.unclesHash),
    fromHex(header.coinbase),
    fromHex(header.stateRoot),
    fromHex(header.transactionsRoot),
    fromHex(header.receiptsRoot),
    header.logsBloom,
    fromBigIntSigned(header.difficulty),
    fromBigInt(BigInt(header.number)),
    fromBigIntSigned(header.gasLimit),
    fromBigInt(header.gasUsed),
    fromBigInt(BigInt(header.timestamp)),
    header.extraData,
    fromBigInt(header.paidFees),
    fromBigIntSigned(header.minimumGasPrice),
    fromBigInt(BigInt(header.uncleCount)),
  ]
}

/** RLP of a header in one of its forms; `rules` are those at its height. */
export function encodeHeader(header: Header, form: HeaderForm, rules: Rules): Uint8Array {
  const compressed = header.version > 0 && (form === 'hash' || form === 'mergedMining')
  const elements = sharedElements(header)
  if (compressed) {
    elements[ELEMENT.logsBloom] = frameStrings([oneByte(header.version), extensionHash(header)])
  }
  if (header.verbatim !== undefined) {
    for (const [element, bytes] of Object.entries(header.verbatim)) elements[Number(element)] = bytes
  }
  if (header.ummRoot !== undefined) elements.push(header.ummRoot)
  if (header.version > 0 && !compressed) {
    elements.push(oneByte(header.version), edgesBytes(header.edges ?? []))
    if (header.version === 2) elements.push(header.baseEvent ?? EMPTY)
  }
  if (form !== 'mergedMining' && hasProof(header)) {
    elements.push(header.bitcoinHeader)
    if (form === 'full' || !rules.rskip92) elements.push(header.merkleProof, header.coinbaseTransaction)
  }
  return frameStrings(elements)
}

function versionOf(list: readonly RlpItem[]): 0 | 1 | 2 {
  // In version 0 this place holds an 80-byte header or 32-byte hashes, or the genesis' zero byte.
  const element = list[ELEMENT.version]
  if (!(element instanceof Uint8Array) || element.length !== 1) return 0
  return element[0] === 1 || element[0] === 2 ? element[0] : 0
}

/**
 * Number of elements before the three of the proof, derived from the length of the list
 * (docs/internals/protocol.md#12-fields).
 */
function bodyLength(length: number, version: 0 | 1 | 2, umm: () => boolean): number {
  if (version > 0) return version === 2 ? 20 : 19
  // 17 elements: with the element ummRoot and no proof, or without it and with the parent-chain header alone.
  if (length === HEADER_ELEMENTS + 1) return umm() ? length : HEADER_ELEMENTS
  return length === HEADER_ELEMENTS + 2 || length === HEADER_ELEMENTS + 4
    ? HEADER_ELEMENTS + 1
    : HEADER_ELEMENTS
}

/** Reads the elements of a header, and keeps the bytes of those that are not in canonical form. */
class ElementReader {
  readonly #list: readonly RlpItem[]
  #verbatim: { [element: number]: Uint8Array } | undefined

  constructor(list: readonly RlpItem[]) {
    this.#list = list
  }

  /** The elements whose re-encoding would differ. */
  get verbatim(): { readonly [element: number]: Uint8Array } | undefined {
    return this.#verbatim
  }

  bytes(element: number): Uint8Array {
    return asBytes(this.#list[element], `header element ${element}`)
  }

  /** An element of this length; an empty one stands for `absent`, if given. */
  fixed(element: number, length: number, absent?: Uint8Array): Uint8Array {
    const value = this.bytes(element)
    if (value.length === 0 && absent !== undefined) {
      this.#keep(element, value)
      return absent
    }
    if (value.length !== length) throw new RangeError(`header element ${element} must have ${length} bytes`)
    return value
  }

  hash(element: number): Hex {
    const mayBeEmpty = element >= ELEMENT.stateRoot && element <= ELEMENT.receiptsRoot
    return toHex(this.fixed(element, 32, mayBeEmpty ? EMPTY_HASH : undefined))
  }

  unsigned(element: number): bigint {
    const value = toBigInt(this.bytes(element))
    this.#keepUnless(element, fromBigInt(value))
    return value
  }

  /** A number that JavaScript represents exactly. */
  small(element: number): number {
    const minimal = stripZeros(this.bytes(element))
    this.#keepUnless(element, minimal)
    return toNumber(minimal)
  }

  /** A signed number, which must not be negative. */
  signed(element: number): bigint {
    if (((this.bytes(element)[0] ?? 0) & 0x80) !== 0) {
      throw new RangeError(`header element ${element} is negative`)
    }
    return this.signedAsUnsigned(element)
  }

  /** A number that is written as a signed one, and read as an unsigned one. */
  signedAsUnsigned(element: number): bigint {
    const value = toBigInt(this.bytes(element))
    this.#keepUnless(element, fromBigIntSigned(value))
    return value
  }

  #keepUnless(element: number, canonical: Uint8Array): void {
    const bytes = this.bytes(element)
    if (!equal(bytes, canonical)) this.#keep(element, bytes)
  }

  #keep(element: number, bytes: Uint8Array): void {
    this.#verbatim ??= {}
    this.#verbatim[element] = bytes
  }
}

/**
 * Reads a header in its `full` or `raw` form, as bytes or as an RLP list; re-encoding gives the same bytes.
 * Throws a RangeError (or RLP's own Error) when it is malformed. It does not judge whether the header is valid.
 */
export function decodeHeader(input: Uint8Array | readonly RlpItem[], config: ChainConfig): Header {
  const list = asList(input instanceof Uint8Array ? decodeRlp(input) : input, 'block header')
  const version = versionOf(list)
  const read = new ElementReader(list)
  const number = toNumber(stripZeros(read.bytes(ELEMENT.number)))
  const body = bodyLength(list.length, version, () => config.rulesAt(number).umm)
  const proofLength = list.length - body
  if (proofLength !== 0 && proofLength !== 1 && proofLength !== 3) {
    throw new RangeError(`a block header of version ${version} cannot have ${list.length} elements`)
  }
  const header: Header = {
    version,
    parentHash: read.hash(0),
    unclesHash: read.hash(1),
    coinbase: toHex(read.fixed(2, 20, NO_COINBASE)),
    stateRoot: read.hash(3),
    transactionsRoot: read.hash(4),
    receiptsRoot: read.hash(5),
    logsBloom: read.fixed(6, 256),
    difficulty: read.signed(7),
    number: read.small(8),
    gasLimit: read.signedAsUnsigned(9),
    gasUsed: read.unsigned(10),
    timestamp: read.small(11),
    extraData: read.bytes(12),
    paidFees: read.unsigned(13),
    minimumGasPrice: read.signed(14),
    uncleCount: read.small(15),
    ummRoot: version > 0 || body > HEADER_ELEMENTS ? read.bytes(ELEMENT.ummRoot) : undefined,
    edges: version > 0 ? edgesOf(read.bytes(18)) : undefined,
    baseEvent: version === 2 ? read.bytes(19) : undefined,
    bitcoinHeader: proofLength > 0 ? read.bytes(body) : EMPTY,
    merkleProof: proofLength > 1 ? read.bytes(body + 1) : EMPTY,
    coinbaseTransaction: proofLength > 1 ? read.bytes(body + 2) : EMPTY,
  }
  const { verbatim } = read
  return verbatim === undefined ? header : { ...header, verbatim }
}

const hashes = new WeakMap<Header, Hex>()

/** The block hash; computed once for a header (docs/internals/protocol.md#15-hashes). */
export function headerHash(header: Header, config: ChainConfig): Hex {
  const known = hashes.get(header)
  if (known !== undefined) return known
  const hash = keccakHex(encodeHeader(header, 'hash', config.rulesAt(header.number)))
  hashes.set(header, hash)
  return hash
}

/** Sets the hash of a header that has no encoding here: one of a chain of another family that a fork stands on. */
export function assumeHeaderHash(header: Header, hash: Hex): void {
  hashes.set(header, hash)
}

/**
 * What parent-chain miners commit to (docs/internals/protocol.md#15-hashes). The 12 bytes of fork detection data are
 * those given, or else those in the header's own proof. Without either, and before RSKIP-110, the hash has none.
 */
export function hashForMergedMining(
  header: Header,
  config: ChainConfig,
  forkDetectionData?: Uint8Array,
): Hex {
  const rules = config.rulesAt(header.number)
  let base = keccak256(encodeHeader(header, 'mergedMining', rules))
  if (header.ummRoot !== undefined && header.ummRoot.length > 0) {
    base = keccak256(concat(base.subarray(0, FORK_DATA_PREFIX), header.ummRoot))
  }
  if (!rules.forkDetection) return toHex(base)
  const prefix = base.subarray(0, FORK_DATA_PREFIX)
  const data = forkDetectionData ?? forkDataIn(header.coinbaseTransaction, prefix) ?? EMPTY
  return toHex(data.length === 0 ? base : concat(prefix, data))
}
