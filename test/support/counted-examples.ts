/**
 * A call of every method by its own example, for counting its work: where that names what a fresh chain has not, it names
 * what every counted node holds, since the answer that there is no such thing is the same work on any chain.
 */
import type { Node } from '../../src/index.ts'
import { namespaceRules } from '../../src/rpc/method-names.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { assemble, deployer } from './assembler.ts'
import { type ParentBlock, solveWork } from './parent-block.ts'
import { ask } from './state-files.ts'

const [COW, CREATOR] = [
  '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
  '0x7986b3df570230288501eea3d890bd66948c9b79',
]
const PASSPHRASE = 'correct horse'
const STRANGER = `0x${'1a'.repeat(20)}`
/** Values in the examples that do not exist. */
const NOBODY = '0x00000000000000000000000000000000000dead1'
const UNKNOWN = '9'.repeat(64)

const quantity = (value: number) => `0x${value.toString(16)}`
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const hexOf = (code: Uint8Array) => `0x${Buffer.from(code).toString('hex')}`

/** Writes to its storage, emits an event, sends back the value that came, and returns whether that succeeded. */
const STORE = assemble('7 0 SSTORE 5 0 0 LOG1 0 0 0 0 CALLVALUE CALLER GAS CALL 0 MSTORE 32 0 RETURN')
/** Returns the storage at the first argument. */
const TOKEN = '0x6004355460005260206000f3'

/** Data that are added to a counted node before it grows. */
export interface Named {
  readonly contract: string
  readonly codeHash: string
  /** A call of the contract, in its own block. */
  readonly transactionHash: string
  readonly blockHash: string
  readonly height: number
  /** A block with an uncle. */
  readonly nephew: { readonly hash: string; readonly number: string }
  /** An account whose key is stored under the passphrase. */
  readonly account: string
}

/** Adds the data that the calls name; not counted. */
export async function addNamed(node: Node): Promise<Named> {
  const send = async (transaction: object) => {
    const hash = await ask(node, 'eth_sendTransaction', { from: CREATOR, gas: '0x30d40', ...transaction })
    await ask(node, 'evm_mine')
    return ask(node, 'eth_getTransactionReceipt', hash)
  }
  const { contractAddress: contract } = await send({ data: hexOf(deployer(STORE)) })
  const { transactionHash, blockHash, blockNumber } = await send({ to: contract, value: '0x1' })
  const { codeHash } = await ask(node, 'eth_getAccount', contract)
  await ask(node, 'evm_mine')
  await ask(node, 'evm_reorg', { depth: 1, uncles: true })
  const nephew = await ask(node, 'eth_getBlockByNumber', 'latest', false)
  const account = await ask(node, 'personal_newAccount', PASSPHRASE)
  await ask(node, 'hardhat_setBalance', account, '0xde0b6b3a7640000')
  return { contract, codeHash, transactionHash, blockHash, height: Number(blockNumber), nephew, account }
}

/** A parameter of an example that names what exists; `name` is that of the parameter or of the member of an object. */
function naming(value: unknown, name: string, named: Named): unknown {
  if (Array.isArray(value)) return value.map((one) => naming(one, name, named))
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, one]) => [
      naming(key, '', named),
      naming(one, key, named),
    ])
    return Object.fromEntries(members)
  }
  if (value === NOBODY) return /^(sender|fromAddress)$/.test(name) ? CREATOR : named.contract
  if (value === `0x${UNKNOWN}`) {
    if (name === 'codeHash') return named.codeHash
    return name === 'blockHash' ? named.blockHash : named.transactionHash
  }
  if (value === `0x63${UNKNOWN}`) return `0x63${named.codeHash.slice(2)}`
  if (value === 0xffffff) return named.height
  return value === '0xffffff' || value === 'earliest' ? quantity(named.height) : value
}

type Call = (method: string, ...params: unknown[]) => ReturnType<typeof ask>
/** Makes the calls of a method's example; the result is the method's own. */
type Run = (call: Call, named: Named, method: string) => Promise<unknown>

const BUNDLE = { version: '2.0.0', from: COW, calls: [{ to: CREATOR, value: '0x1' }] }
const TRANSFER = { from: COW, to: CREATOR, value: '0x1', gas: '0x5208', gasPrice: '0x1' }
/** A local chain takes about three. */
const MOST_NONCES = 1000

const withParams =
  (paramsOf: (named: Named) => readonly unknown[]): Run =>
  (call, named, method) =>
    call(method, ...paramsOf(named))
/** Passes the result of another call as the first parameter. */
const withResult =
  (first: string, firstParams: readonly unknown[], ...rest: readonly unknown[]): Run =>
  async (call, _, method) =>
    call(method, await call(first, ...firstParams), ...rest)
const afterCall =
  (first: string, firstParams: readonly unknown[], ...params: readonly unknown[]): Run =>
  async (call, _, method) => {
    await call(first, ...firstParams)
    return call(method, ...params)
  }

