/** Methods that the chain's references name but this node does not serve, each with the reason. */

const COMPILERS = new Set(['eth_getCompilers', 'eth_compileLLL', 'eth_compileSolidity', 'eth_compileSerpent'])

const NO_BLOBS = 'transactions of this chain carry no blobs (EIP-4844)'
const NO_DELEGATION = 'accounts of this chain cannot delegate to code (EIP-7702)'
const NO_ACCESS_LISTS = 'blocks of this chain carry no access lists (EIP-7928)'
const NO_RANDOM_VALUE = 'blocks of this chain are mined and carry a difficulty, no random value'
const OTHER_CHAIN = 'it belongs to another chain that Anvil can emulate'

/** Methods of Ethereum clients that have no meaning on this chain. */
const ETHEREUM_METHODS: ReadonlyMap<string, string> = new Map([
  ['eth_baseFee', 'blocks of this chain have no base fee, only a minimum gas price (eth_gasPrice)'],
  ['eth_blobBaseFee', NO_BLOBS],
  ['eth_getBlobSidecars', NO_BLOBS],
  [
    'eth_config',
    'forks of this chain activate by height and have no fork id and no blob schedule (EIP-7910)',
  ],
  ['eth_getBlockAccessList', NO_ACCESS_LISTS],
  ['eth_getBlockAccessListByBlockHash', NO_ACCESS_LISTS],
  ['eth_getBlockAccessListByBlockNumber', NO_ACCESS_LISTS],
  ['eth_getBlockAccessListRaw', NO_ACCESS_LISTS],
  ['eth_signRawTransaction', OTHER_CHAIN],
  ['wallet_sendTransaction', NO_DELEGATION],
  [
    'debug_executionWitness',
    'the state of this chain is a binary trie, of which Ethereum clients verify no witness',
  ],
])

/** Methods of development clients, without `hardhat_` or `anvil_`. */
const DEV_METHODS: ReadonlyMap<string, string> = new Map([
  [
    'setNextBlockBaseFeePerGas',
    'blocks of this chain have no base fee, only a minimum gas price (setMinGasPrice)',
  ],
  ['setPrevRandao', NO_RANDOM_VALUE],
  ['setNextBlockPrevRandao', NO_RANDOM_VALUE],
  ['setNextBlockBlobBaseFee', NO_BLOBS],
  ['getBlobByHash', NO_BLOBS],
  ['getBlobsByTransactionHash', NO_BLOBS],
  [
    'setChainId',
    'the chain id is bound into the signatures of transactions and fixed when the node starts (--chain-id)',
  ],
  ['addCapability', NO_DELEGATION],
  ['setExecutor', NO_DELEGATION],
  ['classifyTransaction', OTHER_CHAIN],
  ['dealTIP20', OTHER_CHAIN],
  ['setFeeToken', OTHER_CHAIN],
  ['setValidatorFeeToken', OTHER_CHAIN],
  ['setFeeAmmLiquidity', OTHER_CHAIN],
])

function reasonOf(name: string): string | undefined {
  if (/^db_(put|get)(String|Hex)$/.test(name)) return 'the db_ methods are deprecated'
  if (COMPILERS.has(name)) return 'the node holds no compilers'
  if (name.startsWith('shh_')) return 'the messaging protocol is not supported'
  const ofEthereum = ETHEREUM_METHODS.get(name)
  if (ofEthereum !== undefined) return ofEthereum
  const asked = /^(?:hardhat|anvil)_(.*)$/.exec(name)?.[1]
  return asked === undefined ? undefined : DEV_METHODS.get(asked)
}

/** The reference node's message. */
export const METHOD_NOT_FOUND = 'method not found'

/**
 * The refusal of a method that this node does not have (docs/internals/rpc-reference.md#21-dispatch-order), with the reason
 * if the method was left out on purpose.
 */
export function absenceOf(name: string): string {
  const reason = reasonOf(name)
  return reason === undefined
    ? METHOD_NOT_FOUND
    : `the method ${name} does not exist/is not available: ${reason}`
}
