/** The bridge's methods that read everything but headers. Nothing here can change, so they answer as at genesis. */
import { EMPTY, fromBigInt } from '../../../encoding/bytes.ts'
import { encodeRlp, RLP_EMPTY, type RlpItem } from '../../../encoding/rlp.ts'
import { encodeBytes, encodeInt } from '../abi.ts'
import { PrecompileFailure } from '../precompile.ts'
import {
  FEDERATION_CREATION_BLOCK,
  FEDERATION_CREATION_TIME,
  FEE_PER_KB,
  LOCKING_CAP,
  MINIMUM_PEGIN,
  UNION_LOCKING_CAP,
} from './constants.ts'
import { FEDERATION, pegoutSize } from './federation.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'

type Run = (call: BridgeCall) => Uint8Array

/** Answers for what is not there: a federation, a whitelisted address, a processed transaction. */
const ABSENT = -1

const absent: Run = () => encodeInt(ABSENT)
const nothing: Run = () => encodeBytes(EMPTY)

function local(signature: string, gas: bigint, run: Run): BridgeMethod {
  return { signature, gas, isView: true, isLocalOnly: true, run }
}

function open(signature: string, gas: bigint, run: Run): BridgeMethod {
  return { signature, gas, isView: true, run }
}

function checkKeyType(type: string): void {
  if (type !== 'btc' && type !== 'rsk' && type !== 'mst') throw new PrecompileFailure('no such type of key')
}

/** Each member has one key for all three purposes. */
function federatorKey({ args }: BridgeCall): Uint8Array {
  checkKeyType(args.text(1))
  const key = FEDERATION.publicKeys[args.index(0)]
  if (key === undefined) throw new PrecompileFailure('no such federator')
  return encodeBytes(key)
}

/** The key of a member of a federation that is not there. */
function absentKey({ args }: BridgeCall): Uint8Array {
  checkKeyType(args.text(1))
  return encodeBytes(EMPTY)
}

function checkTransactionHash(text: string): void {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new PrecompileFailure('malformed transaction hash')
}

function processedHeight({ args }: BridgeCall): Uint8Array {
  checkTransactionHash(args.text(0))
  return encodeInt(ABSENT)
}

function isProcessed({ args }: BridgeCall): Uint8Array {
  checkTransactionHash(args.text(0))
  return encodeInt(0)
}

/** A list, serialized, as a byte string within another list: how the node nests what it has kept. */
const EMPTY_LIST: RlpItem = encodeRlp([])

/** Best height, coins, peg-outs to sign, requests, peg-outs to confirm, next peg-out. */
function debuggingState({ headers }: BridgeCall): Uint8Array {
  const height = fromBigInt(BigInt(headers.best().height))
  return encodeBytes(encodeRlp([height, EMPTY_LIST, EMPTY_LIST, EMPTY_LIST, EMPTY_LIST, RLP_EMPTY]))
}

/** One list within another: nothing waits. */
const nothingWaits: Run = () => encodeBytes(encodeRlp([[]]))

/** The node supposes two inputs, and two outputs beside the requests, when it has no coins to plan with (RSKIP-385). */
const pegoutFees: Run = () => encodeInt(Math.floor((FEE_PER_KB * pegoutSize(2, 2)) / 1000))

const noCoins: Run = () => {
  throw new PrecompileFailure('there are no coins to plan a peg-out with')
}

/** All of them, as the interface of the node lists them. Times in Unix seconds, amounts in satoshi but for the union's cap (wei). */
export const STATE_METHODS: readonly BridgeMethod[] = [
  local('getBtcTxHashProcessedHeight(string)', 22_000n, processedHeight),
  local('isBtcTxHashAlreadyProcessed(string)', 23_000n, isProcessed),
  local('getFederationAddress()', 11_000n, () => encodeBytes(new TextEncoder().encode(FEDERATION.address))),
  local('getFederationCreationBlockNumber()', 10_000n, () => encodeInt(FEDERATION_CREATION_BLOCK)),
  local('getFederationCreationTime()', 10_000n, () => encodeInt(FEDERATION_CREATION_TIME)),
  local('getFederationSize()', 10_000n, () => encodeInt(FEDERATION.publicKeys.length)),
  local('getFederationThreshold()', 11_000n, () => encodeInt(FEDERATION.threshold)),
  local('getFederatorPublicKeyOfType(int256,string)', 10_000n, federatorKey),
  local('getFeePerKb()', 2_000n, () => encodeInt(FEE_PER_KB)),
  local('getLockWhitelistAddress(int256)', 16_000n, nothing),
  local('getLockWhitelistEntryByAddress(string)', 16_000n, absent),
  local('getLockWhitelistSize()', 16_000n, () => encodeInt(0)),
  local('getMinimumLockTxValue()', 2_000n, () => encodeInt(MINIMUM_PEGIN)),
  local('getPendingFederationHash()', 3_000n, nothing),
  local('getPendingFederationSize()', 3_000n, absent),
  local('getPendingFederatorPublicKeyOfType(int256,string)', 3_000n, absentKey),
  local('getRetiringFederationAddress()', 3_000n, nothing),
  local('getRetiringFederationCreationBlockNumber()', 3_000n, absent),
  local('getRetiringFederationCreationTime()', 3_000n, absent),
  local('getRetiringFederationSize()', 3_000n, absent),
  local('getRetiringFederationThreshold()', 3_000n, absent),
  local('getRetiringFederatorPublicKeyOfType(int256,string)', 3_000n, absentKey),
  local('getProposedFederationAddress()', 3_000n, nothing),
  local('getProposedFederationSize()', 3_000n, absent),
  local('getProposedFederationCreationTime()', 3_000n, absent),
  local('getProposedFederationCreationBlockNumber()', 3_000n, absent),
  local('getProposedFederatorPublicKeyOfType(int256,string)', 3_000n, absentKey),
  local('getStateForBtcReleaseClient()', 4_000n, nothingWaits),
  local('getStateForSvpClient()', 4_000n, nothingWaits),
  local('getStateForDebugging()', 3_000_000n, debuggingState),
  local('getLockingCap()', 3_000n, () => encodeInt(LOCKING_CAP)),
  open('getActivePowpegRedeemScript()', 30_000n, () => encodeBytes(FEDERATION.redeemScript)),
  open('getActiveFederationCreationBlockHeight()', 3_000n, () => encodeInt(0)),
  open('hasBtcBlockCoinbaseTransactionInformation(bytes32)', 5_000n, () => encodeInt(0)),
  open('getNextPegoutCreationBlockNumber()', 3_000n, () => encodeInt(0)),
  open('getQueuedPegoutsCount()', 3_000n, () => encodeInt(0)),
  open('getEstimatedFeesForNextPegOutEvent()', 10_000n, pegoutFees),
  open('getEstimatedFeesForPegOutAmount(uint256)', 10_000n, noCoins),
  open('getUnionBridgeContractAddress()', 3_000n, () => encodeInt(0)),
  open('getUnionBridgeLockingCap()', 3_000n, () => encodeInt(UNION_LOCKING_CAP)),
  open('getSuperEvent()', 3_000n, nothing),
  open('getBaseEvent()', 3_000n, nothing),
]
