/** A transaction of this chain under Ethereum's rules, by the library's own executor: what drift is measured against, and an oracle. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import {
  createEVM,
  type EVM,
  type EVMMockBlockchainInterface,
  type EVMOpts,
  type InterpreterStep,
  paramsEVM,
} from '@ethereumjs/evm'
import { createLegacyTx, paramsTx } from '@ethereumjs/tx'
import { createVM, paramsVM, type RunTxOpts, type RunTxResult, runTx } from '@ethereumjs/vm'
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import { EMPTY, fromBigInt, fromBigIntFixed, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { TransactionRejected } from './execute-transaction.ts'
import { ExecutionClock } from './execution-clock.ts'
import { failureOf } from './failure-words.ts'
import { Journal } from './journal.ts'
import { LibraryState, libraryAddress } from './library-state.ts'
import type { BlockEnvironment } from './message.ts'
import { Overlay, type StateChanges } from './overlay.ts'
import type { Failure } from './request.ts'
import type { StateReader } from './state.ts'

const FORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
] as const

/** Whose rules: forks of Ethereum since the one that this chain's prices resemble, up to the one whose opcodes it has. */
export type EthereumFork = 'petersburg' | 'istanbul' | 'berlin' | 'london' | 'paris' | 'shanghai' | 'cancun'

/** What to run, and where. */
export interface EthereumRunParts {
  readonly transaction: Transaction
  /** Only read: the run works on a copy of its own. */
  readonly state: StateReader
  /** `minimumGasPrice` stands in for the base fee and `difficulty` for the random value, where a fork has them. */
  readonly env: BlockEnvironment
  /** What CHAINID answers. */
  readonly chainId: number
  /** Default `cancun`. */
  readonly hardfork?: EthereumFork
  /** Milliseconds of wall clock; `limit-exceeded` beyond. Absent: no limit. */
  readonly deadlineMs?: number
  /** Listening makes the run many times slower. */
  readonly listener?: EthereumListener
}

/** An opcode that is about to run under Ethereum's rules. Gas in gas. */
export interface EthereumStep {
  /** One that the fork does not know is INVALID, 0xfe. */
  readonly opcode: number
  readonly name: string
  readonly position: number
  readonly depth: number
  /** Whose storage it works on. */
  readonly address: Hex
  /** Without what it hands down to a call, and less what a call with value gives to the callee for nothing. */
  readonly cost: number
  readonly gasLeft: number
}

/** Hears of a run under Ethereum's rules. */
export interface EthereumListener {
  /** An opcode is about to run. */
  step(step: EthereumStep): void
  /** It has run; not told of one that its frame failed of. */
  paid(step: EthereumStep): void
  /** A native contract has used so much gas. */
  native(gasUsed: bigint): void
  /** A contract has got code of so many bytes. */
  deposit(bytes: number): void
}

/** What the transaction would have done on Ethereum. Gas in gas. */
export interface EthereumOutcome {
  readonly succeeded: boolean
  /** Refund taken off. */
  readonly gasUsed: bigint
  /** What the transaction costs before it runs. */
  readonly basicCost: bigint
  /** What was taken off: within the fork's cap. */
  readonly refund: bigint
  readonly logs: readonly Log[]
  /** Returned bytes, a new contract's code, or the revert payload; empty when it failed otherwise. */
  readonly output: Uint8Array
  /** Address of a creation transaction's contract, also of a failed one. */
  readonly created?: Hex
  readonly failure?: Failure
  /** Everything that it would change of `state`; accounts only touched may stand here too. */
  readonly changes: StateChanges
}

/**
 * Runs a transaction, signed or not, by a fork of Ethereum. The state is that of this chain, so what differs in the
 * outcome differs by rules alone. Throws TransactionRejected when Ethereum would not include it or when it calls the
 * point evaluation contract (EIP-4844), which is not computed here, and `limit-exceeded` at the deadline.
 */
