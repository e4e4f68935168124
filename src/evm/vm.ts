/** State, block and rules to one EVM for messages; a small pool of them; the only place that makes one. */
import {
  type EVMMockBlockchainInterface,
  type EVMResult,
  type Log as LibraryLog,
  Message as LibraryMessage,
  NobleBN254,
} from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import type { Log } from '../chain/receipt.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { fromHex, toHex } from '../encoding/hex.ts'
import type { Overlay } from '../state/overlay.ts'
import { CONSOLE_ADDRESS } from './console-calls.ts'
import { type CalledMessage, type EvmRun, RskEvm } from './evm.ts'
import { FAILURE } from './frame.ts'
import { Journal } from './journal.ts'
import { libraryOpcodes } from './library-opcodes.ts'
import { libraryRules } from './library-rules.ts'
import { LibraryState, libraryAddress } from './library-state.ts'
import type { BlockEnvironment, Message, MessageResult, RuleSet, RunOptions } from './message.ts'
import { vmRules } from './rules.ts'
import { RunClock } from './run-clock.ts'

export type { BlockEnvironment, Message, MessageResult, RuleSet, RunOptions } from './message.ts'

/** How many idle EVMs are kept. Making one costs half a millisecond. */
const POOL_SIZE = 8

/** What a machine is made of. */
export interface VmParts {
  /** What CHAINID answers. */
  readonly chainId: number
  /** Default `chain`. */
  readonly ruleSet?: RuleSet
  /** `own` (default) is the synchronous loop; `library` the stock one, for comparison. */
  readonly loop?: 'own' | 'library'
  /** Told of what the real chain would have done and this node leaves out, in a sentence for the log. */
  readonly onNotice?: (notice: string) => void
}

/** Runs messages by one rule set. Any number at once. */
export interface Vm {
  readonly ruleSet: RuleSet
  /**
   * Runs a top-level message on `state`, which keeps what it changed unless it does not succeed. Whatever this throws
   * (`limit-exceeded` at the deadline, a failing disk) leaves `state` with checkpoints open: drop it.
   */
  run(message: Message, state: Overlay, env: BlockEnvironment, options?: RunOptions): Promise<MessageResult>
}

/** Makes a machine; its EVMs come into being as they are needed. */
export function createVm(parts: VmParts): Vm {
  const { chainId, ruleSet = 'chain', loop = 'own', onNotice = () => {} } = parts
  const idle: RskEvm[] = []
  const rules = vmRules(ruleSet)
  const common = libraryRules(chainId, ruleSet)

  function makeEvm(journal: Journal): RskEvm {
    const customOpcodes = libraryOpcodes(common, ruleSet)
    const stateManager = new LibraryState(journal)
    const bn254 = new NobleBN254()
    const blockchain = blockHashes(undefined)
    return new RskEvm({ common, stateManager, blockchain, bn254, customOpcodes, params: {} })
  }

  /** Does a message go to an account without code, behind whose address nothing else stands either? */
  function callsNobody({ to, gas }: Message, journal: Journal): boolean {
    if (to === null || gas > Number.MAX_SAFE_INTEGER || to === CONSOLE_ADDRESS) return false
    return rules.chainCalls && !rules.precompiles.has(to) && journal.codeOf(to).length === 0
  }

  return {
    ruleSet,
    async run(message, state, env, options = {}) {
      const journal = new Journal(state, { tracksTouches: !rules.chainCalls })
      if (options.tracer === undefined && loop === 'own' && callsNobody(message, journal)) {
        return transferred(message, journal)
      }
      const clock = new RunClock(options.deadlineMs)
      const { gasPrice, origin } = message
      const run: EvmRun = {
        session: { rules, chainId, journal, env, origin, gasPrice, clock, tracer: options.tracer },
        // Our loop counts gas in safe integers.
        loop: message.gas > Number.MAX_SAFE_INTEGER ? 'library' : loop,
        destroyedEarlier: options.destroyedEarlier,
        isLocal: options.isLocal ?? false,
        onNotice,
        precompileFailed: false,
        consoleCalls: undefined,
      }
      const evm = idle.pop() ?? makeEvm(journal)
      const adapter = new LibraryState(journal)
      evm.begin(run)
      evm.stateManager = adapter
      evm.journal = adapter as unknown as RskEvm['journal']
      evm.blockchain = blockHashes(env)
      evm.transientStorage.clear()
      const { value, data, gas: gasLimit, to } = message
      const caller = libraryAddress(message.from)
      const result =
        to !== null && run.loop === 'own'
          ? await evm.runMessage(libraryCall({ caller, to: libraryAddress(to), value, data, gasLimit }))
          : await evm.runCall({
              block: { header: libraryHeader(env) },
              gasPrice,
              origin: libraryAddress(origin),
              caller,
              ...(to !== null && { to: libraryAddress(to) }),
              value,
              data,
              gasLimit,
              skipNonceIncrement: true,
            })
      // Not reached after a throw: such an EVM is not used again.
      if (idle.length < POOL_SIZE) idle.push(evm)
      return toResult(message, result, run)
    },
  }
}

