/** The rule sets as the EVM library wants them: one Common each, made once. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { paramsEVM } from '@ethereumjs/evm'
import { keccak256 } from '../encoding/hash.ts'
import type { RuleSet } from './message.ts'

/**
 * Petersburg is the last fork with the plain price of SSTORE and no warm or cold accounts; the chain's rules are a
 * change of its content under its name. The EIPs: MCOPY, PUSH0, BASEFEE, transient storage, no code that begins with
 * 0xef, priced and limited initcode.
 */
const CHAIN_FORK = {
  eips: [1716, 1153, 3198, 3541, 3855, 3860, 5656],
  params: {
    /** Deepest frame; the name is the library's. */
    stackLimit: 400,
    /** The caller pays the stipend; `library-opcodes.ts` gives it to the child. */
    callStipendGas: 0,
    chainidGas: 2,
    selfbalanceGas: 5,
  },
}

function makeCommon(chainId: number, ruleSet: RuleSet): Common {
  const forks = [
    'chainstart',
    'homestead',
    'tangerineWhistle',
    'spuriousDragon',
    'byzantium',
    'constantinople',
    'petersburg',
  ]
  const chain: ChainConfig = {
    name: ruleSet,
    chainId,
    defaultHardfork: 'petersburg',
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: forks.map((name) => ({ name, block: 0 })),
    ...(ruleSet === 'chain' && { customHardforks: { petersburg: CHAIN_FORK } }),
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  const common = new Common({ chain, hardfork: 'petersburg', customCrypto: { keccak256 } })
  common.updateParams(paramsEVM)
  return common
}

const commons = new Map<string, Common>()

/** The library's view of a rule set on a chain; the same object each time. */
export function libraryRules(chainId: number, ruleSet: RuleSet): Common {
  const key = `${ruleSet} ${chainId}`
  const common = commons.get(key) ?? makeCommon(chainId, ruleSet)
  commons.set(key, common)
  return common
}
