/**
 * The library's EVM under the chain's rules (docs/internals/protocol.md#6-evm): its precompiled contracts, creations, collisions
 * and console. The opcodes that differ from Ethereum's are in `opcodes.ts`.
 */
import type { Common } from '@ethereumjs/common'
import {
  EVM,
  EVMError,
  type EVMOpts,
  type EVMResult,
  type EVMRunCallOpts,
  type ExecResult,
  Message as LibraryMessage,
  type PrecompileInput,
} from '@ethereumjs/evm'
import type { Account, Address } from '@ethereumjs/util'
import { CONSOLE_ADDRESS } from '../abi/console.ts'
import { EMPTY_ACCOUNT, withBalance } from '../chain/account.ts'
import { contractAddress } from '../chain/transaction.ts'
import { blockHashes, LibraryState, libraryAddress } from '../comparison/library-state.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { fromHex, toHex } from '../encoding/hex.ts'
import type { FrameMessage, FrameResult } from '../evm/call-message.ts'
import { analyse } from '../evm/code-analysis.ts'
import { keepConsoleCall } from '../evm/console-calls.ts'
import { RESERVED_PREFIX } from '../evm/creation.ts'
import type { EvmRun } from '../evm/evm.ts'
import { FAILURE } from '../evm/failure.ts'
import { bytesOf } from '../evm/memory-range.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import { runPrecompile } from '../evm/precompile-call.ts'
import type { Precompile } from '../evm/precompiles/precompile.ts'
import { MAX_WORD } from '../evm/word.ts'
import { evmFailure, libraryError } from './failures.ts'
import { InternalPath } from './internal-path.ts'

/** A message of the library that calls. */
export type CalledMessage = LibraryMessage & { to: Address }

