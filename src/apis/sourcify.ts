/** Sourcify's API v2 (https://docs.sourcify.dev/docs/api): verification by jobs, and what is known of a contract. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Hex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import { constructorArguments, templateOf } from '../sources/code-template.ts'
import { type MatchKind, qualifiedName } from '../sources/compilation.ts'
import { creationCode } from './creation.ts'
import { type KnownContract, knownAt } from './known-contract.ts'
import { inputOfMetadata } from './metadata-input.ts'
import {
  ApiError,
  type ApiReply,
  type ApiRequest,
  addressOn,
  jsonIn,
  parsed,
  read,
  repliedOr,
} from './request.ts'
import { repositoryFile } from './sourcify-repository.ts'
import { readStandardInput } from './standard-input.ts'
import type { Job, Verifier } from './verifier.ts'

const VerifyBody = z.looseObject({
  stdJsonInput: z.unknown(),
  compilerVersion: z.string(),
  contractIdentifier: z.string(),
})
const MetadataBody = z.looseObject({ sources: z.record(z.string(), z.string()), metadata: z.unknown() })

/** Sourcify's names of matches. */
const MATCH = { exact: 'exact_match', partial: 'match' } as const

const matchOf = (kind: MatchKind | undefined) => (kind === undefined ? null : MATCH[kind])

function errorBody(customCode: string, message: string): object {
  return { customCode, message, errorId: randomUUID() }
}

/** How the creation of a contract agrees with the compiled creation code; null where nobody knows. */
async function creationMatch(engine: Engine, { address, match, contract }: KnownContract) {
  const initcode = await creationCode(engine, address)
  const found = initcode && constructorArguments(templateOf(contract.evm.bytecode), initcode)
  return found === undefined ? null : MATCH[match.kind]
}

/** Members that `fields` of a lookup may ask for. */
async function details(engine: Engine, known: KnownContract): Promise<Record<string, unknown>> {
  const { compilation, contract, match, address } = known
  const { input, output, compilerVersion } = compilation
  const implementations = await engine.queries.implementations(address)
  const origin = await engine.queries.contractOrigin(address)
  const initcode = await creationCode(engine, address)
  const { bytecode, deployedBytecode } = contract.evm
  return {
    abi: contract.abi,
    metadata: contract.metadata === undefined ? null : JSON.parse(contract.metadata),
    storageLayout: contract.storageLayout ?? null,
    userdoc: contract.userdoc ?? null,
    devdoc: contract.devdoc ?? null,
    sources: input.sources,
    stdJsonInput: input,
    stdJsonOutput: output,
    compilation: {
      language: input.language,
      compiler: 'solc',
      compilerVersion,
      compilerSettings: input.settings,
      name: match.name,
      fullyQualifiedName: qualifiedName(match),
    },
    creationBytecode: {
      ...bytecode,
      onchainBytecode: initcode === undefined ? null : toHex(initcode),
      recompiledBytecode: `0x${bytecode.object}`,
    },
    runtimeBytecode: {
      ...deployedBytecode,
      onchainBytecode: toHex(known.code),
      recompiledBytecode: `0x${deployedBytecode.object}`,
    },
    deployment: { transactionHash: origin?.hash ?? null, deployer: origin?.creator ?? null },
    proxyResolution: {
      isProxy: implementations.length > 0,
      implementations: implementations.map((implementation) => ({ address: implementation })),
    },
  }
}

