/** The node of a Hardhat project: in memory, with the defaults of Hardhat's own network and the names of the project's contracts. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The name of the network. */
export const NETWORK = 'tandem'

/** The address of the network in the configuration, before its node runs: no request is sent there. */
export const PLACEHOLDER_URL = 'http://127.0.0.1:4444'

/** Folders of Hardhat's artifacts that hold no contract. */
const PASSED_OVER = new Set(['build-info'])

/** @param {string} folder */
async function exists(folder) {
  return stat(folder).then(
    () => true,
    () => false,
  )
}

/**
 * Starts the node of a project. @param {Pick<typeof import('tandem'), 'createNode'>} tandem @param
 * {import('tandem').NodeOptions} options those of the configuration, which take precedence @param {string} artifacts
 * the folder of the project's artifacts, which need not exist
 */
export async function startNode({ createNode }, options, artifacts) {
  let known = await buildInfosIn(artifacts)
  const node = await createNode({
    preset: 'hardhat',
    stackTraces: 'data',
    // `tandem coverage` and `tandem gas` name these folders for the processes of their command.
    coverageDir: process.env.TANDEM_COVERAGE_DIR,
    gasDir: process.env.TANDEM_GAS_DIR,
    onConsole(texts) {
      for (const text of texts) console.log(text)
    },
    ...options,
    abi: [...((await exists(artifacts)) ? [artifacts] : []), ...(options.abi ?? [])],
    onCall(method, ...rest) {
      options.onCall?.(method, ...rest)
      if (SENDS.has(method)) void refresh()
    },
  })
  /** Registers what another process has compiled since, which a deployment may be of. */
  async function refresh() {
    const found = await buildInfosIn(artifacts)
    if (found === known) return
    known = found
    await registerArtifacts(node, artifacts).catch(() => {
      // A folder that is being written: the next transaction registers it.
      known = ''
    })
  }
  return node
}

/** Methods that deploy contracts. */
const SENDS = new Set(['eth_sendTransaction', 'eth_sendRawTransaction'])

/** The names of the build-infos of a project in one text, which another compilation changes. @param {string} artifacts */
async function buildInfosIn(artifacts) {
  const names = await readdir(join(artifacts, 'build-info')).catch(() => [])
  return names.sort().join()
}

/** @param {string} folder @returns {Promise<string[]>} */
async function artifactFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const nested = entries.map((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return PASSED_OVER.has(entry.name) ? [] : artifactFiles(path)
    return entry.name.endsWith('.json') && !entry.name.endsWith('.dbg.json') ? [path] : []
  })
  return (await Promise.all(nested)).flat()
}

/**
 * The storage layouts in the build-infos of a folder, by source and name of the contract: artifacts have none.
 * @param {string} artifacts @returns {Promise<Map<string, object>>}
 */
async function layoutsIn(artifacts) {
  const layouts = new Map()
  const folder = join(artifacts, 'build-info')
  for (const name of await readdir(folder).catch(() => [])) {
    const text = name.endsWith('.json') ? await readFile(join(folder, name), 'utf8') : ''
    if (!text.includes('"storageLayout"')) continue
    for (const [source, contracts] of Object.entries(JSON.parse(text).output?.contracts ?? {})) {
      for (const [contract, { storageLayout }] of Object.entries(contracts)) {
        if (storageLayout !== undefined) layouts.set(`${source}:${contract}`, storageLayout)
      }
    }
  }
  return layouts
}

/**
 * Registers the artifacts of a folder with a running node, after the project was compiled again.
 * @param {Pick<import('tandem').Node, 'request' | 'addSources'>} node
 * @param {string} artifacts
 */
export async function registerArtifacts(node, artifacts) {
  const layouts = await layoutsIn(artifacts)
  for (const file of await artifactFiles(artifacts)) {
    const artifact = JSON.parse(await readFile(file, 'utf8'))
    const { contractName, sourceName, inputSourceName = sourceName, abi } = artifact
    if (typeof contractName !== 'string' || !Array.isArray(abi)) continue
    const storageLayout = layouts.get(`${inputSourceName}:${contractName}`)
    await node.request({ method: 'evm_setAbi', params: [contractName, { ...artifact, storageLayout }] })
  }
  const buildInfos = join(artifacts, 'build-info')
  if ((await readdir(buildInfos).catch(() => [])).some((name) => name.endsWith('.json'))) {
    await node.addSources(buildInfos).catch(() => {
      // Of a compiler without the output that sources need: names are registered all the same.
    })
  }
}
