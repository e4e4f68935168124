/**
 * Runs one message with all the frames below it (docs/internals/protocol.md#63-calls-and-creations). The frames wait for each other
 * in a list, not on the JavaScript stack, so that calls need no promise: only a pause of the scheduler does, and a
 * precompiled contract that works in chunks.
 */
import { CONSOLE_ADDRESS } from '../abi/console.ts'
import { EMPTY_ACCOUNT, MAX_NONCE, withBalance, withNonce } from '../chain/account.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { hasWebAssembly } from '../wasm/web-assembly.ts'
import {
  type CallMessage,
  type CreateMessage,
  childCall,
  childCreation,
  type FrameMessage,
  type FrameResult,
} from './call-message.ts'
import { analyse } from './code-analysis.ts'
import { Execution } from './compiled/execution.ts'
import type { HotCode } from './compiled/hot-code.ts'
import { type ConsoleCalls, keepConsoleCall } from './console-calls.ts'
import { addressOfCreation, allGasLost, depositCode, makeAccount, overflow } from './creation.ts'
import { endEarlierCall, withoutUnstoredCode } from './earlier-frames.ts'
import { EvmFailure, FAILURE } from './failure.ts'
import { type ChildRequest, Frame } from './frame.ts'
import { REFUND } from './gas-schedule.ts'
import { internalPath, RECORDED_PRECOMPILES } from './internal-transaction.ts'
import { advance } from './interpreter.ts'
import { type Invocation, Wait } from './invocation.ts'
import { bytesOf, type FrameData } from './memory-range.ts'
import { type PrecompileRun, runPrecompile } from './precompile-call.ts'
import { PRESENT_FRAMES, type VmRules } from './rules.ts'
import { TICKS_PER_CALL } from './scheduler.ts'
import { advanceCounted } from './tracing/counted-interpreter.ts'
import { frameStart, reportEnd, reportRefusal, reportStart } from './tracing/frame-events.ts'
import { tracedFailure } from './tracing/frame-failure.ts'
import { advanceTraced } from './tracing/traced-interpreter.ts'
import { MAX_WORD } from './word.ts'

const REVERTED = new EvmFailure(FAILURE.REVERT)

/** What one run gives to the EVM. */
export interface EvmRun extends PrecompileRun {
  readonly rules: VmRules
  readonly destroyedEarlier: ReadonlySet<Hex> | undefined
  /** Jumps to a place in code after which it is compiled; infinite for never. */
  readonly hotAfter: number
  /** Of the VM. */
  readonly hotCode: HotCode
  /** Call data to the console contract; a failure takes none of it back. */
  consoleCalls: ConsoleCalls | undefined
}

/** Runs one top-level message. */
export class Evm {
  protected readonly run: EvmRun
  /** Absent while a tracer watches single instructions, which sees frames as the interpreter leaves them. */
  readonly #execution: Execution | undefined

  constructor(run: EvmRun) {
    this.run = run
    const { rules, session, hotAfter, hotCode } = run
    const { tracer } = session
    const watchesCode = tracer?.step !== undefined || tracer?.countsOf !== undefined
    const compiles = hasWebAssembly && Number.isFinite(hotAfter) && !watchesCode
    this.#execution = compiles
      ? new Execution(rules.opcodes, hotAfter, rules.codeHeaders, hotCode)
      : undefined
  }

  /**
   * Runs a message with everything that it calls: its result, or a promise of it when it has to wait. State changes of a
   * failure are undone.
   */
  execute(message: FrameMessage): FrameResult | Promise<FrameResult> {
    const invocation = this.#begin(message, undefined, undefined)
    const end = this.#proceed(invocation, this.open(invocation))
    return end instanceof Wait ? this.#resumeLater(end) : end
  }

