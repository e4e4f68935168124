/** The chain's limits and opcodes of a height, as far as the library's EVM takes them from its `Common`. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { paramsEVM } from '@ethereumjs/evm'
import { keccak256 } from '../encoding/hash.ts'
import type { VmRules } from '../evm/rules.ts'

/** Forks of Ethereum up to the last one that the chain shares with it. */
const FORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
] as const

/**
 * EIPs of later forks that the chain has: net gas metering removed, TLOAD and TSTORE, BASEFEE, PUSH0, MCOPY. An opcode
 * that a height does not have is removed again by `opcodes.ts`. The library's EIP-3541 also refuses the payload of a
 * REVERT that begins with 0xef, so `chain-evm.ts` has a rule of its own.
 */
const EIPS = [1716, 1153, 3198, 3855, 5656]
const INITCODE_LIMIT = 3860

/** Petersburg, which is the library's base, with these EIPs and parameters added. */
export function petersburgCommon(
  name: string,
  chainId: number,
  added?: { readonly eips: number[]; readonly params: Record<string, number> },
): Common {
  const chain: ChainConfig = {
    name,
    chainId,
    defaultHardfork: 'petersburg',
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: FORKS.map((fork) => ({ name: fork, block: 0 })),
    ...(added && { customHardforks: { petersburg: added } }),
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  const common = new Common({ chain, hardfork: 'petersburg', customCrypto: { keccak256 } })
  common.updateParams(paramsEVM)
  return common
}

/** The chain's rules of a height. */
export function chainCommon(chainId: number, { frames, maxDepth }: VmRules): Common {
  const eips = frames.limitsInitcode ? [...EIPS, INITCODE_LIMIT] : EIPS
  const params = {
    /** Deepest frame; the name is the library's. */
    stackLimit: maxDepth,
    /** The caller pays the stipend; `callGas` gives it to the child. */
    callStipendGas: 0,
    chainidGas: 2,
    selfbalanceGas: 5,
  }
  return petersburgCommon('chain', chainId, { eips, params })
}
