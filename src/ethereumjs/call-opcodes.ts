/** CALL, CALLCODE, DELEGATECALL and STATICCALL of the library by the chain's rules (docs/internals/protocol.md#63-calls-and-creations). */
import type { ExecResult } from '@ethereumjs/evm'
import { libraryAddress } from '../comparison/library-state.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { FAILURE } from '../evm/failure.ts'
import { GAS } from '../evm/gas-schedule.ts'
import type { VmRules } from '../evm/rules.ts'
import { TICKS_PER_CALL } from '../evm/scheduler.ts'
import { MAX_LONG, wordToAddress } from '../evm/word.ts'
import { evmFailure } from './failures.ts'
import {
  evmOf,
  fail,
  type GasFunction,
  isMissing,
  memoryGas,
  type Opcode,
  type RunState,
  runOf,
} from './run-state.ts'

const STIPEND = BigInt(GAS.callStipend)

/** How one of the four calls differs from the others. */
interface CallKind {
  readonly opcode: number
  readonly name: string
  /** Words on the stack; with six there is no value. The last four are the memory ranges of input and output. */
  readonly operands: 6 | 7
  /** Does the value go to the target? Then a new account costs gas, and a static frame may send none. */
  readonly transfers: boolean
}

const CALL: CallKind = { opcode: 0xf1, name: 'CALL', operands: 7, transfers: true }
const CALLCODE: CallKind = { opcode: 0xf2, name: 'CALLCODE', operands: 7, transfers: false }
const DELEGATECALL: CallKind = { opcode: 0xf4, name: 'DELEGATECALL', operands: 6, transfers: false }
const STATICCALL: CallKind = { opcode: 0xfa, name: 'STATICCALL', operands: 6, transfers: false }
/** Before RSKIP-103 it takes a value. */
const VALUE_STATICCALL: CallKind = { ...STATICCALL, operands: 7 }

interface CallOperands {
  readonly requested: bigint
  readonly target: Hex
  readonly value: bigint
  readonly inputAt: bigint
  readonly inputLength: bigint
  readonly outputAt: bigint
  readonly outputLength: bigint
}

function operandsOf({ stack }: RunState, count: 6 | 7): CallOperands {
  const words = stack.peek(count)
  const [requested = 0n, target = 0n] = words
  const [inputAt = 0n, inputLength = 0n, outputAt = 0n, outputLength = 0n] = words.slice(-4)
  const value = count === 7 ? (words[2] ?? 0n) : 0n
  return { requested, target: wordToAddress(target), value, inputAt, inputLength, outputAt, outputLength }
}

/** How much of the input is read, which is how far memory grows for it (`inputRead` of `evm/opcodes/calls.ts`). */
function inputRead(runState: RunState, { target, value, inputLength }: CallOperands): bigint {
  const { session, rules } = runOf(runState)
  if (runState.env.depth >= rules.maxDepth) return 0n
  const precompile = session.precompiles.get(target)
  if (precompile === undefined) return inputLength
  const balance = session.journal.state.account(runState.env.address.toString())?.balance ?? 0n
  if (balance < value) return 0n
  const most = precompile.maxInputFromContract
  return most !== undefined && inputLength > BigInt(most) ? BigInt(most) : inputLength
}

function callGas({ operands, transfers }: CallKind, overflows: boolean): GasFunction {
  return async (runState, base) => {
    if (runState.gasLeft < base) fail(FAILURE.OUT_OF_GAS)
    const given = operandsOf(runState, operands)
    const { requested, target, value, inputAt, inputLength, outputAt, outputLength } = given
    let gas = base
    if (transfers) {
      if (value !== 0n && runState.env.isStatic) fail(FAILURE.STATIC_STATE_CHANGE)
      if (isMissing(runState, BigInt(target))) gas += BigInt(GAS.newAccount)
    }
    if (value !== 0n) gas += BigInt(GAS.callValue)
    const { memoryWordCount, highestMemCost } = runState
    gas += memoryGas(runState, inputAt, inputLength) + memoryGas(runState, outputAt, outputLength)
    const read = inputRead(runState, given)
    if (read !== inputLength) {
      // Gas is charged for the whole input; memory grows for what is read.
      Object.assign(runState, { memoryWordCount, highestMemCost })
      memoryGas(runState, inputAt, read)
      memoryGas(runState, outputAt, outputLength)
    }
    const rest = runState.gasLeft - gas
    const stipend = value === 0n ? 0n : STIPEND
    if (rest < stipend) fail(FAILURE.OUT_OF_GAS)
    if (overflows && value !== 0n && requested > MAX_LONG - STIPEND) fail(FAILURE.OUT_OF_GAS)
    if (transfers && value !== 0n) runOf(runState).session.journal.valueCallSeen = true
    const wanted = requested + stipend
    runState.messageGasLimit = wanted < rest ? wanted : rest
    return gas
  }
}

