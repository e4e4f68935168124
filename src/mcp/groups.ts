/**
 * The groups of tools: which methods agents get as tools of their own, and the group of every other method, which they
 * reach by `call_method`. 250 tools would take more of an agent's context than its work.
 */
import type { ToolGroup } from '../options/mcp-settings.ts'
import type { AnyMethod } from '../rpc/method.ts'

const words = (text: string): readonly string[] => text.split(/\s+/)

/** The methods that are tools, by group. */
const TOOLS: Readonly<Record<ToolGroup, readonly string[]>> = {
  read: words(`anvil_nodeInfo eth_blockNumber eth_accounts eth_getBalance eth_getTransactionCount eth_getCode eth_getStorageAt
    eth_getBlockByNumber eth_getBlockByHash eth_getTransactionByHash eth_getTransactionReceipt eth_getLogs txpool_content
    evm_contracts evm_contractAbi evm_sourcesAt evm_getVariables evm_decode evm_token evm_tokenTransfers evm_consoleOutput
    evm_snapshots evm_diff ots_searchTransactionsBefore ots_getContractCreator`),
  simulate: words('eth_call eth_estimateGas evm_simulate alchemy_simulateAssetChanges'),
  trace: words(
    'evm_stackTrace debug_traceTransaction trace_transaction trace_filter evm_gasProfile debug_compareRules',
  ),
  test: words(`evm_snapshot evm_revert evm_reset evm_mine evm_increaseTime evm_setNextBlockTimestamp evm_setAutomine
    eth_sendTransaction eth_sendRawTransaction hardhat_setBalance hardhat_setCode hardhat_setStorageAt hardhat_setNonce
    hardhat_impersonateAccount hardhat_stopImpersonatingAccount evm_setVariables anvil_dealERC20 evm_addSources evm_setAbi
    evm_setChaos`),
  peg: words(
    'btc_status btc_transaction btc_mine btc_faucet btc_pegIn btc_pegOut btc_flush btc_reorg btc_flyoverAddress fed_updateBridge',
  ),
}

/** The group of a tool's method. */
const GROUP_OF_TOOL: ReadonlyMap<string, ToolGroup> = new Map(
  Object.entries(TOOLS).flatMap(([group, names]) => names.map((name) => [name, group as ToolGroup] as const)),
)

/** They use keys of the wallet, and what they sign can move coins: as if they changed the chain. */
const SIGNING: ReadonlySet<string> = new Set(['eth_sign', 'eth_signTransaction', 'eth_signTypedData_v4'])

/** Executes a message without a transaction. */
const SIMULATES = /^(eth|tenderly|alchemy)_(call|estimate|simulate|createAccessList|fill)/

/**
 * Namespaces that no agent gets: the passphrases and keys of the wallet, and the bans of the node's operator. `btc_request`
 * opens the wallets of the Bitcoin node.
 */
const WITHHELD: ReadonlySet<string> = new Set(['personal', 'sco', 'btc_request'])

function isWithheld({ name, namespace, notifies, answeredBy, params }: AnyMethod): boolean {
  return (
    notifies ||
    answeredBy === 'holder' ||
    WITHHELD.has(namespace) ||
    WITHHELD.has(name) ||
    params.some(({ parameter }) => parameter.secret !== undefined)
  )
}

/** Is this method a tool of its own, where its group is open? */
export function isTool({ name }: AnyMethod): boolean {
  return GROUP_OF_TOOL.has(name)
}

/** The group of a method; `undefined` for one that no agent gets. */
export function groupOf(method: AnyMethod): ToolGroup | undefined {
  const { name, namespace, changesState, heavy } = method
  const group = GROUP_OF_TOOL.get(name)
  if (group !== undefined) return group
  if (isWithheld(method)) return undefined
  if (namespace === 'btc' || namespace === 'fed') return 'peg'
  if (changesState || SIGNING.has(name)) return 'test'
  if (SIMULATES.test(name)) return 'simulate'
  return heavy || namespace === 'trace' || namespace === 'debug' ? 'trace' : 'read'
}
