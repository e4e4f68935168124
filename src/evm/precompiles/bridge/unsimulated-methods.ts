/** The methods that need the peg itself: known with price and callers, and not simulated; and those that are switched off. */
import type { BridgeMethod } from './method.ts'

/** Signing and making transactions of the parent chain. */
export const UNSIMULATED_METHODS: readonly BridgeMethod[] = [
  { signature: 'addSignature(bytes,bytes[],bytes)', gas: 70_000n, isForFederators: true },
  { signature: 'updateCollections()', gas: 48_000n, isForFederators: true },
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
