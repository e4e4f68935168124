/** When V8 optimizes what the process runs. */
import v8 from 'node:v8'

/**
 * How much a function runs before V8 optimizes it: four times what V8 takes for itself, by the settings of Node 20 and of
 * later releases. A node that has just started spends more processor time on optimizing than on its transactions. Of the
 * first 400 transfers of a chain in memory one took 2.6 to 3.9 ms instead of 3.6 to 5.0 on Node 20, the next 1,000 cost
 * no more, and on Node 22 and 24 the first 100 took a sixth to a third less (interleaved runs on a loaded machine).
 */
const LATE = {
  node20: ['--interrupt-budget=264000'],
  later: ['--invocation-count-for-maglev=1600', '--invocation-count-for-turbofan=12000'],
} as const

/** Has V8 optimize later. It changes V8 for all that runs in the process, so it is for one of our own. */
export function delayOptimization(): void {
  const release = Number.parseInt(process.versions.node, 10)
  for (const flag of release < 22 ? LATE.node20 : LATE.later) v8.setFlagsFromString(flag)
}
