/** Etherscan's module `proxy`: methods of JSON-RPC with their parameters by name; the answer is the reply of JSON-RPC. */
import type { Action, Parameters } from './parameters.ts'

type ParameterList = (parameters: Parameters) => readonly unknown[]

const tag = (parameters: Parameters): string => parameters.text('tag') ?? 'latest'

/** The members of a call that are there. */
function callOf(parameters: Parameters): Record<string, string> {
  const names = ['from', 'to', 'data', 'value', 'gas', 'gasPrice']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = parameters.text(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const METHODS: Readonly<Record<string, ParameterList>> = {
  eth_blockNumber: () => [],
  eth_gasPrice: () => [],
  eth_chainId: () => [],
  eth_getBlockByNumber: (given) => [given.required('tag'), given.text('boolean') === 'true'],
  eth_getUncleByBlockNumberAndIndex: (given) => [given.required('tag'), given.required('index')],
  eth_getBlockTransactionCountByNumber: (given) => [given.required('tag')],
  eth_getTransactionByHash: (given) => [given.required('txhash')],
  eth_getTransactionByBlockNumberAndIndex: (given) => [given.required('tag'), given.required('index')],
  eth_getTransactionCount: (given) => [given.required('address'), tag(given)],
  eth_sendRawTransaction: (given) => [given.required('hex')],
  eth_getTransactionReceipt: (given) => [given.required('txhash')],
  eth_call: (given) => [callOf(given), tag(given)],
  eth_getCode: (given) => [given.required('address'), tag(given)],
  eth_getStorageAt: (given) => [given.required('address'), given.required('position'), tag(given)],
  eth_getBalance: (given) => [given.required('address'), tag(given)],
  eth_estimateGas: (given) => [callOf(given)],
}

/** The module. */
export const PROXY_ACTIONS: Readonly<Record<string, Action>> = Object.fromEntries(
  Object.entries(METHODS).map(([method, list]): [string, Action] => [
    method,
    ({ call, parameters }) => call(method, list(parameters)),
  ]),
)
