/** An engine with fixed answers: two mined blocks, a pending one, a few accounts; it records the commands. */
import { readFileSync } from 'node:fs'
import { createAbiRegistry } from '../../src/abi/registry.ts'
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
import type { DevTools } from '../../src/engine/dev/dev-tools.ts'
import type { Commands, Engine, Queries } from '../../src/engine/engine.ts'
import { createEmitter } from '../../src/engine/events.ts'
import type { BlockReference, BlockView, MiningWork } from '../../src/engine/model.ts'
import type { Peers } from '../../src/engine/peers/peer-scoring.ts'
import type { Cost } from '../../src/engine/wallet/encrypted-key.ts'
import { createKeyStore } from '../../src/engine/wallet/key-store.ts'
import { createWallet } from '../../src/engine/wallet/wallet.ts'
import { invalidParams, type NodeError } from '../../src/errors.ts'
import type { CallFrame } from '../../src/evm/tracing/call-frame.ts'
import type { StateReader } from '../../src/state/model.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { reportPlainCall } from './plain-trace.ts'

const text = new TextEncoder()
export const config = CHAINS.regtest
export const COW_KEY = keccak256(text.encode('cow'))
export const A = addressOf(COW_KEY)
export const B = addressOf(keccak256(text.encode('cow1')))
export const N: Hex = '0x00000000000000000000000000000000000dead1'
export const CONTRACT: Hex = '0x00000000000000000000000000000000c0de0001'
export const CODE = fromHex('0x600160005260206000f3')
export const TOPIC: Hex = `0x${'1'.repeat(64)}`
/** Of passphrases in tests: a millisecond each. */
export const CHEAP: Cost = { n: 2, r: 8, p: 1 }
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
const log: Log = { address: CONTRACT, topics: [TOPIC], data: new Uint8Array(0) }

