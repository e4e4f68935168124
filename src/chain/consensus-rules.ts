/**
 * Every consensus rule of the reference node, the network upgrade that brings it, and the height of each upgrade on each
 * network (docs/internals/protocol.md#75-activation).
 */

/** The four networks, by the names that `--chain` takes. */
export type ChainName = 'regtest' | 'devnet' | 'testnet' | 'mainnet'

/** Height of each upgrade; `undefined` where it never comes. */
export const UPGRADE_HEIGHTS = {
  bahamas: { regtest: 0, devnet: 0, testnet: 0, mainnet: 3397 },
  afterBridgeSync: { regtest: undefined, devnet: undefined, testnet: 114_000, mainnet: 370_000 },
  orchid: { regtest: 0, devnet: 0, testnet: 0, mainnet: 729_000 },
  orchid060: { regtest: 0, devnet: 0, testnet: 0, mainnet: 1_052_700 },
  wasabi100: { regtest: 0, devnet: 0, testnet: 0, mainnet: 1_591_000 },
  twoToThree: { regtest: 0, devnet: 0, testnet: 504_000, mainnet: 2_018_000 },
  papyrus200: { regtest: 0, devnet: 0, testnet: 863_000, mainnet: 2_392_700 },
  iris300: { regtest: 0, devnet: 0, testnet: 2_060_500, mainnet: 3_614_800 },
  hop400: { regtest: 0, devnet: 0, testnet: 3_103_000, mainnet: 4_598_500 },
  hop401: { regtest: 0, devnet: 0, testnet: 3_362_200, mainnet: 4_976_300 },
  fingerroot500: { regtest: 0, devnet: 0, testnet: 4_015_800, mainnet: 5_468_000 },
  arrowhead600: { regtest: 0, devnet: 0, testnet: 4_927_100, mainnet: 6_223_700 },
  arrowhead631: { regtest: undefined, devnet: undefined, testnet: undefined, mainnet: 6_549_300 },
  lovell700: { regtest: 0, devnet: 0, testnet: 6_110_487, mainnet: 7_338_024 },
  reed800: { regtest: 0, devnet: 0, testnet: 6_835_700, mainnet: 8_052_200 },
  reed810: { regtest: 0, devnet: 0, testnet: 7_139_600, mainnet: undefined },
  vetiver900: { regtest: 0, devnet: 0, testnet: 7_604_200, mainnet: 8_804_200 },
  tbd1000: { regtest: 0, devnet: 0, testnet: undefined, mainnet: undefined },
} as const satisfies Record<string, Readonly<Record<ChainName, number | undefined>>>

/** A network upgrade, by the reference node's name for it. */
export type Upgrade = keyof typeof UPGRADE_HEIGHTS

