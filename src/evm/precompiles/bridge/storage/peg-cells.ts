/** The cells of the peg: what was processed, what waits, what was proven. Hashes of the parent chain go in and out in raw order. */
import { ByteReader } from '../../../../bitcoin/byte-reader.ts'
import { reversed } from '../../../../bitcoin/hash.ts'
import { compactSize } from '../../../../bitcoin/serialization.ts'
import type { Transaction } from '../../../../bitcoin/transaction.ts'
import type { IsActive } from '../../../../chain/activations.ts'
import { compare, concat, fromBigInt, oneByte, toNumber } from '../../../../encoding/bytes.ts'
import { toHex } from '../../../../encoding/hex.ts'
import { asBytes, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameString } from '../../../../encoding/rlp-frame.ts'
import { CELL, keyedSlot } from '../../../../state/bridge-cells.ts'
import {
  type ReleaseRequest,
  requestQueue,
  SIGNING_RELEASES,
  type SigningReleases,
  SVP_SPEND,
  type SvpSpend,
  transactionCell,
  type WaitingRelease,
  waitingReleases,
} from './releases.ts'
import { type BridgeStore, Cell, type CellFormat, collection, single } from './store.ts'
import { decodeStrings, encodeStrings, groupsOf } from './strings.ts'

/** Hexadecimal of a hash of the parent chain as it is displayed, without prefix: how cells are named by one. */
export function displayed(hash: Uint8Array): string {
  return toHex(reversed(hash)).slice(2)
}

/** Value of a cell that only says that something is so. */
const YES = oneByte(1)

/** Heights at which transactions were processed before RSKIP-134, by displayed hash. */
const OLD_PROCESSED: CellFormat<ReadonlyMap<string, number>> = collection(
  CELL.processedTransactions,
  (strings) =>
    new Map(
      groupsOf(strings, 2).map(([hash, height]) => [
        toHex(hash as Uint8Array).slice(2),
        toNumber(height as Uint8Array),
      ]),
    ),
  (heights) =>
    [...heights]
      .map(([hash, height]) => ({ hash: Buffer.from(hash, 'hex'), height }))
      // Ordered by the hash as it is hashed, from the last displayed byte on.
      .sort((a, b) => compare(reversed(a.hash), reversed(b.hash)))
      .flatMap(({ hash, height }) => [Uint8Array.from(hash), fromBigInt(BigInt(height))]),
)

/** A cell of one hash of the parent chain. */
function hashCell(slot: bigint): CellFormat<Uint8Array | undefined> {
  return single(
    slot,
    (bytes) => reversed(asBytes(decodeRlp(bytes), 'hash')),
    (hash) => frameString(reversed(hash)),
  )
}

/** How a flyover output is spent (RSKIP-176). */
export interface FlyoverOrigin {
  /** What the script commits to. */
  readonly derivationHash: Uint8Array
  /** Script hash of the federation, 20 bytes. */
  readonly federationHash: Uint8Array
}

/** The cells of the peg during one call. */
export class PegCells {
  /** Requests of peg-outs, first come first. */
  readonly requests: Cell<readonly ReleaseRequest[]>
  /** Releases that wait for confirmations. */
  readonly waiting: Cell<readonly WaitingRelease[]>
  /** Releases that wait for signatures. */
  readonly signing: Cell<SigningReleases>
  /** Hash of the SVP fund transaction until it is registered (RSKIP-419). */
  readonly svpFundHash: Cell<Uint8Array | undefined>
  /** The registered SVP fund transaction until it is spent. */
  readonly svpFund: Cell<Transaction | undefined>
  /** Hash of the SVP spend transaction until it is registered. */
  readonly svpSpendHash: Cell<Uint8Array | undefined>
  /** The SVP spend transaction while it waits for signatures. */
  readonly svpSpend: Cell<SvpSpend | undefined>
  readonly #oldProcessed: Cell<ReadonlyMap<string, number>>
  readonly #store: BridgeStore
  readonly #isActive: IsActive

  constructor(store: BridgeStore, isActive: IsActive) {
    this.#store = store
    this.#isActive = isActive
    this.requests = new Cell(store, requestQueue(isActive))
    this.waiting = new Cell(store, waitingReleases(isActive))
    this.signing = new Cell(store, SIGNING_RELEASES)
    this.svpFundHash = new Cell(store, hashCell(CELL.svpFundHash))
    this.svpFund = new Cell(store, transactionCell(CELL.svpFund))
    this.svpSpendHash = new Cell(store, hashCell(CELL.svpSpendHash))
    this.svpSpend = new Cell(store, SVP_SPEND)
    this.#oldProcessed = new Cell(store, OLD_PROCESSED)
  }