function receipt(
  cumulativeGasUsed: bigint,
  gasUsed: bigint,
  logs: readonly Log[],
  succeeded = true,
): Receipt {
  return { succeeded, cumulativeGasUsed, gasUsed, logsBloom: bloom, logs }
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
/** Of this uncle only the header is known. */
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

function stateWith(nonce: bigint): StateReader {
  const accounts = new Map<Hex, Account>([
    [A, { ...EMPTY_ACCOUNT, nonce, balance: 10n ** 30n }],
    [B, { ...EMPTY_ACCOUNT, balance: 10n ** 30n }],
    [CONTRACT, { ...EMPTY_ACCOUNT, nonce: 1n, codeHash: keccakHex(CODE) }],
  ])
  return {
    account: (address) => accounts.get(address),
    cell: (address, slot) => (address === CONTRACT && slot === 1n ? 0xbeefn : 0n),
    storage: (address, slot) => (address === CONTRACT && slot === 1n ? 0xbeefn : 0n),
    code: (hash) => (hash === EMPTY_CODE_HASH ? new Uint8Array(0) : CODE),
  }
}

const states = new Map<ExecutedBlock, StateReader>([
  [block0, stateWith(0n)],
  [block1, stateWith(3n)],
  [sideBlock, stateWith(77n)],
  [pendingBlock, stateWith(4n)],
])

function find(reference: BlockReference): BlockView | undefined {
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

/** A transfer as it is traced. */
const PLAIN_FRAME: CallFrame = {
  kind: 'call',
  depth: 0,
  from: A,
  to: B,
  value: 1n,
  gas: 21_000n,
  gasUsed: 21_000n,
  input: new Uint8Array(0),
  output: new Uint8Array(0),
  isPrecompile: false,
  ranCode: false,
  logs: [],
  calls: [],
}

/** What a command was called with. */
export interface Call {
  readonly name: string
  readonly args: readonly unknown[]
}

/** Peers in memory. */
function fakePeers(): Peers {
  const bans = new Set<string>()
  return {
    recordEvent() {},
    isBanned: (address) => bans.has(address),
    async ban(text) {
      bans.add(text)
      return text !== '127.0.0.1'
    },
    async unban(text) {
      bans.delete(text)
      return text !== '127.0.0.1'
    },
    banned: () => [...bans],
    list: () => [],
    async clearScore() {},
    onBan: () => () => {},
    async close() {},
  }
}

/** The engine, and the recorded calls of its commands and queries. Parts can be replaced. */
export function fakeEngine(
  parts: {
    wallet?: boolean
    queries?: Partial<Queries>
    commands?: Partial<Commands>
    dev?: Partial<DevTools>
  } = {},
): { engine: Engine; calls: Call[] } {
  const calls: Call[] = []
  const note =
    <T>(name: string, result: T) =>
    async (...args: readonly unknown[]): Promise<T> => {
      calls.push({ name, args })
      return result
    }
  const wallet = parts.wallet ?? true
  const keys = new Map<Hex, Uint8Array>(
    wallet
      ? [
          [A, COW_KEY],
          [B, keccak256(text.encode('cow1'))],
        ]
      : [],
  )
  const at = (hash: Hex) => block1.block.transactions.findIndex((transaction) => transaction.hash === hash)
  const queries: Queries = {
    head: () => block1,
    block: async (reference) => find(reference),
    blocksAt: (height) => [block0, block1, sideBlock].filter(({ block }) => block.header.number === height),
    isCanonical: (hash) => {
      const view = find({ hash })
      return view && view.executed !== sideBlock
    },
    state: async (reference) => {
      const view = find(reference)
      return view && states.get(view.executed)
    },
    transaction: (hash) => {
      const index = at(hash)
      const transaction = block1.block.transactions[index]
      if (transaction !== undefined) return { transaction, block: block1, index }
      return hash === pooled.hash ? { transaction: pooled } : undefined
    },
    receipt: (hash) => {
      const index = at(hash)
      const [transaction, mined] = [block1.block.transactions[index], block1.receipts[index]]
      if (transaction === undefined || mined === undefined) return undefined
      const firstLogIndex = block1.receipts.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0)
      return { transaction, receipt: mined, block: block1, index, firstLogIndex }
    },
    uncle: (block, index) => block.uncles[index],
    pendingTransactions: () => [pooled],
    queuedTransactions: () => [queued],
    poolSize: () => ({ pending: 1, queued: 1 }),
    accountQuota: (address) => (address === A ? { available: 1.5, since: 7 } : undefined),
    pendingNonce: (address) => (address === A ? 4n : 0n),
    call: note('call', new Uint8Array(0)),
    estimateGas: note('estimateGas', 21_000n),
    accessList: note('accessList', {
      entries: [{ address: CONTRACT, slots: [1n] }],
      simulation: {
        output: new Uint8Array(0),
        gasUsed: 50_000n,
        refund: 30_000n,
        valueCallSeen: false,
      },
    }),
    traceFilter: note('traceFilter', []),
    traceCall: async (_request, _reference, tracer) => reportPlainCall(tracer, A, B, stateWith(0n)),
    compareRules: note('compareRules', undefined),
    replay: async () => ({ state: new Overlay(stateWith(0n)) }),
    traces: async () => [],
    trace: async (block, index) => ({
      block,
      transaction: block.block.transactions[index] as Transaction,
      index,
      root: PLAIN_FRAME,
    }),
    logs: note('logs', [
      { log, block: block1, transaction: logging, transactionIndex: 2, logIndex: 1, removed: false },
    ]),
    async *blocksBetween(_senders, _receivers, { from, to }) {
      yield [0, 1].filter((height) => height >= from && height <= to)
    },
    proof: async (address, slots, reference) =>
      find(reference) && {
        address,
        account: address === A ? { ...EMPTY_ACCOUNT, balance: 10n ** 30n, nonce: 3n } : undefined,
        storageHash: EMPTY_TRIE_ROOT,
        accountProof: [fromHex('0xc0')],
        storageProof: slots.map((slot) => ({ slot, value: slot, proof: [] })),
      },
    gasPrice: () => 66n,
    feeHistory: note('feeHistory', { oldest: 0, samples: [{ gasUsedRatio: 0.5, prices: [7n] }] }),
    hashrate: () => ({ own: 5n, network: 9n }),
    coinbase: () => block1.block.header.coinbase,
    work: async () => work,
    isMining: () => true,
    ...parts.queries,
  }
  const commands: Commands = {
    submit: async (transaction) => note('submit', { hash: transaction.hash })(transaction),
    send: async (request) => {
      if (!keys.has(request.from)) throw invalidParams(`Could not find account for address: ${request.from}`)
      return note('send', { hash: UNKNOWN })(request)
    },
    sendWith: note('sendWith', UNKNOWN),
    sign: note('sign', pooled),
    mine: note('mine', [block1]),
    importBlock: note('importBlock', { outcome: 'best', hash: block1.hash }),
    reorg: note('reorg', { removed: [block1], added: [] }),
    takeWork: note('takeWork', { ...work, notify: true }),
    submitWork: note('submitWork', { outcome: 'best', hash: block1.hash, height: 1 }),
    submitNonce: note('submitNonce', undefined),
    reportHashrate: (...args) => void calls.push({ name: 'reportHashrate', args }),
    snapshot: note('snapshot', 1),
    revert: async (id) => note('revert', id === 1)(id),
    reset: note('reset', undefined),
    increaseTime: async (seconds) => note('increaseTime', Math.max(0, seconds))(seconds),
    setNextBlockTimestamp: note('setNextBlockTimestamp', undefined),
    setAutomine: note('setAutomine', undefined),
    setIntervalMining: note('setIntervalMining', undefined),
    startMining: note('startMining', undefined),
    stopMining: note('stopMining', undefined),
    ...parts.commands,
  }
  const impersonated = new Set<Hex>()
  const dev: DevTools = {
    editState: note('editState', undefined),
    setCoinbase: note('setCoinbase', undefined),
    setBlockGasLimit: note('setBlockGasLimit', undefined),
    setMinimumGasPrice: note('setMinimumGasPrice', undefined),
    setTime: note('setTime', 7),
    setBlockTimestampInterval: note('setBlockTimestampInterval', true),
    dropTransaction: async (hash) => note('dropTransaction', hash === pooled.hash)(hash),
    dropAllTransactions: note('dropAllTransactions', undefined),
    impersonation: {
      covers: (address) => impersonated.has(address),
      start: (address) => void impersonated.add(address),
      stop: (address) => impersonated.delete(address),
      setEverybody: (on) => void calls.push({ name: 'setEverybody', args: [on] }),
    },
    miningMode: () => 'auto',
    headerOverrides: () => ({}),
    snapshots: () => [{ id: 1, height: 1, hash: block1.hash }],
    instanceId: () => UNKNOWN,
    ...parts.dev,
  }
  const engine: Engine = {
    config,
    commands,
    queries,
    accounts: createWallet({
      local: {
        enabled: wallet,
        list: () => [...keys.keys()],
        has: (address) => keys.has(address),
        // The wallet wipes a key that it locks.
        key: (address) => keys.get(address)?.slice(),
      },
      keyStore: createKeyStore({ cost: CHEAP, milliseconds: Date.now }),
      milliseconds: Date.now,
    }),
    names: createAbiRegistry(),
    dev,
    peers: fakePeers(),
    events: createEmitter((error) => {
      throw error
    }),
    close: async () => {},
  }
  return { engine, calls }
}

/** An engine that answers every call with this error. */
export function failingCalls(error: NodeError): Engine {
  const fail = async () => {
    throw error
  }
  return fakeEngine({ queries: { call: fail, estimateGas: fail } }).engine
}