  /** Goes on after each wait, until the message has ended. */
  async #resumeLater(first: Wait): Promise<FrameResult> {
    let end: FrameResult | Wait = first
    while (end instanceof Wait) {
      const { invocation, until, isOpen }: Wait = end
      const outcome = await until
      end = this.#proceed(invocation, isOpen ? outcome : this.open(invocation))
    }
    return end
  }

  /** Runs the innermost message, and then those that wait for it, until the first ends or one cannot go on yet. */
  #proceed(
    invocation: Invocation,
    known: FrameResult | Promise<FrameResult> | undefined,
  ): FrameResult | Wait {
    const { clock } = this.run.session
    let current = invocation
    let outcome = known
    for (;;) {
      while (outcome === undefined) {
        const { frame } = current
        if (frame === undefined) throw new Error('a message without code runs')
        outcome = this.#advance(frame)
        if (outcome !== undefined) break
        current = this.#deepest(current)
        const caller = current.frame as Frame
        const calls = caller.status === 'calling'
        caller.status = 'running'
        const child = calls ? this.#request(current, caller) : undefined
        if (calls) clock.ticks -= TICKS_PER_CALL
        if (!calls || (clock.ticks <= 0 && clock.mustPause())) {
          return new Wait(child ?? current, clock.pause(), child === undefined)
        }
        if (child === undefined) continue
        current = child
        outcome = this.open(child)
      }
      if (outcome instanceof Promise) return new Wait(current, outcome, true)
      const result = this.close(current, outcome)
      const { parent } = current
      if (parent === undefined) {
        this.#execution?.release()
        return result
      }
      outcome = this.#resume(parent, current, result)
      current = parent
    }
  }

  /** The message that has to wait: of a frame that did, or of the last of the callees that ran in its compiled code. */
  #deepest(invocation: Invocation): Invocation {
    const waiting = this.#execution?.waiting
    if (waiting === undefined || waiting.length === 0) return invocation
    let deepest = invocation
    for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
      const caller = deepest.frame as Frame
      deepest = this.#begin(childCall(caller, call.request), deepest, call.request)
      deepest.frame = call.frame
    }
    return deepest
  }

  /** Runs a frame until it ends, which gives a result, or requests a call, or a pause is due. */
  #advance(frame: Frame): FrameResult | undefined {
    const { tracer } = frame.session
    const { opcodes } = this.run.rules
    try {
      if (this.#execution !== undefined) this.#execution.advance(frame)
      else if (tracer?.step !== undefined) advanceTraced(frame, opcodes, tracer)
      else if (tracer?.countsOf !== undefined) advanceCounted(frame, opcodes, tracer.countsOf(frame.code))
      else advance(frame, opcodes, Number.POSITIVE_INFINITY)
    } catch (error) {
      return this.#failed(frame, error)
    }
    if (frame.status !== 'stopped') return undefined
    const failure = frame.reverted ? REVERTED : undefined
    return { gasUsed: frame.gasGiven - frame.gas, output: frame.output, failure }
  }

  /** The end of a frame by an error of its code; any other error is thrown. */
  #failed(frame: Frame, error: unknown): FrameResult {
    if (!(error instanceof EvmFailure)) throw error
    const { tracer } = frame.session
    const failure = tracer === undefined ? error : tracedFailure(frame, error, this.run.rules.opcodes)
    return { gasUsed: frame.gasGiven, output: EMPTY, failure }
  }

  #begin(
    message: FrameMessage,
    parent: Invocation | undefined,
    child: ChildRequest | undefined,
    returnedBefore: Uint8Array = EMPTY,
  ): Invocation {
    const { refund, destroyed } = this.run.session.journal
    return {
      message,
      parent,
      child,
      returnedBefore,
      refundBefore: refund,
      destroyedBefore: destroyed.length,
      start: undefined,
      frame: undefined,
      created: undefined,
    }
  }

  /** The message of the call that a frame requests; `undefined` when it is refused, and the frame has its 0 already. */
  #request(current: Invocation, frame: Frame): Invocation | undefined {
    const { child, session } = frame
    frame.child = undefined
    if (child === undefined) throw new Error('a frame calls without a request')
    const { rules } = this.run
    const { state } = session.journal
    const creates = 'initcode' in child
    const isTooDeep = frame.depth >= rules.maxDepth
    // Earlier rules may give it back; otherwise it is gone when the callee runs, where it may be.
    const returned = rules.frames === PRESENT_FRAMES ? EMPTY : frame.returned
    let isRefused = isTooDeep
    if (creates || child.value !== 0n) {
      const own = state.account(frame.address) ?? EMPTY_ACCOUNT
      isRefused ||= own.balance < child.value || (creates && own.nonce >= MAX_NONCE)
      // The nonce stays when the creation fails.
      if (creates && !isRefused) {
        state.putAccount(frame.address, withNonce(own, own.nonce + 1n))
        session.journal.raised.push(frame.address)
      }
    }
    if (!(isRefused && this.keepsReturnData(creates, isTooDeep))) frame.returned = EMPTY
    if (isRefused) {
      if (session.tracer !== undefined) reportRefusal(frame, child, rules.maxDepth)
      frame.push(0n)
      return undefined
    }
    const message = creates ? childCreation(frame, child) : childCall(frame, child)
    return this.#begin(message, current, child, returned)
  }

  /**
   * Opens a checkpoint and begins a message. The result when it ends without code, a promise of it from a precompiled
   * contract that works in chunks, or `undefined` when there is a frame to run.
   */
  protected open(invocation: Invocation): FrameResult | Promise<FrameResult> | undefined {
    const { session } = this.run
    const { message } = invocation
    session.journal.checkpoint()
    if (session.tracer !== undefined) {
      invocation.start = frameStart(message, session)
      reportStart(session, invocation.start)
    }
    return 'target' in message ? this.#call(invocation, message) : this.#create(invocation, message)
  }

  #call(invocation: Invocation, message: CallMessage): FrameResult | Promise<FrameResult> | undefined {
    const { target, address, caller, value, input } = message
    const { journal, precompiles } = this.run.session
    const isPrecompile = precompiles.has(target)
    if (message.kind !== 'delegatecall') {
      if (isPrecompile && value > 0n && address !== caller) {
        const balance = journal.state.account(address)?.balance ?? 0n
        if (balance + value > MAX_WORD) return overflow()
      }
      journal.transfer(caller, address, value)
    }
    if (!isPrecompile || RECORDED_PRECOMPILES.has(target)) journal.recorded++
    if (isPrecompile) return this.callPrecompile(message, invocation)
    const code = journal.codeToRun(target)
    if (code.length > 0) {
      invocation.frame = this.#frame(message, code, address, input, message.isStatic)
      return undefined
    }
    if (target === CONSOLE_ADDRESS)
      this.run.consoleCalls = keepConsoleCall(this.run.consoleCalls, bytesOf(input))
    return { gasUsed: 0, output: EMPTY, failure: undefined }
  }

  /** Runs the precompiled contract at the target. */
  protected callPrecompile(message: CallMessage, invocation: Invocation): FrameResult | Promise<FrameResult> {
    const { session } = this.run
    const precompile = session.precompiles.get(message.target)
    if (precompile === undefined) throw new Error(`no precompiled contract at ${message.target}`)
    const pathOf = () => internalPath(invocation, session)
    return runPrecompile(precompile, message, this.run, pathOf)
  }

  #create(invocation: Invocation, message: CreateMessage): FrameResult | undefined {
    const { destroyedEarlier, rules, session } = this.run
    const { depth, gas, initcode } = message
    const { journal } = session
    if (depth > 0 && destroyedEarlier !== undefined && destroyedEarlier.size > 0) {
      const wanted = addressOfCreation(message, journal)
      if (destroyedEarlier.has(wanted)) return allGasLost(gas, FAILURE.CREATE_COLLISION)
    }
    if (initcode.length > rules.maxInitcodeSize) return allGasLost(gas, FAILURE.INITCODE_SIZE_VIOLATION)
    const address = this.takeAddress(message)
    invocation.created = address
    const refused = makeAccount(message, address, this.nonceOfCreated(depth), journal)
    if (refused !== undefined) return refused
    journal.recorded++
    // A creation transaction without init code makes an account that is no contract.
    if (depth > 0 || initcode.length > 0) journal.state.markContract(address)
    if (initcode.length === 0) return { gasUsed: 0, output: EMPTY, failure: undefined }
    invocation.frame = this.#frame(message, initcode, address, EMPTY, false)
    return undefined
  }

  #frame(message: FrameMessage, code: Uint8Array, address: Hex, input: FrameData, isStatic: boolean): Frame {
    const { session, rules } = this.run
    const { caller, value, depth, gas } = message
    const analysis = analyse(code, rules.codeHeaders)
    const frame = new Frame(session)
    frame.begin(analysis, address, caller, value, input, isStatic, depth, gas)
    return frame
  }

  /** Ends a message: stores the code of a creation, reports the end to the tracer, keeps or undoes what was changed. */
  protected close(invocation: Invocation, ended: FrameResult): FrameResult {
    const { session, directEffects } = this.run
    const { message, start, frame } = invocation
    if (frame !== undefined) this.#execution?.leave(frame)
    const result = 'target' in message ? ended : this.#endCreation(invocation, message, ended)
    if (start !== undefined) reportEnd(session, start, result)
    if (!('target' in message)) session.journal.endCreation()
    if (result.failure === undefined) session.journal.commit()
    else {
      session.journal.revert()
      if (message.depth === 0 && 'target' in message) for (const apply of directEffects) apply()
    }
    return result
  }

  #endCreation({ frame, created }: Invocation, message: CreateMessage, ended: FrameResult): FrameResult {
    if (frame === undefined || created === undefined) return { ...ended, created }
    const { frames } = this.run.rules
    const { journal } = this.run.session
    const result = depositCode(ended, created, message.gas, frames, journal)
    return frames.failsUnstoredCode || message.depth === 0 ? result : withoutUnstoredCode(result, ended)
  }

  /** Continues the frame whose call has ended; the result when that fails the frame (RSKIP-197). */
  #resume({ frame }: Invocation, ended: Invocation, result: FrameResult): FrameResult | undefined {
    const { child } = ended
    if (frame === undefined || child === undefined) throw new Error('a call has ended that no frame made')
    const { journal } = this.run.session
    const { failure, output } = result
    frame.leftOpcode = undefined
    frame.charge(result.gasUsed)
    if ('initcode' in child) {
      const created = failure === undefined ? result.created : undefined
      if (created !== undefined) journal.creations.push({ contract: created, creator: frame.address })
      journal.involve(frame.address, created ?? frame.address)
      frame.returned = this.returnDataOfCreation(result)
      if (this.chainCreations) {
        const destroyed = journal.destroyed.length - ended.destroyedBefore
        journal.refund = ended.refundBefore + REFUND.selfDestruct * destroyed
      }
      frame.push(created === undefined ? 0n : BigInt(created))
      return undefined
    }
    journal.involve(frame.address, (ended.message as CallMessage).target)
    if (failure === undefined || failure.reason === FAILURE.REVERT) frame.returned = output
    frame.push(failure === undefined ? 1n : 0n)
    frame.writeReturned(child.outputOffset, child.outputLength)
    if (this.run.rules.frames === PRESENT_FRAMES) return undefined
    try {
      endEarlierCall(this.run, frame, child, ended.returnedBefore, result)
      return undefined
    } catch (error) {
      return this.#failed(frame, error)
    }
  }

  /**
   * Does a call or creation that is refused leave the return data of the call before it
   * (docs/internals/protocol.md#63-calls-and-creations)?
   */
  protected keepsReturnData(creates: boolean, isTooDeep: boolean): boolean {
    return creates || isTooDeep || !this.run.rules.frames.clearsReturnData
  }

  /**
   * The chain's creations (docs/internals/protocol.md#63-calls-and-creations): of a constructor's refunds only those of destroyed
   * contracts reach the creator.
   */
  protected get chainCreations(): boolean {
    return true
  }

  /** The creator's return data: none, also after a REVERT (docs/internals/protocol.md#63-calls-and-creations). */
  protected returnDataOfCreation(_result: FrameResult): Uint8Array {
    return EMPTY
  }

  /** A contract made by a transaction begins with nonce 0 (docs/internals/protocol.md#51-execution), one made by code with 1. */
  protected nonceOfCreated(depth: number): bigint {
    return depth > 0 && this.run.rules.frames.createsWithNonce ? 1n : 0n
  }

  /**
   * The address of a creation. A creation transaction checks no collision: an account at the address is replaced, but
   * for its balance (RSKIP-174).
   */
  protected takeAddress(message: CreateMessage): Hex {
    const { journal } = this.run.session
    const address = addressOfCreation(message, journal)
    const replaced = message.depth === 0 ? journal.state.account(address) : undefined
    if (replaced !== undefined) {
      const balance = this.run.rules.frames.keepsBalance ? replaced.balance : 0n
      journal.state.putAccount(address, withBalance(EMPTY_ACCOUNT, balance))
    }
    return address
  }
}
