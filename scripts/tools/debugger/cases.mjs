/** The contracts that are debugged: sources, the compilers that make them, and what is called. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const sourceOf = (name) =>
  readFileSync(new URL(`../../../fixtures/debugger/${name}.sol`, import.meta.url), 'utf8')

/** In arguments: the contract itself, the first account. */
export const SELF = 'self'
export const SENDER = 'sender'

const WORD = `0x${'12'.repeat(32)}`
const LONG = 'a text of more than thirty-two bytes, to be sure'

/** The sources, arguments of the constructors, and calls. */
const CONTRACTS = {
  Variables: {
    source: sourceOf('Variables'),
    args: ['Named', 21],
    calls: [
      ['values', 7, -5, '0x0102030405', true, SENDER, 2],
      ['texts', 'short', '0x0102'],
      ['texts', LONG, `0x${'ab'.repeat(70)}`],
      ['arrays', 3],
      ['shapesOf', 4, LONG],
      ['maps', SELF, WORD, true],
      ['received', [4, 5, 6], '0x010203', 'title'],
      ['nested', 30],
      ['loops', 2, 3],
      ['failing', 1],
      ['failing', 2],
    ],
  },
  Old: {
    source: sourceOf('Old'),
    args: [5, WORD],
    calls: [
      ['values', 41, -3, '0x01020304', true],
      ['loops', 4],
      ['factorial', 4],
      ['memories', 3],
      ['calling', SELF, 6],
      ['fail', 20],
    ],
  },
  New: {
    source: sourceOf('New'),
    args: [],
    calls: [
      ['data', [4, 5, 6], '0x010203', [7, 8], 'a text'],
      [
        'lines',
        [
          [
            [1, 2],
            [3, 4],
          ],
          'name',
          [5, 6],
        ],
      ],
      ['attempts', 0],
      ['attempts', 1],
      ['attempts', 2],
      ['pointers', 3],
    ],
  },
}

/** Of these the repository has what Truffle decodes. */
const RECORDED = true

/** Contract and version of the compiler. Truffle's debugger knows compilers up to 0.8.21. */
export const BUILDS = [
  ['Variables', '0.5.17', RECORDED],
  ['Variables', '0.6.12'],
  ['Variables', '0.7.6'],
  ['Variables', '0.8.21', RECORDED],
  ['Old', '0.5.17'],
  ['Old', '0.6.12'],
  ['Old', '0.7.6'],
  ['Old', '0.8.21'],
  ['New', '0.8.21'],
].map(([contract, version, isRecorded = false]) => ({
  contract,
  version,
  isRecorded,
  ...CONTRACTS[contract],
}))

const WANTED = ['abi', 'storageLayout', 'evm.bytecode', 'evm.deployedBytecode', 'evm.methodIdentifiers']

/** The build-info of a contract. Throws the compiler's errors. */
export function compile({ contract, version, source }) {
  const input = {
    language: 'Solidity',
    sources: { [`${contract}.sol`]: { content: source } },
    settings: { outputSelection: { '*': { '': ['ast'], '*': WANTED } } },
  }
  const output = JSON.parse(require(`solc-${version}`).compile(JSON.stringify(input)))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return { solcVersion: version, input, output }
}
