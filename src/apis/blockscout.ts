/** Blockscout's REST API v2, as far as verification goes (https://docs.blockscout.com/devs/verification/blockscout-smart-contract-verification-api). */
import { z } from 'zod'
import type { Hex } from '../encoding/hex.ts'
import { isTooDeep } from '../encoding/json-depth.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import { qualifiedName } from '../sources/compilation.ts'
import { knownAt } from './known-contract.ts'
import { ApiError, type ApiReply, type ApiRequest, addressIn, read } from './request.ts'
import { argumentsOf, DEEPEST_INPUT, readStandardInput, type Submission, type Verifier } from './verifier.ts'

const NOT_FOUND = { status: 404, body: { message: 'Not found' } }
const STARTED = { status: 200, body: { message: 'Smart-contract verification started' } }
const WAYS = ['flattened-code', 'standard-input'] as const

/** Members of a body: text, also of files. */
type Members = ReadonlyMap<string, string>

const Flat = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]).or(z.unknown()))

/** The members of a form with files, or of JSON. Throws `ApiError`. */
async function membersOf({ body, contentType }: ApiRequest): Promise<Members> {
  if (isTooDeep(body, DEEPEST_INPUT)) throw new ApiError('The body is nested too deeply', { status: 422 })
  const members = new Map<string, string>()
  try {
    if (contentType.includes('json')) {
      for (const [name, value] of Object.entries(Flat.parse(JSON.parse(body)))) {
        if (value !== null && value !== undefined) {
          members.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
        }
      }
      return members
    }
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

/** Blockscout's API of one node. */
export class Blockscout {
  readonly #node: CurrentEngine
  readonly #verifier: Verifier

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#verifier = verifier
  }

  async answer(request: ApiRequest): Promise<ApiReply> {
    try {
      return await this.#route(request)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return this.refusal(error.status, error.message)
    }
  }

  /** The reply to a request that a transport refuses. */
  refusal(status: number, message: string): ApiReply {
    return { status, body: { message } }
  }

  async #route(request: ApiRequest): Promise<ApiReply> {
    const [, , , , first = '', second, third, way] = request.path.split('/')
    if (request.method === 'GET' && first === 'verification' && second === 'config') {
      return {
        status: 200,
        body: { verification_options: WAYS, is_rust_verifier_microservice_enabled: false },
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
