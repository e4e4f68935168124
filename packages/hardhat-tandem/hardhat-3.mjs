/** Hardhat 3: the network `tandem`. Each connection has a node of its own in this process, from its creation to its end. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createNode, rpcHandler } from 'tandem'
import { NETWORK, PLACEHOLDER_URL, registerArtifacts, startNode } from './project-node.mjs'

/** A connection that is being made, while Hardhat asks for the address of its network. */
const making = new AsyncLocalStorage()

/** Serves a node on a free port of this machine. Nothing of it keeps the process alive. */
async function serve(node) {
  const server = createServer(rpcHandler(node))
  server.on('connection', (socket) => socket.unref())
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await node.close()
    },
  }
}

const configHooks = async () => ({
  async extendUserConfig(config, next) {
    const extended = await next(config)
    const own = { accounts: 'remote', ...extended.networks?.[NETWORK], type: 'http', url: PLACEHOLDER_URL }
    return { ...extended, networks: { ...extended.networks, [NETWORK]: own } }
  },
  async resolveUserConfig(user, resolveVariable, next) {
    const config = await next(user, resolveVariable)
    const network = config.networks[NETWORK]
    const addressOf = async () => (await making.getStore()?.start()) ?? PLACEHOLDER_URL
    const url = { ...network.url, get: addressOf, getUrl: addressOf }
    return {
      ...config,
      tandem: { ...user.tandem },
      networks: { ...config.networks, [NETWORK]: { ...network, url } },
    }
  },
})

/** Nodes by their connection. */
const running = new Map()

const networkHooks = async () => ({
  async newConnection(context, next) {
    const { tandem: options, paths } = context.config
    let served
    async function start() {
      const node = await startNode({ createNode }, options, paths.artifacts)
      served = { node, ...(await serve(node)) }
      return served.url
    }
    try {
      const connection = await making.run({ start }, () => next(context))
      if (served !== undefined) running.set(connection, served)
      return connection
    } catch (error) {
      await served?.close()
      throw error
    }
  },
  async closeConnection(context, connection, next) {
    await next(context, connection)
    const served = running.get(connection)
    running.delete(connection)
    await served?.close()
  },
})

const solidityHooks = async () => ({
  async onCleanUpArtifacts(context, paths, next) {
    await next(context, paths)
    for (const { node } of running.values()) await registerArtifacts(node, context.config.paths.artifacts)
  },
})

export const tandem = {
  id: 'hardhat-tandem',
  npmPackage: 'hardhat-tandem',
  hookHandlers: {
    config: async () => ({ default: configHooks }),
    network: async () => ({ default: networkHooks }),
    solidity: async () => ({ default: solidityHooks }),
  },
}
