/** What the payout of collected fees depends on, by network (docs/internals/protocol.md#54-remasc-payout). */
import type { Hex } from '../encoding/hex.ts'
import { type ChainName, type RuleHeights, remascRulesAt } from './activations.ts'

/** One network's constants of REMASC. Heights and spans in blocks. */
export interface RemascParameters {
  /** M of docs/internals/protocol.md#54-remasc-payout: a block's fees enter the pot this many blocks later. */
  readonly maturity: number
  /** S of docs/internals/protocol.md#54-remasc-payout: each block pays out this part of the pot. */
  readonly syntheticSpan: number
  /** Who gets the labs' share in the block of a height (RSKIP-218). */
  labsAddressAt(height: number): Hex
  /** Who shares the federation's part, in order of their parent-chain public keys: the genesis federation, until another is voted. */
  readonly federators: readonly Hex[]
  /**
   * Gas whose price at the block's minimum a payout must reach, and a federator's part of it, in the block of a height
   * (RSKIP-85); zero before that rule.
   */
  minimumGasAt(height: number): { readonly payout: bigint; readonly federator: bigint }
  /** Does the block of a height pay? Always, unless given: a fork leaves out payouts for ancestors that its upstream lacks. */
  readonly isPaidAt?: (height: number) => boolean
}

/** The divisor of each share, the same on every network: one fifth for the labs, and so on. */
export const REMASC_DIVISORS = {
  labs: 5n,
  /** Of what remains after the labs' share. */
  federation: 100n,
  /** Those who named siblings, of what remains after labs and federation. */
  publishers: 10n,
  /** Burned of each miner's part after a broken selection rule. */
  punishment: 10n,
  /** Burned of a sibling's part for each block that it was named late. */
  lateInclusion: 20n,
} as const

const MINIMUM_GAS = { payout: 200_000n, federator: 50_000n }
const NO_MINIMUM_GAS = { payout: 0n, federator: 0n }

const LOCAL_FEDERATORS: readonly Hex[] = [
  '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
  '0x85845342b0d5260d516d6da5280a7df9a96d1925',
  '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
]

interface Own {
  readonly maturity: number
  readonly syntheticSpan: number
  readonly labs: Hex
  /** Before RSKIP-218, where it was another. */
  readonly earlierLabs?: Hex
  readonly federators: readonly Hex[]
}

/** The real node's settings for devnet name no federation, so devnet has the local network's. */
const OWN: Readonly<Record<ChainName, Own>> = {
  regtest: {
    maturity: 10,
    syntheticSpan: 5,
    labs: '0xdabadabadabadabadabadabadabadabadaba0001',
    federators: LOCAL_FEDERATORS,
  },
  devnet: {
    maturity: 20,
    syntheticSpan: 10,
    labs: '0xdabadabadabadabadabadabadabadabadaba0002',
    federators: LOCAL_FEDERATORS,
  },
  testnet: {
    maturity: 50,
    syntheticSpan: 10,
    labs: '0xdabadabadabadabadabadabadabadabadaba0003',
    federators: [
      '0x4495768e683423a4299d6a7f02a0689a6ff5a0a4',
      '0x0345174501d5f6fc7926377b63317c4ad7215905',
      '0x13bcf2c2342b6eaa24119f9690aca0d718f384ff',
      '0x9a3bfdea2245738dd5f25453d13742350a4f1c6e',
    ],
  },
  mainnet: {
    maturity: 4000,
    syntheticSpan: 10,
    labs: '0xdcb12179ba4697350f66224c959bdd9c282818df',
    earlierLabs: '0x14d3065c8eb89895f4df12450ec6b130049f8034',
    federators: [
      '0x1888fa870b97a4845a6a1f7eee4ebb507dbe0967',
      '0x530aad5be57e9be2084881b1d84f2a30e896ae36',
      '0x0474f314fef5373fd2afaafdcd7a8bdec1ab4309',
      '0x2c40fc683ee04c1b918635005ae7c89e1eb7b1f1',
      '0x1e01385c6d522583575f60fee384f30405ffae01',
      '0x304660d1beeb0918b7b3f7657d8418686cb578b1',
      '0xe4945372d758650275e23fa90f754d0f67fa66e2',
      '0xabb1d944a0dc0ead5a36b31087bd1fc31726e674',
      '0x32c865f2dbf36ce6f4cfcb624b559ef98b33a2d1',
      '0xf006f6202e0c29ef2e3b1532d2307427864ed77a',
      '0xee877101e4e5758930222e6605cbd0a19e8ad981',
      '0x67af698c927ae574fb43d45a50522c207f81100f',
      '0x0a1d7f3c50dae072b019eff0f306ae1613b56b3c',
      '0x571dde4b32017efaad8dc0c9fa9b748096c036a2',
      '0xf74b7e0d5bdd14eaedf725bb1549ce14abeb71dd',
    ],
  },
}

/** A network's constants of REMASC. */
export function remascParameters(name: ChainName, heights: RuleHeights): RemascParameters {
  const { maturity, syntheticSpan, labs, earlierLabs = labs, federators } = OWN[name]
  const rulesAt = remascRulesAt(heights)
  return {
    maturity,
    syntheticSpan,
    federators,
    labsAddressAt: (height) => (rulesAt(height).rskip218 ? labs : earlierLabs),
    minimumGasAt: (height) => (rulesAt(height).rskip85 ? MINIMUM_GAS : NO_MINIMUM_GAS),
  }
}
