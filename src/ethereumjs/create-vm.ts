/** Makes the VM of a chain with the EVM that its operator chose. */

import { Evm } from '../evm/evm.ts'
import type { Vm } from '../evm/rules.ts'
import { createVm, type VmParts } from '../evm/vm.ts'
import type { EvmChoice } from '../options/engine-settings.ts'
import { createBothVm } from './both.ts'
import { chainEvm, libraryRulesOf } from './make-evm.ts'

/** Makes a VM. Traces are made by this project's EVM in any case: the library reports no steps in the form of tracers. */
export function createChosenVm(evm: Exclude<EvmChoice, 'tandem'>, parts: VmParts): Vm {
  if (evm === 'both') return createBothVm(parts)
  const rulesOf = libraryRulesOf(parts.chainId)
  const vm = createVm({
    ...parts,
    makeEvm: (run) => (run.session.tracer === undefined ? chainEvm(run, rulesOf(run.rules)) : new Evm(run)),
  })
  return { ...vm, tracesByAnotherEvm: true }
}