  /** Height of the block that processed a transaction of the parent chain; `undefined` when none did. */
  processedHeight(txid: Uint8Array): number | undefined {
    const old = this.#oldProcessed.get().get(displayed(txid))
    if (old !== undefined || !this.#isActive('rskip134')) return old
    const height = this.#store.readInteger(processedSlot(txid))
    return height === undefined ? undefined : Number(height)
  }

  /** Marks a transaction of the parent chain as processed in the block of this height. */
  setProcessed(txid: Uint8Array, height: number): void {
    if (this.#isActive('rskip134')) this.#store.writeInteger(processedSlot(txid), BigInt(height))
    else this.#oldProcessed.set(new Map(this.#oldProcessed.get()).set(displayed(txid), height))
  }

  /** Root of the tree of wtxids that a registered coinbase transaction commits to, by the hash of its block (RSKIP-143). */
  witnessRoot(blockHash: Uint8Array): Uint8Array | undefined {
    if (!this.#isActive('rskip143')) return undefined
    const [root] = decodeStrings(this.#store.read(coinbaseSlot(blockHash)))
    return root && reversed(root)
  }

  setWitnessRoot(blockHash: Uint8Array, root: Uint8Array): void {
    if (this.#isActive('rskip143'))
      this.#store.write(coinbaseSlot(blockHash), encodeStrings([reversed(root)]))
  }

  /** Was a transaction registered with this derivation hash, in an earlier call? */
  isFlyoverUsed(txid: Uint8Array, derivationHash: Uint8Array): boolean {
    return this.#store.readStored(flyoverSlot(txid, derivationHash)).length === 1
  }

  setFlyoverUsed(txid: Uint8Array, derivationHash: Uint8Array): void {
    this.#store.write(flyoverSlot(txid, derivationHash), YES)
  }

  /** What a script hash is the flyover address of, since an earlier call; `undefined` when of nothing. */
  flyoverOrigin(scriptHash: Uint8Array): FlyoverOrigin | undefined {
    if (!this.#isActive('rskip176')) return undefined
    const [derivationHash, federationHash] = decodeStrings(this.#store.readStored(originSlot(scriptHash)))
    return derivationHash && federationHash && { derivationHash, federationHash }
  }

  setFlyoverOrigin(scriptHash: Uint8Array, { derivationHash, federationHash }: FlyoverOrigin): void {
    this.#store.write(originSlot(scriptHash), encodeStrings([derivationHash, federationHash]))
  }

  /** When `receiveHeader` last added a header, Unix seconds (RSKIP-200). */
  get lastReception(): bigint | undefined {
    return this.#store.readInteger(CELL.lastReception)
  }

  setLastReception(timestamp: number): void {
    if (timestamp > 0) this.#store.writeInteger(CELL.lastReception, BigInt(timestamp))
  }

  /** Height from which the next batch may be made (RSKIP-271). Reading it writes it: an absent cell becomes 0. */
  get nextPegoutHeight(): bigint {
    const height = this.#store.readInteger(CELL.nextPegoutHeight) ?? 0n
    this.#store.writeInteger(CELL.nextPegoutHeight, height)
    return height
  }

  setNextPegoutHeight(height: bigint): void {
    this.#store.writeInteger(CELL.nextPegoutHeight, height)
  }

  /** Is it the hash of a release that an earlier call made (RSKIP-379)? As hashed for signatures, in the order of digests. */
  isPegoutSighash(sighash: Uint8Array): boolean {
    return this.#isActive('rskip379') && this.#store.readStored(sighashSlot(sighash)).length === 1
  }

  /** Adds to the index of peg-outs. Throws a RangeError when it has the hash. */
  addPegoutSighash(sighash: Uint8Array): void {
    if (!this.#isActive('rskip379')) return
    if (this.isPegoutSighash(sighash)) throw new RangeError('the peg-out is in the index already')
    this.#store.write(sighashSlot(sighash), YES)
  }

  /** What the inputs of a release spend, satoshi, in order (RSKIP-305); `undefined` for another transaction. */
  outpointValues(txid: Uint8Array): readonly bigint[] | undefined {
    const bytes = this.#store.read(outpointsSlot(txid))
    if (bytes.length === 0) return undefined
    const reader = new ByteReader(bytes)
    const values: bigint[] = []
    while (reader.remaining > 0) values.push(reader.compactSize())
    return values
  }

  /** Throws a RangeError when an earlier call has set them, or there are none. */
  setOutpointValues(txid: Uint8Array, values: readonly bigint[]): void {
    if (!this.#isActive('rskip305')) return
    const slot = outpointsSlot(txid)
    if (values.length === 0 || this.#store.readStored(slot).length > 0) {
      throw new RangeError('no values of inputs, or they are known already')
    }
    this.#store.write(slot, encodeOutpointValues(values))
  }
}

/** Values of inputs, each a CompactSize, as cell and event have them. */
export function encodeOutpointValues(values: readonly bigint[]): Uint8Array {
  return concat(...values.map(compactSize))
}

const processedSlot = (txid: Uint8Array) => keyedSlot('btcTxHashAP', displayed(txid))
const coinbaseSlot = (hash: Uint8Array) => keyedSlot('coinbaseInformation', displayed(hash))
const originSlot = (hash: Uint8Array) => keyedSlot('fastBridgeFederationInformation', toHex(hash).slice(2))
const sighashSlot = (hash: Uint8Array) => keyedSlot('pegoutTxSigHash', toHex(hash).slice(2))
const outpointsSlot = (txid: Uint8Array) => keyedSlot('releasesOutpointsValues', displayed(txid))
const flyoverSlot = (txid: Uint8Array, derivationHash: Uint8Array) =>
  keyedSlot('fastBridgeHashUsedInBtcTx', displayed(txid) + toHex(derivationHash).slice(2))
