/** What the parts of a node are created with, out of its options. */
import { arch, platform } from 'node:os'
import { readArtifacts } from '../abi/artifact-files.ts'
import { type AbiRegistry, createAbiRegistry } from '../abi/registry.ts'
import { EMPTY_TRIE_ROOT } from '../chain/account.ts'
import {
  type ChainConfig,
  configOfNetwork,
  withBlockGasLimit,
  withDifficulty,
  withMinimumGasPrice,
  withRules,
} from '../chain/config.ts'
import { type Genesis, type GenesisAlloc, LOCAL_BALANCE, parseGenesis } from '../chain/genesis.ts'
import { isLocalNetwork, type Network } from '../chain/network.ts'
import { chosenHeights } from '../chain/rule-choice.ts'
import { RuleChoiceError } from '../chain/rule-names.ts'
import { equal } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { ForkStart } from '../engine/blockchain/chain.ts'
import type { AccountEdit } from '../engine/dev/state-edits.ts'
import { forkConfig } from '../engine/fork/fork.ts'
import { type MiningMode, modeOf } from '../engine/model.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import type { LocalAccounts } from '../engine/wallet/accounts.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { ResolvedNodeOptions } from '../options/options.ts'
import { PRESET_RULES } from '../options/presets.ts'
import type { PegOptions } from '../peg/open-peg.ts'
import type { Peg } from '../peg/peg.ts'
import type { Joining } from '../replication/cluster.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import { BlockStore } from '../store/block-store.ts'
import { identityOf, readRules } from '../store/identity.ts'
import type { Store } from '../store/level.ts'
import { packageVersion, readGenesisFile } from '../store/package-files.ts'
import { parentChainTable } from '../store/tables.ts'

/** The version of this software. */
export const VERSION = packageVersion()

/**
 * `Tandem/<version>/<os>/<runtime>/<modifier>`: the form of the chain's own clients, under our name. Clients of Hardhat
 * and Anvil look for the name of their node at the start, so a preset puts it there. The modifier names an EVM other than
 * our own.
 */
export function clientVersion({ preset, evm }: ResolvedNodeOptions): string {
  const node = process.versions.node.split('.')[0]
  const executor = evm === 'tandem' ? '' : `+${evm}`
  const own = `Tandem/${VERSION}/${platform()}-${arch()}/Node${node}/EMULATOR${executor}`
  return { rsk: own, hardhat: `HardhatNetwork/${own}`, anvil: `anvil/${own}` }[preset]
}

type RuleOptions = Pick<ResolvedNodeOptions, 'rules' | 'activate' | 'deactivate' | 'preset'>

/** The constants with the rules that the options ask for; those of the first blocks stay as they are where they have been made. */
function chosenRules(
  config: ChainConfig,
  { rules, activate, deactivate, preset }: RuleOptions,
  first?: number,
): ChainConfig {
  const own = rules === undefined ? PRESET_RULES[preset] : []
  try {
    const heights = chosenHeights(
      config.ruleHeights,
      { rules, activate: [...own, ...activate], deactivate },
      first,
    )
    return heights === config.ruleHeights ? config : withRules(config, heights)
  } catch (error) {
    if (!(error instanceof RuleChoiceError)) throw error
    throw new NodeError('invalid-options', `Option "${error.option}": ${error.message}`)
  }
}

function forkOf({ remote, unpaid }: Pick<ForkStart, 'remote' | 'unpaid'>, options: RuleOptions): ChainConfig {
  const { point } = remote
  return forkConfig({ config: chosenRules(remote.config, options, point.number + 1), point }, unpaid)
}

/** The options with the rules of the chain in the data directory, where they name none: it is continued by its rules. */
export async function withKeptRules(options: ResolvedNodeOptions): Promise<ResolvedNodeOptions> {
  const { dataDir, rules, activate, deactivate } = options
  if (dataDir === undefined || rules !== undefined || activate.length + deactivate.length > 0) return options
  const kept = await readRules(dataDir)
  return kept === undefined ? options : { ...options, rules: kept }
}

/** The constants of a chain of its own. */
function ownConfig(network: Network, options: ResolvedNodeOptions): ChainConfig {
  if (options.bitcoin && !isLocalNetwork(network)) {
    const message = `Options "bitcoin" and "chain" contradict each other: the parent chain of ${network.name} is a public network, and the one in the node is for the Bridges of regtest and devnet.`
    throw new NodeError('invalid-options', message)
  }
  return chosenRules(configOfNetwork(network), options)
}

