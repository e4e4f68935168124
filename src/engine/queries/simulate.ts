/** Calls and estimates on the state of a block, with pretended state where asked; nothing is written. */
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import { failureError } from '../../evm/failure-message.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Vm } from '../../evm/vm.ts'
import { createAccessList } from '../../execution/access-list.ts'
import { estimateGas } from '../../execution/estimate-gas.ts'
import { messageCall } from '../../execution/message-call.ts'
import type { Logger } from '../../logger.ts'
import type { StateReader } from '../../state/model.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import { consoleTexts } from '../blockchain/transaction-notes.ts'
import type { HeaderOverrides } from '../dev/block-overrides.ts'
import type { BlockReference, Queries } from '../engine.ts'
import type { ErrorNames } from '../error-names.ts'
import type { Emitter, EngineEvents } from '../events.ts'
import type { Lookup } from './lookup.ts'

interface Parts extends ChainAccess {
  readonly lookup: Lookup
  readonly vm: Vm
  readonly logger: Logger
  /** Gas; larger requests are cut to it. */
  readonly callGasCap: bigint
  readonly gasEstimationCap: bigint
  /** What the next block was asked to be like: whatever fits it can be simulated. */
  readonly asked: () => HeaderOverrides
  /** Milliseconds of wall clock that a simulation may take which comes without a limit of its own; 0 is no limit. */
  readonly timeoutMs: number
  /** Answer failures other than REVERT with an error instead of empty output. */
  readonly strictCalls: boolean
  readonly named: ErrorNames
  readonly events: Emitter<EngineEvents>
}

/** Makes `call`, `estimateGas`, `accessList` and `traceCall` of the queries. */
export function createSimulate(
  parts: Parts,
): Pick<Queries, 'call' | 'estimateGas' | 'accessList' | 'traceCall'> {
  const { lookup, vm, logger, strictCalls, named, events } = parts
  const within = (timeoutMs = parts.timeoutMs) => (timeoutMs > 0 ? { deadlineMs: timeoutMs } : {})

  function cap(usual: bigint): bigint {
    const { gasLimit = 0n } = parts.asked()
    return gasLimit > usual ? gasLimit : usual
  }

  interface Place {
    readonly state: StateReader
    readonly env: BlockEnvironment
    readonly at: BlockReference
  }

  async function place(reference: BlockReference): Promise<Place> {
    const view = await lookup.block(reference)
    const state = await lookup.state(reference)
    if (view === undefined || state === undefined) throw new NodeError('block-not-found', 'Block not found')
    const { hash, block } = view.executed
    return { state, env: environmentAt(block.header, parts), at: view.pending ? reference : { hash } }
  }

  return {
    async call(request, reference, overrides, timeoutMs) {
      const { state, env, at } = await place(reference)
      const result = await messageCall({
        request,
        state,
        env,
        vm,
        gasCap: cap(parts.callGasCap),
        named,
        ...(overrides && { overrides }),
        ...within(timeoutMs),
      })
      if (result.consoleCalls !== undefined) {
        events.emit('console', { texts: await consoleTexts(result.consoleCalls) })
      }
      if (result.failure === undefined) return result.output
      if (result.failure.kind === 'reverted' || strictCalls) {
        const error = failureError(result.failure)
        events.emit('failedCall', { error, request, reference: at, ...(overrides && { overrides }) })
        throw error
      }
      logger.warn(`a call failed and answered empty output: ${result.failure.reason}`, {
        to: request.to ?? ('0x' satisfies Hex),
      })
      return new Uint8Array(0)
    },
    async estimateGas(request, reference, timeoutMs) {
      const { state, env, at } = await place(reference)
      try {
        return await estimateGas({
          request,
          state,
          env,
          vm,
          gasCap: cap(parts.gasEstimationCap),
          named,
          ...within(timeoutMs),
        })
      } catch (error) {
        if (error instanceof NodeError && error.kind === 'reverted') {
          events.emit('failedCall', { error, request, reference: at })
        }
        throw error
      }
    },
    async accessList(request, reference, timeoutMs) {
      const { state, env } = await place(reference)
      return createAccessList({
        request,
        state,
        env,
        vm,
        gasCap: cap(parts.callGasCap),
        ...within(timeoutMs),
      })
    },
    async traceCall(request, reference, tracer, overrides, timeoutMs) {
      const { state, env } = await place(reference)
      await messageCall({
        request,
        state,
        env,
        vm,
        gasCap: cap(parts.callGasCap),
        tracer,
        ...(overrides && { overrides }),
        ...within(timeoutMs),
      })
    },
  }
}
