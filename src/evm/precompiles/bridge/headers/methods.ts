/** The bridge's methods about the parent chain's headers: taking them in, and reading them (RSKIP-89, 122, 200, 220). */

import { ByteReader } from '../../../../bitcoin/byte-reader.ts'
import { reversed } from '../../../../bitcoin/hash.ts'
import { branchRoot } from '../../../../bitcoin/merkle-tree.ts'
import {
  decodeParentHeader,
  hashValue,
  PARENT_HEADER_BYTES,
} from '../../../../chain/merged-mining/parent-header.ts'
import { EMPTY, fromBigIntFixed, toBigInt } from '../../../../encoding/bytes.ts'
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { previousHash, type StoredHeader } from '../../../../state/bridge-headers.ts'
import { encodeBytes, encodeInt } from '../../abi.ts'
import { PrecompileFailure } from '../../precompile.ts'
import { MAX_HEADER_DEPTH, SECONDS_BETWEEN_HEADERS } from '../constants/network.ts'
import type { Arguments, BridgeCall, BridgeMethod, BridgeState } from '../method.ts'
import { isRootOf } from './block-root.ts'
import type { HeaderChain } from './header-chain.ts'
import { LOCATOR_METHOD } from './locator.ts'

/** Answers of `receiveHeader`; 0 is success. */
const RECEIVED = { tooSoon: -1, tooOld: -2, orphan: -3, known: -4, wrongSize: -20, invalid: -99 } as const

/** Answers of `getBtcTransactionConfirmations` that are no count. */
const UNCONFIRMED = { noBlock: -1, notBest: -2, outOfReach: -3, tooOld: -4, wrongBranch: -5 } as const

/** Blocks below the best one beyond which confirmations are not counted. */
const MAX_CONFIRMATION_DEPTH = 4320
const MAX_BRANCH_LENGTH = 32
/** Most bytes of a header in a list before RSKIP-124. */
const MAX_EARLY_HEADER_BYTES = 85

function receiveHeader(call: BridgeCall): number {
  const { args, headers, peg, env } = call
  const bytes = args.bytes(0)
  if (bytes.length !== PARENT_HEADER_BYTES) return RECEIVED.wrongSize
  if (headers.get(hashValue(doubleSha256(bytes))) !== undefined) return RECEIVED.known
  if (isTooSoon(call)) return RECEIVED.tooSoon
  const parent = headers.get(hashValue(decodeParentHeader(bytes).previousHash))
  if (parent === undefined) return RECEIVED.orphan
  if (headers.best().height - (parent.height + 1) > MAX_HEADER_DEPTH) return RECEIVED.tooOld
  if (isTooHigh(call, parent) || headers.add(bytes) !== 'added') return RECEIVED.invalid
  peg.setLastReception(env.timestamp)
  return 0
}

function isTooSoon({ peg: { lastReception }, env }: BridgeCall): boolean {
  return lastReception !== undefined && BigInt(env.timestamp) - lastReception < SECONDS_BETWEEN_HEADERS
}

/** Would the header above this one have more work than could be stored before RSKIP-434? */
function isTooHigh({ isActive, network }: BridgeCall, parent: StoredHeader): boolean {
  return !isActive('rskip434') && parent.height + 1 >= network.tooMuchWorkHeight
}

/**
 * A header of a list. Before RSKIP-124 the number of transactions of its block may follow, which is zero, and bytes after that
 * number. Throws PrecompileFailure, or a RangeError, for what is no header.
 */
function headerIn(bytes: Uint8Array, { isActive }: BridgeState): Uint8Array {
  if (bytes.length === PARENT_HEADER_BYTES) return bytes
  const isOfLength = bytes.length > PARENT_HEADER_BYTES && bytes.length <= MAX_EARLY_HEADER_BYTES
  if (!isOfLength || isActive('rskip124')) throw new PrecompileFailure('a header has not 80 bytes')
  if (new ByteReader(bytes, PARENT_HEADER_BYTES).compactSize() !== 0n)
    throw new PrecompileFailure('a header with transactions')
  return bytes.subarray(0, PARENT_HEADER_BYTES)
}

/** Headers that are not accepted are skipped, as long as each has the right length. */
function receiveHeaders(call: BridgeCall): Uint8Array {
  const { args, headers } = call
  const list = args.list(0).map((bytes) => headerIn(bytes, call))
  headers.open()
  for (const bytes of list) {
    const parent = headers.get(previousHash(bytes))
    if (parent === undefined) continue
    if (isTooHigh(call, parent)) break
    headers.add(bytes)
  }
  return EMPTY
}

function receiveHeadersGas(args: Arguments, { isActive }: BridgeState): bigint {
  const more = BigInt(Math.max(args.list(0).length - 1, 0))
  if (!isActive('rskip124')) return 22_000n
  return isActive('rskip132') ? 25_000n + 3_500n * more : 66_000n + 1_650n * more
}

function encodeHeader(header: StoredHeader | undefined): Uint8Array {
  return encodeBytes(header === undefined ? EMPTY : header.bytes)
}

function headerByHeight({ args, headers }: BridgeCall): Uint8Array {
  return encodeHeader(reachable(headers, args.index(0))?.header)
}

