/**
 * The library's EVM with the chain's frames: our loop instead of its own, native contracts, births and
 * collisions by docs/protocol.md#63-calls-and-creations. The one place that inherits; every override is a
 * protected seam of the library.
 */
import {
  EVM,
  EVMError,
  type EVMOpts,
  type EVMResult,
  type ExecResult,
  Message as LibraryMessage,
  type PrecompileInput,
} from '@ethereumjs/evm'
import { type Account, type Address, bigIntToBytes, generateAddress } from '@ethereumjs/util'
import { EMPTY_ACCOUNT, withBalance, withNonce } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { childMessage } from './child-message.ts'
import { analyse, headerLength } from './code-analysis.ts'
import { CONSOLE_ADDRESS, type ConsoleCalls, keepConsoleCall } from './console-calls.ts'
import { type ChildRequest, FAILURE, Frame, type Session } from './frame.ts'
import { advance } from './interpreter.ts'
import { libraryAddress } from './library-state.ts'
import { precompileCall } from './precompile-call.ts'
import { type Chunks, type Precompile, PrecompileFailure } from './precompiles/table.ts'
import type { RunClock } from './run-clock.ts'
import { callStart, creationStart, tellEnd, tellRefusal } from './tracing/frame-events.ts'
import { advanceTraced } from './tracing/traced-interpreter.ts'
import { precompileFailure, tracedFailure } from './tracing/vm-exception.ts'
import { wordToAddress } from './word.ts'

/** EIP-2681: a nonce of this size cannot grow. */
const MAX_NONCE = 2n ** 64n - 1n

/** A call counts as much time as this many jumps. */
const TICKS_PER_CALL = 32
/** Gas of a native contract that takes about the time of a jump. */
const GAS_PER_TICK = 32
/** Bytes of its input that take about as long to read, at worst: a list of them, a member each. */
const BYTES_PER_TICK = 64

/** Runs work in portions to its end, with pauses when they are due. */
async function finish(work: Chunks, clock: RunClock): Promise<Uint8Array> {
  for (;;) {
    const chunk = work.next()
    if (chunk.done) return chunk.value
    if (clock.mustPause()) await clock.pause()
  }
}

/** What one run gives to the EVM, beside the session of its frames. */
export interface EvmRun {
  readonly session: Session
  readonly loop: 'own' | 'library'
  readonly destroyedEarlier: ReadonlySet<Hex> | undefined
  /** Is it a simulation? */
  readonly isLocal: boolean
  readonly onNotice: (notice: string) => void
  /** Was a native contract called at the top, paid, and failed? */
  precompileFailed: boolean
  /** What was said to the console contract; a failure takes none of it back. */
  consoleCalls: ConsoleCalls | undefined
}

/** A message that calls, as the library knows it. */
export type CalledMessage = LibraryMessage & { to: Address }

/** Runs one top-level message at a time. */
export class RskEvm extends EVM {
  #run: EvmRun | undefined
  /** The creation that is being set up. */
  #creation: LibraryMessage | undefined
  /** How the call that is about to run was asked for; a message does not tell. */
  #asked: ChildRequest['kind'] | undefined

  constructor(options: EVMOpts) {
    super(options)
    // Every instance listens on the shared Common and none is ever removed; its fork never changes.
    this.common.events.removeAllListeners('hardforkChanged')
  }

  /** Must be called before `runCall`. */
  begin(run: EvmRun): void {
    this.#run = run
    this.#asked = undefined
  }

