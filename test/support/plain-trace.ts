/** The events of a call to an account without code, for engines of tests that run no code. */
import { EMPTY } from '../../src/encoding/bytes.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import type { Tracer } from '../../src/evm/tracing/tracer.ts'
import type { StateReader } from '../../src/state/model.ts'

const GAS = 21_000n

/** Reports a call of no value from one account to another. */
export function reportPlainCall(tracer: Tracer, from: Hex, to: Hex, after: StateReader): void {
  tracer.wrapState?.(after)
  tracer.enter?.({
    kind: 'call',
    depth: 0,
    from,
    to,
    value: 0n,
    gas: 0n,
    input: EMPTY,
    isPrecompile: false,
    runsCode: false,
  })
  tracer.exit?.({ gasUsed: 0n, output: EMPTY })
  tracer.finish?.({ gasLimit: GAS, gasUsed: GAS, succeeded: true, output: EMPTY, after })
}
