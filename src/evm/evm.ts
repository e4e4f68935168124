/**
 * The library's EVM with the chain's frames: our interpreter in place of its own, precompiled contracts, creations and
 * collisions by docs/protocol.md#63-calls-and-creations. The only class over it in `src/`; every override is a
 * protected method of the library.
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
import { CONSOLE_ADDRESS } from '../abi/console.ts'
import { EMPTY_ACCOUNT, withBalance, withNonce } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { childMessage } from './child-message.ts'
import { analyse } from './code-analysis.ts'
import { type ConsoleCalls, keepConsoleCall } from './console-calls.ts'
import { endEarlierCall, withoutUnstoredCode } from './earlier-frames.ts'
import { type ChildRequest, FAILURE, Frame } from './frame.ts'
import { REFUND } from './gas-schedule.ts'
import { advance } from './interpreter.ts'
import { libraryAddress } from './library-state.ts'
import { type CalledMessage, type PrecompileRun, runPrecompile } from './precompile-call.ts'
import { PRESENT_FRAMES, type VmRules } from './rules.ts'
import { callStart, creationStart, reportEnd, reportRefusal } from './tracing/frame-events.ts'
import { tracedFailure } from './tracing/frame-failure.ts'
import { advanceTraced } from './tracing/traced-interpreter.ts'
import { wordToAddress } from './word.ts'

/** EIP-2681: a nonce of this size cannot grow. */
const MAX_NONCE = 2n ** 64n - 1n

/** Frames that may stand on the JavaScript stack; only before RSKIP-150 there are more (docs/protocol.md#75-activation). */
const STACKED_FRAMES = 401

/** A call counts as much time as this many jumps. */
const TICKS_PER_CALL = 32

/** What one run gives to the EVM. */
export interface EvmRun extends PrecompileRun {
  readonly rules: VmRules
  readonly destroyedEarlier: ReadonlySet<Hex> | undefined
  /** Call data to the console contract; a failure takes none of it back. */
  consoleCalls: ConsoleCalls | undefined
}

/** Runs one top-level message at a time. */
export class RskEvm extends EVM {
  #run: EvmRun | undefined
  /** The creation that is being set up. */
  #creation: LibraryMessage | undefined
  /** The opcode behind the call that is about to run; a message does not hold it. */
  #requested: ChildRequest['kind'] | undefined
  /** How the last constructor ended, before its code is stored. */
  #constructed: ExecResult | undefined

  constructor(options: EVMOpts) {
    super(options)
    // Every instance listens on the shared Common and none is ever removed; its fork never changes.
    this.common.events.removeAllListeners('hardforkChanged')
  }

  /** Must be called before `runMessage` and `runCreation`. */
  begin(run: EvmRun): void {
    this.#run = run
    this.#requested = undefined
  }

  get run(): EvmRun {
    if (this.#run === undefined) throw new Error('no run has begun')
    return this.#run
  }

  /** Runs a call: the library's `runCall` without what only creations need. State changes of a failure are undone. */
  async runMessage(message: CalledMessage): Promise<EVMResult> {
    const { journal } = this.run.session
    journal.checkpoint()
    const result = await this._executeCall(message)
    if (result.execResult.exceptionError === undefined) journal.commit()
    else {
      journal.revert()
      if (message.depth === 0) for (const apply of this.run.directEffects) apply()
    }
    return result
  }

  /** Runs a creation, whose creator's nonce has grown already. State changes of a failure are undone. */
  runCreation(message: LibraryMessage): Promise<EVMResult> {
    return this.runCall({ message, skipNonceIncrement: true })
  }

  protected override _executeCall(message: CalledMessage): Promise<EVMResult> {
    return this.run.session.tracer === undefined ? this.#executeCall(message) : this.#traceCall(message)
  }

  async #traceCall(message: CalledMessage): Promise<EVMResult> {
    const { session } = this.run
    const start = callStart(message, session, this.#requested)
    session.tracer?.enter?.(start)
    const result = await this.#executeCall(message)
    reportEnd(session, start, result)
    return result
  }

  /** The library's own path serves precompiled contracts; calls of code take a shorter one, without its accounts. */
  async #executeCall(message: CalledMessage): Promise<EVMResult> {
    const { journal, precompiles } = this.run.session
    const target = message.codeAddress.toString()
    if (precompiles.has(target)) return super._executeCall(message)
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
    if (message.to === undefined) throw new Error('a frame has no address')
    const result = await this.#runFrame(message, message.code as Uint8Array, message.to.toString())
    // The library adds the price of the code to the result itself.
    this.#constructed = { ...result }
    return result
  }

