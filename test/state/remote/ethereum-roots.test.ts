/** Blocks of an Ethereum-like upstream against the roots of their header; blocks and roots are the library's. */
import { createBlockHeader, genTransactionsTrieRoot } from '@ethereumjs/block'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createMPT } from '@ethereumjs/trie'
import { createTx, type TypedTransaction } from '@ethereumjs/tx'
import { encodeReceipt } from '@ethereumjs/vm'
import { expect, it } from 'vitest'
import { logsBloom } from '../../../src/chain/bloom.ts'
import { CHAINS } from '../../../src/chain/config.ts'
import { fromBigInt } from '../../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex, toQuantity } from '../../../src/encoding/hex.ts'
import { encodeRlp } from '../../../src/encoding/rlp.ts'
import { NodeError } from '../../../src/errors.ts'
import { toRpcReceipt } from '../../../src/rpc/wire/receipt.ts'
import { toRpcTransaction } from '../../../src/rpc/wire/transaction.ts'
import { type BlockParts, ChainBlocks } from '../../../src/state/remote/chain-blocks.ts'

type Json = Record<string, unknown>

const common = new Common({ chain: Mainnet, hardfork: Hardfork.Prague })
/** The library asks for it, and has no use for it without the blobs. */
const blobCommon = new Common({
  chain: Mainnet,
  hardfork: Hardfork.Prague,
  customCrypto: { kzg: {} as never },
})
const KEY = new Uint8Array(32).fill(9)
const TO: Hex = `0x${'12'.repeat(20)}`
const WORD: Hex = `0x${'0b'.repeat(32)}`
const accessList = [{ address: TO, storageKeys: [WORD] }]
const fees = { maxFeePerGas: 50n, maxPriorityFeePerGas: 2n, accessList }
const authorizationList = [
  { chainId: '0x1', address: TO, nonce: '0x0', yParity: '0x1', r: '0x5', s: '0x6' },
] as const

/** One of each type; the second is signed without a chain id. */
const TRANSACTIONS: TypedTransaction[] = [
  createTx({ nonce: 0n, gasPrice: 40n, gasLimit: 90_000n, to: TO, value: 3n, data: '0x00ff' }, { common }),
  createTx(
    { nonce: 1n, gasPrice: 40n, gasLimit: 90_000n },
    { common: new Common({ chain: Mainnet, hardfork: Hardfork.Homestead }) },
  ),
  createTx({ type: 1, nonce: 2n, gasPrice: 40n, gasLimit: 90_000n, to: TO, accessList }, { common }),
  createTx({ type: 2, nonce: 3n, gasLimit: 90_000n, value: 1n, data: '0x6001', ...fees }, { common }),
  createTx(
    {
      type: 3,
      nonce: 4n,
      gasLimit: 90_000n,
      to: TO,
      maxFeePerBlobGas: 7n,
      blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
      ...fees,
    },
    { common: blobCommon },
  ),
  createTx(
    { type: 4, nonce: 5n, gasLimit: 90_000n, to: TO, authorizationList: [...authorizationList], ...fees },
    { common },
  ),
].map((transaction) => transaction.sign(KEY))

const LOGS = [{ address: TO, topics: [WORD], data: Uint8Array.of(1, 2) }]

/** What an upstream answers for a block of the transactions, whose roots are those of the library. */
async function answers(transactions = TRANSACTIONS): Promise<{ block: Json; receipts: Json[] }> {
  const trie = await createMPT()
  const receipts: Json[] = []
  for (const [index, transaction] of transactions.entries()) {
    const end = BigInt(index + 1) * 21_000n
    const logs = index % 2 === 0 ? LOGS : []
    const bloom = logsBloom(logs)
    const stored = {
      status: 1 as const,
      cumulativeBlockGasUsed: end,
      bitvector: bloom,
      logs: logs.map(
        ({ address, topics, data }) =>
          [fromHex(address), topics.map(fromHex), data] as [Uint8Array, Uint8Array[], Uint8Array],
      ),
    }
    await trie.put(encodeRlp(fromBigInt(BigInt(index))), encodeReceipt(stored, transaction.type))
    const place = { transactionHash: toHex(transaction.hash()), transactionIndex: toQuantity(index) }
    receipts.push({
      ...place,
      cumulativeGasUsed: toQuantity(end),
      gasUsed: '0x5208',
      status: '0x1',
      logs: logs.map(({ data, ...log }) => ({
        ...log,
        ...place,
        data: toHex(data),
        blockNumber: '0x9',
        logIndex: '0x0',
      })),
    })
  }
  const given = {
    number: 9,
    timestamp: 1_700_000_000,
    gasLimit: 30_000_000,
    transactionsTrie: await genTransactionsTrieRoot(transactions),
    receiptTrie: trie.root(),
  }
  const header = createBlockHeader(given, { common })
  const hash = toHex(header.hash())
  const { uncleHash, transactionsTrie, receiptTrie, coinbase, ...json } = header.toJSON()
  const wire = transactions.map((transaction) => {
    const { data, gasLimit, ...fields } = transaction.toJSON()
    return {
      to: null,
      ...fields,
      ...(transaction.type === 4 && { authorizationList }),
      hash: toHex(transaction.hash()),
      type: toQuantity(transaction.type),
      from: transaction.getSenderAddress().toString(),
      input: data,
      gas: gasLimit,
    }
  })
  for (const receipt of receipts) {
    receipt.blockHash = hash
    for (const log of receipt.logs as Json[]) log.blockHash = hash
  }
  const names = {
    sha3Uncles: uncleHash,
    transactionsRoot: transactionsTrie,
    receiptsRoot: receiptTrie,
    miner: coinbase,
  }
  return { block: { ...json, ...names, hash, uncles: [], transactions: wire }, receipts }
}