/** Upgrade and subject of each rule. `undefined`: no upgrade brings it, only a network's own height does. */
export const CONSENSUS_RULES = {
  areBridgeTxsPaid: ['afterBridgeSync', "the Bridge's own senders pay gas"],
  rskip85: ['orchid', 'REMASC pays out only what is worth its gas'],
  rskip87: ['orchid', 'whitelist of peg-ins without limit'],
  rskip88: ['orchid', 'Bridge methods for simulations only'],
  rskip89: ['orchid', 'parent-chain block queries of the Bridge'],
  rskip90: ['orchid', 'return data and code size of precompiled contracts'],
  rskip91: ['orchid', 'STATICCALL'],
  rskip92: ['orchid', 'merkle proof serialization'],
  rskip97: ['orchid', 'no drop of the difficulty after a long gap'],
  rskip98: ['orchid', 'no fallback mining by the federation'],
  rskip103: ['orchid060', 'STATICCALL takes no value'],
  rskip106: ['wasabi100', 'HDWalletUtils contract'],
  rskip110: ['wasabi100', 'fork detection data'],
  rskip119: ['wasabi100', 'BlockHeader contract'],
  rskip120: ['wasabi100', 'SHL, SHR, SAR'],
  rskip122: ['wasabi100', 'getBtcTransactionConfirmations'],
  rskip123: ['wasabi100', 'federation members with several keys'],
  rskip124: ['wasabi100', 'Bridge: lock and release checks'],
  rskip125: ['wasabi100', 'CREATE2 and address collisions'],
  rskip126: ['wasabi100', 'unified trie'],
  rskip132: ['wasabi100', 'gas of receiveHeaders'],
  rskip134: ['papyrus200', 'locking cap'],
  rskip136: ['bahamas', 'checked gas arithmetic'],
  rskip137: ['papyrus200', 'alt_bn128 contracts'],
  rskip140: ['papyrus200', 'EXTCODEHASH'],
  rskip143: ['papyrus200', 'peg-ins from segwit addresses'],
  rskip144: ['reed810', 'parallel sublists'],
  rskip146: ['papyrus200', "Bridge events in Solidity's encoding"],
  rskip150: ['twoToThree', 'call depth 400'],
  rskip151: ['papyrus200', 'SELFBALANCE'],
  rskip152: ['papyrus200', 'CHAINID'],
  rskip153: ['iris300', 'BLAKE2F contract'],
  rskip156: ['papyrus200', 'finer steps of the difficulty'],
  rskip169: ['iris300', 'EXTCODEHASH of an account without code'],
  rskip170: ['iris300', 'peg-ins to any address'],
  rskip171: ['iris300', 'calls without a frame clear the return data'],
  rskip174: ['iris300', 'a creation keeps the balance at its address'],
  rskip176: ['iris300', 'flyover peg-ins'],
  rskip179: ['iris300', "timestamps linked to the parent chain's"],
  rskip180: ['iris300', 'longest merkle proof'],
  rskip181: ['iris300', 'peg-in rejection events'],
  rskip185: ['iris300', 'peg-out refunds and events'],
  rskip186: ['iris300', 'creation height of the federation'],
  rskip191: ['iris300', 'removal of DUPN, SWAPN and TXINDEX'],
  rskip197: ['iris300', 'a failing precompiled contract fails the call only'],
  rskip199: ['iris300', 'registerBtcTransaction is public'],
  rskip200: ['iris300', 'limits of receiveHeader'],
  rskip201: ['iris300', 'time-locked emergency multisignature'],
  rskip203: ['arrowhead600', 'Environment contract'],
  rskip218: ['iris300', "the labs' new address"],
  rskip219: ['iris300', 'minimum values of pegs'],
  rskip220: ['iris300', 'parent-chain header queries of the Bridge'],
  rskip252: ['fingerroot500', 'gas price cap'],
  rskip271: ['hop400', 'peg-out batches'],
  rskip284: ['hop400', 'flyover refund addresses'],
  rskip290: ['hop400', "higher floor of testnet's difficulty"],
  rskip293: ['hop400', 'getActivePowpegRedeemScript'],
  rskip294: ['hop400', 'most inputs of a migration'],
  rskip297: ['hop400', 'wider timestamp window of testnet'],
  rskip305: ['reed800', 'segwit federation'],
  rskip326: ['fingerroot500', 'base58 in release_request_received'],
  rskip351: ['reed810', 'header extension'],
  rskip353: ['hop401', "redeem script within the parent chain's standards"],
  rskip357: ['hop401', 'confirmations of a migration'],
  rskip374: ['fingerroot500', 'confirmations of a migration, as before'],
  rskip375: ['fingerroot500', 'peg-outs waiting under their creation transaction'],
  rskip376: ['arrowhead600', 'version 2 of migration transactions'],
  rskip377: ['fingerroot500', 'script of the last retired federation'],
  rskip379: ['arrowhead600', 'index of peg-outs'],
  rskip383: ['fingerroot500', 'activation age of a federation'],
  rskip385: ['fingerroot500', 'getEstimatedFeesForNextPegOutEvent'],
  rskip398: ['arrowhead600', 'PUSH0'],
  rskip400: ['arrowhead600', '16 gas a byte of call data'],
  rskip412: ['arrowhead600', 'BASEFEE'],
  rskip415: ['arrowhead600', "federators' addresses from their own keys"],
  rskip417: ['arrowhead600', 'answers of Bridge methods to contracts'],
  rskip419: ['lovell700', 'spendability validation of a federation'],
  rskip427: ['lovell700', 'peg-out amounts in wei'],
  rskip428: ['lovell700', 'pegout_transaction_created'],
  rskip434: ['arrowhead631', 'parent-chain work of 12 bytes'],
  rskip438: ['lovell700', 'size and gas of init code'],
  rskip445: ['lovell700', 'MCOPY'],
  rskip446: ['lovell700', 'TLOAD, TSTORE'],
  rskip453: ['lovell700', 'a failed CREATE leaves no account'],
  rskip454: ['lovell700', 'parent-chain work of 32 bytes'],
  rskip459: ['lovell700', 'rejected peg-ins count as processed'],
  rskip460: ['lovell700', 'non-standard outputs before a witness commitment'],
  rskip502: ['reed810', 'union bridge'],
  rskip516: ['reed800', 'secp256k1 contracts and input limits'],
  rskip529: ['reed810', 'base and super events'],
  rskip535: [undefined, 'base event in the header'],
  rskip536: ['reed810', 'getCumulativeWork, getDifficultyWithUncles'],
  rskip540: ['vetiver900', 'fees of a peg-out amount'],
  rskip543: [undefined, 'typed transactions'],
  rskip544: ['vetiver900', 'no code that begins with 0xef'],
  rskip545: [undefined, 'accounts that delegate to code: transactions of type 4'],
  rskip546: [undefined, 'transactions of types 1 and 2'],
  rskip551: ['vetiver900', 'rejected peg-ins no longer count as processed'],
  rskip552: ['vetiver900', 'input checks of BLAKE2F'],
  rskip559: ['tbd1000', 'order of peg-outs'],
  rskipUMM: ['papyrus200', 'ummRoot in the header'],
} as const satisfies Record<string, readonly [Upgrade | undefined, string]>