/** Asks about a call in the debugger, which is closed again. */
const ofSession =
  (...params: readonly unknown[]): Run =>
  async (call, { contract }, method) => {
    const { session } = await call('evm_debugCall', { to: contract })
    const answer = await call(method, session, ...params)
    if (method !== 'evm_debugClose') await call('evm_debugClose', session)
    return answer
  }

const revert = withResult('evm_snapshot', [])
/** Sends a transaction that stays in the pool. */
async function waiting(call: Call): Promise<string> {
  await call('evm_setAutomine', false)
  return call('eth_sendTransaction', TRANSFER)
}
const drop: Run = async (call, _, method) => call(method, await waiting(call))
/** A signed transaction that is valid on the head's state, whatever is in the pool. */
const nextSigned = async (call: Call): Promise<string> =>
  call('eth_signTransaction', { ...TRANSFER, nonce: await call('eth_getTransactionCount', COW, 'latest') })
const send = (...rest: readonly unknown[]) => withResult('eth_signTransaction', [TRANSFER], ...rest)
const ofFilter: Run = async (call, { contract, height }, method) =>
  call(method, await call('eth_newFilter', { address: contract, fromBlock: quantity(height) }))
/** Of the pending block, and of one that has it. */
const firstOfBlocks: Run = async (call, { height }, method) => {
  await call(method, 'pending', '0x0')
  return call(method, quantity(height), '0x0')
}
/** At most the price of the other examples. */
const minimum = withParams(() => ['0x1'])
const nextTimestamp: Run = async (call, _, method) =>
  call(method, Number((await call('eth_getBlockByNumber', 'latest', false)).timestamp) + 1000)
const ofUncle = (name: keyof Named['nephew'], ...rest: readonly unknown[]) =>
  withParams(({ nephew }) => [nephew[name], ...rest])
const mineOne = withParams(() => [1])
const stopImpersonating = afterCall('hardhat_impersonateAccount', [STRANGER], STRANGER)
const setCode = withParams(({ contract }) => [contract, hexOf(STORE)])
const loadState = withParams(({ contract }) => [
  { accounts: { [contract]: { balance: '0x7', code: hexOf(STORE) } } },
])
const submitSolved =
  (paramsOf: (solved: ParentBlock) => readonly unknown[]): Run =>
  async (call, _, method) =>
    call(method, ...paramsOf(await solveWork({ call })))

