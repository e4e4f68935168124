/** Senders that the Bridge knows on each network: the first federation, and those who vote on its settings. */
import type { Hex } from '../encoding/hex.ts'
import { PRECOMPILE_ADDRESS } from './config.ts'
import type { BridgeName } from './network.ts'

/** A network's senders. */
export interface BridgeSenders {
  /** Members of the first federation, by the addresses of their keys. */
  readonly federators: ReadonlySet<Hex>
  /** Vote on a new federation; a majority decides. */
  readonly federationVoters: ReadonlySet<Hex>
  /** Changes the whitelist of those who may lock coins. */
  readonly whitelistVoter: Hex
  /** Vote on the fee of peg-outs; a majority decides. */
  readonly feeVoters: ReadonlySet<Hex>
  /** Each may increase the locking cap, and pays gas for it. */
  readonly lockingCapVoters: ReadonlySet<Hex>
  /** Sets the address of the union bridge. */
  readonly unionAddressAuthorizer: Hex
  /** Increases the union bridge's locking cap. */
  readonly unionCapAuthorizer: Hex
  /** Changes what the union bridge is permitted. */
  readonly unionPermissionsAuthorizer: Hex
}

const NOBODY: Hex = '0x0000000000000000000000000000000000000000'

/** Keys are keccak-256 of `federator1` to `federator3`, `auth-a` to `auth-e` and so on. */
const REGTEST: BridgeSenders = {
  federators: new Set<Hex>([
    '0x85845342b0d5260d516d6da5280a7df9a96d1925',
    '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
    '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
  ]),
  federationVoters: new Set<Hex>([
    '0x5252403bca6ac3c104abdd320a736fa38282045d',
    '0x0d8c44bd578a4e7148d1758b3332b529e93e48c1',
    '0x566bca18df14ed75efcc1a8a4f3947e81132dbbc',
    '0x2e7c9159614ddc0185e335d3343e92700c3e5a2d',
    '0xf0652637df184eca87e6bde29893825721dfb79f',
  ]),
  whitelistVoter: '0x87d2a0f33744929da08b65fd62b627ea52b25f8e',
  feeVoters: new Set<Hex>(['0x53f8f6dabd612b6137215ddd7758bb5cdd638922']),
  lockingCapVoters: new Set<Hex>(['0x6913bd4715eff3b25501f3212f15df38296d1f21']),
  unionAddressAuthorizer: '0x6c9dfd950bf748bb26f893f7e5f693c7f60a8f85',
  // The first contract of the key keccak-256 of `UnionBridgeAuthorizerDeployer`.
  unionCapAuthorizer: '0xff6f4ff09c54561e1476203e56fcfc834911aa64',
  unionPermissionsAuthorizer: '0xff6f4ff09c54561e1476203e56fcfc834911aa64',
}

const TESTNET_VOTERS: ReadonlySet<Hex> = new Set<Hex>([
  '0x4502d34c8e889b2be7e1bfe1a645df8fa3f9204b',
  '0xf7d8befef29878e5c35fee23e6889ed88afb56b8',
  '0x9e472a8b3f3c95736b0b255db2b7ba38c687c751',
])

const TESTNET: BridgeSenders = {
  federators: new Set<Hex>([
    '0x9a3bfdea2245738dd5f25453d13742350a4f1c6e',
    '0x4495768e683423a4299d6a7f02a0689a6ff5a0a4',
    '0x0345174501d5f6fc7926377b63317c4ad7215905',
    '0x13bcf2c2342b6eaa24119f9690aca0d718f384ff',
  ]),
  federationVoters: new Set<Hex>([
    '0x5990aaedfccc88e2f7321a5b8d8db1f6e64abf03',
    '0x112140a53537b49788456daffda2e20efd1865cd',
    '0x5526529f386c4c77044f1c29bb965b37a7767c3d',
  ]),
  whitelistVoter: '0x54fdb399cf235c9b0d464ab4055af9251883bbfe',
  feeVoters: TESTNET_VOTERS,
  lockingCapVoters: TESTNET_VOTERS,
  unionAddressAuthorizer: '0x54fdb399cf235c9b0d464ab4055af9251883bbfe',
  unionCapAuthorizer: '0x1a8109af0f019ed3045fbcdf45e5e90d6b6aafaf',
  unionPermissionsAuthorizer: '0x8db1f83e8119e4dce5bc708ec2f4390ffd910b19',
}

const MAINNET_VOTERS: ReadonlySet<Hex> = new Set<Hex>([
  '0xa02db0ed94a5894bc6f9079bb9a2d93ada1917f3',
  '0x180a7edda4e640ea5a3e495e17a1efad260c39e9',
  '0x8418edc8fea47183116b4c8cd6a12e51a7e169c1',
])

const MAINNET: BridgeSenders = {
  federators: new Set<Hex>([
    '0x0a1d7f3c50dae072b019eff0f306ae1613b56b3c',
    '0x1e01385c6d522583575f60fee384f30405ffae01',
    '0xee877101e4e5758930222e6605cbd0a19e8ad981',
    '0x2c40fc683ee04c1b918635005ae7c89e1eb7b1f1',
    '0x304660d1beeb0918b7b3f7657d8418686cb578b1',
    '0x67af698c927ae574fb43d45a50522c207f81100f',
    '0xf006f6202e0c29ef2e3b1532d2307427864ed77a',
    '0xe4945372d758650275e23fa90f754d0f67fa66e2',
    '0x32c865f2dbf36ce6f4cfcb624b559ef98b33a2d1',
    '0x1888fa870b97a4845a6a1f7eee4ebb507dbe0967',
    '0x0474f314fef5373fd2afaafdcd7a8bdec1ab4309',
    '0x530aad5be57e9be2084881b1d84f2a30e896ae36',
    '0xf74b7e0d5bdd14eaedf725bb1549ce14abeb71dd',
    '0xabb1d944a0dc0ead5a36b31087bd1fc31726e674',
    '0x571dde4b32017efaad8dc0c9fa9b748096c036a2',
  ]),
  federationVoters: new Set<Hex>([
    '0x56bc5087ac97bc85a877bd20dfef910b78b1dc5a',
    '0x6fe1cd06a80fa52eb34d7e4d1845881c2b5de89a',
    '0xd41f4d4c7fc8d5fa9468d0c466c9a726397f91b6',
  ]),
  whitelistVoter: '0x6ba9d41b07da470fe340cbd439a42538795eb75b',
  feeVoters: MAINNET_VOTERS,
  lockingCapVoters: MAINNET_VOTERS,
  unionAddressAuthorizer: NOBODY,
  unionCapAuthorizer: NOBODY,
  unionPermissionsAuthorizer: NOBODY,
}

/** The senders by network. devnet has none in the reference node; here it has those of regtest. */
export const BRIDGE_SENDERS: Readonly<Record<BridgeName, BridgeSenders>> = {
  regtest: REGTEST,
  devnet: REGTEST,
  testnet: TESTNET,
  mainnet: MAINNET,
}

/**
 * Does a signed transaction from `from` to `to` cost no gas for being a call of the Bridge
 * (docs/internals/protocol.md#44-intrinsic-gas)? Only while a network is set up.
 */
export function isFreeBridgeTransaction(from: Hex, to: Hex | null, senders = REGTEST): boolean {
  if (to !== PRECOMPILE_ADDRESS.bridge) return false
  const { federators, federationVoters, whitelistVoter, feeVoters } = senders
  return federators.has(from) || federationVoters.has(from) || from === whitelistVoter || feeVoters.has(from)
}
