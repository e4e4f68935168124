/** A transaction of this chain under Ethereum's rules, by `runTx` of `@ethereumjs/vm`. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { createEVM, type EVMOpts, paramsEVM } from '@ethereumjs/evm'
import { createLegacyTx, createTxFromRLP, paramsTx, type TxOptions } from '@ethereumjs/tx'
import { createVM, encodeReceipt, paramsVM, type RunTxOpts, type RunTxResult, runTx } from '@ethereumjs/vm'
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import { TYPE } from '../chain/transaction-types.ts'
import { EMPTY, fromBigInt, fromBigIntFixed, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { Failure } from '../evm/failure-message.ts'
import { failureOf } from '../evm/failure-message.ts'
import { Journal } from '../evm/journal.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import { RunClock } from '../evm/scheduler.ts'
import { TransactionRejected } from '../execution/apply-transaction.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay, type StateChanges } from '../state/overlay.ts'
import { ETHEREUM_FORKS, type EthereumFork } from './ethereum-forks.ts'
import {
  createEthereumOpcodeListener,
  type EthereumListener,
  type EthereumOpcode,
} from './ethereum-tracer.ts'
import { blockHashes, LibraryState, libraryAddress } from './library-state.ts'

const FORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  ...ETHEREUM_FORKS,
] as const

/** What to run, and where. */
export interface EthereumRunParts {
  readonly transaction: Transaction
  /** Only read: the run works on a copy of its own. */
  readonly state: StateReader
  /** `minimumGasPrice` stands in for the base fee and `difficulty` for the random value, where a fork has them. */
  readonly env: BlockEnvironment
  /** The result of CHAINID. */
  readonly chainId: number
  /** Default `cancun`. */
  readonly hardfork?: EthereumFork
  /** Gas of the block's transactions before this one, for the receipt; default 0. */
  readonly blockGasUsed?: bigint
  /** Milliseconds of wall clock; `limit-exceeded` beyond. Absent: no limit. */
  readonly deadlineMs?: number
  /** A listener makes the run slower. */
  readonly listener?: EthereumListener
}

/** The outcome of the transaction on Ethereum. Gas in gas. */
export interface EthereumOutcome {
  readonly succeeded: boolean
  /** After the refund. */
  readonly gasUsed: bigint
  /** Gas charged before the transaction runs, and what the floor of calldata (EIP-7623) adds. */
  readonly intrinsicGas: bigint
  /** The refund subtracted, within the fork's cap. */
  readonly refund: bigint
  readonly logs: readonly Log[]
  /** Returned bytes, a new contract's code, or the revert payload; empty when it failed otherwise. */
  readonly output: Uint8Array
  /** Address of a creation transaction's contract, also of a failed one. */
  readonly created?: Hex
  readonly failure?: Failure
  /** RLP of Ethereum's receipt. */
  readonly receipt: Uint8Array
  /** All changes to `state`; may include accounts that were only touched. */
  readonly changes: StateChanges
}

/**
 * Runs a transaction, signed or not, by a fork of Ethereum. The state is that of this chain, so what differs in the
 * outcome differs by rules alone. Throws TransactionRejected when Ethereum would not include it or when it calls the
 * point evaluation contract (EIP-4844), which is not computed here, and `limit-exceeded` at the deadline.
 */
