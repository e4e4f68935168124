/** Several tracers as one. */
import type { Tracer } from './tracer.ts'

/** Passes every event to all of them, in order. Hooks that none of them has are absent. */
export function muxTracers(tracers: readonly Tracer[]): Tracer {
  const wrapping = tracers.filter(({ wrapState }) => wrapState !== undefined)
  const stepping = tracers.filter(({ step, stepped }) => step !== undefined || stepped !== undefined)
  return {
    ...(wrapping.length > 0 && {
      wrapState: (before) => wrapping.reduce((state, tracer) => tracer.wrapState?.(state) ?? state, before),
    }),
    enter(start) {
      for (const tracer of tracers) tracer.enter?.(start)
    },
    exit(end) {
      for (const tracer of tracers) tracer.exit?.(end)
    },
    selfDestruct(contract, beneficiary, balance) {
      for (const tracer of tracers) tracer.selfDestruct?.(contract, beneficiary, balance)
    },
    log(log) {
      for (const tracer of tracers) tracer.log?.(log)
    },
    ...(stepping.length > 0 && {
      step(frame, opcode) {
        for (const tracer of stepping) tracer.step?.(frame, opcode)
      },
      stepped(frame, cost, failure) {
        for (const tracer of stepping) tracer.stepped?.(frame, cost, failure)
      },
    }),
    finish(end) {
      for (const tracer of tracers) tracer.finish?.(end)
    },
  }
}
