/** Rules that script verification applies, one bit each, named as Bitcoin Core names them. */

/** The rules. */
export const RULE = {
  NONE: 0,
  P2SH: 1 << 0,
  STRICTENC: 1 << 1,
  DERSIG: 1 << 2,
  LOW_S: 1 << 3,
  NULLDUMMY: 1 << 4,
  SIGPUSHONLY: 1 << 5,
  MINIMALDATA: 1 << 6,
  DISCOURAGE_UPGRADABLE_NOPS: 1 << 7,
  CLEANSTACK: 1 << 8,
  CHECKLOCKTIMEVERIFY: 1 << 9,
  CHECKSEQUENCEVERIFY: 1 << 10,
  WITNESS: 1 << 11,
  DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM: 1 << 12,
  MINIMALIF: 1 << 13,
  NULLFAIL: 1 << 14,
  WITNESS_PUBKEYTYPE: 1 << 15,
  CONST_SCRIPTCODE: 1 << 16,
  /** Only refuses to spend witness programs of version 1 with 32 bytes: BIP-341 is not implemented. */
  TAPROOT: 1 << 17,
} as const

/** What every block must hold to on regtest, where all of these rules are active from the first block on. */
export const CONSENSUS_RULES =
  RULE.P2SH |
  RULE.DERSIG |
  RULE.NULLDUMMY |
  RULE.CHECKLOCKTIMEVERIFY |
  RULE.CHECKSEQUENCEVERIFY |
  RULE.WITNESS |
  RULE.TAPROOT

/** What the mempool holds transactions to as well (Bitcoin Core's policy). */
export const POLICY_RULES =
  CONSENSUS_RULES |
  RULE.STRICTENC |
  RULE.LOW_S |
  RULE.MINIMALDATA |
  RULE.DISCOURAGE_UPGRADABLE_NOPS |
  RULE.CLEANSTACK |
  RULE.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM |
  RULE.MINIMALIF |
  RULE.NULLFAIL |
  RULE.WITNESS_PUBKEYTYPE |
  RULE.CONST_SCRIPTCODE
