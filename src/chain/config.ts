/** What tells one network from another: ids, activation heights, difficulty, limits, native addresses. */
import type { Hex } from '../encoding/hex.ts'

/** The four networks, by the names that `--chain` takes. */
export type ChainName = 'regtest' | 'devnet' | 'testnet' | 'mainnet'

/** Which rules hold at a height (protocol 1.1, 1.4, 1.5, 3.1, 5.2). */
export interface Rules {
  /** Header layout: 0, 1 (RSKIP-351) or 2 (RSKIP-535). */
  readonly headerVersion: 0 | 1 | 2
  /** RSKIP-92: merkle proof and coinbase are left out of the block hash. */
  readonly rskip92: boolean
  /** RSKIP-UMM: the header has the element `ummRoot`. */
  readonly umm: boolean
  /** RSKIP-97: the difficulty no longer falls to the minimum after a gap of 600 s. */
  readonly rskip97: boolean
  /** RSKIP-110 and height >= 449: fork detection data in the merged-mining hash. */
  readonly forkDetection: boolean
  /** RSKIP-144 and 351: parallel execution sublists and their limits. */
  readonly parallelSublists: boolean
}

/** One network's constants. Gas in gas, times in seconds, prices in wei. */
export interface ChainConfig {
  readonly name: ChainName
  /** EIP-155 id, also the answer of `net_version`. */
  readonly chainId: number
  rulesAt(height: number): Rules
  readonly difficulty: {
    /** Floor of the difficulty at a height. */
    minimumAt(height: number): bigint
    /** D of protocol 3.1, seconds. */
    readonly goalSeconds: number
    /** B of protocol 3.1 at a height. */
    boundDivisorAt(height: number): bigint
  }
  /** Where the block gas limit moves to (protocol 4.1), and its floor. */
  readonly gasLimitTarget: bigint
  readonly gasLimitMinimum: bigint
  /** Where the minimum gas price moves to (protocol 4.2). */
  readonly minimumGasPriceTarget: bigint
  /** m of protocol 5.2; `undefined` switches the split off: one list whose limit is the block's. */
  readonly minimumSequentialGas: bigint | undefined
  /** T of protocol 1.7; 0 switches the timestamp rules off. */
  readonly maxSecondsInFuture: number
}

/** Addresses of the contracts that the chain itself implements (protocol 6.5). */
export const NATIVE_ADDRESS = {
  ecrecover: '0x0000000000000000000000000000000000000001',
  sha256: '0x0000000000000000000000000000000000000002',
  ripemd160: '0x0000000000000000000000000000000000000003',
  identity: '0x0000000000000000000000000000000000000004',
  modexp: '0x0000000000000000000000000000000000000005',
  bn128Add: '0x0000000000000000000000000000000000000006',
  bn128Mul: '0x0000000000000000000000000000000000000007',
  bn128Pairing: '0x0000000000000000000000000000000000000008',
  blake2f: '0x0000000000000000000000000000000000000009',
  bridge: '0x0000000000000000000000000000000001000006',
  remasc: '0x0000000000000000000000000000000001000008',
  hdWalletUtils: '0x0000000000000000000000000000000001000009',
  blockHeader: '0x0000000000000000000000000000000001000010',
  environment: '0x0000000000000000000000000000000001000011',
  secp256k1Add: '0x0000000000000000000000000000000001000016',
  secp256k1Mul: '0x0000000000000000000000000000000001000017',
} as const satisfies Record<string, Hex>

/** The odd sender of every block's fee-collecting transaction: the one byte 00 (protocol 5.3). In JSON it prints as the zero address. */
export const REWARD_SENDER: Hex = '0x00'
