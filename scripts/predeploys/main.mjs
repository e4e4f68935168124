/**
 * Writes the build-infos of `packages/tandem-predeploys`: the sources of predeployed contracts with what their compilers
 * make of them. The sources are those of npm packages, and the compilers and settings those of their authors, so that the
 * code is that of the deployed contracts; `test/chain/predeploys` checks that. Run it after `npm ci --ignore-scripts
 * --legacy-peer-deps` in this folder.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const MODULES = join(HERE, 'node_modules')
const require = createRequire(import.meta.url)

const SELECTED = {
  '*': {
    '*': [
      'abi',
      'metadata',
      'storageLayout',
      'evm.bytecode',
      'evm.deployedBytecode',
      'evm.methodIdentifiers',
    ],
    '': ['ast'],
  },
}

/** The release of an EntryPoint: its sources and those that it imports, its compiler, and the EVM of Hardhat at that time. */
const entryPoint = (release, openzeppelin, compiler, evmVersion) => ({
  compiler,
  entries: ['contracts/core/EntryPoint.sol'],
  folders: {
    'contracts/': `@account-abstraction/contracts-${release}`,
    '@openzeppelin/contracts/': openzeppelin,
  },
  settings: { optimizer: { enabled: true, runs: 1_000_000 }, viaIR: true, evmVersion },
})

const COMPILED = {
  'entrypoint-0.6': entryPoint('0.6', '@openzeppelin/contracts-4', 'solc-0.8.17', 'london'),
  'entrypoint-0.7': entryPoint('0.7', '@openzeppelin/contracts-5.0', 'solc-0.8.23', 'paris'),
  'entrypoint-0.8': entryPoint('0.8', '@openzeppelin/contracts-5.1', 'solc-0.8.28', 'cancun'),
  permit2: {
    compiler: 'solc-0.8.17',
    entries: ['src/Permit2.sol'],
    folders: {
      'src/': '@uniswap/v4-periphery/lib/permit2/src',
      'lib/solmate/': '@uniswap/v4-periphery/lib/permit2/lib/solmate',
    },
    remappings: { 'solmate/': 'lib/solmate/' },
    settings: {
      optimizer: { enabled: true, runs: 1_000_000 },
      viaIR: true,
      metadata: { bytecodeHash: 'none' },
    },
  },
}

/** The files of an entry and of all that it imports, by the paths under which they were compiled. */
function sourcesOf({ entries, folders, remappings = {} }) {
  const sources = {}
  const open = [...entries]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (sources[path] !== undefined) continue
    const prefix = Object.keys(folders).find((each) => path.startsWith(each))
    const content = readFileSync(join(MODULES, folders[prefix], path.slice(prefix.length)), 'utf8')
    sources[path] = { content }
    for (const [, target] of content.matchAll(/^\s*import\s+(?:[^;]*?from\s+)?["']([^"']+)["']/gm)) {
      const [from, to] = Object.entries(remappings).find(([name]) => target.startsWith(name)) ?? ['', '']
      open.push(
        target.startsWith('.') ? posix.join(posix.dirname(path), target) : to + target.slice(from.length),
      )
    }
  }
  return sources
}

/** Compiles one of the above. Throws where the compiler reports an error. */
function compiled(entry) {
  const solc = require(entry.compiler)
  const { remappings = {}, settings } = entry
  const input = {
    language: 'Solidity',
    sources: sourcesOf(entry),
    settings: {
      ...settings,
      remappings: Object.entries(remappings).map(([from, to]) => `${from}=${to}`),
      outputSelection: SELECTED,
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  const failure = output.errors?.find(({ severity }) => severity === 'error')
  if (failure !== undefined) throw new Error(failure.formattedMessage)
  return { solcLongVersion: solc.version(), input, output }
}

/** The build-info that a package has, with the sources that contracts of the names need. */
function shipped(path, names) {
  const { solcLongVersion, input, output } = JSON.parse(readFileSync(join(MODULES, path), 'utf8'))
  const needed = new Set()
  const open = Object.keys(output.contracts).filter((file) =>
    Object.keys(output.contracts[file]).some((name) => names.includes(name)),
  )
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (needed.has(file)) continue
    needed.add(file)
    for (const { nodeType, absolutePath } of output.sources[file].ast.nodes) {
      if (nodeType === 'ImportDirective') open.push(absolutePath)
    }
  }
  const kept = (record) => Object.fromEntries(Object.entries(record).filter(([file]) => needed.has(file)))
  const { sources, contracts } = output
  return {
    solcLongVersion,
    input: { ...input, sources: kept(input.sources) },
    output: { sources: kept(sources), contracts: kept(contracts) },
  }
}

/** Members that nothing reads: assembly, estimates, and of a syntax tree what only a compiler needs. */
const DROPPED = new Set(
  `assembly opcodes gasEstimates legacyAssembly functionDebugData devdoc userdoc generatedSources documentation
  nameLocation nameLocations memberLocation overloadedDeclarations argumentTypes lValueRequested isInlineArray tryCall
  hexValue exportedSymbols symbolAliases nativeSrc usedErrors usedEvents contractDependencies typeIdentifier isLValue
  isPure names`.split(/\s+/),
)

/** A build-info with the code of the deployed contracts alone: the others are known by their sources. */
function slim({ solcLongVersion, input, output: { sources, contracts } }, names) {
  for (const ofFile of Object.values(contracts)) {
    for (const [name, { evm }] of Object.entries(ofFile)) {
      if (names.includes(name)) evm.bytecode = { object: evm.bytecode.object }
      else delete ofFile[name]
    }
  }
  const info = { solcLongVersion, input, output: { sources, contracts } }
  return JSON.stringify(info, (key, value) => (DROPPED.has(key) ? undefined : value))
}

/** The tightest form of a text that Node.js reads by itself. */
function packed(text) {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_MAX_QUALITY, BROTLI_MAX_WINDOW_BITS } = constants
  const params = {
    [BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY,
    [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS,
  }
  return brotliCompressSync(text, { params })
}

const DEPLOYED = {
  'entrypoint-0.6': ['EntryPoint', 'SenderCreator'],
  'entrypoint-0.7': ['EntryPoint', 'SenderCreator'],
  'entrypoint-0.8': ['EntryPoint', 'SenderCreator'],
  permit2: ['Permit2'],
  relay: ['Penalizer', 'RelayHub', 'SmartWallet', 'SmartWalletFactory', 'DeployVerifier', 'RelayVerifier'],
}
const RELAY = '@rsksmart/rif-relay-contracts/artifacts/build-info/99571dd9209195201077a1ce3b65a767.json'

for (const [name, contracts] of Object.entries(DEPLOYED)) {
  const info = name === 'relay' ? shipped(RELAY, contracts) : compiled(COMPILED[name])
  const bytes = packed(slim(info, contracts))
  writeFileSync(join(HERE, `../../packages/tandem-predeploys/sources/${name}.json.br`), bytes)
  console.log(`${name}: ${bytes.length} bytes, ${Object.keys(info.input.sources).length} sources`)
}
