/** Verification and sources in Blockscout's API v2 (https://docs.blockscout.com/devs/verification/blockscout-smart-contract-verification-api). */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import { qualifiedName } from '../../sources/compilation.ts'
import { argumentsOf } from '../creation.ts'
import { knownAt } from '../known-contract.ts'
import { ApiError, type ApiReply, type ApiRequest, addressIn, jsonIn, read } from '../request.ts'
import { readStandardInput } from '../standard-input.ts'
import type { Submission, Verifier } from '../verifier.ts'

/** The reply to a request for what there is not. */
export const NOT_FOUND = { status: 404, body: { message: 'Not found' } }
const STARTED = { status: 200, body: { message: 'Smart-contract verification started' } }
const WAYS = ['flattened-code', 'standard-input'] as const

/** Members of a body: text, also of files. */
type Members = ReadonlyMap<string, string>

const Flat = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]).or(z.unknown()))

function plain(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The members of a form with files, or of JSON. Throws `ApiError`. */
async function membersOf({ body, contentType }: ApiRequest): Promise<Members> {
  if (contentType.includes('json')) {
    const json = Flat.safeParse(jsonIn(body, 422))
    if (!json.success) throw new ApiError('The body is neither a form nor JSON', { status: 422 })
    const given = Object.entries(json.data).filter(([, value]) => value !== null && value !== undefined)
    return new Map(given.map(([name, value]) => [name, plain(value)]))
  }
  try {
    const members = new Map<string, string>()
    const form = await new Response(body, { headers: { 'Content-Type': contentType } }).formData()
    for (const [name, value] of form)
      members.set(name, typeof value === 'string' ? value : await value.text())
    return members
  } catch {
    throw new ApiError('The body is neither a form nor JSON', { status: 422 })
  }
}

function required(members: Members, name: string): string {
  const value = members.get(name)
  if (value === undefined || value === '') throw new ApiError(`Missing ${name}`, { status: 422 })
  return value
}

/** `files[0]`, or whatever its first file is called. */
function firstFile(members: Members): string {
  const [, text] = [...members].find(([name]) => name.startsWith('files')) ?? []
  if (text === undefined) throw new ApiError('Missing files', { status: 422 })
  return text
}

function flattened(members: Members): Submission['input'] {
  const file = `${members.get('contract_name') || 'Contract'}.sol`
  const evmVersion = members.get('evm_version')
  const runs = Number(members.get('optimization_runs') ?? 200)
  if (!Number.isSafeInteger(runs) || runs < 0)
    throw new ApiError('Invalid optimization_runs', { status: 422 })
  return {
    language: 'Solidity',
    sources: { [file]: { content: required(members, 'source_code') } },
    settings: {
      optimizer: { enabled: members.get('is_optimization_enabled') === 'true', runs },
      ...(evmVersion !== undefined && evmVersion !== 'default' && { evmVersion }),
    },
  }
}

/** The sources of one node, as Blockscout has them at `/api/v2/smart-contracts`. */
export class BlockscoutContracts {
  readonly #node: CurrentEngine
  readonly #verifier: Verifier

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#verifier = verifier
  }

  /** Answers a request; `parts` are those of its path behind `smart-contracts`. Throws `ApiError`. */
  async answer(request: ApiRequest, [first = '', second, third, way]: readonly string[]): Promise<ApiReply> {
    if (request.method === 'GET' && first === 'verification' && second === 'config') {
      const versions = await this.#verifier.compilers()
      return {
        status: 200,
        body: {
          verification_options: WAYS,
          solidity_compiler_versions: versions.map((version) => `v${version}`),
          vyper_compiler_versions: [],
          is_rust_verifier_microservice_enabled: false,
        },
      }
    }
    const address = addressIn(first)
    if (address === undefined) throw new ApiError('Invalid parameter(s)', { status: 422 })
    if (request.method === 'GET' && second === undefined) return this.#show(address)
    const isVerification = second === 'verification' && third === 'via'
    if (request.method === 'POST' && isVerification) return this.#verify(request, address, way)
    return NOT_FOUND
  }

  async #verify(request: ApiRequest, address: Hex, way: string | undefined): Promise<ApiReply> {
    if (way !== 'standard-input' && way !== 'flattened-code') return NOT_FOUND
    const members = await membersOf(request)
    const known = await read(this.#node, (engine) => knownAt(engine, address))
    if (known?.match.kind === 'exact') throw new ApiError('Already verified')
    await this.#verifier.submit({
      address,
      compilerVersion: required(members, 'compiler_version'),
      contract: required(members, 'contract_name'),
      input: way === 'standard-input' ? readStandardInput(firstFile(members)) : flattened(members),
      constructorArguments: members.get('constructor_args'),
    })
    return STARTED
  }

  #show(address: Hex): Promise<ApiReply> {
    return read(this.#node, async (engine) => {
      const known = await knownAt(engine, address)
      if (known === undefined) return NOT_FOUND
      const { match, compilation, contract } = known
      const { input, compilerVersion } = compilation
      const sources = Object.entries(input.sources)
      const main = sources.find(([path]) => path === match.file)
      const others = sources.filter(([path]) => path !== match.file)
      return {
        status: 200,
        body: {
          name: match.name,
          is_verified: true,
          is_fully_verified: match.kind === 'exact',
          is_partially_verified: match.kind === 'partial',
          language: input.language.toLowerCase(),
          compiler_version: `v${compilerVersion}`,
          compiler_settings: input.settings,
          file_path: match.file,
          full_name: qualifiedName(match),
          source_code: main?.[1].content ?? '',
          additional_sources: others.map(([file_path, { content = '' }]) => ({
            file_path,
            source_code: content,
          })),
          abi: contract.abi,
          constructor_args: await argumentsOf(engine, address, contract),
          external_libraries: [...match.libraries].map(([name, address_hash]) => ({ name, address_hash })),
        },
      }
    })
  }
}
