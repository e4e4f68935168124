/** The parent chain's networks: where each begins, and how hard its headers are. */
import {
  decodeParentHeader,
  hashValue,
  type ParentHeader,
} from '../../../../chain/merged-mining/parent-header.ts'
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { fromHex } from '../../../../encoding/hex.ts'
import type { StoredHeader } from '../../../../state/bridge-headers.ts'
import type { ParentNetwork } from '../constants/network.ts'

/** The number of the compact form of a target (`nBits`): an exponent and three bytes, whose highest bit is a sign. */
export function decodeTarget(bits: number): bigint {
  const size = bits >>> 24
  const mantissa = BigInt(bits & 0x7fffff)
  const target = size <= 3 ? mantissa >> BigInt(8 * (3 - size)) : mantissa << BigInt(8 * (size - 3))
  return (bits & 0x800000) === 0 ? target : -target
}

/** The compact form of a target that is not negative. */
export function encodeTarget(target: bigint): number {
  let size = Math.ceil(target.toString(2).length / 8)
  let mantissa = Number(size <= 3 ? target << BigInt(8 * (3 - size)) : target >> BigInt(8 * (size - 3)))
  if ((mantissa & 0x800000) !== 0) {
    mantissa >>>= 8
    size += 1
  }
  return ((size << 24) | mantissa) >>> 0
}

/** Work of one header with this target. */
export function workOf(target: bigint): bigint {
  return 2n ** 256n / (target + 1n)
}

const LOCAL_LIMIT = 2n ** 255n - 1n
const PUBLIC_LIMIT = 0xffffn << 208n

/** Fixed values of a network. */
export interface ParentRules {
  readonly genesis: StoredHeader
  /** Highest target. */
  readonly limit: bigint
  /** The first header that the Bridge has, where that is not the genesis, and the newest one that it could begin with. */
  readonly checkpoint?: { readonly first: StoredHeader; readonly newestHeight: number }
  /** Hashes of headers that no others may replace, by height. */
  readonly fixed: ReadonlyMap<number, bigint>
  /**
   * A header that a block of this chain knows though no cell has it: when that block was mined, the reference node had it in
   * a cache only (`getBlockKeepingTestnetConsensus` of its BridgeSupport).
   */
  readonly cached?: { readonly number: number; readonly header: StoredHeader }
}

function stored(height: number, work: bigint, header: string): StoredHeader {
  const bytes = fromHex(`0x${header}`)
  return { hash: hashValue(doubleSha256(bytes)), bytes, height, work }
}

function genesis(limit: bigint, ending: string): StoredHeader {
  const root = '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a'
  return stored(0, workOf(limit), `01000000${'00'.repeat(32)}${root}${ending}`)
}

const RULES: Readonly<Record<ParentNetwork['name'], ParentRules>> = {
  regtest: {
    genesis: genesis(decodeTarget(0x207fffff), 'dae5494dffff7f2002000000'),
    limit: LOCAL_LIMIT,
    fixed: new Map(),
  },
  testnet: {
    genesis: genesis(PUBLIC_LIMIT, 'dae5494dffff001d1aa4ae18'),
    limit: PUBLIC_LIMIT,
    checkpoint: {
      first: stored(
        1_413_216,
        0xc1a1942223f6072a8dn,
        '00000020c4891929bff550199ebac0f3c8691f19d84633de53da8af346000000000000000c109cfe5b24faa1e0174b788c7e3e8f2fb340bcee07a544914b167ad4c27b82b9a9995bf05f4c1908698a4b',
      ),
      newestHeight: 1_514_016,
    },
    fixed: new Map(),
    cached: {
      number: 5_148_285,
      header: stored(
        2_817_125,
        0xddeb5fbcd969312a77cn,
        '000000203b5d178405c4e6e7dc07d63d6de5db1342044791721654760c00000000000000796cf6743a036300b43fb3abe6703d04a7999751b6d5744f20327d1175320bd37b954e66ffff001d56dc11ce',
      ),
    },
  },
  mainnet: {
    genesis: genesis(PUBLIC_LIMIT, '29ab5f49ffff001d1dac2b7c'),
    limit: PUBLIC_LIMIT,
    checkpoint: {
      first: stored(
        499_968,
        0xcd6eae36c0cee5640896d3n,
        '00000020e37c80a7a8b850e3e89add09090b6b89b874496513ef89000000000000000000285ddc7985e7c34eb205d2c3129727f7bc10873e11e054b48d1a92786a42d7d2c8c8375a459600189b3aa792',
      ),
      newestHeight: 499_968,
    },
    fixed: new Map([
      [91_722, 0x00000000000271a2dc26e7667f8419f2e15416dc6955e5a6c6cdf3f2574dd08en],
      [91_812, 0x00000000000af0aed4792b1acee3d966af36cf5def14935db8de83d6f9306f2fn],
      [91_842, 0x00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caecn],
      [91_880, 0x00000000000743f190a18c5577a3c2d2a1f610ae9601ac046a38084ccb7cd721n],
      [200_000, 0x000000000000034a7dedef4a161fa058a2d67a173a90155f3a2fe6fc132e0ebfn],
    ]),
  },
}

