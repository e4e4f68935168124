/** Several tracers as one. */
import type { Tracer } from './tracer.ts'

/** Tells all of them of everything, in order. What none of them listens to is not listened to. */
export function muxTracers(tracers: readonly Tracer[]): Tracer {
  const watching = tracers.filter(({ watch }) => watch !== undefined)
  const stepping = tracers.filter(({ step, stepped }) => step !== undefined || stepped !== undefined)
  return {
    ...(watching.length > 0 && {
      watch: (before) => watching.reduce((state, tracer) => tracer.watch?.(state) ?? state, before),
    }),
    enter(start) {
      for (const tracer of tracers) tracer.enter?.(start)
    },
    exit(end) {
      for (const tracer of tracers) tracer.exit?.(end)
    },
    selfDestruct(contract, heir, balance) {
      for (const tracer of tracers) tracer.selfDestruct?.(contract, heir, balance)
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
