/** Peg-outs as they wait: asked for, made and waiting for confirmations, waiting for signatures. */
import { reversed } from '../../../../bitcoin/hash.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../../../bitcoin/transaction.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import { compare, EMPTY, fromBigInt, toBigInt, toNumber } from '../../../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../../encoding/hex.ts'
import { asBytes, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameString } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import { type CellFormat, collection, single } from './store.ts'
import { decodeStrings, encodeStrings, groupsOf } from './strings.ts'

/** A peg-out that was asked for. */
export interface ReleaseRequest {
  /** Hash of the receiver's public key, 20 bytes. */
  readonly receiver: Uint8Array
  /** Satoshi. */
  readonly amount: bigint
  /** Of the transaction that asked; absent before RSKIP-146. */
  readonly requestHash: Uint8Array | undefined
}

/** A transaction of the parent chain that waits until the block that made it is deep enough. */
export interface WaitingRelease {
  readonly transaction: Transaction
  readonly creationBlock: number
  /** Of the transaction that made it; absent before RSKIP-146. */
  readonly creationHash: Uint8Array | undefined
}

/**
 * Entries in two cells: those without the hash of this chain's transaction, and since RSKIP-146 those with it, which is
 * the last string of each.
 */
function inTwoCells<T>(
  slots: readonly [without: bigint, with_: bigint],
  isActive: IsActive,
  {
    read,
    write,
  }: {
    read(first: Uint8Array, second: Uint8Array, hash: Uint8Array | undefined): T
    write(entry: T): readonly [first: Uint8Array, second: Uint8Array, hash: Uint8Array | undefined]
  },
): CellFormat<readonly T[]> {
  const hasBoth = isActive('rskip146')
  const decode = (bytes: Uint8Array | undefined, size: number) =>
    groupsOf(decodeStrings(bytes), size).map(([first, second, hash]) =>
      read(first as Uint8Array, second as Uint8Array, hash),
    )
  return {
    slots,
    decode: ([without, with_]) => [...decode(without, 2), ...(hasBoth ? decode(with_, 3) : [])],
    encode(entries) {
      const written = entries.map(write)
      const without = written.flatMap(([first, second, hash]) => (hash === undefined ? [first, second] : []))
      const with_ = written.flatMap(([first, second, hash]) =>
        hash === undefined ? [] : [first, second, hash],
      )
      return [encodeStrings(without), hasBoth ? encodeStrings(with_) : undefined]
    },
    isWrittenBack: () => true,
  }
}

/** The queue of requests, first come first. */
export function requestQueue(isActive: IsActive): CellFormat<readonly ReleaseRequest[]> {
  return inTwoCells([CELL.oldReleaseRequests, CELL.releaseRequests], isActive, {
    read: (receiver, amount, requestHash) => ({ receiver, amount: toBigInt(amount), requestHash }),
    write: ({ receiver, amount, requestHash }) => [receiver, fromBigInt(amount), requestHash],
  })
}

/** Order of waiting releases: by their bytes. */
export function byBytes(a: WaitingRelease, b: WaitingRelease): number {
  return compare(encodeTransaction(a.transaction), encodeTransaction(b.transaction))
}

/** The releases that wait for confirmations; the cell has them by their bytes, memory in the order of arrival. */
export function waitingReleases(isActive: IsActive): CellFormat<readonly WaitingRelease[]> {
  const format = inTwoCells<WaitingRelease>([CELL.oldReleases, CELL.releases], isActive, {
    read: (transaction, block, creationHash) => ({
      transaction: decodeTransaction(transaction),
      creationBlock: toNumber(block),
      creationHash,
    }),
    write: ({ transaction, creationBlock, creationHash }) => [
      encodeTransaction(transaction),
      fromBigInt(BigInt(creationBlock)),
      creationHash,
    ],
  })
  return { ...format, encode: (entries) => format.encode(entries.toSorted(byBytes)) }
}

/** The releases that wait for signatures, by the hash of the transaction that made them. */
export type SigningReleases = ReadonlyMap<Hex, Transaction>

/** Their cell. */
export const SIGNING_RELEASES: CellFormat<SigningReleases> = collection(
  CELL.signingReleases,
  (strings) =>
    new Map(
      groupsOf(strings, 2).map(([hash = EMPTY, bytes = EMPTY]) => [toHex(hash), decodeTransaction(bytes)]),
    ),
  (releases) => sortedStrings(releases),
)

/** Ordered by hash, from the last byte to the first. */
function sortedStrings(releases: SigningReleases): Uint8Array[] {
  return [...releases]
    .map(([hash, transaction]) => ({ hash: fromHex(hash), transaction }))
    .sort((a, b) => compare(reversed(a.hash), reversed(b.hash)))
    .flatMap(({ hash, transaction }) => [hash, encodeTransaction(transaction)])
}

/** RLP of the releases that wait for signatures, as federators get them. */
export function encodeSigningReleases(releases: SigningReleases): Uint8Array {
  return encodeStrings(sortedStrings(releases))
}

/** The SVP spend transaction and the transaction of this chain that made it. */
export interface SvpSpend {
  readonly creationHash: Hex
  readonly transaction: Transaction
}

/** Its cell. */
export const SVP_SPEND: CellFormat<SvpSpend | undefined> = single(
  CELL.svpSpendRelease,
  (bytes) => {
    const [hash = EMPTY, transaction = EMPTY] = decodeStrings(bytes)
    return { creationHash: toHex(hash), transaction: decodeTransaction(transaction) }
  },
  ({ creationHash, transaction }) => encodeStrings([fromHex(creationHash), encodeTransaction(transaction)]),
)

/** A cell of one transaction. */
export function transactionCell(slot: bigint): CellFormat<Transaction | undefined> {
  return single(
    slot,
    (bytes) => decodeTransaction(asBytes(decodeRlp(bytes), 'transaction')),
    (transaction) => frameString(encodeTransaction(transaction)),
  )
}

/** RLP of the requests as the last of their cells has them. */
export function encodeRequests(requests: readonly ReleaseRequest[], isActive: IsActive): Uint8Array {
  return (
    requestQueue(isActive)
      .encode(requests)
      .findLast((bytes) => bytes !== undefined) ?? EMPTY
  )
}

/** RLP of the releases that wait for confirmations as the last of their cells has them. */
export function encodeWaiting(releases: readonly WaitingRelease[], isActive: IsActive): Uint8Array {
  return (
    waitingReleases(isActive)
      .encode(releases)
      .findLast((bytes) => bytes !== undefined) ?? EMPTY
  )
}
