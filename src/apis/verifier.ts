/** Verifies sources: compiles them, and compares the result with the code on the chain. Nothing is taken on trust. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { equal } from '../encoding/bytes.ts'
import { fromHex, type Hex, isHexDigits } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import { createSerialQueue } from '../engine/serial-queue.ts'
import { addCompilation } from '../engine/sources/add-compilation.ts'
import { messageOf, NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { constructorArguments, fill, templateOf } from '../sources/code-template.ts'
import {
  type Compilation,
  type CompiledContract,
  type ContractName,
  contractIn,
  contractsOf,
  type MatchKind,
} from '../sources/compilation.ts'
import { plainVersion, readCompilation } from '../sources/read-compilation.ts'
import { CompileProgress } from './compile-progress.ts'
import { creationCode } from './creation.ts'
import { ApiError, read } from './request.ts'
import {
  CompilerFailure,
  type CompilerLimits,
  findCompiler,
  installedCompilers,
  runCompiler,
} from './solc.ts'
import { isSameInput, type StandardInput } from './standard-input.ts'

/** What somebody claims about the contract at an address. */
export interface Submission {
  readonly address: Hex
  /** Input of solc's standard JSON interface. */
  readonly input: StandardInput
  /** `v0.8.24+commit.e11b9ed9`, `0.8.24`. */
  readonly compilerVersion: string
  /** `path:name`, or a name that only one source has. */
  readonly contract: string
  /** Hex of the ABI-encoded arguments; not compared when absent or empty. */
  readonly constructorArguments?: string | undefined
}

/** How a job ended. */
export type Outcome =
  | ({ readonly kind: MatchKind; readonly compilation: Hex } & ContractName)
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string }

/** Why a verification failed, as Sourcify names it. */
export type FailureCode =
  | 'compiler_error'
  | 'unsupported_compiler_version'
  | 'contract_not_found'
  | 'no_match'
  | 'constructor_arguments'
  | 'internal_error'

/** A verification that was asked for. */
export interface Job {
  readonly id: string
  readonly address: Hex
  readonly contract: string
  readonly compilerVersion: string
  /** Milliseconds since 1970. */
  readonly started: number
  finished?: number
  outcome?: Outcome
  /** Resolves when there is an outcome. */
  ended?: Promise<void>
}

const Diagnostics = z.looseObject({
  errors: z
    .array(
      z.looseObject({ severity: z.string(), message: z.string(), formattedMessage: z.string().optional() }),
    )
    .default([]),
})

/** Finished and running jobs that are kept. */
const MOST_JOBS = 1000
/** Jobs that may wait. */
const MOST_WAITING = 16
/** Longest name of a contract with its source, characters. */
const LONGEST_NAME = 1024
/** Longest message of a compiler that is passed on, characters. */
const LONGEST_MESSAGE = 2000

/** What is needed to explain and to compare a contract. */
const SELECTION = {
  '*': {
    '*': [
      'abi',
      'metadata',
      'userdoc',
      'devdoc',
      'storageLayout',
      'evm.bytecode',
      'evm.deployedBytecode',
      'evm.methodIdentifiers',
    ],
    '': ['ast'],
  },
}

const VERSION = /^\d{1,3}\.\d{1,3}\.\d{1,3}(-[\w.]{1,32})?$/

class Failure extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The contracts of a name: `path:name`, or a name that one source has. Throws `Failure`. */
function namedContract(compilation: Compilation, contract: string): ContractName {
  const end = contract.lastIndexOf(':')
  const wanted = { file: contract.slice(0, Math.max(0, end)), name: contract.slice(end + 1) }
  const found = [...contractsOf(compilation)].filter(
    ({ file, name }) => name === wanted.name && (wanted.file === '' || file === wanted.file),
  )
  const [only] = found
  if (only !== undefined && found.length === 1) return { file: only.file, name: only.name }
  throw new Failure(
    'contract_not_found',
    only === undefined
      ? `the sources have no contract ${contract} with code`
      : `several sources have a contract ${contract}: name its source as well`,
  )
}

