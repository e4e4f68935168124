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

/** The slot of a cell of the union bridge: keccak-256 of the name, however short it is. */
function hashedSlot(name: string): bigint {
  return toBigInt(keccak256(utf8.encode(name)))
}

/** Named cells. */
export const CELL = {
  /** The best header with its height and work. */
  chainHead: namedSlot('blockStoreChainHead'),
  /** When `receiveHeader` last added a header: RLP of Unix seconds. */
  lastReception: namedSlot('receiveHeadersLastTimestamp'),
  /** Transactions of the parent chain that were processed before RSKIP-134. */
  processedTransactions: namedSlot('btcTxHashesAP'),
  /** Release requests of before RSKIP-146. */
  oldReleaseRequests: namedSlot('releaseRequestQueue'),
  releaseRequests: namedSlot('releaseRequestQueueWithTxHash'),
  /** Releases that wait for confirmations, of before RSKIP-146. */
  oldReleases: namedSlot('releaseTransactionSet'),
  releases: namedSlot('releaseTransactionSetWithTxHash'),
  /** Releases that wait for signatures. */
  signingReleases: namedSlot('rskTxsWaitingFS'),
  svpFundHash: namedSlot('svpFundTxHashUnsigned'),
  svpFund: namedSlot('svpFundTxSigned'),
  svpSpendHash: namedSlot('svpSpendTxHashUnsigned'),
  svpSpendRelease: namedSlot('svpSpendTxWaitingForSignatures'),
  /** RLP of the height from which the next peg-out may be made. */
  nextPegoutHeight: namedSlot('nextPegoutHeight'),
  /** Outputs that the newest federation can spend; testnet has had others (RSKIP-284, RSKIP-293). */
  newOutputs: namedSlot('newFederationBtcUTXOs'),
  newOutputsOfTestnet: namedSlot('newFederationBtcUTXOsForTestnet'),
  newOutputsOfTestnetSinceHop: namedSlot('newFedBtcUTXOsForTestnetPostHop'),
  /** Outputs that the federation before it can spend. */
  oldOutputs: namedSlot('oldFederationBtcUTXOs'),
  newFederation: namedSlot('newFederation'),
  newFederationVersion: namedSlot('newFederationFormatVersion'),
  oldFederation: namedSlot('oldFederation'),
  oldFederationVersion: namedSlot('oldFederationFormatVersion'),
  activeCreationHeight: namedSlot('activeFedCreationBlockHeight'),
  nextCreationHeight: namedSlot('nextFedCreationBlockHeight'),
  lastRetiredScript: namedSlot('lastRetiredFedP2SHScript'),
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
  unionAddress: hashedSlot('unionBridgeContractAddress'),
  unionLockingCap: hashedSlot('unionBridgeLockingCap'),
  unionTransferred: hashedSlot('weisTransferredToUnionBridge'),
  unionRequestEnabled: hashedSlot('unionBridgeRequestEnabled'),
  unionReleaseEnabled: hashedSlot('unionBridgeReleaseEnabled'),
  superEvent: hashedSlot('superEvent'),
  baseEvent: hashedSlot('baseEvent'),
} as const
