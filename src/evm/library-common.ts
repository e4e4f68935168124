/** The chain as the EVM library needs it to create contracts: one Common per chain id. */
import { type ChainConfig, Common } from '@ethereumjs/common'
import { paramsEVM } from '@ethereumjs/evm'
import { MAX_INITCODE_SIZE } from '../chain/transaction.ts'
import { keccak256 } from '../encoding/hash.ts'
import { GAS } from './gas-schedule.ts'

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

/** Petersburg, and: no code that begins with 0xef (EIP-3541), limited init code (EIP-3860). */
const CHAIN_FORK = {
  eips: [1716, 3541, 3860],
  params: { createDataGas: GAS.codeDepositByte, maxInitCodeSize: MAX_INITCODE_SIZE },
}

function makeCommon(chainId: number): Common {
  const chain: ChainConfig = {
    name: 'chain',
    chainId,
    defaultHardfork: 'petersburg',
    genesis: { gasLimit: 10_000_000, difficulty: 1, nonce: '0x0000000000000000', extraData: '0x' },
    hardforks: FORKS.map((name) => ({ name, block: 0 })),
    customHardforks: { petersburg: CHAIN_FORK },
    bootstrapNodes: [],
    consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
  }
  const common = new Common({ chain, hardfork: 'petersburg', customCrypto: { keccak256 } })
  common.updateParams(paramsEVM)
  return common
}

const commons = new Map<number, Common>()

/** The same object each time. */
export function libraryCommon(chainId: number): Common {
  const common = commons.get(chainId) ?? makeCommon(chainId)
  commons.set(chainId, common)
  return common
}
