/** Runs frames by compiled code where there is any, and by the interpreter elsewhere. */
import { EMPTY } from '../../encoding/bytes.ts'
import { analyse, isJumpDestination } from '../code-analysis.ts'
import { EvmFailure, FAILURE, fail } from '../failure.ts'
import { type CallRequest, Frame, type Session } from '../frame.ts'
import { advance } from '../interpreter.ts'
import { JUMP } from '../opcodes/control.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import { type RunClock, TICKS_PER_CALL } from '../scheduler.ts'
import type { CallRunner, PlainCall } from './call-opcode.ts'
import type { CompiledCode } from './compiled-code.ts'
import type { HotCode } from './hot-code.ts'
import type { LinearAllocator } from './linear-allocator.ts'
import type { LinearArea } from './linear-area.ts'
import { EXIT, EXIT_SHIFT, PC_MASK } from './protocol.ts'

/**
 * Callees that run while compiled code of their callers waits on the JavaScript stack; deeper ones run when that code
 * has returned.
 */
const MAX_IN_PLACE = 8

/** Is a pause due? Throws `limit-exceeded` past the deadline. */
function isDue(clock: RunClock): boolean {
  return clock.ticks <= 0 && clock.mustPause()
}

/** Fails as JUMP does with the destination at the program counter. */
function invalidJump(frame: Frame): never {
  frame.leftOpcode = JUMP.code
  frame.stack[0] = BigInt(frame.pc)
  frame.sp = 0
  fail(FAILURE.INVALID_JUMP)
}

/** Runs the frames of one message. */
export class Execution implements CallRunner {
  readonly #table: OpcodeTable
  readonly #hotAfter: number
  readonly #codeHeaders: boolean
  readonly #hotCode: HotCode
  #allocator: LinearAllocator | undefined
  /** Callees that run in place. */
  #inPlace = 0
  /** Their frames by level, used again for later calls. */
  readonly #frames: Frame[] = []
  /** Callees that ran in place and have to wait, the deepest first. */
  readonly waiting: { readonly frame: Frame; readonly request: CallRequest }[] = []

  /** `hotAfter`: jumps to a place after which it is compiled; 0 compiles all code before it runs. */
  constructor(table: OpcodeTable, hotAfter: number, codeHeaders: boolean, hotCode: HotCode) {
    this.#table = table
    this.#hotAfter = hotAfter
    this.#codeHeaders = codeHeaders
    this.#hotCode = hotCode
  }

