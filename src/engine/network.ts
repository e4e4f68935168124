/** The network that the options of a node ask for: its constants, and its genesis. */
import {
  CHAINS,
  type ChainConfig,
  withBlockGasLimit,
  withDifficulty,
  withMinimumGasPrice,
} from '../chain/config.ts'
import { type Genesis, type GenesisAlloc, parseGenesis } from '../chain/genesis.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import { readGenesisFile } from '../store/package-files.ts'
import type { ForkStart } from './blockchain/chain.ts'
import { forkConfig } from './fork/fork.ts'

/** The chain's constants; a fork has those of its upstream, with blocks that can be mined here. */
export function configOf(
  options: ResolvedNodeOptions,
  fork: Pick<ForkStart, 'remote' | 'unpaid'> | undefined,
): ChainConfig {
  let config = fork === undefined ? CHAINS[options.chain] : forkConfig(fork.remote, fork.unpaid)
  if (options.blockGasLimit !== undefined) config = withBlockGasLimit(config, options.blockGasLimit)
  if (options.minGasPrice !== undefined) config = withMinimumGasPrice(config, options.minGasPrice)
  if (options.chainId !== undefined) config = { ...config, chainId: options.chainId }
  if (options.difficulty !== undefined) config = withDifficulty(config, options.difficulty)
  return config
}

/** Arachnid's deterministic deployment proxy, through which Foundry's scripts create contracts with CREATE2. */
const CREATE2_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const CREATE2_DEPLOYER_CODE = fromHex(
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
)

/** Accounts that the options set beside the local ones. */
export function genesisEdits({ create2Deployer, alloc = new Map() }: ResolvedNodeOptions): GenesisAlloc {
  return create2Deployer ? new Map([[CREATE2_DEPLOYER, { code: CREATE2_DEPLOYER_CODE }], ...alloc]) : alloc
}

/** The genesis of the chain. A timestamp of `now` is that of the first start: later ones take it from the store. */
export async function genesisOf(
  options: ResolvedNodeOptions,
  config: ChainConfig,
  toFund: readonly Hex[],
  store: Store,
  now: () => number,
): Promise<Genesis> {
  const { chain, genesis, genesisTime, accountBalance } = options
  let timestamp = genesisTime
  if (timestamp === 'now') {
    const blocks = await BlockStore.open(store, config)
    const hash = blocks.canonicalHash(0)
    timestamp = (hash === undefined ? undefined : blocks.header(hash)?.timestamp) ?? now()
  }
  return parseGenesis(genesis ?? readGenesisFile(chain), config, {
    addresses: toFund,
    balance: accountBalance,
    timestamp,
    alloc: genesisEdits(options),
  })
}
