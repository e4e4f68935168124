/** What the Bridge has fixed for each network, and what is the same on all of them. Coins of the parent chain in satoshi. */
import type { AddressVersions } from '../../../../bitcoin/address.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import type { BridgeSenders } from '../../../../chain/bridge-senders.ts'
import type { BridgeName } from '../../../../chain/network.ts'

/** How a federation's coins are locked, by the number that its cell has: FederationFormatVersion of the reference node. */
export const FORMAT = {
  /** A plain multisig script behind its hash. */
  standard: 1000,
  /** With emergency keys, one check after both branches (RSKIP-201). */
  earlyEmergency: 2000,
  /** With emergency keys, a check in each branch (RSKIP-353). */
  emergency: 3000,
  /** The same behind a witness program (RSKIP-305). */
  witness: 4000,
} as const

/** A value of `FORMAT`. */
export type FederationFormat = (typeof FORMAT)[keyof typeof FORMAT]

/** The federation that a network begins with. Each key serves for all purposes. */
export interface GenesisFederation {
  /** Compressed, hexadecimal without prefix. */
  readonly keys: readonly string[]
  /** Unix milliseconds. */
  readonly creationTime: number
  readonly format: FederationFormat
}

/** The parent chain's network. */
export interface ParentNetwork {
  readonly name: 'regtest' | 'testnet' | 'mainnet'
  readonly addresses: AddressVersions
}

/** A network's constants. Ages and periods in blocks. */
export interface BridgeNetwork {
  readonly chain: BridgeName
  readonly parent: ParentNetwork
  readonly senders: BridgeSenders
  readonly genesisFederation: GenesisFederation
  /** Keys that can spend the federation's coins once these have not moved for `emergencyDelay` blocks of the parent chain. */
  readonly emergencyKeys: readonly string[]
  readonly emergencyDelay: number
  /** A federation of before the Bridge kept any; its outputs are migrations (RSKIP-199). */
  readonly oldFederationAddress: string
  /** Age from which a new federation is the active one. */
  activationAge(isActive: IsActive): number
  /** Ages since the activation between which coins migrate. */
  readonly migrationBegin: number
  migrationEnd(isActive: IsActive): number
  /** Age at which a proposed federation that was not validated is given up (RSKIP-419). */
  readonly validationPeriod: number
  /** Confirmations that a peg-in needs on the parent chain. */
  readonly peginConfirmations: number
  /** Blocks that a peg-out waits before it is signed. */
  readonly pegoutConfirmations: number
  readonly minimumPegout: bigint
  /** Before RSKIP-219. */
  readonly earlyMinimumPegout: bigint
  /** What a peg-out must leave after its fee, per cent of that fee (RSKIP-219). */
  readonly pegoutGapPercent: bigint
  /** Most inputs of a migration (RSKIP-294). */
  readonly maxMigrationInputs: number
  readonly blocksBetweenPegouts: number
  /** Until a vote changes it, per thousand bytes. */
  readonly feePerKb: bigint
  /** Until it is increased (RSKIP-134). */
  readonly lockingCap: bigint
  /** From here on the Bridge knows its best chain by height; below it looks only `searchDepth` deep (RSKIP-199). */
  readonly heightIndexStart: number
  readonly searchDepth: number
  /** Height of the parent chain from which its transactions are typed by the index of peg-outs (RSKIP-379). */
  readonly pegoutIndexHeight: number
  /** Before RSKIP-434 no header of this height or above is accepted. */
  readonly tooMuchWorkHeight: number
}

/** Height at which the first federation counts as made. */
export const GENESIS_FEDERATION_BLOCK = 1

/** Least peg-in since RSKIP-219, and before. */
const MINIMUM_PEGIN = { present: 500_000n, early: 1_000_000n } as const

/** Least peg-in, satoshi. */
export function minimumPegin(isActive: IsActive): bigint {
  return isActive('rskip219') ? MINIMUM_PEGIN.present : MINIMUM_PEGIN.early
}

/** All coins of the parent chain. */
export const MAX_COINS = 2_100_000_000_000_000n

/** What the union bridge may hold at most until it is increased, wei (RSKIP-502). */
export const UNION_LOCKING_CAP = 10n ** 18n

/** Least seconds between two headers that come by `receiveHeader` (RSKIP-200). */
export const SECONDS_BETWEEN_HEADERS = 300

/** A header more than this many blocks below the best one comes too late for `receiveHeader` (RSKIP-200). */
export const MAX_HEADER_DEPTH = 25

/** Wei per satoshi. */
export const WEI_PER_SATOSHI = 10n ** 10n

/** Highest fee that can be voted, satoshi per thousand bytes. */
export const MAX_FEE_PER_KB = 5_000_000n

/** An increase of a locking cap is at most to this many times the current one. */
export const CAP_MULTIPLIER = 2n

/** Longest data of `setBaseEvent` and `setSuperEvent`, bytes (RSKIP-529). */
export const MAX_EVENT_BYTES = 128

/** What the second output of an SVP fund transaction commits to (RSKIP-419). */
export const SVP_FLYOVER_PREFIX = Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0))
