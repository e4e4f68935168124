/** The agreed list of methods, and the document made of it. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { method } from '../../src/rpc/method.ts'
import { namesOf } from '../../src/rpc/method-names.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { openRpcDocument } from '../../src/rpc/openrpc.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { fixture } from '../support/fixture.ts'
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
evm_importBlock evm_reorg evm_simulate
eth_getTransactionBySenderAndNonce debug_traceBlock debug_storageRangeAt
trace_call trace_callMany trace_rawTransaction trace_replayTransaction trace_replayBlockTransactions
erigon_getHeaderByNumber ots_getApiLevel ots_getBlockDetails ots_getBlockDetailsByHash ots_getBlockTransactions
ots_searchTransactionsBefore ots_searchTransactionsAfter ots_hasCode ots_getTransactionBySenderAndNonce
ots_getContractCreator ots_getTransactionError ots_getInternalOperations ots_traceTransaction
evm_setAbi evm_contracts evm_contractAbi evm_contractNames evm_decode debug_compareRules debug_compareRuleSets
evm_consoleOutput
evm_startMining evm_stopMining evm_setAutomine evm_setIntervalMining evm_setNextBlockTimestamp
eth_getBlocksByNumber ext_getRawBlockHeaderByHash ext_getRawBlockHeaderByNumber ext_getRawTransactionReceiptByHash
ext_getTransactionReceiptNodesByHash ext_protocolVersion ext_getStorageBytesAt
eth_getWork eth_submitWork eth_submitHashrate mnr_getWork mnr_submitBitcoinBlock mnr_submitBitcoinBlockTransactions
mnr_submitBitcoinBlockPartialMerkle
hardhat_setBalance anvil_setBalance hardhat_setCode anvil_setCode hardhat_setNonce anvil_setNonce hardhat_setStorageAt
hardhat_impersonateAccount anvil_impersonateAccount hardhat_stopImpersonatingAccount anvil_stopImpersonatingAccount
anvil_autoImpersonateAccount hardhat_mine anvil_metadata anvil_mine hardhat_setCoinbase anvil_setCoinbase hardhat_setMinGasPrice
anvil_setMinGasPrice evm_setBlockGasLimit anvil_setBlockGasLimit hardhat_getAutomine anvil_setAutomine
anvil_setIntervalMining anvil_getIntervalMining evm_setTime anvil_setTime anvil_setBlockTimestampInterval
anvil_removeBlockTimestampInterval miner_start miner_stop hardhat_reset anvil_reset hardhat_dropTransaction
anvil_dropTransaction anvil_dropAllTransactions hardhat_metadata evm_snapshots evm_sourcesAt evm_token evm_tokens evm_tokenTransfers evm_tokenHolders evm_diff anvil_dumpState anvil_loadState evm_dumpState evm_loadState evm_setVariables evm_getVariables
anvil_nodeInfo anvil_snapshot anvil_revert
anvil_increaseTime anvil_setNextBlockTimestamp anvil_setRpcUrl
txpool_content txpool_inspect txpool_status eth_feeHistory eth_getBlockReceipts eth_createAccessList
sco_banAddress sco_unbanAddress sco_bannedAddresses sco_peerList sco_reputationSummary sco_clearPeerScoring sco_keyUsage
personal_newAccount personal_newAccountWithSeed personal_importRawKey personal_dumpRawKey personal_listAccounts
personal_unlockAccount personal_lockAccount personal_sendTransaction personal_sign personal_ecRecover
wallet_sendCalls wallet_getCallsStatus wallet_getCapabilities
trace_block trace_transaction trace_filter trace_get debug_traceTransaction debug_traceBlockByHash
debug_traceBlockByNumber debug_traceCall debug_wireProtocolQueueSize debug_accountTransactionQuota
eth_getHeaderByHash eth_getHeaderByNumber eth_getRawTransactionByHash eth_getRawTransactionByBlockHashAndIndex
eth_getRawTransactionByBlockNumberAndIndex eth_getAccount eth_getAccountInfo eth_getStorageValues eth_requestAccounts
eth_networkId eth_maxPriorityFeePerGas eth_sendUnsignedTransaction eth_resend eth_sendRawTransactionSync
eth_sendTransactionSync eth_sendRawTransactionConditional eth_fillTransaction eth_simulateV1 eth_callMany eth_callBundle
debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction debug_getRawTransactions
debug_accountInfoAt debug_codeByHash debug_dbGet debug_getModifiedAccountsByNumber debug_getModifiedAccountsByHash
debug_clearTxpool txpool_contentFrom anvil_removePoolTransactions hardhat_addBalance anvil_addBalance
tenderly_setBalance tenderly_addBalance anvil_impersonateSignature evm_addAccount evm_addSources evm_stackTrace evm_startCoverage evm_stopCoverage
evm_coverage evm_startGasProfile evm_stopGasProfile evm_gasProfile hardhat_setLoggingEnabled
anvil_setLoggingEnabled anvil_rollback anvil_reorg anvil_mine_detailed evm_mine_detailed anvil_getGenesisTime
evm_setChaos evm_chaos evm_chaosProfiles
evm_debugTransaction evm_debugCall evm_debugSimulation evm_debugFailure evm_debugState evm_debugMove evm_debugVariables
evm_debugEvaluate evm_debugMachine evm_debugSources evm_debugClose
tenderly_simulateTransaction tenderly_simulateBundle tenderly_estimateGas alchemy_simulateAssetChanges
alchemy_simulateAssetChangesBundle alchemy_simulateExecution alchemy_simulateExecutionBundle anvil_getLastBlockWallTime anvil_dealERC20 anvil_dealERC721 anvil_setERC20Allowance
btc_status btc_transaction btc_mine btc_faucet btc_pegIn btc_pegOut btc_reorg btc_flush btc_request btc_flyoverAddress btc_proof fed_updateBridge fed_importKey`

interface Entry {
  readonly name: string
  readonly params: { name: string; required: boolean; schema: object }[]
  readonly result: { schema: object }
  readonly errors: { $ref?: string; code?: number }[]
  readonly examples: { params: { value: unknown }[]; result: { value: unknown } }[]
}

interface Document {
  readonly openrpc: string
  readonly info: object
  readonly methods: Entry[]
  readonly components: { schemas: Record<string, object>; errors: Record<string, { code: number }> }
}

/** The standard's schema of a document; what it takes from the schema of schemas is only that there is one. */
const META_SCHEMA = (() => {
  const schema = fixture<Record<string, Record<string, unknown>>>('openrpc/meta-schema.json')
  const definitions = { ...schema.definitions, JSONSchema: { type: ['object', 'boolean'] } } as object
  const text = JSON.stringify({ ...schema, definitions }).replace(
    /"https:\/\/meta\.json-schema\.tools\/#\/definitions\/[^"]+"/,
    '"#/definitions/reference"',
  )
  const made = JSON.parse(text)
  made.$schema = 'http://json-schema.org/draft-07/schema#'
  made.definitions.reference = { type: 'string' }
  return z.fromJSONSchema(made)
})()

