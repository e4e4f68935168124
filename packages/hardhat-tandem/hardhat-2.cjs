/** Hardhat 2: the network `tandem`, whose node runs in this process from the first request to the end of the process. */
const { EventEmitter } = require('node:events')
const { extendConfig, extendProvider, task } = require('hardhat/config')
const { TASK_COMPILE, TASK_TEST } = require('hardhat/builtin-tasks/task-names')
const { ProviderError } = require('hardhat/internal/core/providers/errors')

const NETWORK = 'tandem'
/** No request is sent there. */
const PLACEHOLDER_URL = 'http://127.0.0.1:4444'

/** Nodes that were started, by the folder of their project's artifacts. */
const nodes = new Map()

/** What requests end in: the node, without a socket. Hardhat's own providers for senders and gas are around it. */
class NodeProvider extends EventEmitter {
  #node
  #start

  /** @param {() => Promise<import('tandem').Node>} start */
  constructor(start) {
    super()
    this.#start = start
  }

  async request({ method, params }) {
    this.#node ??= this.#start().then((node) => {
      node.on('message', (message) => this.emit('message', message))
      return node
    })
    const node = await this.#node
    try {
      return await node.request({ method, params })
    } catch (cause) {
      if (typeof cause?.code !== 'number') throw cause
      // What libraries look for at the end of a request over HTTP.
      const error = new ProviderError(cause.message, cause.code, cause)
      error.data = cause.data
      // Its stack begins with the lines of the contracts. Hardhat's errors have a getter of their own for it.
      if (cause.stackTrace !== undefined) {
        const value = cause.stack.replace(/^RpcError/, error.name)
        Object.defineProperty(error, 'stack', { value, configurable: true, writable: true })
      }
      throw error
    }
  }
}

extendConfig((config, user) => {
  config.tandem = { ...user.tandem }
  config.networks[NETWORK] = {
    accounts: 'remote',
    gas: 'auto',
    gasMultiplier: 1,
    gasPrice: 'auto',
    httpHeaders: {},
    timeout: 40_000,
    ...config.networks[NETWORK],
    url: PLACEHOLDER_URL,
  }
})

extendProvider(async (provider, { tandem: options, paths }, network) => {
  if (network !== NETWORK) return provider
  return new NodeProvider(async () => {
    const [tandem, { startNode }] = await Promise.all([import('tandem'), import('./project-node.mjs')])
    const node = await startNode(tandem, options, paths.artifacts)
    const running = nodes.get(paths.artifacts) ?? []
    nodes.set(paths.artifacts, [...running, node])
    return node
  })
})

task(TASK_COMPILE, async (_args, { config }, runSuper) => {
  const result = await runSuper()
  const { artifacts } = config.paths
  for (const node of nodes.get(artifacts) ?? []) {
    const { registerArtifacts } = await import('./project-node.mjs')
    await registerArtifacts(node, artifacts)
  }
  return result
})

/** Nodes write what they have recorded for `tandem coverage` and `tandem gas` when they close; Hardhat ends without a sign. */
task(TASK_TEST, async (args, { config }, runSuper) => {
  const result = await runSuper(args)
  const { TANDEM_COVERAGE_DIR, TANDEM_GAS_DIR } = process.env
  if (TANDEM_COVERAGE_DIR || TANDEM_GAS_DIR) {
    for (const node of nodes.get(config.paths.artifacts) ?? []) await node.close()
    nodes.delete(config.paths.artifacts)
  }
  return result
})