export async function executeByEthereumRules(parts: EthereumRunParts): Promise<EthereumOutcome> {
  const { transaction, state, env, chainId, hardfork = 'cancun', deadlineMs, listener } = parts
  if (transaction.isReward) throw new TransactionRejected('Ethereum has no fee-collecting transaction')
  // A disk that fails shows here, and not as a transaction that is refused.
  state.account(transaction.from)
  const common = forkRules(chainId, hardfork)
  const overlay = new Overlay(state)
  const stateManager = new OriginalState(overlay, state)
  const blockchain = blockHashes(env)
  const evm = await createEVM({
    common,
    stateManager,
    blockchain,
    customOpcodes: [pausingJumpDestination(new ExecutionClock(deadlineMs))],
    customPrecompiles: common.isActivatedEIP(4844) ? [NO_POINT_EVALUATION] : [],
    params: {},
  })
  // Every EVM listens on the shared Common and none is ever removed; its fork never changes.
  common.events.removeAllListeners('hardforkChanged')
  const vm = await createVM({ common, stateManager, blockchain, evm, params: {} })
  let begun = false
  evm.events.on('beforeMessage', () => {
    begun = true
  })
  if (listener !== undefined) listen(evm, listener)
  try {
    const tx = unsignedTransaction(transaction, common)
    const result = await runTx(vm, { tx, block: libraryBlock(env, common), skipHardForkValidation: true })
    return toOutcome(transaction, result, tx.getIntrinsicGas(), overlay)
  } catch (error) {
    if (begun || !(error instanceof Error)) throw error
    throw new TransactionRejected(withoutContext(error.message))
  }
}

/** Gas that a call with value gives to the callee for nothing. */
const STIPEND = 2300

/** What the gas left is, and a cost, fit a number: no transaction here has more. */
function stepOf({ opcode, pc, depth, address, gasLeft, stack }: InterpreterStep): EthereumStep {
  const { code, name, fee, dynamicFee } = opcode
  const givesValue = (code === 0xf1 || code === 0xf2) && (stack.at(-3) ?? 0n) !== 0n
  return {
    opcode: code,
    name,
    position: pc,
    depth,
    address: address.toString(),
    cost: (dynamicFee === undefined ? fee : Number(dynamicFee)) - (givesValue ? STIPEND : 0),
    gasLeft: Number(gasLeft),
  }
}

interface OpenMessage {
  readonly isNative: boolean
  readonly isCreation: boolean
  /** Told of, and perhaps what the frame will fail of. */
  last?: EthereumStep
}

/** Did the last opcode of a message run? A creation may also fail behind its RETURN, of the code that it gave. */
function hasRun({ opcode, cost, gasLeft }: EthereumStep, failure: string | undefined): boolean {
  if (failure === undefined || failure === 'revert') return true
  return opcode === 0xf3 && cost <= gasLeft
}

/** Turns the library's events into what a listener hears. */
function listen(evm: EVM, listener: EthereumListener): void {
  const open: OpenMessage[] = []
  evm.events.on('beforeMessage', (message) => {
    const isCreation = message.to === undefined
    // A creation has no code address, and says so by throwing.
    open.push({ isCreation, isNative: !isCreation && evm.getPrecompile(message.codeAddress) !== undefined })
  })
  evm.events.on('afterMessage', ({ execResult }) => {
    const ended = open.pop()
    const failure = execResult.exceptionError?.error
    if (ended?.last && hasRun(ended.last, failure)) listener.paid(ended.last)
    if (ended?.isNative) listener.native(execResult.executionGasUsed)
    if (ended?.isCreation && failure === undefined) {
      listener.deposit(execResult.returnValue.length)
    }
  })
  evm.events.on('step', (event) => {
    const step = stepOf(event)
    const message = open.at(-1)
    if (message?.last) listener.paid(message.last)
    if (message) message.last = step
    listener.step(step)
  })
}

/** A guess would be worse than none: a proof that holds succeeds on Ethereum, and to check it takes a trusted setup. */
const NO_POINT_EVALUATION: NonNullable<EVMOpts['customPrecompiles']>[number] = {
  address: libraryAddress('0x000000000000000000000000000000000000000a'),
  function: (_input) => {
    throw new TransactionRejected('point evaluation (EIP-4844) is not computed here')
  },
}

const commons = new Map<string, Common>()

function forkRules(chainId: number, hardfork: EthereumFork): Common {
  const key = `${hardfork} ${chainId}`
  let common = commons.get(key)
  if (common === undefined) {
    const chain: ChainConfig = {
      name: 'ethereum',
      chainId,
      defaultHardfork: hardfork,
      genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
      hardforks: FORKS.slice(0, FORKS.indexOf(hardfork) + 1).map((name) => ({ name, block: 0 })),
      bootstrapNodes: [],
      consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
    }
    common = new Common({ chain, hardfork, customCrypto: { keccak256 } })
    for (const params of [paramsEVM, paramsVM, paramsTx]) common.updateParams(params)
    commons.set(key, common)
  }
  return common
}

