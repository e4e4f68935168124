/** The methods that give a running node the sources of contracts, and find them by address. */
import { z } from 'zod'
import { addCompilation } from '../../engine/sources/add-compilation.ts'
import { invalidParams, messageOf } from '../../errors.ts'
import { contractIn, contractsOf } from '../../sources/compilation.ts'
import { readCompilation } from '../../sources/read-compilation.ts'
import { schemaForm } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'
import { Address, AddressText, HashText } from '../wire/scalars.ts'
import { NOBODY } from './example-accounts.ts'

/** The content is checked when it is added. */
const BuildInfo: Parameter<object> = scalar({
  form: schemaForm(() => z.looseObject({ input: z.looseObject({}), output: z.looseObject({}) })),
  description: 'build-info of Hardhat 2 or Foundry: `input`, `output` and `solcLongVersion` of a compiler',
  decode: (value) => value,
  refusal: (_, name) => expected(name, 'an object with input and output of a compiler'),
})

/** Code that adds one to slot 0, as a compiler would return it with its source. */
const COUNTER_CODE = '600160005401600055'
const COUNTER_SOURCE = 'contract Counter { uint256 count; fallback() external { count++; } }'
const COUNTER = {
  solcVersion: '0.8.24',
  input: { language: 'Solidity', sources: { 'Counter.sol': { content: COUNTER_SOURCE } } },
  output: {
    contracts: {
      'Counter.sol': { Counter: { abi: [], evm: { deployedBytecode: { object: COUNTER_CODE } } } },
    },
  },
}
const COUNTER_ID = '0xa4e9435ad761b29d70fa2e82ae01034d31ed1b6fd4c37bbccd84a86f6bf864dc'

export const evm_addSources = method({
  name: 'evm_addSources',
  changesState: true,
  summary:
    'Adds the sources of a compilation, with which the node explains code, and registers the ABIs of its contracts. They are kept in the database, across reverts and resets; beyond 1024 compilations, or 512 MiB, the oldest are dropped.',
  params: { buildInfo: BuildInfo },
  result: () => z.strictObject({ compilation: HashText, contracts: z.int() }),
  examples: [
    {
      params: [COUNTER],
      result: { compilation: COUNTER_ID, contracts: 1 },
    },
  ],
  async run({ buildInfo }, { engine }) {
    let compilation: ReturnType<typeof readCompilation>
    try {
      compilation = readCompilation(buildInfo)
    } catch (error) {
      throw invalidParams(`Invalid buildInfo: ${messageOf(error)}.`)
    }
    await addCompilation(engine, compilation)
    return { compilation: compilation.id, contracts: [...contractsOf(compilation)].length }
  },
})

const FoundSources = z.lazy(() =>
  z.strictObject({
    match: z.enum(['exact', 'partial']),
    compilation: HashText,
    compilerVersion: z.string(),
    file: z.string(),
    name: z.string(),
    implementations: z.array(AddressText),
    abi: z.array(z.unknown()),
    sources: z.record(z.string(), z.string()),
  }),
)

export const evm_sourcesAt = method({
  name: 'evm_sourcesAt',
  summary:
    'The sources of the contract at an address, found by its code: `exact` with the hash of the sources in the metadata, `partial` without it. `implementations` are the contracts behind a proxy (ERC-1967, ERC-1167) or a diamond (EIP-2535). Null when no known compilation made the code.',
  params: { address: Address },
  result: () => FoundSources.nullable(),
  examples: [
    {
      after: [
        { method: 'evm_addSources', params: [COUNTER] },
        { method: 'hardhat_setCode', params: [NOBODY, `0x${COUNTER_CODE}`] },
      ],
      params: [NOBODY],
      result: {
        match: 'partial',
        compilation: COUNTER_ID,
        compilerVersion: '0.8.24',
        file: 'Counter.sol',
        name: 'Counter',
        implementations: [],
        abi: [],
        sources: { 'Counter.sol': COUNTER_SOURCE },
      },
    },
  ],
  async run({ address }, { engine }) {
    const state = await engine.queries.state({ tag: 'latest' })
    const match = state && (await engine.sources.at(state, address))?.match
    if (match === undefined) return null
    const compilation = await engine.sources.get(match.compilation)
    const contract = compilation && contractIn(compilation, match)
    if (compilation === undefined || contract === undefined) return null
    const { kind, file, name } = match
    return {
      match: kind,
      compilation: compilation.id,
      compilerVersion: compilation.compilerVersion,
      file,
      name,
      implementations: [...(await engine.queries.implementations(address))],
      abi: [...contract.abi],
      sources: Object.fromEntries(
        Object.entries(compilation.input.sources).map(([path, { content = '' }]) => [path, content]),
      ),
    }
  },
})

/** The methods of this file, in the order of the document. */
export const SOURCE_METHODS = [evm_addSources, evm_sourcesAt] as const