/** How the verifier finds and runs compilers. */
export interface Compilers {
  find(version: string): Promise<string | undefined>
  /** All versions, the newest first. */
  installed(): Promise<readonly string[]>
  readonly limits?: CompilerLimits | undefined
}

const COMPILERS: Compilers = {
  find: (version) => findCompiler(version),
  installed: () => installedCompilers(),
}

/** The verifications of one node. */
export class Verifier {
  readonly #node: CurrentEngine
  readonly #compilers: Compilers
  readonly #progress: CompileProgress
  readonly #queue = createSerialQueue()
  readonly #jobs = new Map<string, Job>()
  readonly #abort = new AbortController()
  #waiting = 0

  constructor(node: CurrentEngine, logger: Logger, compilers: Compilers = COMPILERS) {
    this.#node = node
    this.#compilers = compilers
    this.#progress = new CompileProgress(logger)
  }

  /** The compilers that a verification can use, by version, the newest first. */
  compilers(): Promise<readonly string[]> {
    return this.#compilers.installed()
  }

  /** A job by its id. */
  job(id: string): Job | undefined {
    return this.#jobs.get(id)
  }

  /** Begins a verification. Throws `ApiError` for an address without code, and when too many wait. */
  async submit(submission: Submission): Promise<Job> {
    const { address, contract, compilerVersion } = submission
    if (!VERSION.test(shortVersion(compilerVersion))) throw new ApiError('Invalid compiler version')
    if (contract.length > LONGEST_NAME) throw new ApiError('The name of the contract is too long')
    await this.#codeAt(address)
    if (this.#waiting >= MOST_WAITING) {
      throw new ApiError('Too many verifications are waiting: try again later', {
        status: 429,
        code: 'too_many_requests',
      })
    }
    const job: Job = { id: randomUUID(), address, contract, compilerVersion, started: Date.now() }
    this.#jobs.set(job.id, job)
    for (const id of this.#jobs.keys()) {
      if (this.#jobs.size <= MOST_JOBS) break
      this.#jobs.delete(id)
    }
    this.#waiting++
    job.ended = this.#queue.enqueue(async () => {
      job.outcome = await this.#outcome(submission)
      job.finished = Date.now()
      this.#waiting--
    })
    return job
  }

  /** Resolves when all verifications so far have ended. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /** Ends the compiler that runs; later verifications fail. */
  close(): Promise<void> {
    this.#abort.abort()
    return this.#queue.idle()
  }

  async #outcome(submission: Submission): Promise<Outcome> {
    try {
      return await this.#verify(submission)
    } catch (error) {
      const isOurs = error instanceof Failure || error instanceof ApiError || error instanceof NodeError
      const code = error instanceof Failure ? error.code : 'internal_error'
      return { kind: 'failed', code, message: isOurs ? messageOf(error) : 'internal error' }
    }
  }

  async #verify(submission: Submission): Promise<Outcome> {
    const compilation = await this.#compiled(submission)
    const named = namedContract(compilation, submission.contract)
    const contract = contractIn(compilation, named) as CompiledContract
    const { address } = submission
    return this.#node.use(async (engine) => {
      const { code, codeHash } = await this.#codeAt(address)
      const filled = fill(templateOf(contract.evm.deployedBytecode), code)
      if (filled === undefined) {
        throw new Failure(
          'no_match',
          `the compiled code of ${submission.contract} is not the code at ${address}`,
        )
      }
      await checkArguments(engine, submission, contract)
      await addCompilation(engine, compilation)
      await engine.sources.note({ address, codeHash, compilation: compilation.id, ...named })
      return { kind: filled.kind, compilation: compilation.id, ...named }
    })
  }

  /** Compiles, or finds a known compilation of the same input. Throws `Failure`. */
  async #compiled({ input, compilerVersion, address, contract }: Submission): Promise<Compilation> {
    const version = shortVersion(compilerVersion)
    const folder = await this.#compilers.find(version)
    if (folder === undefined) return this.#known(input, version, address)
    const settings = { ...input.settings, outputSelection: SELECTION }
    const text = JSON.stringify({ ...input, settings })
    const work = { contract, version, characters: text.length }
    const start = () => runCompiler(folder, text, this.#compilers.limits, this.#abort.signal)
    const run = await this.#progress.during(work, start).catch((error) => {
      throw error instanceof CompilerFailure
        ? new Failure('compiler_error', `solc ${version} failed: ${error.message}`)
        : error
    })
    const [commit, has] = [commitOf(compilerVersion), commitOf(run.version)]
    if (commit !== undefined && has !== undefined && commit !== has) {
      throw new Failure(
        'unsupported_compiler_version',
        `solc ${version} here is commit ${has}, not ${commit}`,
      )
    }
    const { errors } = Diagnostics.parse(run.output)
    const error = errors.find(({ severity }) => severity === 'error')
    if (error !== undefined) {
      const message = (error.formattedMessage ?? error.message).trim().slice(0, LONGEST_MESSAGE)
      throw new Failure('compiler_error', message)
    }
    try {
      return readCompilation({ solcLongVersion: run.version, input, output: run.output })
    } catch (reason) {
      throw new Failure('compiler_error', `the output of solc cannot be used: ${messageOf(reason)}`)
    }
  }

  /** The known compilation that made the code at an address, where its input is the one given. Throws `Failure`. */
  async #known(input: StandardInput, version: string, address: Hex): Promise<Compilation> {
    const missing = `solc ${version} is not installed (npm install solc-${version}@npm:solc@${version})`
    const found = await read(this.#node, async (engine) => {
      const state = await engine.queries.state({ tag: 'latest' })
      const match = state && (await engine.sources.at(state, address))?.match
      return match && engine.sources.get(match.compilation)
    })
    if (found === undefined) {
      throw new Failure('unsupported_compiler_version', `${missing}, and no known artifact has this code`)
    }
    if (shortVersion(found.compilerVersion) !== version || !isSameInput(input, found.input)) {
      throw new Failure(
        'unsupported_compiler_version',
        `${missing}, and the artifact with this code is of other sources or settings`,
      )
    }
    return found
  }

  async #codeAt(address: Hex): Promise<{ readonly code: Uint8Array; readonly codeHash: Hex }> {
    return read(this.#node, async (engine) => {
      const state = await engine.queries.state({ tag: 'latest' })
      const account = state?.account(address)
      const code = account && state?.code(account.codeHash)
      if (account === undefined || code === undefined || code.length === 0) {
        throw new ApiError(`Unable to locate ContractCode at ${address}`, {
          status: 404,
          code: 'contract_not_deployed',
        })
      }
      return { code, codeHash: account.codeHash }
    })
  }
}

/** `0.8.24` of `v0.8.24+commit.e11b9ed9`. */
function shortVersion(version: string): string {
  return plainVersion(version).split('+')[0] ?? ''
}

function commitOf(version: string): string | undefined {
  return /\+commit\.([0-9a-f]{8})/.exec(version)?.[1]
}

/** Compares the arguments of a submission with those of the creation, where that was a transaction. Throws `Failure`. */
async function checkArguments(
  engine: Engine,
  { address, constructorArguments: given = '' }: Submission,
  contract: CompiledContract,
): Promise<void> {
  const digits = given.trim().replace(/^0x/, '')
  if (digits === '') return
  if (digits.length % 2 !== 0 || !isHexDigits(digits)) {
    throw new Failure('constructor_arguments', 'the constructor arguments are not hex')
  }
  const initcode = await creationCode(engine, address)
  if (initcode === undefined) return
  const found = constructorArguments(templateOf(contract.evm.bytecode), initcode)
  if (found !== undefined && equal(found, fromHex(`0x${digits}`))) return
  throw new Failure('constructor_arguments', 'the contract was created with other constructor arguments')
}