/** Reads the block from an upstream that answers so: the refusal, or what was stated. */
async function read({ block, receipts }: Awaited<ReturnType<typeof answers>>) {
  const notices: string[] = []
  const hash = block.hash as Hex
  const asker = {
    origin: () => 'http://upstream',
    sendCached: async (calls: readonly { method: string }[]) =>
      calls.map(({ method }) => ({ result: method === 'eth_getBlockReceipts' ? receipts : block })),
  }
  const blocks = new ChainBlocks({
    point: { chainId: 1, number: 9, hash },
    asker,
    cache: undefined,
    config: { ...CHAINS.regtest, chainId: 1 },
    capabilities: { blockReceipts: true, anchor: 'hash' },
    isSameFamily: false,
    notice: (message: string) => void notices.push(message),
  } as unknown as BlockParts)
  try {
    const found = await blocks.byHash(hash)
    return { notices, count: found?.block.transactions.length, found }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { notices, refusal: /wrong answer: (.*?)\. Nothing/.exec(error.message)?.[1] }
  }
}

it('accepts a block with one transaction of each type', async () => {
  expect(await read(await answers())).toMatchObject({ notices: [], count: TRANSACTIONS.length })
  expect(await read(await answers([]))).toMatchObject({ notices: [], count: 0 })
})

it.each(TRANSACTIONS.map(({ type }, index) => [type, index] as const))(
  'shows a transaction of type %i with its members, its bytes and the price that it paid',
  async (type, index) => {
    const given = await answers()
    const paid = { ...given.receipts[index], effectiveGasPrice: '0x2a' }
    given.receipts[index] = paid
    const { found } = await read(given)
    const transaction = found?.block.transactions[index]
    if (found === undefined || transaction === undefined) throw new Error('it is missing')
    const wire: Json = { ...(given.block.transactions as Json[])[index] }
    wire.to ??= null
    const members = [
      ...['hash', 'type', 'nonce', 'gas', 'to', 'from', 'value', 'input', 'accessList', 'maxFeePerGas'],
      ...['maxPriorityFeePerGas', 'authorizationList', 'maxFeePerBlobGas', 'blobVersionedHashes'],
      ...(type > 0 ? ['chainId'] : []),
    ]
    const shown: Json = toRpcTransaction(transaction)
    for (const name of members) expect([name, shown[name]]).toEqual([name, wire[name]])
    expect(toHex(transaction.raw)).toBe(toHex(TRANSACTIONS[index]?.serialize() ?? new Uint8Array()))
    expect(shown.gasPrice).toBe('0x2a')
    const [receipt] = found.receipts.slice(index)
    if (receipt === undefined) throw new Error('its receipt is missing')
    expect(toRpcReceipt({ transaction, receipt, block: found, index, firstLogIndex: 0 })).toMatchObject({
      type: toQuantity(type),
      effectiveGasPrice: '0x2a',
    })
  },
)

it.each(TRANSACTIONS.map(({ type }, index) => [type, index] as const))(
  'refuses a forged member in a transaction of type %i',
  async (_, index) => {
    const given = await answers()
    const transactions = given.block.transactions as Json[]
    transactions[index] = { ...transactions[index], value: '0x777' }
    expect(await read(given)).toEqual({
      notices: [],
      refusal: 'the transactions of block 9 have another root than its header',
    })
  },
)

it('refuses a block without one of its transactions and the receipt', async () => {
  const { block, receipts } = await answers()
  const transactions = (block.transactions as Json[]).slice(0, -1)
  expect(await read({ block: { ...block, transactions }, receipts: receipts.slice(0, -1) })).toMatchObject({
    refusal: 'the transactions of block 9 have another root than its header',
  })
})

it.each([
  ['status', '0x0'],
  ['logs', []],
])('refuses a receipt with another %s', async (name, value) => {
  const given = await answers()
  given.receipts[2] = { ...given.receipts[2], [name]: value }
  expect(await read(given)).toMatchObject({
    refusal: 'the receipts of block 9 have another root than its header',
  })
})

it('refuses a receipt whose gas does not match the cumulative gas', async () => {
  const given = await answers()
  given.receipts[2] = { ...given.receipts[2], gasUsed: '0x1' }
  expect(await read(given)).toMatchObject({
    refusal: 'the receipts of block 9 have other amounts of gas than their sums',
  })
})

it.each([
  ['an unknown type', { type: '0x7e' }, /of type 0x7e, is of no known form$/],
  ['no signature', { r: '0x0', s: '0x0' }, /of type 0x2, is of no known form$/],
  [
    'another sender',
    { from: TO },
    /^the hash or the sender of transaction 0x[0-9a-f]{64} of block 9 is not that of its signature$/,
  ],
])('states that a transaction with %s is not proven', async (_, change, why) => {
  const given = await answers()
  const transactions = given.block.transactions as Json[]
  transactions[3] = { ...transactions[3], ...change }
  const { notices, count } = await read(given)
  expect(count).toBe(TRANSACTIONS.length)
  expect(notices).toHaveLength(1)
  const stated =
    /^Transactions and receipts of the fork are not proven by the upstream http:\/\/upstream: (.*)\.$/
  expect(stated.exec(notices[0] ?? '')?.[1]).toMatch(why)
})
