/** Etherscan's module `contract`: sources, creations, verification (https://docs.etherscan.io/api-endpoints/contracts). */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Compilation } from '../../sources/compilation.ts'
import { argumentsOf } from '../creation.ts'
import { type KnownContract, knownAt } from '../known-contract.ts'
import { ApiError, addressIn, read } from '../request.ts'
import { readStandardInput, type StandardInput } from '../standard-input.ts'
import type { Job } from '../verifier.ts'
import {
  type Action,
  type ActionContext,
  type EtherscanReply,
  listed,
  notOk,
  ok,
  type Parameters,
  stateOf,
} from './parameters.ts'

const NOT_VERIFIED = 'Contract source code not verified'
const ALREADY_VERIFIED = 'Contract source code already verified'
const UNABLE = 'Fail - Unable to verify'
/** Most contracts of one request for creations. */
const MOST_CREATIONS = 5

const getabi: Action = async ({ node, parameters }) => {
  const address = parameters.address('address')
  const known = await read(node, (engine) => knownAt(engine, address))
  return known === undefined ? notOk(NOT_VERIFIED) : ok(JSON.stringify(known.contract.abi))
}

interface Settings {
  readonly optimizer?: { readonly enabled?: unknown; readonly runs?: unknown }
  readonly evmVersion?: unknown
}

/** Of a single source its text, of several the input of the compiler between additional braces, as Etherscan has it. */
function sourceText({ input }: Compilation): string {
  const sources = Object.values(input.sources)
  return sources.length === 1 ? (sources[0]?.content ?? '') : `{${JSON.stringify(input)}}`
}

function licenseOf({ input }: Compilation, file: string): string {
  const content = input.sources[file]?.content ?? ''
  return /SPDX-License-Identifier:\s*(\S+)/.exec(content)?.[1] ?? 'None'
}

async function sourceEntry(
  engine: Engine,
  { address, match, compilation, contract }: KnownContract,
): Promise<object> {
  const { optimizer, evmVersion } = compilation.input.settings as Settings
  const [implementation] = await engine.queries.implementations(address)
  return {
    SourceCode: sourceText(compilation),
    ABI: JSON.stringify(contract.abi),
    ContractName: match.name,
    CompilerVersion: `v${compilation.compilerVersion}`,
    CompilerType: 'solc',
    OptimizationUsed: optimizer?.enabled === true ? '1' : '0',
    Runs: String(typeof optimizer?.runs === 'number' ? optimizer.runs : 200),
    ConstructorArguments: await argumentsOf(engine, address, contract),
    EVMVersion: typeof evmVersion === 'string' ? evmVersion : 'Default',
    Library: [...match.libraries].map(([name, at]) => `${name.split(':').at(-1)}:${at.slice(2)}`).join(';'),
    ContractFileName: match.file,
    LicenseType: licenseOf(compilation, match.file),
    Proxy: implementation === undefined ? '0' : '1',
    Implementation: implementation ?? '',
    SwarmSource: '',
    SimilarMatch: '',
  }
}

const UNKNOWN_SOURCE = {
  SourceCode: '',
  ABI: NOT_VERIFIED,
  ContractName: '',
  CompilerVersion: '',
  CompilerType: '',
  OptimizationUsed: '',
  Runs: '',
  ConstructorArguments: '',
  EVMVersion: 'Default',
  Library: '',
  ContractFileName: '',
  LicenseType: 'Unknown',
  Proxy: '0',
  Implementation: '',
  SwarmSource: '',
  SimilarMatch: '',
}

const getsourcecode: Action = async ({ node, parameters }) => {
  const address = parameters.address('address')
  return read(node, async (engine) => {
    const known = await knownAt(engine, address)
    return ok([known === undefined ? UNKNOWN_SOURCE : await sourceEntry(engine, known)])
  })
}

const getcontractcreation: Action = async ({ node, parameters }) => {
  const addresses = parameters.required('contractaddresses').split(',').map(addressIn)
  if (addresses.length > MOST_CREATIONS) throw new ApiError('Error! Maximum of 5 contract addresses')
  return read(node, async (engine) => {
    const found: object[] = []
    for (const address of addresses) {
      if (address === undefined) throw new ApiError('Error! Invalid address format')
      const origin = await engine.queries.contractOrigin(address)
      const view = origin && engine.queries.transaction(origin.hash)
      if (origin === undefined || view === undefined) continue
      const { transaction, block } = view
      const isDirect = transaction.to === null
      found.push({
        contractAddress: address,
        contractCreator: isDirect ? origin.creator : transaction.from,
        txHash: origin.hash,
        blockNumber: String(block?.block.header.number ?? ''),
        timestamp: String(block?.block.header.timestamp ?? ''),
        contractFactory: isDirect ? '' : origin.creator,
      })
    }
    return listed(found, 'No data found')
  })
}

