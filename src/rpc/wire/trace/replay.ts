/** Results of OpenEthereum's replays and traced calls: any of three traces of one run. */
import { z } from 'zod'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import { CallTracer } from '../../../evm/tracing/call-tracer.ts'
import { flatten } from '../../../evm/tracing/flatten.ts'
import { muxTracers } from '../../../evm/tracing/mux-tracer.ts'
import { PrestateTracer } from '../../../evm/tracing/prestate-tracer.ts'
import type { Tracer } from '../../../evm/tracing/tracer.ts'
import { literals } from '../../json-forms.ts'
import { arrayOf, expected, type Parameter, scalar } from '../../parameter.ts'
import { jsonObject } from '../../raw-json.ts'
import { DataText, HashText } from '../scalars.ts'
import { actionOf, errorOf, resultOf, TraceObject, typeOf } from './flat.ts'
import { rowBytes } from './reply-size.ts'
import { StateDiff, toStateDiff } from './state-diff.ts'
import type { TraceLimits } from './tracer-record.ts'
import { startVmTrace, VmTrace } from './vm-trace.ts'

/** The traces that a caller asks for. */
export const TraceTypes: Parameter<readonly ('trace' | 'stateDiff' | 'vmTrace')[]> = arrayOf(
  scalar({
    form: literals('trace', 'stateDiff', 'vmTrace'),
    decode: (value) => value,
    refusal: (_, name) => expected(name, 'trace, stateDiff or vmTrace'),
  }),
  { most: 3 },
)

/** Traces that were not requested are null, or an empty list. */
export const ReplayObject = z.lazy(() =>
  z
    .strictObject({
      output: DataText,
      stateDiff: StateDiff.nullable(),
      trace: z.array(
        TraceObject.unwrap().omit({
          blockHash: true,
          blockNumber: true,
          transactionHash: true,
          transactionPosition: true,
        }),
      ),
      vmTrace: VmTrace.nullable(),
    })
    .meta({ id: 'Replay', description: 'Traces of one run' }),
)
/** A replay with the transaction's hash. */
export const BlockReplayObject = z.lazy(() => ReplayObject.unwrap().extend({ transactionHash: HashText }))

/** A run that is traced. */
export interface ReplayRun {
  readonly tracer: Tracer
  /** The answer once the run is over; error texts name `transactionHash`. */
  result(
    transactionHash: Hex,
    extra?: readonly (readonly [string, unknown])[],
  ): z.infer<typeof BlockReplayObject>
}

/** Starts the traces of one run. */
export function startReplay(types: readonly string[], { budget, size, errorTexts }: TraceLimits): ReplayRun {
  const calls = new CallTracer(budget)
  const states = types.includes('stateDiff') ? new PrestateTracer() : undefined
  const steps = types.includes('vmTrace') ? startVmTrace(budget) : undefined

  function rows(transactionHash: Hex): z.infer<typeof ReplayObject>['trace'] {
    const flat = flatten(calls.root)
    for (const { frame } of flat) size(rowBytes(frame))
    return flat.map(({ frame, path, children }) => {
      const error = errorOf(frame, transactionHash, errorTexts)
      return {
        action: actionOf(frame),
        type: typeOf(frame),
        subtraces: children,
        traceAddress: [...path],
        result: resultOf(frame),
        ...(error !== undefined && { error }),
      }
    })
  }

  return {
    tracer: muxTracers([calls, ...(states ? [states] : []), ...(steps ? [steps.tracer] : [])]),
    result: (transactionHash, extra = []) =>
      jsonObject([
        ['output', toHex(calls.root.output)],
        ['stateDiff', states === undefined ? null : toStateDiff(states.touched, size)],
        ['trace', types.includes('trace') ? rows(transactionHash) : []],
        ['vmTrace', steps === undefined ? null : steps.text()],
        ...extra,
      ]) as z.infer<typeof BlockReplayObject>,
  }
}