/** The chain's constants, on the network that the options name; a fork has those of its upstream, with blocks that can be mined here. */
export function configOf(
  network: Network,
  options: ResolvedNodeOptions,
  fork: Pick<ForkStart, 'remote' | 'unpaid'> | undefined,
): ChainConfig {
  let config = fork === undefined ? ownConfig(network, options) : forkOf(fork, options)
  if (options.blockGasLimit !== undefined) config = withBlockGasLimit(config, options.blockGasLimit)
  if (options.minGasPrice !== undefined) config = withMinimumGasPrice(config, options.minGasPrice)
  if (options.chainId !== undefined) config = { ...config, chainId: options.chainId }
  if (options.bridgeRelease !== '9.1') config = { ...config, bridgeRelease: options.bridgeRelease }
  if (options.federationTakeover) config = { ...config, bridgeRelease: 'takeover' }
  if (options.difficulty !== undefined) config = withDifficulty(config, options.difficulty)
  return config
}

/** The registry of the ABIs that the options name; reads no file when there are none. */
export async function namesOf({ abi }: ResolvedNodeOptions): Promise<AbiRegistry> {
  const names = createAbiRegistry()
  if (abi.length > 0) for (const artifact of await readArtifacts(abi)) await names.add(artifact)
  return names
}

/** The well-known contracts that the chain begins with; their code is loaded only where there are any. */
export async function predeployed(
  { create2Deployer, predeploy }: ResolvedNodeOptions,
  { chainId }: ChainConfig,
): Promise<GenesisAlloc> {
  const names = [...(create2Deployer ? (['create2'] as const) : []), ...predeploy]
  if (names.length === 0) return new Map()
  const { predeployedAccounts } = await import('../chain/predeploys/predeploys.ts')
  return predeployedAccounts(names, chainId)
}

/** The nonces of those who have deployed well-known contracts. */
async function noncesOf({ predeploy }: ResolvedNodeOptions): Promise<ReadonlyMap<Hex, bigint>> {
  if (predeploy.length === 0) return new Map()
  const { predeployedNonces } = await import('../chain/predeploys/predeploys.ts')
  return predeployedNonces(predeploy)
}

/** The named contracts that the upstream of a fork does not have: one that it has keeps its nonce and storage. */
export async function newContracts(
  remote: Pick<RemoteChain, 'point' | 'stateAt'>,
  contracts: GenesisAlloc,
): Promise<GenesisAlloc> {
  const state = remote.stateAt(remote.point)
  await state.fetch([...contracts.keys()].map((address) => ({ kind: 'account', address })))
  const isThere = (address: Hex, code: Uint8Array | undefined) => {
    const account = state.account(address)?.account
    const own = account && state.code(account.codeHash)
    return own !== undefined && code !== undefined && equal(own, code)
  }
  return new Map([...contracts].filter(([address, { code }]) => !isThere(address, code)))
}

/** What a fork begins with: the upstream's state, in which the local accounts have their balance. */
export function forkStart(
  forked: Pick<ForkStart, 'remote' | 'unpaid'>,
  { toFund }: LocalAccounts,
  { accountBalance = LOCAL_BALANCE, alloc = new Map() }: ResolvedNodeOptions,
  contracts: GenesisAlloc,
  peg: Pick<Peg, 'startEdits'> | undefined,
): ForkStart {
  const edits: AccountEdit[] = [...contracts, ...alloc].map(([address, account]) => ({ address, ...account }))
  edits.push(...(peg?.startEdits ?? []))
  return { ...forked, toFund, balance: accountBalance, edits }
}

/** The accounts of the simulated federation, which pay for its transactions. */
async function federationOf({ bitcoin }: ResolvedNodeOptions): Promise<readonly Hex[]> {
  if (!bitcoin) return []
  const { Members } = await import('../peg/members.ts')
  return new Members().addresses
}

/** The genesis file of a network, not yet checked. */
function genesisFileOf({ genesis }: Network): unknown {
  return typeof genesis === 'string' ? readGenesisFile(genesis) : genesis
}

/** The genesis of the chain. A timestamp of `now` is that of the first start: later ones take it from the store. */
export async function genesisOf(
  options: ResolvedNodeOptions,
  config: ChainConfig,
  toFund: readonly Hex[],
  store: Store,
  now: () => number,
): Promise<Genesis> {
  const { genesis, genesisTime, accountBalance, alloc = new Map() } = options
  let timestamp = genesisTime
  if (timestamp === 'now') {
    const blocks = await BlockStore.open(store, config)
    const hash = blocks.canonicalHash(blocks.lowest)
    timestamp = (hash === undefined ? undefined : blocks.header(hash)?.timestamp) ?? now()
  }
  return parseGenesis(genesis ?? genesisFileOf(config.network), config, {
    addresses: [...toFund, ...(await federationOf(options))],
    balance: accountBalance,
    timestamp,
    alloc: new Map([...(await predeployed(options, config)), ...alloc]),
    nonces: await noncesOf(options),
  })
}

