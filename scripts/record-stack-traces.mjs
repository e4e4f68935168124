/**
 * Records the stack-trace cases of EDR (github.com/NomicFoundation/edr, MIT licence) into `fixtures/stack-traces`: their
 * transactions and expected frames, and what compilers from npm make of their sources.
 *
 *   node scripts/record-stack-traces.mjs <checkout of EDR> <folder with solc-<version> in node_modules> [version…]
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const [edr, compilers, ...versions] = process.argv.slice(2)
if (edr === undefined || compilers === undefined)
  throw new Error('usage: record-stack-traces.mjs <edr> <compilers> [version…]')
const root = join(edr, 'hardhat-tests/test/internal/hardhat-network/stack-traces/test-files')
const require = createRequire(join(compilers, 'package.json'))
const OUT = new URL('../fixtures/stack-traces/', import.meta.url)

function* folders(folder) {
  if (readdirSync(folder).includes('test.json')) yield folder
  for (const name of readdirSync(folder)) {
    if (statSync(join(folder, name)).isDirectory()) yield* folders(join(folder, name))
  }
}

function sourcesOf(folder, { transactions }) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sol'))
    .map((name) => join(folder, name))
  if (transactions.some(({ imports }) => imports !== undefined))
    files.push(join(edr, 'hardhat-tests/console.sol'))
  return Object.fromEntries(files.map((file) => [basename(file), { content: readFileSync(file, 'utf8') }]))
}

/** Members that a node reads. Statements of the syntax tree are left out of the console's source, which no case fails in. */
function compact(output) {
  const contracts = Object.entries(output.contracts).map(([file, named]) => [
    file,
    Object.fromEntries(
      Object.entries(named).map(([name, { abi, evm }]) => {
        const code = ({ object, linkReferences, immutableReferences, sourceMap, generatedSources }) => ({
          object,
          linkReferences,
          immutableReferences,
          sourceMap,
          ...(generatedSources?.length > 0 && {
            generatedSources: generatedSources.map(({ id, name, language }) => ({ id, name, language })),
          }),
        })
        return [
          name,
          {
            abi,
            evm: {
              bytecode: code(evm.bytecode),
              deployedBytecode: code(evm.deployedBytecode),
              methodIdentifiers: evm.methodIdentifiers,
            },
          },
        ]
      }),
    ),
  ])
  return { contracts: Object.fromEntries(contracts), sources: output.sources }
}

const TYPES = [
  'typeDescriptions',
  'argumentTypes',
  'isConstant',
  'isLValue',
  'isPure',
  'lValueRequested',
  'typeIdentifier',
]
/** A syntax tree without the types of expressions. */
function slim(node) {
  if (Array.isArray(node)) return node.map(slim)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => !TYPES.includes(key))
      .map(([key, value]) => [key, slim(value)]),
  )
}

/** `0.8.24`, `0.8.24-via-ir` or `0.8.24-optimized`. */
function settingsOf(name) {
  const [version, ...mode] = name.split('-')
  const viaIR = mode.join('-') === 'via-ir'
  const optimizer =
    mode.length === 0
      ? { enabled: false }
      : { enabled: true, runs: 200, ...(viaIR && { details: { yulDetails: { optimizerSteps: 'u' } } }) }
  const minor = Number(version.split('.')[1])
  const isNew = minor === 8 && Number(version.split('.')[2]) >= 24
  return {
    version,
    minor,
    settings: {
      optimizer,
      ...(viaIR && { viaIR }),
      ...(isNew && { evmVersion: 'cancun' }),
      outputSelection: {
        '*': {
          '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode', 'evm.methodIdentifiers'],
          '': ['id', 'ast'],
        },
      },
    },
  }
}

const semver = require('semver')
const cases = {}
for (const folder of folders(root)) {
  const { transactions, solc, skip, skipViaIR } = JSON.parse(readFileSync(join(folder, 'test.json'), 'utf8'))
  if (skip || !transactions.some(({ stackTrace }) => stackTrace !== undefined)) continue
  cases[relative(root, folder)] = {
    solc,
    skipViaIR,
    transactions,
    sources: sourcesOf(folder, { transactions }),
  }
}

const brotli = (value) =>
  brotliCompressSync(JSON.stringify(value), {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 9 },
  })

for (const name of versions) {
  const { version, minor, settings } = settingsOf(name)
  const solc = require(`solc-${version}`)
  const compile = solc.compileStandardWrapper ?? solc.compile
  const outputs = {}
  for (const [path, { solc: range, skipViaIR, sources }] of Object.entries(cases)) {
    if (!path.startsWith(`0_${minor}/`) && !path.startsWith('version-independent')) continue
    if (range !== undefined && !semver.satisfies(version, range)) continue
    if (skipViaIR && settings.viaIR) continue
    const input = { language: 'Solidity', sources, settings }
    const output = JSON.parse(compile.call(solc, JSON.stringify(input)))
    const fault = output.errors?.find(({ severity }) => severity === 'error')
    if (fault !== undefined) {
      console.error(`${name} ${path}: ${fault.message}`)
      continue
    }
    outputs[path] = slim(compact(output))
  }
  const packed = brotli({
    solcVersion: version,
    solcLongVersion: solc.version().replace(/\.Emscripten.*$/, ''),
    settings,
    outputs,
  })
  writeFileSync(new URL(`solc-${name}.json.br`, OUT), packed)
  console.log(name, Object.keys(outputs).length, 'cases', packed.length, 'bytes')
}
if (versions.length === 0) {
  const packed = brotli(cases)
  writeFileSync(new URL('cases.json.br', OUT), packed)
  console.log(Object.keys(cases).length, 'cases', packed.length, 'bytes')
}