export async function executeByEthereumRules(parts: EthereumRunParts): Promise<EthereumOutcome> {
  const { transaction, state, env, chainId, hardfork = 'cancun', blockGasUsed, deadlineMs, listener } = parts
  if (transaction.isRemasc) throw new TransactionRejected('Ethereum has no REMASC transaction')
  // A failing database throws here, so that it is not taken for a rejected transaction.
  state.account(transaction.from)
  const common = forkRules(chainId, hardfork)
  const overlay = new Overlay(state)
  const stateManager = new OriginalState(overlay, state)
  const blockchain = blockHashes(env)
  const pause = pausingJumpDestination(new RunClock(deadlineMs))
  const opcodeListener = listener && createEthereumOpcodeListener(common, [pause], listener)
  const evm = await createEVM({
    common,
    stateManager,
    blockchain,
    customOpcodes: opcodeListener === undefined ? [pause] : [...opcodeListener.opcodes],
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
  opcodeListener?.listen(evm)
  try {
    const tx = libraryTransaction(transaction, common)
    const result = await runTx(vm, {
      tx,
      block: libraryBlock(env, common),
      skipHardForkValidation: true,
      blockGasUsed: blockGasUsed ?? 0n,
    })
    return {
      ...toOutcome(transaction, result, tx.getIntrinsicGas(), overlay),
      receipt: encodeReceipt(result.receipt, tx.type),
    }
  } catch (error) {
    if (begun || !(error instanceof Error)) throw error
    throw new TransactionRejected(withoutContext(error.message))
  }
}

/** Checking the proof takes a trusted setup that the package does not have, and a guessed result could be wrong. */
const NO_POINT_EVALUATION: NonNullable<EVMOpts['customPrecompiles']>[number] = {
  address: libraryAddress('0x000000000000000000000000000000000000000a'),
  function: (_input) => {
    throw new TransactionRejected('point evaluation (EIP-4844) is not computed here')
  },
}

const commons = new Map<string, Common>()
/** Rules kept: each network has a chain id, and so may each node of a process. */
const MOST_COMMONS = 64

/** The library's rules of a fork; one object for each fork and chain id. */
export function forkRules(chainId: number, hardfork: EthereumFork): Common {
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
    if (commons.size === MOST_COMMONS) commons.clear()
    commons.set(key, common)
  }
  return common
}

/** Our overlay for the library, which prices SSTORE by the word before the transaction (EIP-2200) and keeps its own journal. */
class OriginalState extends LibraryState {
  override readonly originalStorageCache: LibraryState['originalStorageCache']

  constructor(overlay: Overlay, before: StateReader) {
    super(new Journal(overlay))
    const get = async (address?: { toString(): string }, slot?: Uint8Array): Promise<Uint8Array> =>
      address === undefined || slot === undefined
        ? EMPTY
        : fromBigInt(before.storage(address.toString() as Hex, toBigInt(slot)))
    this.originalStorageCache = { get, clear: () => {} }
  }
}

/** The EIP of each type beside the legacy one. */
const TYPE_EIPS: Readonly<Record<number, number>> = {
  [TYPE.accessList]: 2930,
  [TYPE.feeMarket]: 1559,
  [TYPE.setCode]: 7702,
}

/** A typed transaction, for the library. Throws TransactionRejected where the fork does not have its type. */
function typedTransaction({ type, raw }: Transaction, options: TxOptions) {
  const eip = TYPE_EIPS[type]
  if (eip !== undefined && options.common?.isActivatedEIP(eip) !== true) {
    throw new TransactionRejected(
      `Ethereum has transactions of type ${type} (EIP-${eip}) in later forks only`,
    )
  }
  return createTxFromRLP(raw, options)
}

/** One of the chain's namespace has the payload of a legacy one. */
function legacyTransaction({ nonce, gasPrice, gasLimit, to, value, data }: Transaction, options: TxOptions) {
  const fields = { nonce, gasPrice, gasLimit, value, data, ...(to !== null && { to: libraryAddress(to) }) }
  return createLegacyTx(fields, options)
}

/** The library recovers the sender from the signature; ours is known, and an impersonated sender has not signed. */
function libraryTransaction(transaction: Transaction, common: Common) {
  const options = { common, freeze: false, params: {} }
  const make = transaction.typed === undefined ? legacyTransaction : typedTransaction
  const tx = make(transaction, options)
  const sender = libraryAddress(transaction.from)
  tx.getSenderAddress = () => sender
  return tx
}

/** The fields of a block that `runTx` reads: the library's class checks a header by Ethereum's consensus rules. */
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

/** Yields to the event loop at the end of a time slice; every loop of code passes a JUMPDEST. */
function pausingJumpDestination(clock: RunClock): EthereumOpcode {
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
): Omit<EthereumOutcome, 'receipt'> {
  // The library's message of a bad jump ends with its place.
  const words = execResult.exceptionError?.error.replace(/ at 0x.*$/, '')
  const status = words === undefined ? 'succeeded' : words === 'revert' ? 'reverted' : ('failed' as const)
  const output = status === 'failed' ? EMPTY : execResult.returnValue
  const failure = failureOf({ status, output, ...(words !== undefined && { failure: words }) })
  const refund = intrinsic + execResult.executionGasUsed - totalGasSpent
  return {
    succeeded: status === 'succeeded',
    gasUsed: totalGasSpent,
    intrinsicGas: refund < 0n ? intrinsic - refund : intrinsic,
    refund: refund > 0n ? refund : 0n,
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

/** The library's messages end with the VM, the block and the transaction concerned. */
function withoutContext(message: string): string {
  return message.replace(/ \(vm hf=.*$/s, '')
}