/** The input of the compiler for a source in one file. */
function flattenedInput(parameters: Parameters): StandardInput {
  const runs = parameters.integer('runs', 200)
  const evmVersion = parameters.text('evmversion', 'evmVersion')?.toLowerCase()
  const libraries: Record<string, string> = {}
  for (let i = 1; i <= 10; i++) {
    const name = parameters.text(`libraryname${i}`)
    const address = parameters.text(`libraryaddress${i}`)
    if (name !== undefined && address !== undefined) libraries[name] = address
  }
  const file = `${(parameters.text('contractname') ?? 'Contract').split(':').at(-1)}.sol`
  return {
    language: 'Solidity',
    sources: { [file]: { content: parameters.required('sourceCode', 'sourcecode') } },
    settings: {
      optimizer: { enabled: parameters.text('optimizationUsed', 'OptimizationUsed') === '1', runs },
      ...(evmVersion !== undefined && evmVersion !== 'default' && { evmVersion }),
      ...(parameters.text('viaIR')?.toLowerCase() === 'true' && { viaIR: true }),
      ...(Object.keys(libraries).length > 0 && { libraries: { [file]: libraries } }),
    },
  }
}

function submittedInput(parameters: Parameters): StandardInput {
  const format = parameters.text('codeformat') ?? 'solidity-single-file'
  if (format === 'solidity-single-file') return flattenedInput(parameters)
  if (format === 'solidity-standard-json-input') {
    return readStandardInput(parameters.required('sourceCode', 'sourcecode'))
  }
  throw new ApiError(`Error! Code format ${format.slice(0, 64)} is not supported`)
}

/** A contract that is known to match exactly needs no second verification, unless another one of equal code is named. */
async function isVerified({ node, parameters }: ActionContext, address: Hex): Promise<boolean> {
  const known = await read(node, (engine) => knownAt(engine, address))
  const name = parameters.text('contractname')?.split(':').at(-1)
  return known?.match.kind === 'exact' && (name === undefined || name === known.match.name)
}

const verifysourcecode: Action = async (context) => {
  const { verifier, parameters } = context
  const address = parameters.address('contractaddress')
  const contract = parameters.required('contractname')
  const compilerVersion = parameters.required('compilerversion')
  const input = submittedInput(parameters)
  if (await isVerified(context, address)) return notOk(ALREADY_VERIFIED)
  const isFlattened = parameters.text('codeformat') !== 'solidity-standard-json-input'
  const job = await verifier.submit({
    address,
    contract: isFlattened ? (contract.split(':').at(-1) ?? contract) : contract,
    compilerVersion,
    input,
    constructorArguments: parameters.text('constructorArguements', 'constructorArguments'),
  })
  return ok(job.id)
}

/** Etherscan's words for an outcome, which clients compare; details are in another member where there are words. */
function outcomeReply({ outcome }: Job): EtherscanReply {
  if (outcome?.kind !== 'failed') return ok('Pass - Verified')
  const { code, message } = outcome
  const isOfCode = code === 'no_match' || code === 'constructor_arguments'
  return isOfCode ? notOk(UNABLE, message) : notOk(`${UNABLE}: ${message}`)
}

/** Clients of Blockscout send no key. It has status 1 for any outcome, and no words but these for a failure. */
function blockscoutReply(job: Job): EtherscanReply {
  const { outcome } = job
  return outcome?.kind === 'failed' ? { ...ok(UNABLE), details: outcome.message } : outcomeReply(job)
}

const checkverifystatus: Action = async ({ verifier, parameters }) => {
  const job = verifier.job(parameters.required('guid'))
  if (job === undefined) return notOk('Unknown UID')
  if (job.outcome === undefined) return notOk('Pending in queue')
  return parameters.text('apikey', 'apiKey') === undefined ? blockscoutReply(job) : outcomeReply(job)
}

/** The address of the proxy is the ticket: its implementation is read when it is asked for. */
const verifyproxycontract: Action = async ({ node, parameters }) => {
  const address = parameters.address('address')
  const expected = parameters.optionalAddress('expectedimplementation')
  const hasCode = await read(node, async (engine) => {
    const account = (await stateOf(engine, parameters)).account(address)
    return account?.isContract === true
  })
  if (!hasCode) throw new ApiError(`Unable to locate ContractCode at ${address}`)
  return ok(expected === undefined ? address : `${address}-${expected}`)
}

const checkproxyverification: Action = async ({ node, parameters }) => {
  const [proxy, expected] = parameters.required('guid').split('-').map(addressIn)
  if (proxy === undefined) return notOk('Unknown UID')
  const [implementation] = await read(node, (engine) => engine.queries.implementations(proxy))
  if (implementation === undefined) {
    return notOk(
      'A corresponding implementation contract was unfortunately not detected for the proxy address.',
    )
  }
  if (expected !== undefined && expected !== implementation) {
    return notOk(`The implementation of the proxy is ${implementation}, and not the expected ${expected}.`)
  }
  return ok(
    `The proxy's (${proxy}) implementation contract is found at ${implementation} and is successfully updated.`,
  )
}

/** The module. */
export const CONTRACT_ACTIONS: Readonly<Record<string, Action>> = {
  getabi,
  getsourcecode,
  getcontractcreation,
  verifysourcecode,
  checkverifystatus,
  verifyproxycontract,
  checkproxyverification,
}
