/** State files as text: JSON that Anvil loads as well, which passes over the members it does not know. */
import { createHash } from 'node:crypto'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import { encodeBlock } from '../block.ts'
import type { ChainConfig } from '../config.ts'
import { encodeReceipt } from '../receipt.ts'
import type { Transaction } from '../transaction.ts'
import type {
  AccountChange,
  BlockRecord,
  CellBytes,
  StateChangeRecord,
  StateDump,
  WholeAccount,
} from './records.ts'

/** The `format` of a state file of this node. */
export const STATE_FORMAT = 'tandem-state'
/** Raised with every change that another version would misread. */
export const STATE_VERSION = 1

/** The text between the content and the checksum, which is the SHA-256 of all that stands before this text. */
export const CHECKSUM_MARK = ',"checksum":"'

/** Anvil reads a nonce as a JSON number; one beyond the exact ones is text. */
function nonceOf(nonce: bigint): number | Hex {
  return nonce <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nonce) : toQuantity(nonce)
}

const isWord = (bytes: Uint8Array): boolean => bytes.length <= 32 && bytes[0] !== 0

/** In Anvil's form, which has words of 32 bytes; what is no word stands in `cells`, and what code does not show in `contract`. */
function wholeAccount({ nonce, balance, isContract, code, cells }: WholeAccount): object {
  const storage: Record<string, string> = {}
  const others: Record<string, string> = {}
  for (const [slot, bytes] of cells) {
    const name = toFixedHex(slot, 32)
    if (isWord(bytes)) storage[name] = `0x${toHex(bytes).slice(2).padStart(64, '0')}`
    else others[name] = toHex(bytes)
  }
  return {
    nonce: nonceOf(nonce),
    balance: toQuantity(balance),
    code: toHex(code),
    storage,
    ...(isContract === code.length > 0 ? {} : { contract: isContract }),
    ...(Object.keys(others).length > 0 && { cells: others }),
  }
}

function cellObject(cells: CellBytes): Record<string, string> {
  return Object.fromEntries([...cells].map(([slot, bytes]) => [toQuantity(slot), toHex(bytes)]))
}

function changedAccount({ nonce, balance, isContract, code, isNew, cells }: AccountChange): object {
  return {
    nonce: toQuantity(nonce),
    balance: toQuantity(balance),
    ...(isContract && { contract: true }),
    ...(code && { code: toHex(code) }),
    ...(isNew && { new: true }),
    ...(cells.size > 0 && { cells: cellObject(cells) }),
  }
}

function changesObject(changes: StateChangeRecord): object {
  return Object.fromEntries(
    [...changes].map(([address, change]) => [address, change && changedAccount(change)]),
  )
}

function blockObject(record: BlockRecord, config: ChainConfig): object {
  const { block, receipts, internals, changes, edits } = record
  return {
    raw: toHex(encodeBlock(block, config)),
    from: block.transactions.map(({ from }) => from),
    receipts: receipts.map((receipt) => toHex(encodeReceipt(receipt))),
    ...(internals.length > 0 && { internals }),
    changes: changesObject(changes),
    ...(edits.size > 0 && { edits: changesObject(edits) }),
  }
}

const poolObject = ({ raw, from }: Transaction): object => ({ raw: toHex(raw), from })

/** Addresses of 20 bytes; the sender of the REMASC transaction has one byte, which Anvil does not take. */
const isPlain = (address: Hex): boolean => address.length === 42

function* members(dump: StateDump, config: ChainConfig): Generator<string, undefined> {
  const { chain, chainId, genesis, head, accounts, history, pool } = dump
  const front = { format: STATE_FORMAT, version: STATE_VERSION, chain, chainId, genesis, head }
  // Anvil takes the head of a dump that names a block from `blocks`, whose headers are those of Ethereum.
  yield `${JSON.stringify(front).slice(0, -1)},"block":null,"best_block_number":${head.number},"accounts":{`
  const others: Record<string, object> = {}
  let separator = ''
  for (const [address, account] of accounts) {
    if (isPlain(address)) {
      yield `${separator}"${address}":${JSON.stringify(wholeAccount(account))}`
      separator = ','
    } else {
      others[address] = wholeAccount(account)
    }
  }
  yield `},"otherAccounts":${JSON.stringify(others)},"blocks":[],"transactions":[],"historical_states":null`
  if (history === undefined) return
  yield ',"history":['
  separator = ''
  for (const record of history) {
    yield `${separator}${JSON.stringify(blockObject(record, config))}`
    separator = ','
  }
  yield `],"pool":${JSON.stringify(pool.map(poolObject))}`
}

/** The text of a state file, piece by piece. */
export function* writeStateFile(dump: StateDump, config: ChainConfig): Generator<string, undefined> {
  const hash = createHash('sha256')
  for (const piece of members(dump, config)) {
    hash.update(piece)
    yield piece
  }
  yield `${CHECKSUM_MARK}${hash.digest('hex')}"}\n`
}
