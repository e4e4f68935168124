/**
 * Every consensus rule of the reference node, and the network upgrade that brings it
 * (docs/internals/protocol.md#75-activation). `networks/*.json` have the heights.
 */

/** The shipped networks, by the names that `--chain` takes. */
export const CHAIN_NAMES = ['regtest', 'devnet', 'testnet', 'testnet2', 'mainnet'] as const

/** The name of a shipped network. */
export type ChainName = (typeof CHAIN_NAMES)[number]

/** A record of what each shipped network has, made when it is first read: a node has one network. */
export function byChain<T>(make: (name: ChainName) => T): Readonly<Record<ChainName, T>> {
  const record = {} as Record<ChainName, T>
  for (const name of CHAIN_NAMES) {
    Object.defineProperty(record, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = make(name)
        Object.defineProperty(record, name, { enumerable: true, value })
        return value
      },
    })
  }
  return record
}

/** The upgrades, by the reference node's names for them, oldest first. */
export const UPGRADES = [
  'bahamas',
  'afterBridgeSync',
  'orchid',
  'orchid060',
  'wasabi100',
  'twoToThree',
  'papyrus200',
  'iris300',
  'hop400',
  'hop401',
  'fingerroot500',
  'arrowhead600',
  'arrowhead631',
  'lovell700',
  'reed800',
  'reed810',
  'vetiver900',
  'tbd1000',
] as const

/** A network upgrade. */
export type Upgrade = (typeof UPGRADES)[number]

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

/** The rules that each rule requires. */
export const REQUIRED_RULES: Readonly<Partial<Record<RuleName, readonly RuleName[]>>> = {
  rskip545: ['rskip543', 'rskip544', 'rskip546'],
  rskip546: ['rskip543'],
}

/** The first block in which each rule holds; `undefined`: it never does. */
export type RuleHeights = Readonly<Record<RuleName, number | undefined>>
