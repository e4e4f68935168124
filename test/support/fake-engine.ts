/** An engine with fixed answers over a fixed chain; it records the commands. */
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import type { Transaction } from '../../src/chain/transaction.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { Call as EngineCall } from '../../src/engine/call.ts'
import type { DevTools } from '../../src/engine/dev/dev-tools.ts'
import type { Commands, Engine, Queries } from '../../src/engine/engine.ts'
import { createEmitter } from '../../src/engine/events.ts'
import type { EngineEvents } from '../../src/engine/model.ts'
import type { Peers } from '../../src/engine/peers/peer-scoring.ts'
import type { SimulationStep, StepResult } from '../../src/engine/queries/simulate-steps.ts'
import { createRandomness } from '../../src/engine/randomness.ts'
import { EngineCoverage } from '../../src/engine/recording/coverage.ts'
import { EngineGas } from '../../src/engine/recording/gas.ts'
import { Recordings } from '../../src/engine/recording/recordings.ts'
import { CodeMaps } from '../../src/engine/sources/code-maps.ts'
import { SourceDebugger } from '../../src/engine/sources/debugger.ts'
import { SourceStore } from '../../src/engine/sources/source-store.ts'
import { EngineSources } from '../../src/engine/sources/sources.ts'
import { StackTraces } from '../../src/engine/sources/stack-traces.ts'
import type { Cost } from '../../src/engine/wallet/encrypted-key.ts'
import { createKeyStore } from '../../src/engine/wallet/key-store.ts'
import { createWallet } from '../../src/engine/wallet/wallet.ts'
import { invalidParams, type NodeError } from '../../src/errors.ts'
import type { CallFrame } from '../../src/evm/tracing/call-frame.ts'
import { createVm } from '../../src/evm/vm.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import {
  A,
  B,
  block0,
  block1,
  CODE,
  CONTRACT,
  COW_KEY,
  COW1_KEY,
  config,
  find,
  log,
  logging,
  pooled,
  queued,
  sideBlock,
  states,
  stateWith,
  UNKNOWN,
  work,
} from './fake-chain.ts'
import { NO_TOKENS } from './no-tokens.ts'
import { reportPlainCall } from './plain-trace.ts'

/** Cost of passphrases in tests: a millisecond each. */
export const CHEAP: Cost = { n: 2, r: 8, p: 1 }

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

/** The result of a simulated step: of a message, that of a plain transfer. */
function plainStep({ kind }: SimulationStep): StepResult {
  const { number, timestamp } = block1.block.header
  const place = { kind, block: { number, timestamp } }
  if (kind === 'set' || kind === 'warp') return { ...place, kind }
  const state = stateWith(0n)
  return {
    ...place,
    kind,
    type: 0,
    succeeded: true,
    output: PLAIN_FRAME.output,
    gasUsed: PLAIN_FRAME.gasUsed,
    fee: 0n,
    root: PLAIN_FRAME,
    logs: [],
    changes: [],
    before: state,
    after: state,
    assets: [],
    tokens: new Map(),
  }
}

