/** The Bridge's methods that read everything but headers. What needs the peg itself is as at genesis. */

import { formatAddress, parseAddress } from '../../../bitcoin/address.ts'
import { EMPTY, fromBigInt } from '../../../encoding/bytes.ts'
import { fromHex, toHex } from '../../../encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../../../encoding/rlp.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import { encodeBytes, encodeInt } from '../abi.ts'
import { PrecompileFailure } from '../precompile.ts'
import {
  ADDRESS_VERSIONS,
  FEDERATION_CREATION_BLOCK,
  FEDERATION_CREATION_TIME,
  MINIMUM_PEGIN,
} from './constants.ts'
import { FEDERATION, federationOf } from './federation.ts'
import {
  type Member,
  type ProposedFederation,
  parentKeys,
  pendingHash,
  pendingMembers,
  proposedFederation,
} from './federation-change.ts'
import type { BridgeCall, BridgeMethod } from './method.ts'
import { feePerKb, pegoutFee, queuedReleases } from './release.ts'
import { lockingCap } from './setting-votes.ts'
import { encodeInteger } from './store.ts'
import { readWhitelist } from './whitelist.ts'

type Run = (call: BridgeCall) => Uint8Array

/** Result for what does not exist: a federation, a whitelisted address, a processed transaction. */
const ABSENT = -1

const absent: Run = () => encodeInt(ABSENT)
const nothing: Run = () => encodeBytes(EMPTY)

function local(signature: string, gas: bigint, run: Run): BridgeMethod {
  return { signature, gas, isView: true, isLocalOnly: true, run }
}

function open(signature: string, gas: bigint, run: Run): BridgeMethod {
  return { signature, gas, isView: true, run }
}

const KEY_TYPES = ['btc', 'rsk', 'mst']

/** Index of a type of key in a member. */
function keyType({ args }: BridgeCall): number {
  const type = KEY_TYPES.indexOf(args.text(1))
  if (type < 0) throw new PrecompileFailure('no such type of key')
  return type
}

/** Each member has one key for all three purposes. */
function federatorKey(call: BridgeCall): Uint8Array {
  keyType(call)
  const key = FEDERATION.publicKeys[call.args.index(0)]
  if (key === undefined) throw new PrecompileFailure('no such federator')
  return encodeBytes(key)
}

/** A member's key; no bytes when the federation does not exist. */
function keyOf(call: BridgeCall, members: readonly Member[] | undefined): Uint8Array {
  const type = keyType(call)
  if (members === undefined) return encodeBytes(EMPTY)
  const key = members[call.args.index(0)]?.[type]
  if (key === undefined) throw new PrecompileFailure('no such federator')
  return encodeBytes(key)
}

function text(value: string): Uint8Array {
  return encodeBytes(new TextEncoder().encode(value))
}

/** A number of the proposed federation, or the result for an absent one. */
function ofProposed(read: (federation: ProposedFederation) => number): Run {
  return ({ store }) => {
    const federation = proposedFederation(store)
    return encodeInt(federation === undefined ? ABSENT : read(federation))
  }
}

const proposedAddress: Run = ({ store }) => {
  const federation = proposedFederation(store)
  return text(federation === undefined ? '' : federationOf(parentKeys(federation.members)).address)
}

const pendingFederationHash: Run = ({ store }) => {
  const members = pendingMembers(store)
  return encodeBytes(members === undefined ? EMPTY : pendingHash(members))
}

const whitelistAddress: Run = ({ args, store }) => {
  const hash = [...readWhitelist(store).entries.keys()][args.index(0)]
  return text(
    hash === undefined ? '' : formatAddress({ kind: 'publicKeyHash', hash: fromHex(hash) }, ADDRESS_VERSIONS),
  )
}