/** A schema of the document as one of its own: what it refers to becomes part of it. */
function inlined(schema: object, components: Record<string, object>): object {
  const text = JSON.stringify({ ...schema, $defs: components })
  return JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/'))
}

describe('method list', () => {
  it('is the expected one, each name once', () => {
    expect(METHODS.map(({ name }) => name).sort()).toEqual(AGREED.trim().split(/\s+/).sort())
    const names = METHODS.flatMap(namesOf)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(METHODS.map((method) => [method.name, method] as const))('%s documents itself', (_, method) => {
    expect(method.summary).toMatch(/^[A-Zk].*[.?]$/)
    const optional = method.params.map(({ parameter }) => parameter.absent !== undefined)
    expect(optional.indexOf(true) === -1 || optional.slice(optional.indexOf(true)).every(Boolean)).toBe(true)
    for (const { params, result } of method.examples) {
      method.result().parse(result)
      for (const [i, param] of params.entries()) method.params[i]?.parameter.schema().parse(param)
    }
  })
})

describe('rpc.discover', () => {
  const { engine } = fakeEngine()

  it('describes every open method, with schemas of its parameters and result', async () => {
    const { methods, openrpc, info } = await discover()
    expect(openrpc).toBe('1.3.2')
    expect(info).toMatchObject({ title: 'Tandem JSON-RPC', version: '0.1.0' })
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

  it('is valid under the standard’s schema, also when methods are closed', async () => {
    for (const document of [await discover(), await discover(['rpc', 'eth_call'])]) {
      expect(META_SCHEMA.safeParse(document).error).toBeUndefined()
    }
    const broken = { ...(await discover()), methods: [{ name: 'a' }] }
    expect(META_SCHEMA.safeParse(broken).success).toBe(false)
  })

  it('has no dangling reference', async () => {
    const document = await discover()
    const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? []
    expect(references.length).toBeGreaterThan(METHODS.length)
    for (const reference of new Set(references)) {
      const path = reference.slice('"$ref":"#/'.length, -1).split('/')
      const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
      expect(found, reference).toBeDefined()
    }
  })

  it('has JSON schemas that accept every example of every method', async () => {
    const { methods, components } = await discover()
    const read = (schema: object) =>
      z.fromJSONSchema(inlined(schema, components.schemas) as Parameters<typeof z.fromJSONSchema>[0])
    for (const { name, params, result, examples } of methods) {
      if (examples.length === 0) continue
      const schemas = params.map(({ schema }) => read(schema))
      const answer = read(result.schema)
      for (const example of examples) {
        expect(answer.safeParse(example.result.value).error, name).toBeUndefined()
        for (const [i, { value }] of example.params.entries()) {
          expect(schemas[i]?.safeParse(value).error, `${name}, parameter ${i}`).toBeUndefined()
        }
      }
    }
  })

  it('names the errors of each method, each code once', async () => {
    const { methods, components } = await discover()
    const errorsOf = (name: string) => methods.find((entry) => entry.name === name)?.errors
    expect(errorsOf('net_version')).toEqual([
      { $ref: '#/components/errors/InvalidParams' },
      { $ref: '#/components/errors/LimitExceeded' },
    ])
    expect(errorsOf('eth_estimateGas')).toContainEqual({ $ref: '#/components/errors/Reverted' })
    expect(components.errors.Reverted).toMatchObject({ code: -32015 })
    expect(components.errors.MethodNotFound).toMatchObject({ code: -32601 })
    for (const { name, errors } of methods) {
      const codes = errors.map(({ $ref, code }) =>
        $ref === undefined ? code : components.errors[$ref.replace('#/components/errors/', '')]?.code,
      )
      expect(codes, name).toEqual([...new Set(codes)])
      expect(codes, name).not.toContain(undefined)
    }
  })

  it('describes errors that share a code together', () => {
    const twice = method({
      name: 'a_b',
      summary: 'Refuses.',
      params: {},
      result: () => z.null(),
      errors: ['insufficient-funds', 'filter-not-found'],
      examples: [],
      run: () => null,
    })
    expect(openRpcDocument([twice], '1').methods).toMatchObject([
      { errors: [{}, {}, { code: -32000, message: expect.stringMatching(/pay\. Or: .*filter/) }] },
    ])
  })

  it('omits closed methods', async () => {
    const { methods } = await discover(['rpc', 'eth_chainId'])
    expect(methods.map(({ name }) => name)).toEqual(['rpc_modules', 'rpc.discover', 'eth_chainId'])
  })

  it('lists only the names of the methods on request', async () => {
    const dispatcher = dispatcherOf(engine, {}, { switched: ['rpc', 'eth_chainId'] })
    const names = { methods: [{ name: 'rpc_modules' }, { name: 'rpc.discover' }, { name: 'eth_chainId' }] }
    expect((await ask(dispatcher, 'rpc.discover', [true])).result).toEqual(names)
    expect((await ask(dispatcher, 'rpc.discover', [false])).result).toHaveProperty('openrpc')
    expect((await ask(dispatcher, 'rpc.discover', [{}])).error).toMatchObject({ code: -32602 })
  })

  async function discover(switched: readonly string[] = []): Promise<Document> {
    return (await ask(dispatcherOf(engine, {}, { switched }), 'rpc.discover')).result as Document
  }
})
