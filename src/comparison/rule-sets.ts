/** One transaction by the chain's rules and by other rules of this chain, side by side. */
import type { Vm } from '../evm/rules.ts'
import { type ChainRun, named, runByChain, sameness } from './chain-run.ts'
import { ChainTracer } from './chain-tracer.ts'
import type { RuleSetComparison } from './report.ts'
import type { StepList } from './step-list.ts'

/** Where the steps of two runs differ first in price, and where the runs part. */
function differences(
  chain: StepList,
  other: StepList,
): Pick<RuleSetComparison, 'firstPriceDifference' | 'divergence'> {
  let price: RuleSetComparison['firstPriceDifference']
  for (let index = 0; ; index++) {
    const [here, there] = [chain.at(index), other.at(index)]
    if (here === undefined && there === undefined) return { ...(price && { firstPriceDifference: price }) }
    const isSameStep =
      here?.opcode === there?.opcode && here?.pc === there?.pc && here?.depth === there?.depth
    if (here === undefined || there === undefined || !isSameStep) {
      const divergence = { index, ...(here && { chain: named(here) }), ...(there && { other: named(there) }) }
      return { ...(price && { firstPriceDifference: price }), divergence }
    }
    // Where frames fail on both sides there is no price to compare: neither was computed to the end.
    if (price === undefined && here.cost !== there.cost && !(here.failed && there.failed)) {
      price = { index, chain: named(here), other: named(there) }
    }
  }
}

/** Runs a transaction both ways. Throws `limit-exceeded` at the deadline, or when the steps are too many to be compared. */
export async function compareRuleSets(parts: ChainRun & { readonly other: Vm }): Promise<RuleSetComparison> {
  const { other: vm, deadlineMs, ...run } = parts
  const began = performance.now()
  const [own, others] = [new ChainTracer(), new ChainTracer()]
  const left = () => (deadlineMs === undefined ? {} : { deadlineMs: began + deadlineMs - performance.now() })
  const chain = await runByChain({ ...run, ...left() }, own)
  const other = await runByChain({ ...run, vm, ...left() }, others)
  return { chain, other, ...sameness(chain, other), ...differences(own.steps, others.steps) }
}
