/** The names of the Bridge's storage cells (docs/internals/protocol.md#66-bridge). */
import { toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'

const utf8 = new TextEncoder()

/** The slot of a named cell: the name in ASCII, as an integer. */
export function namedSlot(name: string): bigint {
  return toBigInt(utf8.encode(name))
}

/** The slot of a cell that belongs to something: keccak-256 of the name, a hyphen and what it belongs to. */
export function keyedSlot(name: string, key: string): bigint {
  return toBigInt(keccak256(utf8.encode(`${name}-${key}`)))
}

/** Named cells. */
export const CELL = {
  /** The best header with its height and work. */
  chainHead: namedSlot('blockStoreChainHead'),
  /** When `receiveHeader` last added a header: RLP of Unix seconds. */
  lastReception: namedSlot('receiveHeadersLastTimestamp'),
  /** Transactions of the parent chain that were processed before RSKIP-134; empty. */
  processedTransactions: namedSlot('btcTxHashesAP'),
  /** Release requests of before RSKIP-146; empty. */
  oldReleaseRequests: namedSlot('releaseRequestQueue'),
  releaseRequests: namedSlot('releaseRequestQueueWithTxHash'),
  /** RLP of the height from which the next peg-out may be made. */
  nextPegoutHeight: namedSlot('nextPegoutHeight'),
  /** Outputs that the active federation can spend. */
  federationOutputs: namedSlot('newFederationBtcUTXOs'),
  feePerKb: namedSlot('feePerKb'),
  feeElection: namedSlot('feePerKbElection'),
  lockingCap: namedSlot('lockingCap'),
  oneOffWhitelist: namedSlot('lockWhitelist'),
  unlimitedWhitelist: namedSlot('unlimitedLockWhitelist'),
  federationElection: namedSlot('federationElection'),
  pendingFederation: namedSlot('pendingFederation'),
  pendingFederationVersion: namedSlot('pendingFederationFormatVersion'),
  proposedFederation: namedSlot('proposedFederation'),
  proposedFederationVersion: namedSlot('proposedFederationFormatVersion'),
  unionAddress: namedSlot('unionBridgeContractAddress'),
  unionLockingCap: namedSlot('unionBridgeLockingCap'),
  unionTransferred: namedSlot('weisTransferredToUnionBridge'),
  unionRequestEnabled: namedSlot('unionBridgeRequestEnabled'),
  unionReleaseEnabled: namedSlot('unionBridgeReleaseEnabled'),
  superEvent: namedSlot('superEvent'),
  baseEvent: namedSlot('baseEvent'),
} as const
