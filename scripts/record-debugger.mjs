/**
 * Records what compilers from npm make of the sources in `fixtures/debugger` into build-infos there.
 *
 *   node scripts/record-debugger.mjs <folder with solc-<version> in node_modules> [version…]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const [compilers, ...wanted] = process.argv.slice(2)
if (compilers === undefined) throw new Error('usage: record-debugger.mjs <compilers>')
const require = createRequire(join(compilers, 'package.json'))
const FOLDER = new URL('../fixtures/debugger/', import.meta.url)

const OPTIMIZED = { optimizer: { enabled: true, runs: 200 } }
const CANCUN = { evmVersion: 'cancun' }
const BUILDS = [
  ['0.4.26', 'Old', {}],
  ['0.4.26', 'Old', OPTIMIZED, '-optimized'],
  ['0.5.17', 'Old', {}],
  ['0.6.12', 'Old', {}],
  ['0.7.6', 'Old', {}],
  ['0.7.6', 'Old', OPTIMIZED, '-optimized'],
  ['0.8.35', 'New', CANCUN],
  ['0.8.24', 'New', CANCUN],
  ['0.8.24', 'New', { ...CANCUN, ...OPTIMIZED }, '-optimized'],
  [
    '0.8.35',
    'New',
    { ...CANCUN, viaIR: true, experimental: true, debug: { debugInfo: ['ethdebug'] } },
    '-via-ir',
  ],
  ['0.8.35', 'Old', CANCUN],
  ['0.8.24', 'Old', { ...CANCUN, ...OPTIMIZED }, '-optimized'],
  ['0.5.17', 'Variables', {}],
  ['0.8.21', 'Variables', {}],
]
const WANTED = [
  'abi',
  'storageLayout',
  'evm.bytecode.object',
  'evm.bytecode.sourceMap',
  'evm.bytecode.linkReferences',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.sourceMap',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
  'evm.methodIdentifiers',
]

const ETHDEBUG = ['evm.bytecode.ethdebug', 'evm.deployedBytecode.ethdebug']

/** Types of expressions are most of a tree; those of declarations and of type names are kept. */
function slim(node) {
  if (Array.isArray(node)) return node.map(slim)
  if (typeof node !== 'object' || node === null) return node
  const isTyped = node.nodeType === 'VariableDeclaration' || String(node.nodeType).endsWith('TypeName')
  const left = [
    'argumentTypes',
    'isConstant',
    'isLValue',
    'isPure',
    'lValueRequested',
    ...(isTyped ? [] : ['typeDescriptions']),
  ]
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => (left.includes(key) ? [] : [[key, slim(value)]])),
  )
}

for (const [version, name, settings, suffix = ''] of BUILDS) {
  if (wanted.length > 0 && !wanted.includes(version)) continue
  const solc = require(`solc-${version}`)
  const content = readFileSync(new URL(`${name}.sol`, FOLDER), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [`${name}.sol`]: { content } },
    settings: {
      ...settings,
      outputSelection: { '*': { '': ['ast'], '*': settings.debug ? [...WANTED, ...ETHDEBUG] : WANTED } },
    },
  }
  const compile = solc.compileStandardWrapper ?? solc.compile
  const output = JSON.parse(compile(JSON.stringify(input)))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const sources = Object.fromEntries(
    Object.entries(output.sources).map(([path, { id, ast }]) => [path, { id, ast: slim(ast) }]),
  )
  const buildInfo = { solcVersion: version, input, output: { contracts: output.contracts, sources } }
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  const file = `${name}-${version}${suffix}.json.br`
  writeFileSync(new URL(file, FOLDER), brotliCompressSync(JSON.stringify(buildInfo), { params }))
  process.stdout.write(`${file}\n`)
}
