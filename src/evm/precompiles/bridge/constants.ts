/** The bridge's settings on the local network; amounts of the parent chain in satoshi. */
import { TEST_VERSIONS } from '../../../bitcoin/address.ts'

/** Compressed public keys of the first federation, in their order within it (by bytes). */
export const FEDERATION_KEYS = [
  '02cd53fc53a07f211641a677d250f6de99caf620e8e77071e811a28b3bcddf0be1',
  '0362634ab57dae9cb373a5d536e66a8c4f67468bbcfb063809bab643072d78a124',
  '03c5946b3fbae03a654237da863c9ed534e0878657175b132b8ca630f245df04db',
] as const

/** Keys that can spend the federation's coins once these have not moved for long enough, in order. */
export const EMERGENCY_KEYS = [
  '029cecea902067992d52c38b28bf0bb2345bda9b21eca76b16a17c477a64e43301',
  '03284178e5fbcc63c54c3b38e3ef88adf2da6c526313650041b0ef955763634ebd',
  '03ab0e2cd7ed158687fc13b88019990860cdb72b1f5777b58513312550ea1584bc',
  '03b9fc46657cf72a1afa007ecf431de1cd27ff5cc8829fa625b66ca47b967e6b24',
] as const

/** Blocks of the parent chain until the emergency keys may spend. */
export const EMERGENCY_DELAY = 500

/** 2016-01-01, Unix seconds. */
export const FEDERATION_CREATION_TIME = 1_451_606_400

/** Height at which the first federation counts as made. */
export const FEDERATION_CREATION_BLOCK = 1

/** Satoshi per thousand bytes until a vote changes it. */
export const FEE_PER_KB = 100_000n

/** Least peg-in, satoshi (RSKIP-219). */
export const MINIMUM_PEGIN = 500_000

/** What may be locked at most until it is increased, satoshi: 1,000 coins (RSKIP-134). */
export const LOCKING_CAP = 100_000_000_000n

/** What the union bridge may hold at most until it is increased, wei (RSKIP-502). */
export const UNION_LOCKING_CAP = 10n ** 18n

/** Least seconds between two headers that come by `receiveHeader` (RSKIP-200). */
export const SECONDS_BETWEEN_HEADERS = 300

/** A header more than this many blocks below the best one comes too late for `receiveHeader` (RSKIP-200). */
export const MAX_HEADER_DEPTH = 25

/** From here on the bridge knows its best chain by height; below it looks only `MAX_SEARCH_DEPTH` deep (RSKIP-199). */
export const HEIGHT_INDEX_START = 10
export const MAX_SEARCH_DEPTH = 5

/** Confirmations that a peg-in needs on the parent chain. */
export const PEGIN_CONFIRMATIONS = 3

/** Least peg-out, satoshi (RSKIP-219). */
export const MINIMUM_PEGOUT = 250_000n

/** What a peg-out must leave after its fee, per cent of that fee (RSKIP-219). */
export const PEGOUT_GAP_PERCENT = 20n

/** Wei per satoshi. */
export const WEI_PER_SATOSHI = 10n ** 10n

/** Highest fee that can be voted, satoshi per thousand bytes. */
export const MAX_FEE_PER_KB = 5_000_000n

/** An increase of a locking cap is at most to this many times the current one. */
export const CAP_MULTIPLIER = 2n

/** Blocks between the vote for a federation and its activation, as the event of the vote shows it. */
export const FEDERATION_ACTIVATION_AGE = 150

/** First bytes of the parent chain's addresses. */
export const ADDRESS_VERSIONS = TEST_VERSIONS

/** Longest data of `setBaseEvent` and `setSuperEvent`, bytes (RSKIP-529). */
export const MAX_EVENT_BYTES = 128