/** The library's form of a call from outside. */
function libraryCall(parts: {
  readonly caller: Address
  readonly to: Address
  readonly value: bigint
  readonly data: Uint8Array
  readonly gasLimit: bigint
}): CalledMessage {
  return new LibraryMessage(parts) as CalledMessage
}

/** What a message does that runs no code: it moves its value. No EVM is needed for that. */
function transferred({ from, to, value }: Message, journal: Journal): MessageResult {
  if (to === null) throw new Error('a creation runs code')
  journal.transfer(from, to, value)
  return {
    status: 'succeeded',
    output: EMPTY,
    gasUsed: 0n,
    refund: 0n,
    logs: [],
    destroyed: [],
    valueCallSeen: false,
    precompileFailed: false,
    touched: journal.touched(),
  }
}

function toResult(message: Message, { execResult, createdAddress }: EVMResult, run: EvmRun): MessageResult {
  const { journal } = run.session
  const failure = execResult.exceptionError?.error
  const own = run.loop === 'own'
  const status =
    failure === undefined ? 'succeeded' : failure === FAILURE.REVERT ? 'reverted' : ('failed' as const)
  return {
    status,
    failure: status === 'failed' ? failure : undefined,
    output: status === 'failed' ? EMPTY : execResult.returnValue,
    gasUsed: execResult.executionGasUsed,
    refund: status !== 'succeeded' ? 0n : own ? BigInt(journal.refund) : (execResult.gasRefund ?? 0n),
    logs: own ? journal.logs : (execResult.logs ?? []).map(toLog),
    created: message.to === null ? createdAddress?.toString() : undefined,
    destroyed: own ? journal.destroyed : [...(execResult.selfdestruct?.keys() ?? [])],
    valueCallSeen: journal.valueCallSeen,
    precompileFailed: run.precompileFailed,
    touched: journal.touched(),
    consoleCalls: run.consoleCalls?.payloads,
  }
}

function toLog([address, topics, data]: LibraryLog): Log {
  return { address: toHex(address), topics: topics.map(toHex), data }
}

function libraryHeader(env: BlockEnvironment) {
  return {
    number: BigInt(env.number),
    coinbase: libraryAddress(env.coinbase),
    timestamp: BigInt(env.timestamp),
    difficulty: env.difficulty,
    prevRandao: EMPTY,
    gasLimit: env.gasLimit,
    baseFeePerGas: env.minimumGasPrice,
    getBlobGasPrice: () => undefined,
  }
}

const NO_HASH = new Uint8Array(32)

/** What BLOCKHASH of the library's loop asks. */
function blockHashes(env: BlockEnvironment | undefined): EVMMockBlockchainInterface {
  const blockchain = {
    async getBlock(height: number) {
      const hash = env?.ancestorHash(height)
      return { hash: () => (hash === undefined ? NO_HASH : fromHex(hash)) }
    },
    async putBlock() {},
    shallowCopy: () => blockchain,
  }
  return blockchain
}