/** `undefined` when the height is out of reach. */
function reachable(
  headers: HeaderChain,
  height: number,
): { readonly header: StoredHeader | undefined } | undefined {
  try {
    return { header: headers.atHeight(height) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function parentHeader({ args, headers }: BridgeCall): Uint8Array {
  const header = headers.get(toBigInt(args.bytes(0)))
  return encodeHeader(header && headers.parentOf(header))
}

function hashAtDepth({ args, headers }: BridgeCall): Uint8Array {
  const depth = args.index(0)
  const isKnown = depth >= 0 && depth <= headers.best().height - headers.initialHeight()
  const header = isKnown ? headers.atDepth(depth) : undefined
  if (header === undefined) throw new PrecompileFailure('no block at that depth')
  return encodeBytes(fromBigIntFixed(header.hash, 32))
}

function confirmationsGas(args: Arguments, { headers }: BridgeState): bigint {
  const header = headers.confirmed(toBigInt(args.bytes(1)))
  if (header === undefined) return 27_000n
  const depth = Math.max(headers.best().height - header.height, 0)
  if (depth > MAX_CONFIRMATION_DEPTH) return 27_000n
  return 27_000n + 315n * BigInt(depth) + 144n * BigInt(args.list(3).length)
}

/** The Merkle root, raw order, that a branch (displayed order) leads to. Throws PrecompileFailure for one through a transaction. */
function merkleRoot(transactionHash: Uint8Array, path: number, siblings: readonly Uint8Array[]): Uint8Array {
  try {
    return branchRoot(reversed(transactionHash), path, siblings.map(reversed))
  } catch (error) {
    if (error instanceof RangeError) throw new PrecompileFailure(error.message)
    throw error
  }
}

function confirmations(call: BridgeCall): number {
  const { args, headers } = call
  const path = args.index(2)
  const siblings = args.list(3)
  const significantBits = 32 - Math.clz32(path)
  if (siblings.length > MAX_BRANCH_LENGTH || significantBits > siblings.length) {
    throw new PrecompileFailure('malformed merkle branch')
  }
  const header = headers.confirmed(toBigInt(args.bytes(1)))
  if (header === undefined) return UNCONFIRMED.noBlock
  const depth = headers.best().height - header.height
  if (depth > MAX_CONFIRMATION_DEPTH) return UNCONFIRMED.tooOld
  const best = reachable(headers, header.height)
  if (best === undefined) return UNCONFIRMED.outOfReach
  if (best.header?.hash !== header.hash) return UNCONFIRMED.notBest
  const root = merkleRoot(args.bytes(0), path, siblings)
  return isRootOf(call, header, root) ? depth + 1 : UNCONFIRMED.wrongBranch
}

/** All that has to do with headers. Hashes go in and out in displayed order. */
export const HEADER_METHODS: readonly BridgeMethod[] = [
  LOCATOR_METHOD,
  {
    signature: 'receiveHeaders(bytes[])',
    gas: receiveHeadersGas,
    servesOnly: 'federators',
    isPublic: (isActive) => isActive('rskip124') && !isActive('rskip200'),
    run: receiveHeaders,
  },
  {
    signature: 'receiveHeader(bytes)',
    gas: 10_600n,
    since: 'rskip200',
    run: (call) => encodeInt(receiveHeader(call)),
  },
  {
    signature: 'getBtcBlockchainBestChainHeight()',
    gas: 19_000n,
    isView: true,
    isLocalOnly: 'rskip220',
    run: ({ headers }) => encodeInt(headers.best().height),
  },
  {
    signature: 'getBtcBlockchainInitialBlockHeight()',
    gas: 20_000n,
    since: 'rskip89',
    isView: true,
    isLocalOnly: true,
    run: ({ headers }) => encodeInt(headers.initialHeight()),
  },
  {
    signature: 'getBtcBlockchainBlockHashAtDepth(int256)',
    gas: 20_000n,
    since: 'rskip89',
    isView: true,
    isLocalOnly: true,
    run: hashAtDepth,
  },
  {
    signature: 'getBtcTransactionConfirmations(bytes32,bytes32,uint256,bytes32[])',
    gas: confirmationsGas,
    since: 'rskip122',
    isView: true,
    run: (call) => encodeInt(confirmations(call)),
  },
  {
    signature: 'getBtcBlockchainBestBlockHeader()',
    gas: 3_800n,
    since: 'rskip220',
    isView: true,
    run: ({ headers }) => encodeHeader(headers.best()),
  },
  {
    signature: 'getBtcBlockchainBlockHeaderByHash(bytes32)',
    gas: 4_600n,
    since: 'rskip220',
    isView: true,
    run: ({ args, headers }) => encodeHeader(headers.get(toBigInt(args.bytes(0)))),
  },
  {
    signature: 'getBtcBlockchainBlockHeaderByHeight(uint256)',
    gas: 5_000n,
    since: 'rskip220',
    isView: true,
    run: headerByHeight,
  },
  {
    signature: 'getBtcBlockchainParentBlockHeaderByHash(bytes32)',
    gas: 4_900n,
    since: 'rskip220',
    isView: true,
    run: parentHeader,
  },
]