  /** As the interpreter's `advance`; the status is never `hot`. */
  advance(frame: Frame): void {
    const { clock } = frame.session
    const area = frame.area as LinearArea | undefined
    let code = area?.code ?? this.#hotCode.find(frame.analysis, this.#table)
    if (this.#hotAfter === 0) {
      code = this.#compile(frame)
      if (isDue(clock)) return
    }
    if ((code !== undefined || area !== undefined) && this.#runCompiled(frame, code)) return
    for (;;) {
      advance(frame, this.#table, this.#hotAfter)
      if (frame.status !== 'hot') return
      frame.status = 'running'
      const hot = this.#compile(frame)
      if (isDue(clock)) return
      if (hot !== undefined && this.#runCompiled(frame, hot)) return
    }
  }

  call(frame: Frame, call: PlainCall): number {
    const { session } = frame
    const { clock, journal } = session
    const isDue = clock.ticks <= TICKS_PER_CALL && clock.mustPause()
    // A tracer is told of each call by what opens messages.
    if (isDue || this.#inPlace === MAX_IN_PLACE || session.tracer !== undefined) {
      // The pause comes before the call is made.
      if (isDue) clock.ticks = 0
      frame.request(call.request())
      return -1
    }
    clock.ticks -= TICKS_PER_CALL
    frame.returned = EMPTY
    const { kind, target, input, gas, outputOffset, outputLength } = call
    const level = this.#inPlace
    const callee = this.#frames[level] ?? this.#addFrame(session)
    this.#begin(callee, frame, call)
    journal.checkpoint()
    journal.recorded++
    this.#inPlace++
    const isBroken = !this.#succeeds(callee)
    this.#inPlace--
    if (!isBroken && callee.status !== 'stopped') {
      const request = { kind, target, value: 0n, input, gas, outputOffset, outputLength } as const
      this.#frames.length = level
      this.waiting.push({ frame: callee, request })
      return -1
    }
    this.leave(callee)
    const hasFailed = isBroken || callee.reverted
    if (hasFailed) journal.revert()
    else journal.commit()
    journal.involve(frame.address, target)
    frame.gas -= isBroken ? gas : gas - callee.gas
    if (!isBroken) {
      frame.returned = callee.output
      frame.writeReturned(outputOffset, outputLength)
    }
    return hasFailed ? 0 : 1
  }

  #begin(callee: Frame, { address, caller, value, isStatic, depth }: Frame, call: PlainCall): void {
    const { kind, target, input, gas } = call
    const delegates = kind === 'delegatecall'
    callee.begin(
      analyse(call.code, this.#codeHeaders),
      delegates || kind === 'callcode' ? address : target,
      delegates ? caller : address,
      delegates ? value : 0n,
      input,
      kind === 'staticcall' || isStatic,
      depth + 1,
      gas,
    )
  }

  #addFrame(session: Session): Frame {
    const frame = new Frame(session)
    this.#frames.push(frame)
    return frame
  }

  /** Runs a callee; false when its code fails. */
  #succeeds(callee: Frame): boolean {
    try {
      this.advance(callee)
      return true
    } catch (error) {
      if (!(error instanceof EvmFailure)) throw error
      return false
    }
  }

  /** A frame has ended. */
  leave(frame: Frame): void {
    if (frame.area !== undefined) this.#allocator?.leave(frame.area as LinearArea)
  }

  /** The message has ended, and all of its frames. */
  release(): void {
    const allocator = this.#allocator
    this.#allocator = undefined
    if (allocator !== undefined) this.#hotCode.keepAllocator(allocator)
  }

  /** Runs compiled code from the program counter on; false when the interpreter is to go on. */
  #runCompiled(frame: Frame, code: CompiledCode | undefined): boolean {
    const allocator = this.#allocator ?? this.#takeAllocator()
    const { analysis, session } = frame
    const { clock } = session
    let area = frame.area as LinearArea | undefined
    let functions =
      area !== undefined && area.code === code ? area.functions : code?.functionsOn(allocator, clock)
    if (area === undefined) {
      if (functions?.[frame.pc] === undefined) return false
      area = allocator.enter(frame)
    }
    area.code = code
    area.functions = functions
    allocator.putStack(area)
    for (;;) {
      let run = functions?.[frame.pc]
      if (run === undefined && code !== undefined && this.#isHot(frame)) {
        const compiled = this.#compile(frame)
        if (compiled !== undefined) {
          functions = compiled.functionsOn(allocator, clock)
          area.code = compiled
          area.functions = functions
          if (isDue(clock)) return true
          run = functions[frame.pc]
        }
      }
      if (run === undefined) break
      const ticks = area.code?.ticks[frame.pc] ?? 1
      const exit = allocator.run(area, run)
      const kind = exit >>> EXIT_SHIFT
      frame.pc = exit & PC_MASK
      if (kind === EXIT.STATUS) return true
      if (kind === EXIT.INTERPRET) break
      if (kind === EXIT.DYNAMIC && !isJumpDestination(analysis, frame.pc)) invalidJump(frame)
      clock.ticks -= ticks
      if (isDue(clock)) return true
    }
    allocator.takeStack(area)
    frame.leftOpcode = undefined
    return false
  }

  #takeAllocator(): LinearAllocator {
    const allocator = this.#hotCode.takeAllocator()
    allocator.begin(this.#table, this)
    this.#allocator = allocator
    return allocator
  }

  /** Compiles the code at a frame's program counter; `undefined` when it stays with the interpreter. */
  #compile({ analysis, pc, session }: Frame): CompiledCode | undefined {
    return this.#hotCode.compile(analysis, this.#table, pc, this.#hotAfter, session.clock)
  }

  /** Counts an arrival at code that is not compiled. */
  #isHot({ analysis, pc }: Frame): boolean {
    const count = (analysis.counts[pc] ?? 0) + 1
    analysis.counts[pc] = count
    return count >= this.#hotAfter
  }
}