  async #runFrame(message: LibraryMessage, code: Uint8Array, address: Hex): Promise<ExecResult> {
    const { session, rules } = this.run
    const frame = new Frame({
      session,
      analysis: analyse(code, rules.codeHeaders),
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
      failure = session.tracer === undefined ? error : tracedFailure(frame, error, rules.opcodes)
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
    const { opcodes } = this.run.rules
    const { clock, tracer } = frame.session
    for (;;) {
      if (tracer?.step === undefined) advance(frame, opcodes)
      else advanceTraced(frame, opcodes, tracer)
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

  /** Makes the call that a frame requests, and pushes the result. */
  async #call(frame: Frame, child: ChildRequest): Promise<void> {
    const { session, rules } = this.run
    const { state } = session.journal
    const creates = 'initcode' in child
    const own = state.account(frame.address) ?? EMPTY_ACCOUNT
    const isTooDeep = frame.depth >= rules.maxDepth
    const isRefused = isTooDeep || own.balance < child.value || (creates && own.nonce >= MAX_NONCE)
    const before = frame.returned
    if (!(isRefused && this.keepsReturnData(creates, isTooDeep))) frame.returned = EMPTY
    if (isRefused) {
      if (session.tracer !== undefined) reportRefusal(frame, child, rules.maxDepth)
      frame.push(0n)
      return
    }
    // The nonce stays when the creation fails.
    if (creates) state.putAccount(frame.address, withNonce(own, own.nonce + 1n))
    // Frames call each other on the JavaScript stack until one awaits; it holds some 500 of them.
    if (frame.depth % STACKED_FRAMES === STACKED_FRAMES - 1) await undefined
    this.#requested = child.kind
    const { refund, destroyed } = session.journal
    const destroyedBefore = destroyed.length
    const message = childMessage(frame, child)
    const { execResult, createdAddress } = creates
      ? await this.runCreation(message)
      : await this.runMessage(message as CalledMessage)
    frame.charge(Number(execResult.executionGasUsed))
    const failure = execResult.exceptionError?.error
    const made = failure === undefined ? createdAddress?.toString() : undefined
    if (creates && made !== undefined)
      session.journal.creations.push({ contract: made, creator: frame.address })
    session.journal.involve(frame.address, creates ? (made ?? frame.address) : message.codeAddress.toString())
    if ('initcode' in child) {
      frame.returned = this.returnDataOfCreation(execResult)
      if (this.chainCreations) {
        session.journal.refund = refund + REFUND.selfDestruct * (destroyed.length - destroyedBefore)
      }
      frame.push(failure === undefined && createdAddress ? BigInt(createdAddress.toString()) : 0n)
      return
    }
    if (failure === undefined || failure === FAILURE.REVERT) frame.returned = execResult.returnValue
    frame.push(failure === undefined ? 1n : 0n)
    if (child.outputLength > 0) {
      frame.memory.set(frame.returned.subarray(0, child.outputLength), child.outputOffset)
    }
    if (rules.frames !== PRESENT_FRAMES) endEarlierCall(this.run, frame, child, before, execResult)
  }

  /**
   * Does a call or creation that is refused leave the return data of the call before it
   * (docs/protocol.md#63-calls-and-creations)?
   */
  protected keepsReturnData(creates: boolean, isTooDeep: boolean): boolean {
    return creates || isTooDeep || !this.run.rules.frames.clearsReturnData
  }

  /**
   * The chain's creations (docs/protocol.md#63-calls-and-creations): of a constructor's refunds only those of destroyed
   * contracts reach the creator.
   */
  protected get chainCreations(): boolean {
    return true
  }

  /** The creator's return data: none, also after a REVERT (docs/protocol.md#63-calls-and-creations). */
  protected returnDataOfCreation(_result: ExecResult): Uint8Array {
    return EMPTY
  }

  protected override async _loadCode(message: LibraryMessage): Promise<void> {
    const { precompiles } = this.run.session
    const precompile =
      message.code === undefined ? precompiles.get(message.codeAddress.toString()) : undefined
    if (precompile === undefined) return super._loadCode(message)
    message.code = (input: PrecompileInput) =>
      runPrecompile(precompile, message as CalledMessage, input, this.run)
    message.isCompiled = true
  }

  protected override _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    return this.run.session.tracer === undefined ? this.#executeCreate(message) : this.#traceCreate(message)
  }

  async #traceCreate(message: LibraryMessage): Promise<EVMResult> {
    const { session } = this.run
    const start = creationStart(message)
    session.tracer?.enter?.(start)
    const result = await this.#executeCreate(message)
    reportEnd(session, start, result)
    return result
  }

  async #executeCreate(message: LibraryMessage): Promise<EVMResult> {
    if (message.depth > 0 && (await this.#collidesWithDestroyed(message))) {
      const exceptionError = new EVMError(FAILURE.CREATE_COLLISION)
      return { execResult: { executionGasUsed: message.gasLimit, returnValue: EMPTY, exceptionError } }
    }
    const { failsUnstoredCode } = this.run.rules.frames
    if (failsUnstoredCode || message.depth === 0) return super._executeCreate(message)
    this.#constructed = undefined
    const result = await super._executeCreate(message)
    return withoutUnstoredCode(result, this.#constructed)
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
    const { journal } = this.run.session
    const sender = journal.state.account(message.caller.toString()) ?? EMPTY_ACCOUNT
    const bytes = generateAddress(message.caller.bytes, bigIntToBytes(sender.nonce - 1n))
    const address = libraryAddress(wordToAddress(BigInt(`0x${Buffer.from(bytes).toString('hex')}`)))
    // A creation transaction checks no collision: an account at the address is replaced, but for its balance (RSKIP-174).
    const replaced = journal.state.account(address.toString())
    if (replaced !== undefined) {
      const balance = this.run.rules.frames.keepsBalance ? replaced.balance : 0n
      journal.state.putAccount(address.toString(), withBalance(EMPTY_ACCOUNT, balance))
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
    const { createsWithNonce } = this.run.rules.frames
    if (message === this.#creation && (message.depth === 0 || !createsWithNonce)) account.nonce = 0n
    await super._addToBalance(account, message)
    // A creation transaction without init code makes an account that is no contract.
    if (message === this.#creation && (message.depth > 0 || (message.code as Uint8Array).length > 0)) {
      this.run.session.journal.state.markContract(message.to.toString())
    }
  }
}