/** STATICCALL that sends a value. */
async function staticCallWithValue(runState: RunState): Promise<void> {
  const { target, value, inputAt, inputLength, outputAt, outputLength } = operandsOf(runState, 7)
  runState.stack.popN(7)
  const gas = runState.messageGasLimit ?? 0n
  Object.assign(runState, { messageGasLimit: undefined })
  const { interpreter, memory } = runState
  const data = inputLength === 0n ? EMPTY : memory.read(Number(inputAt), Number(inputLength))
  const succeeded = await interpreter.callStatic(gas, libraryAddress(target), value, data)
  const output = runState.returnBytes.subarray(0, Number(outputLength))
  if (output.length > 0) memory.write(Number(outputAt), output.length, output)
  runState.stack.push(succeeded)
}

/** Writes all of an output to memory, which grows free of charge (before RSKIP-150). */
function writeBeyond(runState: RunState, output: Uint8Array, offset: number): void {
  memoryGas(runState, BigInt(offset), BigInt(output.length))
  runState.memory.write(offset, output.length, output)
}

/** What the end of a call changes at earlier heights (`endEarlierCall` of `evm/earlier-frames.ts`). */
function endEarlier(runState: RunState, given: CallOperands, before: Uint8Array, ended: ExecResult): void {
  const { rules, session, failedPrecompile } = runOf(runState)
  const { frames } = rules
  const { exceptionError: failure, returnValue: output } = ended
  if (!session.precompiles.has(given.target)) {
    const isEmpty = session.journal.codeOf(given.target).length === 0
    if (!frames.clearsReturnData && isEmpty) runState.returnBytes = before
    return
  }
  if (failure !== undefined) {
    const isPrecompileFailure = evmFailure(failure) === failedPrecompile
    if (!frames.catchesPrecompileFailure && isPrecompileFailure) throw failure
    if (!frames.clearsReturnData) runState.returnBytes = before
    return
  }
  const offset = given.outputLength === 0n ? 0 : Number(given.outputAt)
  if (!frames.cutsPrecompileOutput && output.length > 0) writeBeyond(runState, output, offset)
  if (!frames.returnsPrecompileOutput) runState.returnBytes = before
}

/** The logic of a call with what the chain adds to it: participants, return data, pauses. */
function callLogic({ operands }: CallKind, call: Opcode['logicFunction']): Opcode['logicFunction'] {
  return async (runState, common) => {
    const evm = evmOf(runState)
    const { session, rules } = evm.run
    const given = operandsOf(runState, operands)
    const before = runState.returnBytes
    evm.ended = undefined
    await call(runState, common)
    const ended = evm.ended as ExecResult | undefined
    if (ended === undefined) {
      const isTooDeep = runState.env.depth >= rules.maxDepth
      if (isTooDeep || !rules.frames.clearsReturnData) runState.returnBytes = before
    } else {
      session.journal.involve(runState.env.address.toString(), given.target)
      endEarlier(runState, given, before, ended)
    }
    session.clock.ticks -= TICKS_PER_CALL
    if (session.clock.ticks <= 0 && session.clock.mustPause()) await session.clock.pause()
  }
}

/** The calls of a height; `logic` gives the library's own by opcode. */
export function callOpcodes(rules: VmRules, logic: (opcode: number) => Opcode['logicFunction']): Opcode[] {
  const { opcodes, frames } = rules
  const takesValue = opcodes[STATICCALL.opcode]?.pops === VALUE_STATICCALL.operands
  const kinds = [CALL, CALLCODE, DELEGATECALL, takesValue ? VALUE_STATICCALL : STATICCALL]
  return kinds.map((kind) => ({
    opcode: kind.opcode,
    opcodeName: kind.name,
    baseFee: GAS.call,
    gasFunction: callGas(kind, !frames.cutsPrecompileOutput),
    logicFunction: callLogic(kind, kind === VALUE_STATICCALL ? staticCallWithValue : logic(kind.opcode)),
  }))
}
