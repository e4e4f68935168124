/** Methods that the chain's references name but this node does not serve, each with the reason. */

const COMPILERS = new Set(['eth_getCompilers', 'eth_compileLLL', 'eth_compileSolidity', 'eth_compileSerpent'])

/** Methods of development clients, without `hardhat_` or `anvil_`. */
const DEV_METHODS: ReadonlyMap<string, string> = new Map([
  [
    'setNextBlockBaseFeePerGas',
    'blocks of this chain have no base fee, only a minimum gas price (setMinGasPrice)',
  ],
  ['setPrevRandao', 'blocks of this chain are mined and carry a difficulty, no random value'],
  ['setRpcUrl', 'this node forks no other chain'],
])

function reasonOf(name: string): string | undefined {
  if (/^db_(put|get)(String|Hex)$/.test(name)) return 'the db_ methods are deprecated'
  if (COMPILERS.has(name)) return 'the node holds no compilers'
  if (name.startsWith('shh_')) return 'the messaging protocol is not supported'
  const asked = /^(?:hardhat|anvil)_(.*)$/.exec(name)?.[1]
  return asked === undefined ? undefined : DEV_METHODS.get(asked)
}

/**
 * The refusal of a method that does not exist here (docs/rpc-reference.md#21-dispatch-order); for one left
 * out on purpose it includes the reason.
 */
export function absenceOf(name: string): string {
  const reason = reasonOf(name)
  return reason === undefined
    ? 'method not found'
    : `the method ${name} does not exist/is not available: ${reason}`
}
