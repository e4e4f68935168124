/** State files as text: JSON that Anvil loads as well, since it ignores members that it does not know. */
import { createHash } from 'node:crypto'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import { EMPTY_TRIE_ROOT } from '../account.ts'
import { EMPTY_UNCLES_HASH, encodeBlock } from '../block.ts'
import type { ChainConfig } from '../config.ts'
import type { Header } from '../header.ts'
import { encodeStoredReceipt } from '../receipt.ts'
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

/** The text between the content and the checksum, which is the SHA-256 of the content. */
export const CHECKSUM_MARK = ',"checksum":"'

const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`

/** Anvil reads a nonce as a JSON number; one that is not exact is written as text. */
function nonceOf(nonce: bigint): number | Hex {
  return nonce <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nonce) : toQuantity(nonce)
}

const isWord = (bytes: Uint8Array): boolean => bytes.length <= 32 && bytes[0] !== 0

/** In Anvil's form, which has words of 32 bytes. Other cells are in `cells`, and a contract flag that differs from having code in `contract`. */
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
    receipts: receipts.map((receipt) => toHex(encodeStoredReceipt(receipt))),
    ...(internals.length > 0 && { internals }),
    changes: changesObject(changes),
    ...(edits.size > 0 && { edits: changesObject(edits) }),
  }
}

const poolObject = ({ raw, from }: Transaction): object => ({ raw: toHex(raw), from })

/** Addresses of 20 bytes; the sender of the REMASC transaction has one byte, which Anvil does not take. */
const isPlain = (address: Hex): boolean => address.length === 42

/** The head as Anvil's `block`, on which the next block builds. */
function blockEnvironment({ number, coinbase, timestamp, gasLimit, minimumGasPrice }: Header): object {
  return {
    number: toQuantity(number),
    beneficiary: coinbase,
    timestamp: toQuantity(timestamp),
    gas_limit: Number(gasLimit),
    basefee: Number(minimumGasPrice),
    difficulty: '0x0',
    prevrandao: ZERO_HASH,
    blob_excess_gas_and_price: null,
  }
}

/** The head as a header of Ethereum, which Anvil looks up by its number; its hash is not that of the block here. */
function ethereumHeader(header: Header): object {
  const { number, parentHash, coinbase, stateRoot, timestamp, gasLimit, gasUsed, minimumGasPrice } = header
  return {
    parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: toHex(new Uint8Array(256)),
    difficulty: '0x0',
    number: toQuantity(number),
    gasLimit: toQuantity(gasLimit),
    gasUsed: toQuantity(gasUsed),
    timestamp: toQuantity(timestamp),
    extraData: '0x',
    mixHash: ZERO_HASH,
    nonce: '0x0000000000000000',
    baseFeePerGas: toQuantity(minimumGasPrice),
  }
}

function* members(dump: StateDump, config: ChainConfig): Generator<string, undefined> {
  const { chain, chainId, network, rules, genesis, head, header, accounts, ...rest } = dump
  const { sources, history, pool, parent } = rest
  const front = {
    format: STATE_FORMAT,
    version: STATE_VERSION,
    chain,
    chainId,
    network,
    rules,
    genesis,
    head,
  }
  const block = JSON.stringify(blockEnvironment(header))
  yield `${JSON.stringify(front).slice(0, -1)},"block":${block},"best_block_number":${head.number},"accounts":{`
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
  const blocks = [{ header: ethereumHeader(header), transactions: [], ommers: [], withdrawals: null }]
  yield `},"otherAccounts":${JSON.stringify(others)},"blocks":${JSON.stringify(blocks)}`
  yield ',"transactions":[],"historical_states":null'
  if (sources !== undefined && sources.texts.length > 0) {
    for (const [i, text] of sources.texts.entries()) yield `${i === 0 ? ',"sources":[' : ','}${text}`
    yield `],"verified":${JSON.stringify(sources.verified)}`
  }
  if (history === undefined) return
  yield ',"history":['
  separator = ''
  for (const record of history) {
    yield `${separator}${JSON.stringify(blockObject(record, config))}`
    separator = ','
  }
  yield `],"pool":${JSON.stringify(pool.map(poolObject))}`
  if (parent !== undefined) yield `,"parentChain":"${toHex(parent)}"`
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