/** Sourcify's API of one node. */
export class Sourcify {
  readonly #node: CurrentEngine
  readonly #verifier: Verifier

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#verifier = verifier
  }

  answer(request: ApiRequest): Promise<ApiReply> {
    return repliedOr(
      async () => this.#route(request),
      ({ status, code, message }) => ({ status, body: errorBody(code, message) }),
    )
  }

  /** The reply to a request that a transport refuses. */
  refusal(status: number, message: string): ApiReply {
    return { status, body: errorBody(status === 413 ? 'request_too_large' : 'refused', message) }
  }

  #route(request: ApiRequest): Promise<ApiReply> {
    const [, root, kind = '', ...rest] = request.path.split('/')
    if (request.method === 'GET' && root === 'contracts') return repositoryFile(this.#node, [kind, ...rest])
    const [first = '', second = '', third = ''] = rest
    if (request.method === 'POST' && kind === 'verify') {
      return first === 'metadata'
        ? this.#verifyMetadata(request, second, third)
        : this.#verify(request, first, second)
    }
    if (request.method === 'GET' && kind === 'verify' && second === '') return this.#job(first)
    if (request.method === 'GET' && kind === 'contract') return this.#lookup(request, first, second)
    throw new ApiError('There is no such endpoint', { status: 404, code: 'route_not_found' })
  }

  async #refuseVerified(address: Hex): Promise<void> {
    const known = await read(this.#node, (engine) => knownAt(engine, address))
    if (known?.match.kind !== 'exact') return
    throw new ApiError(`The contract ${address} is already verified`, {
      status: 409,
      code: 'already_verified',
    })
  }

  async #verify(request: ApiRequest, chain: string, text: string): Promise<ApiReply> {
    const address = addressOn(this.#node, chain, text)
    const { stdJsonInput, compilerVersion, contractIdentifier } = parsed(VerifyBody, jsonIn(request.body))
    const input = readStandardInput(JSON.stringify(stdJsonInput) ?? '')
    await this.#refuseVerified(address)
    const job = await this.#verifier.submit({ address, input, compilerVersion, contract: contractIdentifier })
    return { status: 202, body: { verificationId: job.id } }
  }

  async #verifyMetadata(request: ApiRequest, chain: string, text: string): Promise<ApiReply> {
    const address = addressOn(this.#node, chain, text)
    const { metadata, sources } = parsed(MetadataBody, jsonIn(request.body))
    const submission = inputOfMetadata(metadata, sources)
    await this.#refuseVerified(address)
    const job = await this.#verifier.submit({ address, ...submission })
    return { status: 202, body: { verificationId: job.id } }
  }

  #contract(address: Hex, kind: MatchKind | undefined, creation: string | null): Record<string, unknown> {
    return {
      match: matchOf(kind),
      creationMatch: creation,
      runtimeMatch: matchOf(kind),
      chainId: String(this.#node.engine.config.chainId),
      address,
    }
  }

  async #job(id: string): Promise<ApiReply> {
    const job = this.#verifier.job(id)
    if (job === undefined) {
      throw new ApiError(`There is no verification job ${id.slice(0, 64)}`, {
        status: 404,
        code: 'job_not_found',
      })
    }
    return { status: 200, body: this.#jobBody(job) }
  }

  #jobBody({ id, address, started, finished, outcome }: Job): object {
    const kind = outcome === undefined || outcome.kind === 'failed' ? undefined : outcome.kind
    return {
      isJobCompleted: outcome !== undefined,
      verificationId: id,
      jobStartTime: new Date(started).toISOString(),
      ...(finished !== undefined && {
        jobFinishTime: new Date(finished).toISOString(),
        compilationTime: finished - started,
      }),
      contract: this.#contract(address, kind, null),
      ...(outcome?.kind === 'failed' && { error: errorBody(outcome.code, outcome.message) }),
    }
  }

  async #lookup({ query }: ApiRequest, chain: string, text: string): Promise<ApiReply> {
    const address = addressOn(this.#node, chain, text)
    return read(this.#node, async (engine) => {
      const known = await knownAt(engine, address)
      if (known === undefined) return { status: 404, body: this.#contract(address, undefined, null) }
      const summary = this.#contract(address, known.match.kind, await creationMatch(engine, known))
      const [fields, omit] = [query.get('fields'), query.get('omit')]
      if (fields === null && omit === null) return { status: 200, body: summary }
      const all = await details(engine, known)
      const wanted = fields === null || fields === 'all' ? Object.keys(all) : fields.split(',')
      const left = omit?.split(',') ?? []
      const unknown = [...wanted, ...left].find((name) => !Object.hasOwn(all, name.split('.')[0] ?? ''))
      if (unknown !== undefined) throw new ApiError(`Unknown field ${unknown.slice(0, 64)}`)
      const names = wanted.map((name) => name.split('.')[0] ?? '').filter((name) => !left.includes(name))
      return {
        status: 200,
        body: { ...summary, ...Object.fromEntries(names.map((name) => [name, all[name]])) },
      }
    })
  }
}
