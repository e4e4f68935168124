/** The two engines that every store test runs on, and blocks to put into them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutedBlock } from '../../src/chain/block.ts'
import { ZERO_BLOOM } from '../../src/chain/bloom.ts'
import { CHAINS } from '../../src/chain/config.ts'
import { type Header, headerHash } from '../../src/chain/header.ts'
import type { Receipt } from '../../src/chain/receipt.ts'
import { remascTransaction, signTransaction, type Transaction } from '../../src/chain/transaction.ts'
import { EMPTY, fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { openStore, type Store } from '../../src/store/level.ts'
import { createMemoryStore, freezeEntries } from '../../src/store/memory-store.ts'

export const CONFIG = CHAINS.regtest

/** Runs a body in a directory of its own that is gone afterwards. */
export async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tandem-store-'))
  try {
    await body(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Runs a body on an open store, on disk and in memory. */
export const ENGINES: readonly {
  name: string
  withStore: (body: (store: Store) => Promise<void>) => Promise<void>
}[] = [
  { name: 'memory', withStore: (body) => run(undefined, body) },
  { name: 'disk', withStore: (body) => inDirectory((directory) => run(directory, body)) },
  { name: 'overlay', withStore: overlay },
]

/** On a store above another, which is empty. */
async function overlay(body: (store: Store) => Promise<void>): Promise<void> {
  await run(undefined, async (store) => body(createMemoryStore(await freezeEntries(store))))
}

async function run(dataDir: string | undefined, body: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore({ dataDir, chain: CONFIG.name, chainId: CONFIG.chainId })
  try {
    await body(store)
  } finally {
    await store.close()
  }
}

const KEY = keccak256(new TextEncoder().encode('cow'))

/** A signed transfer. */
export function transfer(nonce: number, gasPrice = 1n): Transaction {
  return signTransaction(
    {
      nonce: BigInt(nonce),
      gasPrice,
      gasLimit: 21_000n,
      to: '0x7986b3df570230288501eea3d890bd66948c9b79',
      value: 7n,
      data: Uint8Array.of(0, 1, 0xff),
      chainId: CONFIG.chainId,
    },
    KEY,
  )
}

function hashOf(seed: bigint): Hex {
  return keccakHex(fromBigIntFixed(seed, 32))
}

/** A header with a proof of arbitrary bytes. */
function header(parentHash: Hex, number: number, salt: number): Header {
  const rules = CONFIG.rulesAt(number)
  return {
    version: rules.headerVersion,
    parentHash,
    unclesHash: hashOf(1n),
    coinbase: '0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d',
    stateRoot: hashOf(2n),
    transactionsRoot: hashOf(3n),
    receiptsRoot: hashOf(4n),
    logsBloom: ZERO_BLOOM,
    difficulty: 1n,
    number,
    gasLimit: 6_800_000n,
    gasUsed: 21_000n,
    timestamp: 1_700_000_000 + salt,
    extraData: Uint8Array.of(1, 2),
    paidFees: 21_000n,
    minimumGasPrice: 0n,
    uncleCount: 0,
    ummRoot: rules.umm ? EMPTY : undefined,
    edges: rules.headerVersion === 0 ? undefined : [],
    baseEvent: rules.headerVersion === 2 ? EMPTY : undefined,
    bitcoinHeader: new Uint8Array(80).fill(salt % 256),
    merkleProof: EMPTY,
    coinbaseTransaction: new Uint8Array(100).fill(9),
  }
}

function receiptOf(index: number): Receipt {
  return {
    succeeded: index % 2 === 0,
    type: 0,
    cumulativeGasUsed: BigInt(21_000 * (index + 1)),
    gasUsed: 21_000n,
    logsBloom: ZERO_BLOOM,
    logs: [
      { address: '0x0000000000000000000000000000000001000008', topics: [hashOf(5n)], data: Uint8Array.of(0) },
    ],
  }
}

/** A block with these transactions, the REMASC transaction after them (but in block 0); `salt` distinguishes siblings. */
export function blockOf(
  parentHash: Hex,
  number: number,
  salt: number,
  transactions: readonly Transaction[] = [],
  uncles: readonly Header[] = [],
): ExecutedBlock {
  const all = number === 0 ? transactions : [...transactions, remascTransaction(number)]
  const above = header(parentHash, number, salt)
  return {
    hash: headerHash(above, CONFIG),
    block: { header: above, transactions: all, uncles },
    receipts: all.map((_, index) => receiptOf(index)),
    totalDifficulty: BigInt(number) * 3n + 1n,
    postState: hashOf(6n),
  }
}

export const NO_PARENT: Hex = `0x${'00'.repeat(32)}`
