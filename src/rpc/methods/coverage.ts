/** The coverage of contracts: which statements, functions and branches have run. */
import { z } from 'zod'
import { CoverageMapObject } from '../../coverage/istanbul.ts'
import { RUN_KINDS } from '../../engine/recording/recordings.ts'
import { literals } from '../json-forms.ts'
import { method } from '../method.ts'
import { arrayOf, expected, optional, scalar } from '../parameter.ts'
import { NOBODY } from './example-accounts.ts'

const Kind = scalar({
  form: literals(...RUN_KINDS),
  decode: (kind) => kind,
  refusal: (_, name) => expected(name, `some of ${RUN_KINDS.join(', ')}`),
})

const Kinds = optional(arrayOf(Kind, { most: RUN_KINDS.length }), [...RUN_KINDS])

export const evm_startCoverage = method({
  name: 'evm_startCoverage',
  changesState: true,
  summary:
    'Records which code runs from now on, in the kinds of runs that are named: `transactions` of blocks, `calls` (simulations too), `estimates`. What was recorded before is forgotten. Chains of a pool record together with the node that they are copies of. While it is on, code is interpreted.',
  params: { kinds: Kinds },
  result: () => z.boolean(),
  examples: [
    { params: [], result: true },
    { params: [['transactions']], result: true },
  ],
  run({ kinds }, { engine }) {
    engine.coverage.start(kinds)
    return true
  },
})

export const evm_stopCoverage = method({
  name: 'evm_stopCoverage',
  changesState: true,
  summary: 'Records no more which code runs; what was recorded stays. False when nothing was recorded.',
  params: {},
  result: () => z.boolean(),
  examples: [
    { params: [], result: false },
    { after: [{ method: 'evm_startCoverage', params: [] }], params: [], result: true },
  ],
  run(_, { engine: { coverage } }) {
    const wasOn = coverage.kinds.length > 0
    coverage.stop()
    return wasOn
  },
})

/** Code that adds one to slot 0, as a compiler would return it with its source and its syntax tree. */
const COUNTER_CODE = '600160005401600055'
const COUNTER = {
  solcVersion: '0.8.24',
  input: {
    language: 'Solidity',
    sources: {
      'Counter.sol': { content: 'contract Counter { uint256 count; fallback() external { count++; } }' },
    },
  },
  output: {
    sources: {
      'Counter.sol': {
        id: 0,
        ast: {
          nodeType: 'SourceUnit',
          nodes: [
            {
              nodeType: 'ContractDefinition',
              id: 1,
              name: 'Counter',
              linearizedBaseContracts: [1],
              src: '0:68:0',
              nodes: [
                {
                  nodeType: 'FunctionDefinition',
                  kind: 'fallback',
                  name: '',
                  visibility: 'external',
                  src: '34:32:0',
                  body: {
                    nodeType: 'Block',
                    src: '54:12:0',
                    statements: [{ nodeType: 'ExpressionStatement', src: '56:7:0' }],
                  },
                },
              ],
            },
          ],
        },
      },
    },
    contracts: {
      'Counter.sol': {
        Counter: {
          abi: [],
          evm: { deployedBytecode: { object: COUNTER_CODE, sourceMap: '56:7:0:-;;;;;' } },
        },
      },
    },
  },
}

const at = (start: number, end: number) => ({
  start: { line: 1, column: start },
  end: { line: 1, column: end },
})

export const evm_coverage = method({
  name: 'evm_coverage',
  heavy: true,
  summary:
    "What has run since evm_startCoverage, by the sources that the node knows now: `files`, all their files with functions, in istanbul's format; `notes`, what is missing, each in a sentence.",
  params: {},
  result: () => z.strictObject({ files: CoverageMapObject, notes: z.array(z.string()) }),
  examples: [
    {
      after: [
        { method: 'evm_addSources', params: [COUNTER] },
        { method: 'hardhat_setCode', params: [NOBODY, `0x${COUNTER_CODE}`] },
        { method: 'evm_startCoverage', params: [] },
        { method: 'eth_call', params: [{ to: NOBODY }] },
      ],
      params: [],
      result: {
        files: {
          'Counter.sol': {
            path: 'Counter.sol',
            hash: '7fe5a44e73c9b29e3627f597b51d18e3efd71191b8176b7db3594f8979eff3d5',
            statementMap: { 0: at(56, 63) },
            fnMap: { 0: { name: '<fallback>', decl: at(34, 54), loc: at(34, 66), line: 1 } },
            branchMap: {},
            s: { 0: 1 },
            f: { 0: 1 },
            b: {},
          },
        },
        notes: [],
      },
    },
  ],
  async run(_, { engine }) {
    const { files, notes } = await engine.coverage.report()
    return { files, notes: [...notes] }
  },
})

/** The methods of this file, in the order of the document. */
export const COVERAGE_METHODS = [evm_startCoverage, evm_stopCoverage, evm_coverage] as const