  get run(): EvmRun {
    if (this.#run === undefined) throw new Error('no run has begun')
    return this.#run
  }

  /**
   * Runs a call under our own loop: the library's `runCall` without what only its loop and creations need. State
   * changes of a call that fails are undone.
   */
  async runMessage(message: CalledMessage): Promise<EVMResult> {
    const { journal } = this.run.session
    journal.checkpoint()
    const result = await this._executeCall(message)
    if (result.execResult.exceptionError === undefined) journal.commit()
    else journal.revert()
    return result
  }

  protected override _executeCall(message: CalledMessage): Promise<EVMResult> {
    return this.run.session.tracer === undefined ? this.#executeCall(message) : this.#traceCall(message)
  }

  async #traceCall(message: CalledMessage): Promise<EVMResult> {
    const { session } = this.run
    const start = callStart(message, session, this.#asked)
    session.tracer?.enter?.(start)
    const result = await this.#executeCall(message)
    tellEnd(session, start, result)
    return result
  }

  /** The library's own way serves its loop and native contracts; calls of code take a short one, without its accounts. */
  async #executeCall(message: CalledMessage): Promise<EVMResult> {
    const { session, loop } = this.run
    const { rules, journal } = session
    const target = message.codeAddress.toString()
    const isPrecompile = rules.chainCalls
      ? rules.precompiles.has(target)
      : this.getPrecompile(target) !== undefined
    if (loop === 'library' || isPrecompile) return super._executeCall(message)
    if (!message.delegatecall)
      journal.transfer(message.caller.toString(), message.to.toString(), message.value)
    const code = journal.codeOf(target)
    if (code.length === 0) {
      if (target === CONSOLE_ADDRESS) {
        this.run.consoleCalls = keepConsoleCall(this.run.consoleCalls, message.data)
      }
      return { execResult: { executionGasUsed: 0n, returnValue: EMPTY } }
    }
    return { execResult: await this.#runFrame(message, code, message.to.toString()) }
  }

  protected override async runInterpreter(message: LibraryMessage): Promise<ExecResult> {
    const { session, loop } = this.run
    const code = message.code as Uint8Array
    if (loop === 'library') {
      const start = session.rules.codeHeaders ? headerLength(code) : 0
      // The library refuses to begin at the end, where there is nothing but to stop.
      const body = { ...message, ...(start >= code.length && { code: EMPTY }) } as LibraryMessage
      return super.runInterpreter(body, { pc: start < code.length ? start : 0 })
    }
    if (message.to === undefined) throw new Error('a frame has no address')
    return this.#runFrame(message, code, message.to.toString())
  }

  async #runFrame(message: LibraryMessage, code: Uint8Array, address: Hex): Promise<ExecResult> {
    const { session } = this.run
    const frame = new Frame({
      session,
      analysis: analyse(code, session.rules.codeHeaders),
      address,
      caller: message.caller.toString(),
      value: message.value,
      input: message.data,
      isStatic: message.isStatic,
      depth: message.depth,
      gas: Number(message.gasLimit),
    })
    let failure: EVMError | undefined
    try {
      await this.#drive(frame)
      if (frame.reverted) failure = new EVMError(FAILURE.REVERT)
    } catch (error) {
      if (!(error instanceof EVMError)) throw error
      failure = session.tracer === undefined ? error : tracedFailure(frame, error)
      frame.gas = 0
      frame.output = EMPTY
    }
    const executionGasUsed = message.gasLimit - BigInt(frame.gas)
    const returnValue = frame.output
    return failure === undefined
      ? { executionGasUsed, returnValue }
      : { executionGasUsed, returnValue, exceptionError: failure }
  }