/** Our overlay for the library, which prices SSTORE by the word before the transaction (EIP-2200) and keeps its own journal. */
class OriginalState extends LibraryState {
  override readonly originalStorageCache: LibraryState['originalStorageCache']

  constructor(overlay: Overlay, before: StateReader) {
    super(new Journal(overlay, { tracksTouches: false }))
    const get = async (address?: { toString(): string }, slot?: Uint8Array): Promise<Uint8Array> =>
      address === undefined || slot === undefined
        ? EMPTY
        : fromBigInt(before.storage(address.toString() as Hex, toBigInt(slot)))
    this.originalStorageCache = { get, clear: () => {} }
  }
}

/** The library's sender comes from a signature; ours is known, and may not have signed at all. */
function unsignedTransaction(transaction: Transaction, common: Common) {
  const { nonce, gasPrice, gasLimit, to, value, data } = transaction
  const fields = { nonce, gasPrice, gasLimit, value, data, ...(to !== null && { to: libraryAddress(to) }) }
  const tx = createLegacyTx(fields, { common, freeze: false, params: {} })
  const sender = libraryAddress(transaction.from)
  tx.getSenderAddress = () => sender
  return tx
}

/** The few things that running a transaction reads of a block (ethereumjs-notes 1.1). */
function libraryBlock(env: BlockEnvironment, common: Common): NonNullable<RunTxOpts['block']> {
  const block = {
    header: {
      number: BigInt(env.number),
      coinbase: libraryAddress(env.coinbase),
      timestamp: BigInt(env.timestamp),
      difficulty: env.difficulty,
      prevRandao: fromBigIntFixed(env.difficulty, 32),
      gasLimit: env.gasLimit,
      gasUsed: 0n,
      baseFeePerGas: common.isActivatedEIP(1559) ? env.minimumGasPrice : undefined,
      getBlobGasPrice: () => 1n,
    },
    common,
    errorStr: () => '',
  }
  return block as unknown as NonNullable<RunTxOpts['block']>
}

const NO_HASH = new Uint8Array(32)

function blockHashes(env: BlockEnvironment): EVMMockBlockchainInterface {
  const blockchain = {
    async getBlock(height: number) {
      const hash = env.ancestorHash(height)
      return { hash: () => (hash === undefined ? NO_HASH : fromHex(hash)) }
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}

/** Gives the event loop its turn; every loop of code passes a JUMPDEST. */
function pausingJumpDestination(clock: ExecutionClock): NonNullable<EVMOpts['customOpcodes']>[number] {
  return {
    opcode: 0x5b,
    opcodeName: 'JUMPDEST',
    baseFee: 1,
    logicFunction: () => (--clock.ticks <= 0 && clock.mustPause() ? clock.pause() : undefined),
  }
}

function toOutcome(
  transaction: Transaction,
  { execResult, totalGasSpent, createdAddress }: RunTxResult,
  intrinsic: bigint,
  overlay: Overlay,
): EthereumOutcome {
  // A bad jump says where it was.
  const words = execResult.exceptionError?.error.replace(/ at 0x.*$/, '')
  const status = words === undefined ? 'succeeded' : words === 'revert' ? 'reverted' : ('failed' as const)
  const output = status === 'failed' ? EMPTY : execResult.returnValue
  const failure = failureOf({ status, output, ...(words !== undefined && { failure: words }) })
  return {
    succeeded: status === 'succeeded',
    gasUsed: totalGasSpent,
    basicCost: intrinsic,
    refund: intrinsic + execResult.executionGasUsed - totalGasSpent,
    logs: (execResult.logs ?? []).map(([address, topics, data]) => ({
      address: toHex(address),
      topics: topics.map(toHex),
      data,
    })),
    output,
    ...(transaction.to === null && createdAddress && { created: createdAddress.toString() }),
    ...(failure && { failure }),
    changes: overlay.changes(),
  }
}

/** The library adds which VM, block and transaction it speaks of. */
function withoutContext(message: string): string {
  return message.replace(/ \(vm hf=.*$/s, '')
}