/** A rule, by the reference node's name for it. */
export type RuleName = keyof typeof CONSENSUS_RULES

/** All of them. */
export const RULE_NAMES = Object.keys(CONSENSUS_RULES) as readonly RuleName[]

/** Rules that no upgrade has taken up yet: their RSKIPs are drafts. */
export const DRAFT_RULES: readonly RuleName[] = ['rskip543', 'rskip545', 'rskip546']

/** Rules that others cannot hold without. */
export const NEEDED_RULES: Readonly<Partial<Record<RuleName, readonly RuleName[]>>> = {
  rskip545: ['rskip543', 'rskip544', 'rskip546'],
  rskip546: ['rskip543'],
}

/** The first block in which each rule holds; `undefined`: it never does. */
export type RuleHeights = Readonly<Record<RuleName, number | undefined>>

/** Heights that a network has for single rules, whatever their upgrade; `undefined`: never. */
const OWN_HEIGHTS: Readonly<Record<ChainName, Readonly<Partial<Record<RuleName, number | undefined>>>>> = {
  regtest: { rskip97: undefined, rskipUMM: 1, rskip144: 1, rskip351: 1, rskip535: 1 },
  devnet: { rskip97: undefined, rskipUMM: 1, rskip144: 1, rskip351: 1, rskip535: 1 },
  testnet: {
    rskip97: undefined,
    rskip132: 43_550,
    rskip284: 2_581_800,
    rskip290: 2_581_800,
    rskip535: 7_604_200,
  },
  mainnet: { rskip536: 8_804_200 },
}

function heightsOf(chain: ChainName): RuleHeights {
  const heights = RULE_NAMES.map((rule) => {
    const [upgrade] = CONSENSUS_RULES[rule]
    return [rule, upgrade === undefined ? undefined : UPGRADE_HEIGHTS[upgrade][chain]]
  })
  return { ...(Object.fromEntries(heights) as RuleHeights), ...OWN_HEIGHTS[chain] }
}

/** The heights of each network. */
export const RULE_HEIGHTS: Readonly<Record<ChainName, RuleHeights>> = {
  regtest: heightsOf('regtest'),
  devnet: heightsOf('devnet'),
  testnet: heightsOf('testnet'),
  mainnet: heightsOf('mainnet'),
}