  async #drive(frame: Frame): Promise<void> {
    const { clock, tracer } = frame.session
    for (;;) {
      if (tracer?.step === undefined) advance(frame)
      else advanceTraced(frame, tracer)
      if (frame.status === 'stopped') return
      if (frame.status === 'calling') {
        const { child } = frame
        frame.status = 'running'
        frame.child = undefined
        if (child !== undefined) await this.#call(frame, child)
        clock.ticks -= TICKS_PER_CALL
        if (clock.ticks > 0 || !clock.mustPause()) continue
      }
      frame.status = 'running'
      await clock.pause()
    }
  }

  /** Makes the call that a frame asks for and gives it the answer. */
  async #call(frame: Frame, child: ChildRequest): Promise<void> {
    const { rules, journal } = frame.session
    const creates = 'initcode' in child
    const own = journal.state.account(frame.address) ?? EMPTY_ACCOUNT
    const isRefused =
      frame.depth >= rules.maxDepth || own.balance < child.value || (creates && own.nonce >= MAX_NONCE)
    // A creation that is refused keeps the return data of the call before it.
    if (!(isRefused && creates && rules.chainCalls)) frame.returned = EMPTY
    if (isRefused) {
      if (frame.session.tracer !== undefined) tellRefusal(frame, child)
      frame.push(0n)
      return
    }
    if (creates) {
      // Not undone when the creation fails.
      journal.state.putAccount(frame.address, withNonce(own, own.nonce + 1n))
      journal.touch(frame.address)
    }
    const { storageRefund } = journal
    this.#asked = child.kind
    const message = childMessage(frame, child)
    const { execResult, createdAddress } = creates
      ? await this.runCall({ message })
      : await this.runMessage(message as CalledMessage)
    frame.charge(Number(execResult.executionGasUsed))
    const failure = execResult.exceptionError?.error
    const returns = failure === undefined || failure === FAILURE.REVERT
    if ('initcode' in child) {
      // The reference node does not add what a constructor cleared to the refund of its creator.
      if (rules.chainCalls) journal.storageRefund = storageRefund
      if (failure === FAILURE.REVERT && !rules.chainCalls) frame.returned = execResult.returnValue
      frame.push(failure === undefined && createdAddress ? BigInt(createdAddress.toString()) : 0n)
      return
    }
    if (returns) frame.returned = execResult.returnValue
    frame.push(failure === undefined ? 1n : 0n)
    if (child.outputLength > 0) {
      frame.memory.set(frame.returned.subarray(0, child.outputLength), child.outputOffset)
    }
  }

  protected override async _loadCode(message: LibraryMessage): Promise<void> {
    const { precompiles } = this.run.session.rules
    const native = message.code === undefined ? precompiles.get(message.codeAddress.toString()) : undefined
    if (native === undefined) return super._loadCode(message)
    message.code = (input: PrecompileInput) => this.#runPrecompile(native, message, input)
    message.isCompiled = true
  }

  /**
   * docs/protocol.md#65-precompiled-contracts: unaffordable gas takes all; a failing execution takes only
   * what is required (RSKIP-197).
   */
  #runPrecompile(
    native: Precompile,
    message: LibraryMessage,
    { data, gasLimit }: PrecompileInput,
  ): ExecResult | Promise<ExecResult> {
    const isTop = message.depth === 0
    const input = isTop ? data : data.subarray(0, native.maxInputFromContract ?? data.length)
    const surroundings = precompileCall(message as CalledMessage, this.run.session, this.run.isLocal)
    const { clock } = this.run.session
    // Arguments are read before gas is looked at.
    clock.ticks -= input.length / BYTES_PER_TICK
    const required = native.requiredGas(input, surroundings)
    if (required > gasLimit) {
      const exceptionError = new EVMError(FAILURE.OUT_OF_GAS)
      return { executionGasUsed: gasLimit, returnValue: EMPTY, exceptionError }
    }
    const succeeded = (returnValue: Uint8Array): ExecResult => {
      this.run.session.journal.state.markContract(message.codeAddress.toString())
      return { executionGasUsed: required, returnValue }
    }
    const failed = (error: unknown): ExecResult => {
      if (!(error instanceof PrecompileFailure)) throw error
      if (error.isNotSimulated) this.run.onNotice(error.message)
      if (isTop) this.run.precompileFailed = true
      const exceptionError = precompileFailure(error.message)
      return { executionGasUsed: required, returnValue: EMPTY, exceptionError }
    }
    clock.ticks -= Number(required) / GAS_PER_TICK
    if (native.chunks !== undefined) return finish(native.chunks(input), clock).then(succeeded, failed)
    try {
      return succeeded(native.run(input, surroundings))
    } catch (error) {
      return failed(error)
    }
  }

  protected override _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    return this.run.session.tracer === undefined ? this.#executeCreate(message) : this.#traceCreate(message)
  }

  async #traceCreate(message: LibraryMessage): Promise<EVMResult> {
    const { session } = this.run
    const start = creationStart(message)
    session.tracer?.enter?.(start)
    const result = await this.#executeCreate(message)
    tellEnd(session, start, result)
    return result
  }

  async #executeCreate(message: LibraryMessage): Promise<EVMResult> {
    if (message.depth > 0 && (await this.#collidesWithDestroyed(message))) {
      const exceptionError = new EVMError(FAILURE.CREATE_COLLISION)
      return { execResult: { executionGasUsed: message.gasLimit, returnValue: EMPTY, exceptionError } }
    }
    return super._executeCreate(message)
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
    const { rules, journal } = this.run.session
    if (message.depth > 0 || !rules.chainCalls) return super._generateAddress(message)
    const sender = journal.state.account(message.caller.toString()) ?? EMPTY_ACCOUNT
    const bytes = generateAddress(message.caller.bytes, bigIntToBytes(sender.nonce - 1n))
    const address = libraryAddress(wordToAddress(BigInt(`0x${Buffer.from(bytes).toString('hex')}`)))
    // A creation transaction looks for no collision: whatever stood there is replaced, but for its balance (RSKIP-174).
    const standing = journal.state.account(address.toString())
    if (standing !== undefined) {
      journal.state.putAccount(address.toString(), withBalance(EMPTY_ACCOUNT, standing.balance))
    }
    return address
  }

  /** A message without value writes nothing: the sender exists already. */
  protected override async _reduceSenderBalance(account: Account, message: LibraryMessage): Promise<void> {
    if (message.value !== 0n) await super._reduceSenderBalance(account, message)
  }

  /**
   * Also stores a created account: one made by a transaction keeps nonce 0, which the library has made 1
   * (docs/protocol.md#51-execution).
   */
  protected override async _addToBalance(account: Account, message: CalledMessage): Promise<void> {
    const { rules, journal } = this.run.session
    if (message === this.#creation && message.depth === 0 && rules.chainCalls) account.nonce = 0n
    await super._addToBalance(account, message)
    // A creation transaction without init code makes an account that is no contract.
    if (message === this.#creation && (message.depth > 0 || (message.code as Uint8Array).length > 0)) {
      journal.state.markContract(message.to.toString())
    }
  }
}