const whitelistEntry: Run = ({ args, store }) => {
  const hash = parseAddress(args.text(0), ADDRESS_VERSIONS)?.slice(1)
  const amount = hash && readWhitelist(store).entries.get(toHex(hash))
  if (amount === undefined) return encodeInt(ABSENT)
  return encodeInt(amount === 'unlimited' ? 0 : amount)
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

/** A serialized list as a byte string within another list: how the reference node nests its cells. */
const EMPTY_LIST: RlpItem = encodeRlp([])

/** Best height, coins, peg-outs to sign, requests, peg-outs to confirm, next peg-out. */
function debuggingState({ headers, store }: BridgeCall): Uint8Array {
  const height = fromBigInt(BigInt(headers.best().height))
  const requests = store.touchList(CELL.releaseRequests)
  const next = encodeInteger(store.readInteger(CELL.nextPegoutHeight) ?? 0n)
  return encodeBytes(encodeRlp([height, EMPTY_LIST, EMPTY_LIST, requests, EMPTY_LIST, next]))
}

/** One list within another: nothing waits. */
const nothingWaits: Run = () => encodeBytes(encodeRlp([[]]))

/** Without coins to plan with, the fee is that of two inputs, and two outputs beside the requests (RSKIP-385). */
const pegoutFees: Run = ({ store }) => {
  store.touchList(CELL.federationOutputs)
  return encodeInt(pegoutFee(store, 2, 2 + queuedReleases(store)))
}

const nextPegout: Run = ({ store }) => {
  const height = store.readInteger(CELL.nextPegoutHeight) ?? 0n
  store.writeInteger(CELL.nextPegoutHeight, height)
  return encodeInt(height)
}

const noCoins: Run = () => {
  throw new PrecompileFailure('there are no coins to plan a peg-out with')
}

/** All of them. Times in Unix seconds, amounts in satoshi. */
export const STATE_METHODS: readonly BridgeMethod[] = [
  local('getBtcTxHashProcessedHeight(string)', 22_000n, processedHeight),
  local('isBtcTxHashAlreadyProcessed(string)', 23_000n, isProcessed),
  local('getFederationAddress()', 11_000n, () => text(FEDERATION.address)),
  local('getFederationCreationBlockNumber()', 10_000n, () => encodeInt(FEDERATION_CREATION_BLOCK)),
  local('getFederationCreationTime()', 10_000n, () => encodeInt(FEDERATION_CREATION_TIME)),
  local('getFederationSize()', 10_000n, () => encodeInt(FEDERATION.publicKeys.length)),
  local('getFederationThreshold()', 11_000n, () => encodeInt(FEDERATION.threshold)),
  local('getFederatorPublicKeyOfType(int256,string)', 10_000n, federatorKey),
  local('getFeePerKb()', 2_000n, ({ store }) => encodeInt(feePerKb(store))),
  local('getLockWhitelistAddress(int256)', 16_000n, whitelistAddress),
  local('getLockWhitelistEntryByAddress(string)', 16_000n, whitelistEntry),
  local('getLockWhitelistSize()', 16_000n, ({ store }) => encodeInt(readWhitelist(store).entries.size)),
  local('getMinimumLockTxValue()', 2_000n, () => encodeInt(MINIMUM_PEGIN)),
  local('getPendingFederationHash()', 3_000n, pendingFederationHash),
  local('getPendingFederationSize()', 3_000n, ({ store }) =>
    encodeInt(pendingMembers(store)?.length ?? ABSENT),
  ),
  local('getPendingFederatorPublicKeyOfType(int256,string)', 3_000n, (call) =>
    keyOf(call, pendingMembers(call.store)),
  ),
  local('getRetiringFederationAddress()', 3_000n, nothing),
  local('getRetiringFederationCreationBlockNumber()', 3_000n, absent),
  local('getRetiringFederationCreationTime()', 3_000n, absent),
  local('getRetiringFederationSize()', 3_000n, absent),
  local('getRetiringFederationThreshold()', 3_000n, absent),
  local('getRetiringFederatorPublicKeyOfType(int256,string)', 3_000n, (call) => keyOf(call, undefined)),
  local('getProposedFederationAddress()', 3_000n, proposedAddress),
  local(
    'getProposedFederationSize()',
    3_000n,
    ofProposed(({ members }) => members.length),
  ),
  local(
    'getProposedFederationCreationTime()',
    3_000n,
    ofProposed(({ creationTime }) => creationTime),
  ),
  local(
    'getProposedFederationCreationBlockNumber()',
    3_000n,
    ofProposed(({ creationBlock }) => creationBlock),
  ),
  local('getProposedFederatorPublicKeyOfType(int256,string)', 3_000n, (call) =>
    keyOf(call, proposedFederation(call.store)?.members),
  ),
  local('getStateForBtcReleaseClient()', 4_000n, nothingWaits),
  local('getStateForSvpClient()', 4_000n, nothingWaits),
  local('getStateForDebugging()', 3_000_000n, debuggingState),
  local('getLockingCap()', 3_000n, ({ store }) => encodeInt(lockingCap(store))),
  open('getActivePowpegRedeemScript()', 30_000n, () => encodeBytes(FEDERATION.redeemScript)),
  open('getActiveFederationCreationBlockHeight()', 3_000n, () => encodeInt(0)),
  open('hasBtcBlockCoinbaseTransactionInformation(bytes32)', 5_000n, () => encodeInt(0)),
  open('getNextPegoutCreationBlockNumber()', 3_000n, nextPegout),
  open('getQueuedPegoutsCount()', 3_000n, ({ store }) => encodeInt(queuedReleases(store))),
  open('getEstimatedFeesForNextPegOutEvent()', 10_000n, pegoutFees),
  open('getEstimatedFeesForPegOutAmount(uint256)', 10_000n, noCoins),
]
