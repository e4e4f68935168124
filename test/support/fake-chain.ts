/** The chain of the engine with fixed answers: two mined blocks, a sibling, a pending one, a few accounts. */
import { readFileSync } from 'node:fs'
import type { Account } from '../../src/chain/account.ts'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Block, ExecutedBlock } from '../../src/chain/block.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { parseGenesis } from '../../src/chain/genesis.ts'
import { type Header, headerHash } from '../../src/chain/header.ts'
import type { Log, Receipt } from '../../src/chain/receipt.ts'
import { addressOf } from '../../src/chain/signature.ts'
import { remascTransaction, signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import type { BlockReference, BlockView, MiningWork } from '../../src/engine/model.ts'
import type { StateReader } from '../../src/state/model.ts'

const text = new TextEncoder()
export const config = CHAINS.regtest
export const COW_KEY = keccak256(text.encode('cow'))
export const COW1_KEY = keccak256(text.encode('cow1'))
export const A = addressOf(COW_KEY)
export const B = addressOf(COW1_KEY)
export const N: Hex = '0x00000000000000000000000000000000000dead1'
export const CONTRACT: Hex = '0x00000000000000000000000000000000c0de0001'
export const CODE = fromHex('0x600160005260206000f3')
export const TOPIC: Hex = `0x${'1'.repeat(64)}`
export const UNKNOWN: Hex = `0x${'9'.repeat(64)}`

export function transfer(
  nonce: bigint,
  fields: Partial<Parameters<typeof signTransaction>[0]> = {},
): Transaction {
  const base = { gasPrice: 0n, gasLimit: 21_000n, to: B, value: 1n, data: new Uint8Array(0), chainId: 33 }
  return signTransaction({ ...base, nonce, ...fields }, COW_KEY)
}

const genesisFile = new URL('../../genesis/regtest.json', import.meta.url)
const genesis = parseGenesis(JSON.parse(readFileSync(genesisFile, 'utf8')), config)
const bloom = new Uint8Array(256)
export const log: Log = { address: CONTRACT, topics: [TOPIC], data: new Uint8Array(0) }

function receipt(
  cumulativeGasUsed: bigint,
  gasUsed: bigint,
  logs: readonly Log[],
  succeeded = true,
): Receipt {
  return { succeeded, cumulativeGasUsed, gasUsed, logsBloom: bloom, logs, type: 0 }
}

const genesisHeader = genesis.header(EMPTY_TRIE_ROOT)
/** Work on the head. */
export const work: MiningWork = {
  hash: `0x${'5'.repeat(64)}`,
  target: 1n << 200n,
  paidFees: 12n,
  parentHash: UNKNOWN,
}

export const block0: ExecutedBlock = {
  hash: headerHash(genesisHeader, config),
  block: { header: genesisHeader, transactions: [], uncles: [] },
  receipts: [],
  totalDifficulty: 1n,
  postState: EMPTY_TRIE_ROOT,
}

function nextHeader(parent: ExecutedBlock, fields: Partial<Header>): Header {
  const { header } = parent.block
  return {
    ...header,
    version: 1,
    parentHash: parent.hash,
    coinbase: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
    number: header.number + 1,
    timestamp: header.timestamp + 10,
    extraData: fromHex('0x01'),
    ummRoot: new Uint8Array(0),
    edges: [],
    bitcoinHeader: new Uint8Array(80),
    merkleProof: new Uint8Array(0),
    coinbaseTransaction: fromHex('0xabcd'),
    ...fields,
  }
}

/** Known to the node and named by block 1, but not canonical. */
export const sideBlock: ExecutedBlock = (() => {
  const header = nextHeader(block0, { extraData: fromHex('0x5d'), difficulty: 3n })
  const block = { header, transactions: [remascTransaction(1)], uncles: [] }
  const receipts = [receipt(0n, 0n, [])]
  return {
    hash: headerHash(header, config),
    block,
    receipts,
    totalDifficulty: 4n,
    postState: EMPTY_TRIE_ROOT,
  }
})()
/** An uncle of which only the header is stored. */
export const strangeUncle = nextHeader(block0, { extraData: fromHex('0x57'), difficulty: 2n })

export const firstTransfer = transfer(0n)
/** A creation that failed. */
export const creation = transfer(1n, { to: null, data: fromHex('0xfe'), gasLimit: 90_000n })
/** A transaction that made two logs. */
export const logging = transfer(2n, { to: CONTRACT, gasPrice: 7n })
export const block1: ExecutedBlock = (() => {
  const uncles = [sideBlock.block.header, strangeUncle]
  const header = nextHeader(block0, { difficulty: 5n, uncleCount: 2, edges: [2], paidFees: 12n })
  const block: Block = {
    header,
    transactions: [firstTransfer, creation, logging, remascTransaction(1)],
    uncles,
  }
  const receipts = [
    receipt(21_000n, 21_000n, [log]),
    receipt(111_000n, 90_000n, [], false),
    receipt(141_000n, 30_000n, [log, log]),
    receipt(141_000n, 0n, []),
  ]
  return {
    hash: headerHash(header, config),
    block,
    receipts,
    totalDifficulty: 11n,
    postState: EMPTY_TRIE_ROOT,
  }
})()

/** Pooled, runnable. */
export const pooled = transfer(3n)
/** Pooled, behind a gap of nonces. */
export const queued = transfer(7n, { to: null, value: 128n })
export const pendingBlock: ExecutedBlock = (() => {
  const header = nextHeader(block1, {
    bitcoinHeader: new Uint8Array(0),
    coinbaseTransaction: new Uint8Array(0),
  })
  const block = { header, transactions: [pooled, remascTransaction(2)], uncles: [] }
  const receipts = [receipt(21_000n, 21_000n, []), receipt(21_000n, 0n, [])]
  return {
    hash: headerHash(header, config),
    block,
    receipts,
    totalDifficulty: 0n,
    postState: EMPTY_TRIE_ROOT,
  }
})()

export function stateWith(nonce: bigint): StateReader {
  const accounts = new Map<Hex, Account>([
    [A, { ...EMPTY_ACCOUNT, nonce, balance: 10n ** 30n }],
    [B, { ...EMPTY_ACCOUNT, balance: 10n ** 30n }],
    [CONTRACT, { ...EMPTY_ACCOUNT, nonce: 1n, codeHash: keccakHex(CODE) }],
  ])
  return {
    account: (address) => accounts.get(address),
    cell: (address, slot) => (address === CONTRACT && slot === 1n ? 0xbeefn : 0n),
    storage: (address, slot) => (address === CONTRACT && slot === 1n ? 0xbeefn : 0n),
    cells: (address) => new Map(address === CONTRACT ? [[1n, 0xbeefn]] : []),
    code: (hash) => (hash === EMPTY_CODE_HASH ? new Uint8Array(0) : CODE),
  }
}

export const states = new Map<ExecutedBlock, StateReader>([
  [block0, stateWith(0n)],
  [block1, stateWith(3n)],
  [sideBlock, stateWith(77n)],
  [pendingBlock, stateWith(4n)],
])

export function find(reference: BlockReference): BlockView | undefined {
  if ('tag' in reference) {
    if (reference.tag === 'pending') return { executed: pendingBlock, pending: true }
    return { executed: reference.tag === 'earliest' ? block0 : block1, pending: false }
  }
  if ('number' in reference) {
    const executed = [block0, block1][reference.number]
    return executed && { executed, pending: false }
  }
  const executed = [block0, block1, sideBlock].find(({ hash }) => hash === reference.hash)
  if (executed === undefined || (reference.requireCanonical && executed === sideBlock)) return undefined
  return { executed, pending: false }
}