/** The fixed values of a network. */
export function parentRules({ name }: ParentNetwork): ParentRules {
  return RULES[name]
}

/** The header before another, of any branch. */
export type HeaderSource = (header: StoredHeader) => StoredHeader | undefined

const INTERVAL = 2016
const TARGET_SECONDS = 14 * 24 * 3600
/** Since then testnet accepts easy headers after a pause (2012-02-15). */
const EASY_SINCE = 1_329_264_000
const PAUSE_SECONDS = 1200

/** The parent of a header; throws a RangeError when it is not known. */
function before(header: StoredHeader, source: HeaderSource): StoredHeader {
  const parent = source(header)
  if (parent === undefined) throw new RangeError('the chain of headers is not known so far back')
  return parent
}

/** Bits that the first header of an interval must have; throws a RangeError when the interval before is not known. */
function adjustedBits(parent: StoredHeader, bits: number, limit: bigint, source: HeaderSource): number {
  let first = parent
  for (let i = 0; i < INTERVAL - 1; i++) first = before(first, source)
  const last = decodeParentHeader(parent.bytes)
  const span = last.time - decodeParentHeader(first.bytes).time
  const clamped = Math.min(Math.max(span, TARGET_SECONDS / 4), TARGET_SECONDS * 4)
  const target = (decodeTarget(last.bits) * BigInt(clamped)) / BigInt(TARGET_SECONDS)
  const mask = 0xffffffn << BigInt(8 * Math.max((bits >>> 24) - 3, 0))
  return encodeTarget((target > limit ? limit : target) & mask)
}

/** The target of the last header that was not an easy one. */
function lastTarget(parent: StoredHeader, { genesis, limit }: ParentRules, source: HeaderSource): bigint {
  let header = parent
  let target = decodeTarget(decodeParentHeader(header.bytes).bits)
  while (header.hash !== genesis.hash && header.height % INTERVAL !== 0 && target === limit) {
    header = before(header, source)
    target = decodeTarget(decodeParentHeader(header.bytes).bits)
  }
  return target
}

/**
 * Has a header the difficulty that its network asks for after its parent? Neither version nor time are checked, as in the
 * reference node. Throws a RangeError where a header that is needed for it is not known.
 */
export function hasRightDifficulty(
  network: ParentNetwork,
  { bits, time }: ParentHeader,
  parent: StoredHeader,
  source: HeaderSource,
): boolean {
  const last = decodeParentHeader(parent.bytes)
  if (network.name === 'regtest') return bits === last.bits
  const rules = parentRules(network)
  const isAdjusted = (parent.height + 1) % INTERVAL === 0
  if (network.name === 'testnet' && !isAdjusted && time > EASY_SINCE) {
    const pause = time - last.time
    if (pause < 0 || pause > PAUSE_SECONDS) return true
    return decodeTarget(bits) === lastTarget(parent, rules, source)
  }
  return bits === (isAdjusted ? adjustedBits(parent, bits, rules.limit, source) : last.bits)
}
