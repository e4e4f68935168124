/**
 * Records the frames that Hardhat 2 shows for the failing functions of `fixtures/stack-traces/Varied*.sol`, compiled without the
 * optimiser, and what the compilers make of the sources without it, with it and via IR.
 *
 *   npm ci --ignore-scripts --prefix scripts/tools && npm ci --ignore-scripts --prefix scripts/tools/debugger
 *   node scripts/record-hardhat-traces.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { Interface } from 'ethers'

const tools = createRequire(new URL('tools/package.json', import.meta.url))
const FOLDER = new URL('../fixtures/stack-traces/', import.meta.url)
const MAIN = 'Varied'
const OPTIMIZED = { enabled: true, runs: 200 }
/** As EDR compiles its cases. */
const VIA_IR = { ...OPTIMIZED, details: { yul: true, yulDetails: { optimizerSteps: 'u' } } }
const RECORDED = [
  ['0.5.17', 'VariedOld.sol', { plain: {}, optimized: { optimizer: OPTIMIZED } }],
  [
    '0.8.24',
    'Varied.sol',
    { plain: {}, optimized: { optimizer: OPTIMIZED }, 'via-ir': { viaIR: true, optimizer: VIA_IR } },
  ],
]
const GAS = '0x5b8d80'

/** Frames of Hardhat are call sites of their own class; those of JavaScript are left out. */
Error.prepareStackTrace = (_, sites) =>
  sites
    .filter((site) => site.constructor?.name === 'SolidityCallSite')
    .map((site) => [site.getTypeName() ?? site.getFunctionName(), site.getLineNumber()])

function code({ object, linkReferences, immutableReferences, sourceMap }) {
  return { object, linkReferences, immutableReferences, sourceMap }
}

/** Types of expressions are most of a tree. */
function slim(node) {
  if (Array.isArray(node)) return node.map(slim)
  if (typeof node !== 'object' || node === null) return node
  const left = ['typeDescriptions', 'argumentTypes', 'isConstant', 'isLValue', 'isPure', 'lValueRequested']
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => (left.includes(key) ? [] : [[key, slim(value)]])),
  )
}

function compiled(version, file, settings) {
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(new URL(file, FOLDER), 'utf8') } },
    settings: {
      ...settings,
      outputSelection: {
        '*': { '': ['ast'], '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode', 'evm.methodIdentifiers'] },
      },
    },
  }
  const output = JSON.parse(tools(`solc-${version}`).compile(JSON.stringify(input)))
  const contracts = Object.entries(output.contracts[file]).map(([name, { abi, evm }]) => [
    name,
    {
      abi,
      evm: {
        bytecode: code(evm.bytecode),
        deployedBytecode: code(evm.deployedBytecode),
        methodIdentifiers: evm.methodIdentifiers,
      },
    },
  ])
  return {
    input,
    output,
    kept: {
      sources: { [file]: { id: output.sources[file].id, ast: slim(output.sources[file].ast) } },
      contracts: { [file]: Object.fromEntries(contracts) },
    },
  }
}

/** Failing calls: all functions that begin with `t_`, and calls that fit no function. */
function callsOf(abi) {
  const face = new Interface(abi)
  const tests = face.fragments.filter(({ type, name }) => type === 'function' && name.startsWith('t_'))
  const named = (name, data) =>
    face.getFunction(name) ? [[name, { data: face.getFunction(name).selector + data }]] : []
  return [
    ...tests.map(({ name }) => [name, { data: face.encodeFunctionData(name) }]),
    ...named('argDynamic', `${'0'.repeat(60)}ffff`),
    ['nonPayable', { data: face.getFunction(tests[0].name).selector, value: '0x1' }],
    ['missing', { data: '0x01020304' }],
    ['missingValue', { data: '0x01020304', value: '0x1' }],
    ['value', { data: '0x', value: '0x3' }],
  ]
}

async function framesOf(request, { from, to }, call) {
  try {
    await request('eth_call', [{ from, to, gas: GAS, ...call }, 'latest'])
  } catch (error) {
    return error.stack
  }
  throw new Error(`${call.data} did not fail`)
}

async function deployed(request, { contracts }, file) {
  const [from] = await request('eth_accounts', [])
  const deploy = async (object, value) => {
    const hash = await request('eth_sendTransaction', [{ from, data: `0x${object}`, gas: '0x7a1200', value }])
    return (await request('eth_getTransactionReceipt', [hash])).contractAddress
  }
  const { object, linkReferences } = contracts[file][MAIN].evm.bytecode
  let linked = object
  for (const [name, places] of Object.entries(linkReferences[file] ?? {})) {
    const address = await deploy(contracts[file][name].evm.bytecode.object)
    for (const { start } of places) {
      linked = linked.slice(0, 2 * start) + address.slice(2) + linked.slice(2 * start + 40)
    }
  }
  return { from, to: await deploy(linked, '0x2710') }
}

const config = join(tmpdir(), 'hardhat-traces.config.cjs')
writeFileSync(
  config,
  "module.exports = { solidity: '0.8.24', networks: { hardhat: { hardfork: 'cancun', allowUnlimitedContractSize: true } } }\n",
)
process.env.HARDHAT_CONFIG = config
const { network } = tools('hardhat')
const request = (method, params) => network.provider.request({ method, params })
for (const [version, file, modes] of RECORDED) {
  await request('hardhat_reset', [])
  const builds = Object.fromEntries(
    Object.entries(modes).map(([mode, settings]) => [mode, compiled(version, file, settings)]),
  )
  const { input, output } = builds.plain
  await request('hardhat_addCompilationResult', [version, input, output])
  const place = await deployed(request, output, file)
  const cases = []
  for (const [name, call] of callsOf(output.contracts[file][MAIN].abi)) {
    cases.push({ name, call, frames: await framesOf(request, place, call) })
  }
  const kept = Object.entries(builds).map(([mode, build]) => [
    mode,
    { solcVersion: version, input: build.input, output: build.kept },
  ])
  const text = JSON.stringify({ file, builds: Object.fromEntries(kept), cases })
  const packed = brotliCompressSync(text)
  writeFileSync(new URL(`varied-${version}.json.br`, FOLDER), packed)
  console.log(`${version}: ${cases.length} cases, ${text.length} characters, ${packed.length} bytes`)
}
process.exit(0)
