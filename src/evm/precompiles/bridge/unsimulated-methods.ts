/** The bridge's methods that move coins or vote on its settings: known with price and callers, and left out here. */
import type { BridgeMethod } from './method.ts'

/** What a call without data means: send the coins that come with it to the parent chain. */
export const RELEASE_METHOD: BridgeMethod = { signature: 'releaseBtc()', gas: 23_000n }

/** All of them. */
export const UNSIMULATED_METHODS: readonly BridgeMethod[] = [
  RELEASE_METHOD,
  { signature: 'registerBtcTransaction(bytes,int256,bytes)', gas: 22_000n },
  { signature: 'registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)', gas: 10_000n },
  {
    signature: 'registerFastBridgeBtcTransaction(bytes,uint256,bytes,bytes32,bytes,address,bytes,bool)',
    gas: 25_000n,
  },
  { signature: 'addSignature(bytes,bytes[],bytes)', gas: 70_000n, isForFederators: true },
  { signature: 'updateCollections()', gas: 48_000n, isForFederators: true },
  { signature: 'createFederation()', gas: 11_000n },
  { signature: 'addFederatorPublicKeyMultikey(bytes,bytes,bytes)', gas: 13_000n },
  { signature: 'commitFederation(bytes)', gas: 38_000n },
  { signature: 'rollbackFederation()', gas: 12_000n },
  { signature: 'addOneOffLockWhitelistAddress(string,int256)', gas: 25_000n },
  { signature: 'addUnlimitedLockWhitelistAddress(string)', gas: 25_000n },
  { signature: 'removeLockWhitelistAddress(string)', gas: 24_000n },
  { signature: 'setLockWhitelistDisableBlockDelay(int256)', gas: 24_000n },
  { signature: 'voteFeePerKbChange(int256)', gas: 10_000n },
  { signature: 'increaseLockingCap(int256)', gas: 8_000n },
  { signature: 'setUnionBridgeContractAddressForTestnet(address)', gas: 8_000n },
  { signature: 'increaseUnionBridgeLockingCap(uint256)', gas: 8_000n },
  { signature: 'requestUnionBridgeRbtc(uint256)', gas: 8_000n },
  { signature: 'releaseUnionBridgeRbtc()', gas: 8_000n },
  { signature: 'setUnionBridgeTransferPermissions(bool,bool)', gas: 8_000n },
  { signature: 'setSuperEvent(bytes)', gas: 8_000n },
  { signature: 'clearSuperEvent()', gas: 8_000n },
  { signature: 'setBaseEvent(bytes)', gas: 8_000n },
  { signature: 'clearBaseEvent()', gas: 8_000n },
]

/** Methods of the interface that upgrades have switched off: a call of one is a call of no method. */
export const RETIRED_SIGNATURES: readonly string[] = [
  'getFederatorPublicKey(int256)',
  'getRetiringFederatorPublicKey(int256)',
  'getPendingFederatorPublicKey(int256)',
  'addFederatorPublicKey(bytes)',
  'addLockWhitelistAddress(string,int256)',
  'getBtcBlockchainBlockLocator()',
]
