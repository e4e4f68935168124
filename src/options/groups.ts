/** The settings by what they are about, in the order of `tandem start --help` and docs/options.md. */

/** Settings that belong together. */
export interface OptionGroup {
  readonly title: string
  readonly keys: readonly string[]
}

const words = (text: string): readonly string[] => text.split(/\s+/)

/** Every setting is in one group. */
export const OPTION_GROUPS: readonly OptionGroup[] = [
  {
    title: 'Chain',
    keys: words(`chain preset evm chainId genesisTime init state dataDir memory fsync blockGasLimit minGasPrice gasPrice
      difficulty create2Deployer predeploy bridgeRelease rules activate deactivate`),
  },
  {
    title: 'Mining and clock',
    keys: words('mining mixedMining order coinbase workRateLimitMs lastingClock frozenClock seed'),
  },
  {
    title: 'Accounts and pool',
    keys: words(`accounts mnemonic derivationPath accountBalance wallet accountQuota accountSlots`),
  },
  {
    title: 'Server',
    keys: words(`host port tlsCert tlsKey unsafeOpen apiKeys maxSocketsPerKey redis trustedProxies cors hosts ipc pool ui explorerApi
      mcp mcpAllow metricsPort metricsHost fastHttp`),
  },
  {
    title: 'JSON-RPC',
    keys: words(`profile methods record dialect clientVersion hideRemasc singleUseSnapshots minedReverts stackTraces stateOverride
      strictCalls abi callGasCap gasEstimationCap`),
  },
  {
    title: 'Coverage and gas',
    keys: words('coverage coverageDir gasDir'),
  },
  {
    title: 'Limits of calls',
    keys: words(`rpcTimeoutMs methodTimeouts maxResponseBytes maxBatch maxDepth maxLogBlocks maxLogs filterTimeoutMs
      maxFilters maxSubscriptions maxTraces maxTraceBlocks maxTraceBytes maxTraceAnswer maxPending maxHeavy
      maxHeavyWaiting`),
  },
  {
    title: 'Limits of connections',
    keys: words(`maxBodyBytes maxBufferedBytes maxSockets maxSocketBuffer headerTimeoutMs transferTimeoutMs
      pingIntervalMs`),
  },
  {
    title: 'Fork',
    keys: words(`fork forkBlock forkTransactionHash forkChainId forkHeader forkAllow forkTimeoutMs forkRetries forkRate
      forkCallsPerDay forkCacheDir forkCacheSize forkCache forkVerify forkOffline`),
  },
  {
    title: 'Cluster',
    keys: words(`cluster clusterName role clusterCreds clusterCa clusterReplicas clusterLogBytes maxLag`),
  },
  {
    title: 'Bitcoin',
    keys: words(
      'bitcoin bitcoinRpc bitcoinBlocksPer federation federationTakeover bitcoinRpcPort bitcoinRpcUser bitcoinRpcPassword',
    ),
  },
  { title: 'Chaos', keys: words('chaos') },
  { title: 'Telemetry', keys: words('telemetry') },
  { title: 'Terminal', keys: words('logLevel quiet json readyFile') },
]
