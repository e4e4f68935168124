/** The chain as the EVM library needs it to create contracts: one Common per chain id. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { paramsEVM } from '@ethereumjs/evm'
import { MAX_INITCODE_SIZE } from '../chain/transaction.ts'
import { keccak256 } from '../encoding/hash.ts'
import { GAS } from './gas-schedule.ts'
import type { FrameRules } from './rules.ts'

/** Ethereum's forks up to the last one without warm and cold accounts (EIP-2929). */
const FORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
]

/** What creations are checked for. */
type CreationChecks = Pick<FrameRules, 'limitsInitcode' | 'refusesEfCode'>

const ALL_CHECKS: CreationChecks = { limitsInitcode: true, refusesEfCode: true }

function makeCommon(chainId: number, { limitsInitcode, refusesEfCode }: CreationChecks): Common {
  /** Petersburg, and: no code that begins with 0xef (EIP-3541), limited init code (EIP-3860). */
  const fork = {
    eips: [1716, ...(refusesEfCode ? [3541] : []), ...(limitsInitcode ? [3860] : [])],
    params: { createDataGas: GAS.codeDepositByte, maxInitCodeSize: MAX_INITCODE_SIZE },
  }

  const chain: ChainConfig = {
    name: 'chain',
    chainId,
    defaultHardfork: 'petersburg',
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: FORKS.map((name) => ({ name, block: 0 })),
    customHardforks: { petersburg: fork },
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  const common = new Common({ chain, hardfork: 'petersburg', customCrypto: { keccak256 } })
  common.updateParams(paramsEVM)
  return common
}

const commons = new Map<string, Common>()

/** The same object each time. */
export function libraryCommon(chainId: number, checks: CreationChecks = ALL_CHECKS): Common {
  const key = `${chainId} ${checks.limitsInitcode} ${checks.refusesEfCode}`
  const common = commons.get(key) ?? makeCommon(chainId, checks)
  commons.set(key, common)
  return common
}
