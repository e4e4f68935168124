/** What a federation has to send to the Bridge, as calls: headers, coinbases, transactions, updates, signatures. */
import { witnessRoot } from '../bitcoin/chain/block.ts'
import { encodeHeader } from '../bitcoin/chain/header.ts'
import { encodePartialTree } from '../bitcoin/chain/merkle-root.ts'
import { displayed, fromDisplayed } from '../bitcoin/displayed-hash.ts'
import { reversed } from '../bitcoin/hash.ts'
import type { BitcoinNode, WholeBlock } from '../bitcoin/node-interface.ts'
import { signHash } from '../bitcoin/private-key.ts'
import {
  encodeStripped,
  encodeTransaction,
  hasWitness,
  type Transaction,
  txid,
  wtxid,
} from '../bitcoin/transaction.ts'
import { equal, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toFixedHex } from '../encoding/hex.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import {
  hasSigned,
  inputSighash,
  missingSignatures,
  redeemOf,
} from '../evm/precompiles/bridge/pegout/input-signatures.ts'
import { callData } from './call-data.ts'
import type { Payment } from './payments.ts'

/** Headers of a call: more take much gas, and the reference sends no more than 500 at once. */
const HEADERS_PER_CALL = 100
/** Headers that are sent for one block. */
const MAX_HEADERS = 1000
const NO_HASH = new Uint8Array(32)
/** Index of the coinbase in its block. */
const COINBASE = 0

/** A call of the Bridge, with the gas of its method apart from the data. */
export interface BridgeCallRequest {
  readonly data: Uint8Array
  readonly gas: bigint
  /** What it registers: the hashes of a Bitcoin transaction and its block. */
  readonly registers?: string
}

/** The hash of a stored header, as Bitcoin's tools write it. */
const digitsOfHash = (hash: bigint): string => toFixedHex(hash, 32).slice(2)

/** Height of the last block that the Bridge's best chain and the node's have in common. */
async function commonHeight({ headers }: BridgeState, node: BitcoinNode): Promise<number> {
  let known: ReturnType<typeof headers.parentOf> = headers.best()
  while (known !== undefined && (await node.hashAt(known.height)) !== digitsOfHash(known.hash)) {
    known = headers.parentOf(known)
  }
  return known?.height ?? 0
}

/** The headers that the Bridge lacks, from the last block that both know on; of a long chain the first ones. */
export async function headerCalls(bridge: BridgeState, node: BitcoinNode): Promise<BridgeCallRequest[]> {
  const best = await node.bestBlock()
  if (bridge.headers.get(toBigInt(fromHex(`0x${best.hash}`))) !== undefined) return []
  const first = (await commonHeight(bridge, node)) + 1
  const missing: Uint8Array[] = []
  for (let height = first; missing.length < MAX_HEADERS; height++) {
    const hash = await node.hashAt(height)
    const found = hash === undefined ? undefined : await node.header(hash)
    if (found === undefined) break
    missing.push(encodeHeader(found.header))
  }
  const calls: BridgeCallRequest[] = []
  for (let from = 0; from < missing.length; from += HEADERS_PER_CALL) {
    const some = missing.slice(from, from + HEADERS_PER_CALL)
    const gas = 25_000n + 3_500n * BigInt(some.length - 1)
    calls.push({ data: callData('receiveHeaders(bytes[])', some), gas })
  }
  return calls
}

/** Proves the coinbase of a block, which witnesses of its other transactions need. */
export function coinbaseCall({ hash, transactions }: WholeBlock): BridgeCallRequest {
  const [coinbase] = transactions
  if (coinbase === undefined) throw new RangeError(`block ${hash} has no transactions`)
  const tree = encodePartialTree(transactions.map(txid), new Set([COINBASE]))
  const reserved = coinbase.inputs[0]?.witness[0] ?? NO_HASH
  const data = callData(
    'registerBtcCoinbaseTransaction(bytes,bytes32,bytes,bytes32,bytes32)',
    encodeStripped(coinbase),
    reversed(fromDisplayed(hash)),
    tree,
    reversed(witnessRoot(transactions)),
    reserved,
  )
  return { data, gas: 10_000n }
}

/** Names a transaction in a block. */
export function registrationKey({ transaction, block }: Payment): string {
  return displayed(txid(transaction)) + block.hash
}

/** Proves a transaction; with its witness where it has one. */
export function registrationCall({ transaction, block }: Payment): BridgeCallRequest {
  const isWitness = hasWitness(transaction)
  const own = isWitness ? wtxid(transaction) : txid(transaction)
  const leaves = block.transactions.map((one, index) =>
    isWitness ? (index === COINBASE ? NO_HASH : wtxid(one)) : txid(one),
  )
  const place = leaves.findIndex((leaf) => equal(leaf, own))
  const tree = encodePartialTree(leaves, new Set([place]))
  const data = callData(
    'registerBtcTransaction(bytes,int256,bytes)',
    encodeTransaction(transaction),
    BigInt(block.height),
    tree,
  )
  return { data, gas: 22_000n, registers: registrationKey({ transaction, block }) }
}

/** Does the peg have something to do in the block of this height? */
export function needsUpdate(bridge: BridgeState, height: number): boolean {
  const { peg, federations, federationCells, network } = bridge
  if (federations.retiring() !== undefined) return true
  if (peg.requests.get().length > 0 && BigInt(height) >= peg.nextPegoutHeight) return true
  if (peg.waiting.get().some(({ creationBlock }) => height - creationBlock >= network.pegoutConfirmations)) {
    return true
  }
  const next = federationCells.nextCreationHeight.get()
  if (next !== undefined && height >= next + federations.activationAge) return true
  if (federations.proposed() === undefined) return false
  const isWaiting = peg.svpFundHash.get() !== undefined || peg.svpSpendHash.get() !== undefined
  return !isWaiting || peg.svpFund.get() !== undefined || !federations.isValidating()
}

/** The call that does it. */
export const UPDATE_CALL: BridgeCallRequest = { data: callData('updateCollections()'), gas: 48_000n }

/** What a member signs with. */
export interface SigningKey {
  /** Compressed, of the parent chain. */
  readonly publicKey: Uint8Array
  readonly secret: Uint8Array
  /** Sign something else. */
  readonly isWrong: boolean
}

/** A member's signatures of all inputs of a release. `creationHash`: of the transaction of this chain that made it. */
export function signatureCall(
  { peg }: BridgeState,
  release: Transaction,
  creationHash: Hex,
  { publicKey, secret, isWrong }: SigningKey,
): BridgeCallRequest {
  const values = peg.outpointValues(txid(release))
  const signatures = release.inputs.map((_, index) => {
    const hash = inputSighash(release, index, values?.[index])
    return signHash(isWrong ? keccak256(hash) : hash, { secret, isCompressed: true })
  })
  const data = callData('addSignature(bytes,bytes[],bytes)', publicKey, signatures, fromHex(creationHash))
  return { data, gas: 70_000n }
}

/** How many signatures a release still needs, and which of these keys can give one: they are in its script and have not signed. */
export function missingSigners(
  { peg }: BridgeState,
  release: Transaction,
  keys: readonly Uint8Array[],
): { readonly missing: number; readonly keys: readonly Uint8Array[] } {
  const [input] = release.inputs
  if (input === undefined) return { missing: 0, keys: [] }
  const sighash = inputSighash(release, 0, peg.outpointValues(txid(release))?.[0])
  const { keys: all } = redeemOf(input)
  const can = (key: Uint8Array) => all.some((one) => equal(one, key)) && !hasSigned(input, sighash, key)
  return { missing: missingSignatures(input), keys: keys.filter(can) }
}
