/** Makes the library's EVM for each run, with the rules of its height. */
import type { Common } from '@ethereumjs/common'
import type { EvmRun } from '../evm/evm.ts'
import type { VmRules } from '../evm/rules.ts'
import { chainCommon } from './chain-common.ts'
import { ChainEvm } from './chain-evm.ts'
import { chainOpcodes } from './opcodes.ts'
import type { CustomOpcode } from './run-state.ts'

/** What an EVM is made of for one set of rules. */
export interface LibraryRules {
  readonly common: Common
  /** The same list for each run; the library asks for one that could be changed. */
  readonly customOpcodes: CustomOpcode[]
}

/** The rules of each height for the library, made at the first use. */
export function libraryRulesOf(chainId: number): (rules: VmRules) => LibraryRules {
  const made = new WeakMap<VmRules, LibraryRules>()
  return (rules) => {
    let own = made.get(rules)
    if (own === undefined) {
      const common = chainCommon(chainId, rules)
      own = { common, customOpcodes: chainOpcodes(common, rules) }
      made.set(rules, own)
    }
    return own
  }
}

/** An EVM of the library for a run. */
export function chainEvm(run: EvmRun, { common, customOpcodes }: LibraryRules): ChainEvm {
  return new ChainEvm(run, { common, customOpcodes, params: {} })
}