/** The methods of the library that are overridden, for those who override them again; it declares them as protected. */
export const LIBRARY = EVM.prototype as unknown as {
  _loadCode(this: EVM, message: LibraryMessage): Promise<void>
  _generateAddress(this: EVM, message: LibraryMessage): Promise<Address>
  _addToBalance(this: EVM, account: Account, message: CalledMessage): Promise<void>
  getPrecompile(this: EVM, address: Address): ReturnType<EVM['getPrecompile']>
  runInterpreter(this: EVM, message: LibraryMessage, options: { pc: number }): Promise<ExecResult>
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

/** A message as the library has it. */
function libraryMessage(message: FrameMessage): LibraryMessage {
  const { depth, value } = message
  const shared = { depth, value, caller: libraryAddress(message.caller), gasLimit: BigInt(message.gas) }
  return 'target' in message
    ? new LibraryMessage({ ...shared, to: libraryAddress(message.address), data: bytesOf(message.input) })
    : new LibraryMessage({ ...shared, data: message.initcode })
}

function kindOf(message: CalledMessage): 'call' | 'callcode' | 'delegatecall' {
  if (message.delegatecall) return 'delegatecall'
  return message.codeAddress.toString() === message.to.toString() ? 'call' : 'callcode'
}

/** Code with a header (docs/internals/protocol.md#64-code-header) by its copy with zeros there. */
const headed = new WeakMap<Uint8Array, Uint8Array>()

/** A copy of code with zeros for its header: the library looks for jump destinations from the first byte on. */
function withoutHeader(code: Uint8Array, start: number): Uint8Array {
  const copy = code.slice()
  copy.fill(0, 0, Math.min(start, code.length))
  headed.set(copy, code)
  return copy
}

/** The code that a frame reads of itself. */
export function readableCode(code: Uint8Array): Uint8Array {
  return headed.get(code) ?? code
}

/** What the library's constructor makes of all opcodes. No run changes it. */
interface OpcodeTables {
  readonly common: Common
  readonly opcodes: EVM['_opcodes']
  readonly handlers: EVM['_handlers']
  readonly gasHandlers: EVM['_dynamicGasHandlers']
  readonly map: EVM['_opcodeMap']
}

/** By the list of custom opcodes in them: to make them again takes longer than most messages run. */
const opcodeTables = new WeakMap<object, OpcodeTables>()

/** Runs one top-level message; it reports nothing to a tracer. */
export class ChainEvm extends EVM {
  readonly run: EvmRun
  /** The result of the last message that a frame began; `undefined` where it was refused. Opcodes reset and read it. */
  ended: ExecResult | undefined
  /** The creation that is being set up. */
  #creation: LibraryMessage | undefined
  /** How the last code ended. */
  #lastFrame: ExecResult | undefined
  readonly #path: InternalPath

  constructor(run: EvmRun, options: EVMOpts) {
    const state = new LibraryState(run.session.journal)
    super({ ...options, stateManager: state })
    this.run = run
    this.#path = new InternalPath(run.session.journal)
    // The library's class has private members; what the EVM calls of it is there.
    this.journal = state as unknown as EVM['journal']
    // Every instance listens on the shared Common and none is ever removed; its fork never changes.
    this.common.events.removeAllListeners('hardforkChanged')
    const { env, gasPrice, origin } = run.session
    this._tx = { gasPrice, origin: libraryAddress(origin) }
    // Opcodes read these members of the header, and the library makes blocks of its own chains only.
    this._block = { header: libraryHeader(env) } as unknown as NonNullable<typeof this._block>
    this.blockchain = blockHashes(env)
  }

  /** Called by the constructor of the library's EVM. */
  override getActiveOpcodes(): EVM['_opcodes'] {
    const { common, _customOpcodes: custom } = this
    const made = custom && opcodeTables.get(custom)
    if (made?.common === common) {
      this._opcodes = made.opcodes
      this._handlers = made.handlers
      this._dynamicGasHandlers = made.gasHandlers
      this._opcodeMap = made.map
      return made.opcodes
    }
    const opcodes = super.getActiveOpcodes()
    const { _handlers: handlers, _dynamicGasHandlers: gasHandlers, _opcodeMap: map } = this
    if (custom !== undefined) opcodeTables.set(custom, { common, opcodes, handlers, gasHandlers, map })
    return opcodes
  }

  /** Runs the message, and puts the effects that the library keeps in its result where the other EVM puts them. */
  async execute(top: FrameMessage): Promise<FrameResult> {
    const { session, directEffects } = this.run
    const { journal } = session
    const message = libraryMessage(top)
    message.selfdestruct = new Map()
    message.createdAddresses = new Set()
    const { createdAddress, execResult } = await this.runCall({ message, skipNonceIncrement: true })
    const { logs = [], selfdestruct = new Map(), gasRefund = 0n, exceptionError } = execResult
    for (const [address, topics, data] of logs) {
      journal.logs.push({ address: toHex(address), topics: topics.map(toHex), data })
    }
    for (const address of selfdestruct.keys()) journal.destroyed.push(address)
    journal.refund = Number(gasRefund)
    if (exceptionError !== undefined && 'target' in top) for (const apply of directEffects) apply()
    return {
      gasUsed: Number(execResult.executionGasUsed),
      output: execResult.returnValue,
      failure: exceptionError && evmFailure(exceptionError),
      created: createdAddress?.toString(),
    }
  }

  override async runCall(options: EVMRunCallOpts): Promise<EVMResult> {
    const { message } = options
    if (message === undefined) throw new Error('the library runs what is no message')
    const isCall = message.to !== undefined
    this.#path.begin(message, isCall && this.run.session.precompiles.has(message.codeAddress.toString()))
    const result = await super.runCall(options)
    this.#path.end(result.execResult.exceptionError?.error === FAILURE.CREATE_COLLISION)
    this.ended = result.execResult
    return result
  }

  protected override async runInterpreter(message: LibraryMessage): Promise<ExecResult> {
    const code = message.code as Uint8Array
    const { start } = analyse(code, this.run.rules.codeHeaders)
    // The library refuses to start at the end of code, where the frame only stops.
    const isAtEnd = start >= code.length
    const changed = isAtEnd ? EMPTY : start > 0 ? withoutHeader(code, start) : undefined
    const body = changed === undefined ? message : ({ ...message, code: changed } as LibraryMessage)
    const result = await LIBRARY.runInterpreter.call(this, body, { pc: isAtEnd ? 0 : start })
    this.#lastFrame = result
    return this.#isRefusedCode(message, result) ? refusedCode(message, result) : result
  }

  /** Has a constructor returned code that begins with 0xef (RSKIP-544)? */
  #isRefusedCode(message: LibraryMessage, { exceptionError, returnValue }: ExecResult): boolean {
    const isConstructor = 'isCreate' in message && message.isCreate === true
    if (!isConstructor || exceptionError !== undefined || !this.run.rules.frames.refusesEfCode) return false
    return returnValue[0] === RESERVED_PREFIX
  }

  /** The library's own precompiled contracts are not the chain's. */
  override getPrecompile(_address: Address): ReturnType<EVM['getPrecompile']> {
    return undefined
  }

  protected override async _loadCode(message: LibraryMessage): Promise<void> {
    const { precompiles } = this.run.session
    const target = message.codeAddress.toString()
    const isCall = message.code === undefined
    const precompile = isCall ? precompiles.get(target) : undefined
    if (precompile === undefined) {
      await super._loadCode(message)
      if (isCall) message.code = this.run.session.journal.codeToRun(target)
      const isEmpty = (message.code as Uint8Array).length === 0
      if (isEmpty && target === CONSOLE_ADDRESS) {
        this.run.consoleCalls = keepConsoleCall(this.run.consoleCalls, message.data.slice())
      }
      return
    }
    message.code = (input: PrecompileInput) =>
      this.#runPrecompile(precompile, message as CalledMessage, input)
    message.isCompiled = true
  }

  async #runPrecompile(
    precompile: Precompile,
    message: CalledMessage,
    { data, gasLimit }: PrecompileInput,
  ): Promise<ExecResult> {
    const { logs } = this.run.session.journal
    const logsBefore = logs.length
    const { caller, value, depth, isStatic } = message
    const ended = await runPrecompile(
      precompile,
      {
        kind: kindOf(message),
        depth,
        caller: caller.toString(),
        address: message.to.toString(),
        target: message.codeAddress.toString(),
        value,
        input: data,
        gas: Number(gasLimit),
        isStatic,
      },
      this.run,
      () => this.#path.path(),
    )
    // The library orders logs itself.
    const own = logs.splice(logsBefore)
    return {
      executionGasUsed: BigInt(ended.gasUsed),
      returnValue: bytesOf(ended.output),
      logs: own.map(({ address, topics, data }) => [fromHex(address), topics.map(fromHex), data]),
      ...(ended.failure !== undefined && { exceptionError: libraryError(ended.failure) }),
    }
  }

  protected override async _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    if (message.depth > 0 && (await this.#collidesWithDestroyed(message))) {
      const exceptionError = new EVMError(FAILURE.CREATE_COLLISION)
      return { execResult: { executionGasUsed: message.gasLimit, returnValue: EMPTY, exceptionError } }
    }
    this.#lastFrame = undefined
    const result = await super._executeCreate(message)
    const constructed = this.#lastFrame as ExecResult | undefined
    const isUnstored =
      result.execResult.exceptionError !== undefined &&
      constructed !== undefined &&
      constructed.exceptionError === undefined
    if (!isUnstored || message.depth === 0 || this.run.rules.frames.failsUnstoredCode) return result
    // Before RSKIP-453 the contract stays without code, and the price of the code is not paid.
    return { ...result, execResult: { ...constructed, returnValue: EMPTY } }
  }

  /** Would the contract take the address of one that an earlier transaction of the list destroyed? */
  async #collidesWithDestroyed(message: LibraryMessage): Promise<boolean> {
    const destroyed = this.run.destroyedEarlier
    if (destroyed === undefined || destroyed.size === 0) return false
    const { caller, salt, gasLimit } = message
    const probe = new LibraryMessage({ caller, gasLimit, code: message.data, ...(salt && { salt }) })
    return destroyed.has((await super._generateAddress(probe)).toString())
  }

  protected override async _generateAddress(message: LibraryMessage): Promise<Address> {
    this.#creation = message
    if (message.depth > 0) return super._generateAddress(message)
    const { state } = this.run.session.journal
    const sender = message.caller.toString()
    const address = contractAddress(sender, (state.account(sender) ?? EMPTY_ACCOUNT).nonce - 1n)
    // A creation transaction checks no collision: an account at the address is replaced, but for its balance (RSKIP-174).
    const replaced = state.account(address)
    if (replaced !== undefined) {
      const balance = this.run.rules.frames.keepsBalance ? replaced.balance : 0n
      state.putAccount(address, withBalance(EMPTY_ACCOUNT, balance))
    }
    return libraryAddress(address)
  }

  /** A message without value writes nothing: the sender exists already. */
  protected override async _reduceSenderBalance(account: Account, message: LibraryMessage): Promise<void> {
    if (message.value !== 0n) await super._reduceSenderBalance(account, message)
  }

  /**
   * Also stores a created account: its nonce, which the library has set to 1, and its contract flag follow the chain's
   * rules.
   */
  protected override async _addToBalance(account: Account, message: CalledMessage): Promise<void> {
    const { session, rules } = this.run
    const isCreation = message === this.#creation
    if (isCreation && (message.depth === 0 || !rules.frames.createsWithNonce)) account.nonce = 0n
    const balance = account.balance + message.value
    const isChecked = isCreation || session.precompiles.has(message.codeAddress.toString())
    if (balance > MAX_WORD && isChecked) throw new EVMError(EVMError.errorMessages.VALUE_OVERFLOW)
    account.balance = balance
    await this.journal.putAccount(message.to, account)
    // A creation transaction without init code makes an account that is no contract.
    if (isCreation && (message.depth > 0 || (message.code as Uint8Array).length > 0)) {
      session.journal.state.markContract(message.to.toString())
    }
  }
}

function refusedCode({ gasLimit }: LibraryMessage, result: ExecResult): ExecResult {
  const exceptionError = new EVMError(EVMError.errorMessages.INVALID_BYTECODE_RESULT)
  return { ...result, logs: [], executionGasUsed: gasLimit, returnValue: EMPTY, exceptionError }
}