/** Unix time of a frozen clock that names none: 14 November 2023, 22:13:20 UTC. */
const FROZEN_TIME = 1_700_000_000

/** The node's source of time, Unix seconds. */
export function clockOf({ now, frozenClock }: ResolvedNodeOptions): () => number {
  if (now !== undefined) return now
  if (frozenClock === false) return () => Math.floor(Date.now() / 1000)
  const time = frozenClock === true ? FROZEN_TIME : frozenClock
  return () => time
}

/** The gas of a simulation without a cap (docs/internals/rpc-reference.md#74-calls-and-estimates). */
const UNLIMITED_GAS = 10n ** 14n

/**
 * The cap on a simulation's gas: the option (0 is none), else the default, which a larger block gas limit raises so that
 * every transaction that fits a block can be simulated.
 */
export function gasCap(given: unknown, resolved: bigint, blockGasLimit: bigint | undefined): bigint {
  if (resolved === 0n) return UNLIMITED_GAS
  return given === undefined && blockGasLimit !== undefined && blockGasLimit > resolved
    ? blockGasLimit
    : resolved
}

/** The mining mode of the options: milliseconds for an interval. */
export function miningOf({ mining, mixedMining }: ResolvedNodeOptions): MiningMode {
  if (typeof mining !== 'number') return mining
  return modeOf(mixedMining, Math.round(mining * 1000))
}

/** What the Bitcoin chain of a node is opened with, beside its options. */
interface PegPlace extends Pick<PegOptions, 'store' | 'now' | 'logger' | 'state'> {
  readonly random: RandomBytes
  readonly config: ChainConfig
  /** The upstream of a fork. */
  readonly remote: RemoteChain | undefined
  /** Of a node of a cluster. */
  readonly joining: Joining | undefined
  readonly genesis: Genesis
}

/** The Bitcoin chain that the options ask for; its code is not loaded otherwise. */
export async function openPeg(
  options: ResolvedNodeOptions,
  { random, config, remote, joining, genesis, ...parts }: PegPlace,
): Promise<Peg | undefined> {
  const { bitcoinRpc: coreUrl, bitcoinBlocksPer: blocksPer, federation } = options
  if (!options.bitcoin) return undefined
  const opener = await import('../peg/open-peg.ts')
  const isNew = async () => (await BlockStore.open(parts.store, config)).head() === undefined
  const { accountBalance: balance = LOCAL_BALANCE } = options
  const takeover = remote && { remote, balance, isNew: await isNew() }
  const seed = random('bitcoin', 32)
  const cluster = joining && {
    beginsAt: genesis.header(EMPTY_TRIE_ROOT).timestamp,
    admit: () => joining.admitCommand(),
  }
  return opener.openPeg({ ...parts, seed, coreUrl, federation, blocksPer, takeover, cluster })
}

/** Throws `invalid-options` for a fork that has a Bridge and a Bitcoin chain of its own, where the options name none. */
export async function refuseTakenFork(store: Store): Promise<void> {
  for await (const _ of parentChainTable(store).range()) {
    throw new NodeError(
      'invalid-options',
      'The data directory holds a fork that replaced the federation of its upstream: set "bitcoin" and "federationTakeover", or name another directory.',
    )
  }
}

/** The cluster that the options name, if any; its code is not loaded otherwise. Closes the store where that fails. */
export async function joiningOf(
  options: ResolvedNodeOptions,
  config: ChainConfig,
  store: Store,
  logger: Logger,
): Promise<Joining | undefined> {
  const { cluster, clusterName, role, maxLag } = options
  if (cluster === undefined) return undefined
  if (options.fork !== undefined) {
    await store.close()
    throw new NodeError(
      'invalid-options',
      'A fork cannot be shared by a cluster: leave out "fork" or "cluster".',
    )
  }
  const { openCluster } = await import('../replication/cluster.ts')
  const { clusterCreds, clusterCa, clusterReplicas, clusterLogBytes } = options
  const where = { url: cluster, creds: clusterCreds, ca: clusterCa, name: clusterName }
  const size = { replicas: clusterReplicas, logBytes: clusterLogBytes }
  return openCluster({ ...where, ...size, role, maxLag }, identityOf(config), store, logger).catch(
    async (error) => {
      await store.close()
      throw error
    },
  )
}
