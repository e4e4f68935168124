/** What each profile opens, and whether what `--methods` says of it makes sense. */
import { NodeError } from '../errors.ts'
import { type AnyMethod, namesOf, namespaceOf } from './method.ts'
import { bareName } from './permissions.ts'
import type { RpcOptions } from './rpc-options.ts'

/**
 * The methods detailed for the hosted service (docs/rpc-reference.md#10-hosted-profile), and the description
 * of just those.
 */
const HOSTED_METHODS: ReadonlySet<string> = new Set([
  'web3_clientVersion',
  'web3_sha3',
  'net_version',
  'eth_chainId',
  'eth_protocolVersion',
  'eth_blockNumber',
  'eth_gasPrice',
  'eth_accounts',
  'eth_getBalance',
  'eth_getStorageAt',
  'eth_getTransactionCount',
  'eth_getCode',
  'eth_call',
  'eth_estimateGas',
  'eth_sendRawTransaction',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockTransactionCountByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleCountByBlockNumber',
  'eth_getTransactionByHash',
  'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex',
  'eth_getTransactionReceipt',
  'eth_getLogs',
  'eth_subscribe',
  'eth_unsubscribe',
  'ext_getRawBlockHeaderByHash',
  'ext_getRawBlockHeaderByNumber',
  'ext_getRawTransactionReceiptByHash',
  'ext_getTransactionReceiptNodesByHash',
  'ext_protocolVersion',
  'trace_block',
  'trace_transaction',
  'trace_filter',
  'rpc.discover',
])

/** The methods that a profile opens by itself, by their own names; `undefined` is all. */
export function methodsOfProfile(profile: RpcOptions['profile']): ReadonlySet<string> | undefined {
  return profile === 'hosted' ? HOSTED_METHODS : undefined
}

/** Is this the name of a method, or of a namespace, among these? */
export function isMethodOrNamespace(name: string, methods: readonly AnyMethod[]): boolean {
  return methods.flatMap(namesOf).some((known) => known === name || namespaceOf(known) === name)
}

/**
 * Holds the entries of `--methods` to the methods that there are. Throws `invalid-options` for a name that nothing has,
 * for one both opened and closed, and for a method that the profile does not open unless it is added.
 */
export function checkMethodEntries(
  entries: readonly string[],
  profile: RpcOptions['profile'],
  methods: readonly AnyMethod[],
): void {
  const refused = (words: string) => new NodeError('invalid-options', `Option "methods" ${words}.`)
  const inProfile = methodsOfProfile(profile)
  for (const entry of entries) {
    const name = bareName(entry)
    if (!isMethodOrNamespace(name, methods)) {
      throw refused(`names "${name}", and there is no such method or namespace`)
    }
    if (entry !== `-${name}` && entries.includes(`-${name}`)) throw refused(`both opens and closes "${name}"`)
    const method = methods.find((one) => namesOf(one).includes(name))
    if (entry === name && method !== undefined && inProfile?.has(method.name) === false) {
      throw refused(`names ${name}, which the profile ${profile} does not open; +${name} adds it`)
    }
  }
}
