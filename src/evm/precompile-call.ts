/** Runs a precompiled contract for a message (docs/internals/protocol.md#65-precompiled-contracts). */
import { EMPTY } from '../encoding/bytes.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { cellBytes, storageValue } from '../state/state-keys.ts'
import type { CallMessage, FrameResult } from './call-message.ts'
import { EvmFailure, FAILURE } from './failure.ts'
import type { Session } from './frame.ts'
import { type InternalTransaction, internalHash } from './internal-transaction.ts'
import { bytesOf } from './memory-range.ts'
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

/** What a precompiled contract's call needs and reports beside its session. */
export interface PrecompileRun {
  readonly session: Session
  /** Is it a simulation? */
  readonly isLocal: boolean
  readonly onNotice: (notice: string) => void
  /** Set when a precompiled contract that the transaction itself calls has its gas and fails. */
  precompileFailed: boolean
  /** How the last precompiled contract failed that had its gas. */
  failedPrecompile: EvmFailure | undefined
  /**
   * What the precompiled contract that the transaction itself calls stored, logged and transferred; all of it stays when
   * the contract fails (docs/internals/protocol.md#failing-precompiles).
   */
  readonly directEffects: (() => void)[]
}

function kindOf({ kind, isStatic }: CallMessage): PrecompileCallKind {
  return kind === 'call' && isStatic ? 'staticcall' : kind
}

/** The contract's storage is that of its own account, by whatever kind of call. */
function environmentOf(
  { account }: Precompile,
  message: CallMessage,
  { session, isLocal, directEffects }: PrecompileRun,
  pathOf: () => readonly InternalTransaction[],
): PrecompileEnvironment {
  const { env, journal, transaction } = session
  const address = account ?? message.target
  const isTop = message.depth === 0
  const apply = (effect: () => void) => {
    if (isTop) directEffects.push(effect)
    effect()
  }
  return {
    depth: isTop ? 0 : message.depth - 1,
    caller: message.caller,
    value: message.value,
    isStatic: message.isStatic,
    kind: kindOf(message),
    isTop,
    isLocal,
    transaction: isTop ? transaction : undefined,
    originHash: transaction?.hash,
    callHash: () => transaction && internalHash(pathOf(), transaction.hash, session),
    number: env.number,
    timestamp: env.timestamp,
    storage: {
      get: (slot) => journal.state.storage(address, slot),
      bytes: (slot) => cellBytes(journal.state.cell(address, slot)),
      setBytes: (slot, bytes) => apply(() => journal.state.putCell(address, slot, storageValue(bytes))),
    },
    emit: (topics, data) => apply(() => journal.logs.push({ address, topics, data })),
    balance: () => journal.state.account(address)?.balance ?? 0n,
    transfer: (to, wei) => apply(() => journal.pay(address, to, wei)),
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

/**
 * Unaffordable gas takes all; a failing execution takes only what is required (RSKIP-197). `pathOf` gives the internal
 * transactions down to the call; none when a transaction itself calls.
 */
export function runPrecompile(
  precompile: Precompile,
  message: CallMessage,
  run: PrecompileRun,
  pathOf: () => readonly InternalTransaction[],
): MaybePromise<FrameResult> {
  const { gas } = message
  const data = bytesOf(message.input)
  const isTop = message.depth === 0
  const input = isTop ? data : data.subarray(0, precompile.maxInputFromContract ?? data.length)
  const environment = environmentOf(precompile, message, run, pathOf)
  const { clock } = run.session
  // Arguments are read before gas is looked at.
  clock.ticks -= input.length / BYTES_PER_TICK
  const required = precompile.requiredGas(input, environment)
  if (required > gas) {
    return { gasUsed: gas, output: EMPTY, failure: new EvmFailure(FAILURE.OUT_OF_GAS) }
  }
  const gasUsed = Number(required)
  const succeeded = (output: Uint8Array): FrameResult => ({ gasUsed, output, failure: undefined })
  const failed = (error: unknown): FrameResult => {
    if (!(error instanceof PrecompileFailure)) throw error
    if (error.isNotSimulated) run.onNotice(error.message)
    if (isTop) run.precompileFailed = true
    const failure = precompileFailure(error.message)
    run.failedPrecompile = failure
    return { gasUsed, output: EMPTY, failure }
  }
  clock.ticks -= gasUsed / GAS_PER_TICK
  if (precompile.chunks !== undefined) return finish(precompile.chunks(input), clock).then(succeeded, failed)
  try {
    return succeeded(precompile.run(input, environment))
  } catch (error) {
    return failed(error)
  }
}