/** The arguments of a command. */
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
          [B, COW1_KEY],
        ]
      : [],
  )
  const at = (hash: Hex) => block1.block.transactions.findIndex((transaction) => transaction.hash === hash)
  const queries: Queries = {
    head: () => block1,
    block: async (reference) => find(reference),
    heightOf: (reference) => find(reference)?.executed.block.header.number,
    blocksAt: (height) => [block0, block1, sideBlock].filter(({ block }) => block.header.number === height),
    isCanonical: (hash) => find({ hash }) && find({ hash })?.executed !== sideBlock,
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
    pendingTransactionAt: (position) => [pooled][position],
    pooledOf: (sender) => ({
      pending: [pooled].filter(({ from }) => from === sender),
      queued: [queued].filter(({ from }) => from === sender),
    }),
    pooledAt: (sender, nonce) => [pooled, queued].find((one) => one.from === sender && one.nonce === nonce),
    poolSize: () => ({ pending: 1, queued: 1 }),
    accountQuota: (address) => (address === A ? { available: 1.5, since: 7 } : undefined),
    nextTimestamp: () => block1.block.header.timestamp + 1,
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
        after: new Overlay(stateWith(0n)),
      },
    }),
    simulateBlocks: note('simulateBlocks', []),
    simulateSteps: async (_place, steps) => steps.map(plainStep),
    callMany: note('callMany', []),
    callBundle: note('callBundle', []),
    valueField: note('valueField', { answer: {} }),
    wordAnswer: note('wordAnswer', {}),
    async *minedBlocks() {},
    implementations: async () => [],
    ...NO_TOKENS,
    traceFilter: note('traceFilter', []),
    traceCalls: async (steps) => {
      for (const { tracer } of steps) reportPlainCall(tracer, A, B, stateWith(0n))
    },
    traceSigned: async (_transaction, tracer) => reportPlainCall(tracer, A, B, stateWith(0n)),
    executed: async () => block1,
    storageRange: note('storageRange', { cells: [], next: undefined }),
    traceCall: async (_request, _reference, tracer) => reportPlainCall(tracer, A, B, stateWith(0n)),
    compareRules: note('compareRules', undefined),
    compareRuleSets: note('compareRuleSets', undefined),
    transactionBySenderAndNonce: async (sender, nonce) => {
      const index = block1.block.transactions.findIndex((one) => one.from === sender && one.nonce === nonce)
      const transaction = block1.block.transactions[index]
      return transaction && { transaction, place: { hash: block1.hash, number: 1, index } }
    },
    contractOrigin: note('contractOrigin', undefined),
    accountTransactions: note('accountTransactions', { transactions: [], isFirst: true, isLast: true }),
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
    storageHash: () => EMPTY_TRIE_ROOT,
    codeByHash: (hash) => (hash === keccakHex(CODE) ? CODE : undefined),
    changedAccounts: () => [A, B],
    gasPrice: () => 66n,
    feeHistory: note('feeHistory', {
      oldest: 0,
      samples: [{ gasUsedRatio: 0.5, prices: [7n], minimumGasPrice: 0n }],
    }),
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
    sendUnsigned: note('sendUnsigned', { hash: UNKNOWN }),
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
    setMiningMode: note('setMiningMode', undefined),
    startMining: note('startMining', undefined),
    stopMining: note('stopMining', undefined),
    ...parts.commands,
  }
  const impersonated = new Set<Hex>()
  const dev: DevTools = {
    dump: () => ({
      chain: config.name,
      chainId: config.chainId,
      genesis: block0.hash,
      head: { number: 1, hash: block1.hash, stateRoot: block1.postState },
      header: block1.block.header,
      accounts: [],
      pool: [],
    }),
    loadAccounts: note('loadAccounts', undefined),
    loadChain: note('loadChain', undefined),
    editState: note('editState', undefined),
    addBalance: note('addBalance', undefined),
    rollback: note('rollback', undefined),
    replaceBlocks: note('replaceBlocks', undefined),
    lastBlockTime: () => 1_700_000_000,
    isLoggingEnabled: () => true,
    setLoggingEnabled: (on) => void calls.push({ name: 'setLoggingEnabled', args: [on] }),
    setCoinbase: note('setCoinbase', undefined),
    setBlockGasLimit: note('setBlockGasLimit', undefined),
    setMinimumGasPrice: note('setMinimumGasPrice', undefined),
    setTime: note('setTime', { offset: 7, moved: 7 }),
    setBlockTimestampInterval: note('setBlockTimestampInterval', true),
    dropTransaction: async (hash) => note('dropTransaction', hash === pooled.hash)(hash),
    dropTransactionsOf: note('dropTransactionsOf', undefined),
    dropAllTransactions: note('dropAllTransactions', undefined),
    impersonation: {
      covers: (address) => impersonated.has(address),
      start: (address) => void impersonated.add(address),
      stop: (address) => impersonated.delete(address),
      impersonateSignature: (...args) => void calls.push({ name: 'impersonateSignature', args }),
      save: () => ({ addresses: [...impersonated], everybody: false, signatures: [] }),
      restore: note('restore', undefined),
      setEverybody: (on) => void calls.push({ name: 'setEverybody', args: [on] }),
    },
    miningMode: () => 'auto',
    setMiningHandler: note('setMiningHandler', undefined),
    headerOverrides: () => ({}),
    modes: () => ({
      clock: { offset: 0, exact: undefined, interval: undefined },
      blockOverrides: { coinbase: UNKNOWN, header: {} },
      impersonation: { addresses: [], everybody: false, signatures: [] },
      mining: 'auto',
    }),
    snapshots: () => [{ id: 1, height: 1, hash: block1.hash, name: undefined, time: 5, bytes: 100 }],
    snapshotNamed: () => undefined,
    diffSnapshots: () => undefined,
    instanceId: () => UNKNOWN,
    ...parts.dev,
  }
  const names = createAbiRegistry()
  const events = createEmitter<EngineEvents>((error) => {
    throw error
  })
  const store = new SourceStore(createMemoryStore())
  const maps = new CodeMaps(store)
  const recordings = new Recordings()
  const engine: Engine = {
    holdStates: () => undefined,
    sources: new EngineSources(store, (job) => job(new EngineCall())),
    stackTraces: new StackTraces({ store, maps, names, events, queries }),
    coverage: new EngineCoverage({ recordings, store, maps }),
    gas: new EngineGas({ recordings, maps, vm: createVm({ chainId: config.chainId }), events, queries }),
    debugger: new SourceDebugger({ maps, queries, holdStates: () => undefined }),
    config,
    commands,
    queries,
    accounts: createWallet({
      local: {
        enabled: wallet,
        list: () => [...keys.keys()],
        has: (address) => keys.has(address),
        // The wallet overwrites a key when it is locked.
        key: (address) => keys.get(address)?.slice(),
      },
      keyStore: createKeyStore({ cost: CHEAP, milliseconds: Date.now }),
      milliseconds: Date.now,
      random: createRandomness(undefined),
    }),
    names,
    dev,
    forCall: () => engine,
    peers: fakePeers(),
    replica: {
      genesis: block0,
      apply: note('apply', undefined),
      replaceTables: note('replaceTables', undefined),
      follow: note('follow', undefined),
      lead: note('lead', undefined),
    },
    fork: undefined,
    retire: note('retire', undefined),
    events,
    close: async () => {},
  }
  return { engine, calls }
}

/** An engine that answers every call with this error. */
export function failingCalls(error: NodeError): Engine {
  const fail = () => Promise.reject(error)
  return fakeEngine({ queries: { call: fail, estimateGas: fail } }).engine
}
