/** The agreed list of methods, and the document made of it. */
import { describe, expect, it } from 'vitest'
import { namesOf } from '../../src/rpc/method.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { ask, dispatcherOf } from '../support/rpc.ts'

/** The agreed names; a method that is added or lost shows here. */
const AGREED = `
web3_clientVersion web3_sha3 net_version net_listening net_peerCount net_peerList rpc_modules rpc.discover
eth_chainId eth_protocolVersion eth_blockNumber eth_gasPrice eth_accounts eth_coinbase eth_mining eth_hashrate
eth_netHashrate eth_syncing eth_bridgeState eth_getBalance eth_getStorageAt eth_getTransactionCount eth_getCode eth_call eth_estimateGas
eth_sendRawTransaction eth_sendTransaction eth_pendingTransactions eth_sign eth_signTransaction eth_signTypedData_v4 eth_getBlockByHash eth_getBlockByNumber
eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getUncleCountByBlockHash
eth_getUncleCountByBlockNumber eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex
eth_getTransactionByHash eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex
eth_getTransactionReceipt eth_getLogs eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter
eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter eth_subscribe eth_unsubscribe eth_getProof evm_snapshot evm_revert evm_increaseTime evm_mine evm_reset
evm_importBlock evm_reorg
evm_setAbi debug_compareRules
evm_startMining evm_stopMining evm_setAutomine evm_setIntervalMining evm_setNextBlockTimestamp
eth_getBlocksByNumber ext_getRawBlockHeaderByHash ext_getRawBlockHeaderByNumber ext_getRawTransactionReceiptByHash
ext_getTransactionReceiptNodesByHash ext_protocolVersion ext_getStorageBytesAt
eth_getWork eth_submitWork eth_submitHashrate mnr_getWork mnr_submitBitcoinBlock mnr_submitBitcoinBlockTransactions
mnr_submitBitcoinBlockPartialMerkle
hardhat_setBalance anvil_setBalance hardhat_setCode anvil_setCode hardhat_setNonce anvil_setNonce hardhat_setStorageAt
hardhat_impersonateAccount anvil_impersonateAccount hardhat_stopImpersonatingAccount anvil_stopImpersonatingAccount
anvil_autoImpersonateAccount hardhat_mine anvil_mine hardhat_setCoinbase anvil_setCoinbase hardhat_setMinGasPrice
anvil_setMinGasPrice evm_setBlockGasLimit anvil_setBlockGasLimit hardhat_getAutomine anvil_setAutomine
anvil_setIntervalMining anvil_getIntervalMining evm_setTime anvil_setTime anvil_setBlockTimestampInterval
anvil_removeBlockTimestampInterval miner_start miner_stop hardhat_reset anvil_reset hardhat_dropTransaction
anvil_dropTransaction anvil_dropAllTransactions hardhat_metadata anvil_nodeInfo anvil_snapshot anvil_revert
anvil_increaseTime anvil_setNextBlockTimestamp
txpool_content txpool_inspect txpool_status eth_feeHistory eth_getBlockReceipts eth_createAccessList
sco_banAddress sco_unbanAddress sco_bannedAddresses sco_peerList sco_reputationSummary sco_clearPeerScoring
personal_newAccount personal_newAccountWithSeed personal_importRawKey personal_dumpRawKey personal_listAccounts
personal_unlockAccount personal_lockAccount personal_sendTransaction personal_sign personal_ecRecover
trace_block trace_transaction trace_filter trace_get`

interface Entry {
  readonly name: string
  readonly params: { name: string; required: boolean; schema: object }[]
  readonly result: { schema: object }
}

describe('method list', () => {
  it('is the agreed one, each name once', () => {
    expect(METHODS.map(({ name }) => name).sort()).toEqual(AGREED.trim().split(/\s+/).sort())
    const names = METHODS.flatMap(namesOf)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(METHODS.map((method) => [method.name, method] as const))('%s documents itself', (_, method) => {
    expect(method.summary).toMatch(/^[A-Zk].*[.?]$/)
    const optional = method.params.map(({ parameter }) => parameter.absent !== undefined)
    expect(optional.indexOf(true) === -1 || optional.slice(optional.indexOf(true)).every(Boolean)).toBe(true)
    for (const { params, result } of method.examples) {
      method.result.parse(result)
      for (const [i, param] of params.entries()) method.params[i]?.parameter.schema.parse(param)
    }
  })
})

describe('rpc.discover', () => {
  const { engine } = fakeEngine()

  it('describes every open method, with schemas of its parameters and result', async () => {
    const { result } = await ask(dispatcherOf(engine), 'rpc.discover')
    const { openrpc, info, methods } = result as { openrpc: string; info: object; methods: Entry[] }
    expect(openrpc).toBe('1.2.6')
    expect(info).toEqual({ title: 'Tandem JSON-RPC', version: '0.1.0' })
    expect(methods.map(({ name }) => name)).toEqual(METHODS.map(({ name }) => name))
    for (const entry of methods) {
      for (const { schema } of [...entry.params, entry.result]) expect(Object.keys(schema)).not.toEqual([])
    }
    expect(methods.find(({ name }) => name === 'ext_protocolVersion')).toMatchObject({
      'x-aliases': ['rsk_protocolVersion'],
    })
    expect(methods.find(({ name }) => name === 'eth_protocolVersion')).not.toHaveProperty('x-aliases')
    expect(methods.find(({ name }) => name === 'eth_getBalance')?.params).toMatchObject([
      { name: 'address', required: true },
      { name: 'block', required: false, schema: { default: 'latest' } },
    ])
  })

  it('leaves out what is closed', async () => {
    const { result } = await ask(
      dispatcherOf(engine, {}, { switched: ['rpc', 'eth_chainId'] }),
      'rpc.discover',
    )
    const { methods } = result as { methods: Entry[] }
    expect(methods.map(({ name }) => name)).toEqual(['rpc_modules', 'rpc.discover', 'eth_chainId'])
  })
})
