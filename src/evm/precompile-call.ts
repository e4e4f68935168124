/** Runs a precompiled contract for a message of the library (docs/protocol.md#65-precompiled-contracts). */
import {
  EVMError,
  type ExecResult,
  type Message as LibraryMessage,
  type PrecompileInput,
} from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import { EMPTY } from '../encoding/bytes.ts'
import { cellBytes, storageValue } from '../state/state-keys.ts'
import { FAILURE, type Session } from './frame.ts'
import {
  type Chunks,
  type Precompile,
  type PrecompileCallKind,
  type PrecompileEnvironment,
  PrecompileFailure,
} from './precompiles/precompile.ts'
import type { RunClock } from './scheduler.ts'
import { precompileFailure } from './tracing/frame-failure.ts'

/** Gas of a precompiled contract that takes about the time of a jump. */
const GAS_PER_TICK = 32
/** Bytes of its input that take about as long to read, at worst: a list of them, a member each. */
const BYTES_PER_TICK = 64

/** A message that calls, as the library knows it. */
export type CalledMessage = LibraryMessage & { to: Address }

/** What a precompiled contract's call needs and reports beside its session. */
export interface PrecompileRun {
  readonly session: Session
  /** Is it a simulation? */
  readonly isLocal: boolean
  readonly onNotice: (notice: string) => void
  /** Set when a precompiled contract that the transaction itself calls has its gas and fails. */
  precompileFailed: boolean
  /** How the last precompiled contract failed that had its gas. */
  failedPrecompile: EVMError | undefined
  /**
   * What the precompiled contract that the transaction itself calls stored, logged and transferred; all of it stays when
   * the contract fails (docs/protocol.md#failing-precompiles).
   */
  readonly directEffects: (() => void)[]
}

function kindOf(message: CalledMessage): PrecompileCallKind {
  if (message.delegatecall) return 'delegatecall'
  if (message.codeAddress.toString() !== message.to.toString()) return 'callcode'
  return message.isStatic ? 'staticcall' : 'call'
}

/** The contract's storage is that of its own account, by whatever kind of call. */
function environmentOf(
  message: CalledMessage,
  { session, isLocal, directEffects }: PrecompileRun,
): PrecompileEnvironment {
  const { env, journal, transaction } = session
  const address = message.codeAddress.toString()
  const isTop = message.depth === 0
  const apply = (effect: () => void) => {
    if (isTop) directEffects.push(effect)
    effect()
  }
  return {
    depth: isTop ? 0 : message.depth - 1,
    caller: message.caller.toString(),
    value: message.value,
    isStatic: message.isStatic,
    kind: kindOf(message),
    isTop,
    isLocal,
    transaction: isTop ? transaction : undefined,
    number: env.number,
    timestamp: env.timestamp,
    storage: {
      get: (slot) => journal.state.storage(address, slot),
      bytes: (slot) => cellBytes(journal.state.cell(address, slot)),
      setBytes: (slot, bytes) => apply(() => journal.state.putCell(address, slot, storageValue(bytes))),
    },
    emit: (topics, data) => apply(() => journal.logs.push({ address, topics, data })),
    transfer: (to, wei) => apply(() => journal.transfer(address, to, wei)),
    ancestor: (depth) => env.ancestor(depth),
  }
}

/** Runs work in chunks to its end, with pauses when they are due. */
async function finish(work: Chunks, clock: RunClock): Promise<Uint8Array> {
  for (;;) {
    const chunk = work.next()
    if (chunk.done) return chunk.value
    if (clock.mustPause()) await clock.pause()
  }
}

/** Unaffordable gas takes all; a failing execution takes only what is required (RSKIP-197). */
export function runPrecompile(
  precompile: Precompile,
  message: CalledMessage,
  { data, gasLimit }: PrecompileInput,
  run: PrecompileRun,
): ExecResult | Promise<ExecResult> {
  const isTop = message.depth === 0
  const input = isTop ? data : data.subarray(0, precompile.maxInputFromContract ?? data.length)
  const environment = environmentOf(message, run)
  const { clock } = run.session
  // Arguments are read before gas is looked at.
  clock.ticks -= input.length / BYTES_PER_TICK
  const required = precompile.requiredGas(input, environment)
  if (required > gasLimit) {
    const exceptionError = new EVMError(FAILURE.OUT_OF_GAS)
    return { executionGasUsed: gasLimit, returnValue: EMPTY, exceptionError }
  }
  const succeeded = (returnValue: Uint8Array): ExecResult => ({ executionGasUsed: required, returnValue })
  const failed = (error: unknown): ExecResult => {
    if (!(error instanceof PrecompileFailure)) throw error
    if (error.isNotSimulated) run.onNotice(error.message)
    if (isTop) run.precompileFailed = true
    const exceptionError = precompileFailure(error.message)
    run.failedPrecompile = exceptionError
    return { executionGasUsed: required, returnValue: EMPTY, exceptionError }
  }
  clock.ticks -= Number(required) / GAS_PER_TICK
  if (precompile.chunks !== undefined) return finish(precompile.chunks(input), clock).then(succeeded, failed)
  try {
    return succeeded(precompile.run(input, environment))
  } catch (error) {
    return failed(error)
  }
}