/** In place of examples that change nothing, that would mine meanwhile, or that need what only an earlier call gives. */
const RUNS: Readonly<Record<string, Run>> = {
  eth_getProof: withParams(({ contract }) => [contract, ['0x0'], 'latest']),
  eth_getLogs: withParams(({ contract, height }) => [{ address: contract, fromBlock: quantity(height) }]),
  eth_getUncleCountByBlockHash: ofUncle('hash'),
  eth_getUncleCountByBlockNumber: ofUncle('number'),
  eth_getUncleByBlockHashAndIndex: ofUncle('hash', '0x0'),
  eth_getUncleByBlockNumberAndIndex: ofUncle('number', '0x0'),
  eth_getTransactionByBlockNumberAndIndex: firstOfBlocks,
  eth_getRawTransactionByBlockNumberAndIndex: firstOfBlocks,
  eth_getFilterChanges: ofFilter,
  eth_getFilterLogs: ofFilter,
  eth_uninstallFilter: ofFilter,
  eth_unsubscribe: withResult('eth_subscribe', ['newHeads']),
  async evm_contractAbi(call, { contract }) {
    await call('evm_setAbi', contract, ['function store()'])
    return call('evm_contractAbi', contract)
  },
  sco_unbanAddress: afterCall('sco_banAddress', ['203.0.113.0/24'], '203.0.113.0/24'),
  sco_bannedAddresses: afterCall('sco_banAddress', ['203.0.113.0/24']),
  eth_sendRawTransaction: send(),
  eth_sendRawTransactionSync: send(),
  eth_sendRawTransactionConditional: send({ blockNumberMin: '0x0' }),
  trace_rawTransaction: async (call) => call('trace_rawTransaction', await nextSigned(call), ['trace']),
  async eth_callBundle(call) {
    const txs = [await nextSigned(call)]
    return call('eth_callBundle', { txs, blockNumber: '0x1', stateBlockNumber: 'latest' })
  },
  async eth_resend(call) {
    const { nonce } = await call('eth_getTransactionByHash', await waiting(call))
    return call('eth_resend', { ...TRANSFER, nonce }, '0x2')
  },
  hardhat_dropTransaction: drop,
  anvil_dropTransaction: drop,
  async anvil_removePoolTransactions(call) {
    await waiting(call)
    return call('anvil_removePoolTransactions', COW)
  },
  evm_debugState: ofSession(),
  evm_debugMove: ofSession('instruction'),
  evm_debugVariables: ofSession(0, 'message'),
  evm_debugEvaluate: ofSession(0, 'msg.sender'),
  evm_debugMachine: ofSession(0),
  evm_debugSources: ofSession(),
  evm_debugClose: ofSession(),
  evm_revert: revert,
  anvil_revert: revert,
  evm_diff: revert,
  hardhat_mine: mineOne,
  anvil_mine: mineOne,
  evm_mine_detailed: withParams(() => []),
  anvil_mine_detailed: withParams(() => []),
  anvil_rollback: afterCall('evm_mine', [], 1),
  anvil_reorg: afterCall('evm_mine', [], 1),
  evm_reorg: afterCall('evm_mine', [], { depth: 1 }),
  async evm_importBlock(call) {
    await call('evm_mine')
    const block = await call('debug_getRawBlock', 'latest')
    await call('anvil_rollback', 1)
    return call('evm_importBlock', block)
  },
  async eth_submitWork(call) {
    const [hash] = await call('eth_getWork')
    for (let nonce = 0; nonce < MOST_NONCES; nonce++) {
      const text = `0x${nonce.toString(16).padStart(16, '0')}`
      if (await call('eth_submitWork', text, hash, `0x${'0'.repeat(64)}`)) return true
    }
    return false
  },
  mnr_submitBitcoinBlock: submitSolved(({ block }) => [block]),
  mnr_submitBitcoinBlockTransactions: submitSolved(({ header, coinbase, transactionIds }) => [
    'ignored',
    header,
    coinbase,
    transactionIds,
  ]),
  mnr_submitBitcoinBlockPartialMerkle: submitSolved(({ header, coinbase, branch, count }) => [
    'ignored',
    header,
    coinbase,
    branch,
    count,
  ]),
  debug_accountInfoAt: withParams(({ blockHash, contract }) => [blockHash, '0x0', contract]),
  debug_getModifiedAccountsByNumber: withParams(({ height }) => [height]),
  debug_getModifiedAccountsByHash: withParams(({ blockHash }) => [blockHash]),
  async debug_traceBlock(call, { blockHash }) {
    return call('debug_traceBlock', await call('debug_getRawBlock', blockHash))
  },
  debug_getRawTransactions: withParams(({ height }) => [quantity(height)]),
  hardhat_setMinGasPrice: minimum,
  anvil_setMinGasPrice: minimum,
  evm_setNextBlockTimestamp: nextTimestamp,
  anvil_setNextBlockTimestamp: nextTimestamp,
  evm_setIntervalMining: withParams(() => [3_600_000]),
  anvil_setIntervalMining: withParams(() => [3_600]),
  hardhat_stopImpersonatingAccount: stopImpersonating,
  anvil_stopImpersonatingAccount: stopImpersonating,
  hardhat_setCode: setCode,
  anvil_setCode: setCode,
  hardhat_setNonce: withParams(() => [STRANGER, '0x1']),
  anvil_setNonce: withParams(() => [STRANGER, '0x1']),
  hardhat_setStorageAt: withParams(({ contract }) => [contract, '0x1', word(9)]),
  anvil_loadState: loadState,
  evm_loadState: loadState,
  async anvil_setERC20Allowance(call) {
    await call('hardhat_setCode', NOBODY, TOKEN)
    return call('anvil_setERC20Allowance', COW, CREATOR, NOBODY, '0x7')
  },
  personal_unlockAccount: withParams(({ account }) => [account, PASSPHRASE, null]),
  async personal_lockAccount(call, { account }) {
    await call('personal_unlockAccount', account, PASSPHRASE, null)
    return call('personal_lockAccount', account)
  },
  personal_sendTransaction: withParams(({ account }) => [{ ...TRANSFER, from: account }, PASSPHRASE]),
  // Without an id of their own, which may be used once.
  wallet_sendCalls: withParams(() => [BUNDLE]),
  async wallet_getCallsStatus(call) {
    const { id } = await call('wallet_sendCalls', BUNDLE)
    return call('wallet_getCallsStatus', id)
  },
}

/** Not counted: they delete all that the node holds, or need an upstream or a Bitcoin chain. */
function isCounted({ name, namespace }: (typeof METHODS)[number]): boolean {
  return !/_reset$|^anvil_setRpcUrl$/.test(name) && !namespaceRules(namespace).needsBitcoin
}

/** The calls of each method. They throw what a call throws. */
export const COUNTED_EXAMPLES = METHODS.filter(isCounted).map(
  ({ name, params, changesState, examples: [example] }) => ({
    name,
    changesState,
    async run(node: Node, named: Named): Promise<unknown> {
      const call: Call = (method, ...values) => ask(node, method, ...values)
      const run = RUNS[name]
      if (run !== undefined) return run(call, named, name)
      if (example === undefined) throw new Error(`${name} has no example`)
      for (const { method, params: values } of example.after ?? []) await call(method, ...values)
      // The address that they name gets code before.
      const isNamed =
        name.startsWith('anvil_deal') ||
        name === 'evm_sourcesAt' ||
        name === 'evm_stackTrace' ||
        name === 'evm_coverage'
      if (isNamed) return call(name, ...example.params)
      return call(name, ...example.params.map((value, at) => naming(value, params[at]?.name ?? '', named)))
    },
  }),
)
