/**
 * Compilations out of what build tools leave on disk: build-infos of Hardhat 2, Hardhat 3 and Foundry, and Foundry's
 * artifacts, which name their sources by hash.
 */
import { z } from 'zod'
import { MOST_ENTRIES } from '../abi/entry.ts'
import { keccakHex } from '../encoding/hash.ts'
import { messageOf } from '../errors.ts'
import { templateOf } from './code-template.ts'
import { type Compilation, compilationId, compilationText, contractsOf, type Json } from './compilation.ts'
import { withImmutables, withKeptMap } from './vyper-code.ts'

/** Most contracts of one compilation. */
const MOST_CONTRACTS = 10_000
/** Longest text of a compilation, characters. */
export const LONGEST_COMPILATION = 67_108_864

const Range = z.looseObject({ start: z.int(), length: z.int() })
const References = z.record(z.string(), z.array(Range))
const Code = z.looseObject({
  object: z.string().default(''),
  linkReferences: z.record(z.string(), References).default({}),
  immutableReferences: References.default({}),
})
const NO_CODE = { object: '', linkReferences: {}, immutableReferences: {} }
const Contract = z.looseObject({
  abi: z.array(z.unknown()).default([]),
  metadata: z.string().optional(),
  evm: z
    .looseObject({ bytecode: Code.default(NO_CODE), deployedBytecode: Code.default(NO_CODE) })
    .default({ bytecode: NO_CODE, deployedBytecode: NO_CODE }),
})
const Input = z.looseObject({
  language: z.string().default('Solidity'),
  sources: z.record(z.string(), z.looseObject({ content: z.string().optional() })),
  settings: z.looseObject({}).default({}),
})
const Output = z.looseObject({
  sources: z.record(z.string(), z.looseObject({})).default({}),
  contracts: z.record(z.string(), z.record(z.string(), Contract)).default({}),
})
const BuildInfo = z.looseObject({
  solcLongVersion: z.string().optional(),
  solcVersion: z.string().optional(),
  input: Input,
  output: Output,
})

/** Members of the output, of contracts and of code that are kept. Assembly and IR take most of an output. */
const KEPT = {
  output: ['contracts', 'sources', 'ethdebug'],
  contract: ['abi', 'metadata', 'userdoc', 'devdoc', 'storageLayout', 'transientStorageLayout', 'evm'],
  evm: ['bytecode', 'deployedBytecode', 'methodIdentifiers'],
  code: [
    'object',
    'linkReferences',
    'immutableReferences',
    'sourceMap',
    'functionDebugData',
    'generatedSources',
    'ethdebug',
  ],
} as const

function pick<T extends object>(from: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key))) as T
}

function mapped<V, W>(from: Readonly<Record<string, V>>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]))
}

function keptContract(contract: z.infer<typeof Contract>, isVyper: boolean): z.infer<typeof Contract> {
  const bytecode = pick(contract.evm.bytecode, KEPT.code)
  const deployedBytecode = pick(contract.evm.deployedBytecode, KEPT.code)
  const codes = isVyper
    ? {
        bytecode: withKeptMap(bytecode),
        deployedBytecode: withKeptMap(withImmutables(deployedBytecode, bytecode.object)),
      }
    : { bytecode, deployedBytecode }
  return {
    ...pick(contract, KEPT.contract),
    evm: { ...pick(contract.evm, KEPT.evm), ...codes },
  }
}

/** The first thing that is wrong, with its path. */
function faultOf(error: z.ZodError): Error {
  const [issue] = error.issues
  return new Error(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is malformed'}`)
}

/** Does this JSON look like a build-info with both sides of a compilation? */
export function holdsCompilation(json: unknown): boolean {
  return (
    typeof json === 'object' && json !== null && 'input' in json && 'output' in json && json.output !== null
  )
}

/** `v0.8.24+commit.e11b9ed9.Emscripten.clang` without prefix and platform. */
export function plainVersion(version: string): string {
  return /^v?(\d+\.\d+\.\d+(?:-[\w.]+)?(?:\+commit\.[0-9a-f]+)?)/.exec(version.trim())?.[1] ?? version.trim()
}

function checkedCompilation(made: Omit<Compilation, 'id'>): Compilation {
  const text = compilationText(made)
  if (text.length > LONGEST_COMPILATION) {
    throw new Error(`it has ${text.length} characters, and a compilation may have ${LONGEST_COMPILATION}`)
  }
  const compilation = { ...made, id: compilationId(text) }
  let count = 0
  for (const { name, contract } of contractsOf(compilation)) {
    if (++count > MOST_CONTRACTS) throw new Error(`it has more than ${MOST_CONTRACTS} contracts with code`)
    const { length } = contract.abi
    if (length > MOST_ENTRIES)
      throw new Error(`${name}: the ABI has ${length} entries, and may have ${MOST_ENTRIES}`)
    try {
      templateOf(contract.evm.deployedBytecode)
      templateOf(contract.evm.bytecode)
    } catch (error) {
      throw new Error(`${name}: ${messageOf(error)}`)
    }
  }
  return compilation
}

/**
 * The compilation of a compiler's input and output in JSON, with the version of the compiler where `json` has it. Throws
 * an Error that describes the fault.
 */
export function readCompilation(json: unknown, version?: string): Compilation {
  const read = BuildInfo.safeParse(json)
  if (!read.success) throw faultOf(read.error)
  const { input, output, solcLongVersion, solcVersion } = read.data
  return checkedCompilation({
    compilerVersion: plainVersion(solcLongVersion ?? version ?? solcVersion ?? ''),
    input: pick(input, ['language', 'sources', 'settings']),
    output: {
      ...pick(output, KEPT.output),
      contracts: mapped(output.contracts, (contracts) =>
        mapped(contracts, (contract) => keptContract(contract, input.language === 'Vyper')),
      ),
    },
  })
}

/** The compilation of text as `compilationText` writes it, which has been checked before. */
export function restoreCompilation(text: string): Compilation {
  const { compilerVersion, input, output } = JSON.parse(text) as Omit<Compilation, 'id'>
  return { id: compilationId(text), compilerVersion, input, output }
}

const MetadataSource = z.looseObject({ keccak256: z.string().optional(), content: z.string().optional() })
const Metadata = z.looseObject({
  compiler: z.looseObject({ version: z.string() }),
  language: z.string(),
  settings: z.looseObject({ compilationTarget: z.record(z.string(), z.string()) }),
  sources: z.record(z.string(), MetadataSource),
})

/** Metadata of a contract as the compiler writes it. */
export interface ContractMetadata {
  readonly compilerVersion: string
  readonly file: string
  readonly name: string
  /** Hashes (keccak-256) of the sources by path, and the content where the metadata has it. */
  readonly sources: ReadonlyMap<string, { readonly hash?: string; readonly content?: string }>
  /** The input of the compiler, without the content of the sources. */
  readonly settings: Json
  readonly language: string
}

/** Reads metadata (https://docs.soliditylang.org/en/latest/metadata.html). Throws an Error that describes the fault. */
export function readMetadata(json: unknown): ContractMetadata {
  const read = Metadata.safeParse(json)
  if (!read.success) throw faultOf(read.error)
  const { compiler, language, settings, sources } = read.data
  const { compilationTarget, libraries, ...others } = settings
  const [[file, name] = ['', '']] = Object.entries(compilationTarget)
  return {
    compilerVersion: plainVersion(compiler.version),
    file,
    name,
    language,
    settings: { ...others, ...librariesOf(libraries) },
    sources: new Map(
      Object.entries(sources).map(([path, { keccak256: hash, content }]) => [
        path,
        { ...(hash !== undefined && { hash }), ...(content !== undefined && { content }) },
      ]),
    ),
  }
}

/** Metadata has `path:name` of libraries, the input of the compiler a name within its path. */
function librariesOf(libraries: unknown): { readonly libraries?: Json } {
  if (typeof libraries !== 'object' || libraries === null) return {}
  const byPath: Record<string, Record<string, unknown>> = {}
  for (const [qualified, address] of Object.entries(libraries)) {
    const end = qualified.lastIndexOf(':')
    const path = qualified.slice(0, Math.max(0, end))
    byPath[path] = { ...byPath[path], [qualified.slice(end + 1)]: address }
  }
  return { libraries: byPath }
}

/** Is this the source with a hash? */
export function hasHash(content: string, hash: string): boolean {
  return keccakHex(new TextEncoder().encode(content)) === hash.toLowerCase()
}

const FoundryArtifact = z.looseObject({
  abi: z.array(z.unknown()),
  bytecode: Code,
  deployedBytecode: Code,
  methodIdentifiers: z.unknown().optional(),
  rawMetadata: z.string().optional(),
  metadata: z.unknown().optional(),
  ast: z.unknown().optional(),
})

/** The metadata of an artifact of Foundry's; `undefined` for other JSON. */
export function artifactMetadata(json: unknown): ContractMetadata | undefined {
  const artifact = FoundryArtifact.safeParse(json)
  if (!artifact.success || artifact.data.metadata === undefined) return undefined
  try {
    return readMetadata(artifact.data.metadata)
  } catch {
    return undefined
  }
}

/**
 * The compilation of one contract out of an artifact of Foundry's, with its sources by path. Throws an Error that
 * describes the fault.
 */
export function readFoundryArtifact(json: unknown, contents: ReadonlyMap<string, string>): Compilation {
  const artifact = FoundryArtifact.parse(json)
  const { file, name, compilerVersion, language, settings } = readMetadata(artifact.metadata)
  const { bytecode, deployedBytecode, methodIdentifiers, ast, rawMetadata, ...rest } = artifact
  const contract = {
    ...pick(
      rest,
      KEPT.contract.filter((key) => key !== 'metadata'),
    ),
    ...(rawMetadata !== undefined && { metadata: rawMetadata }),
    evm: { bytecode, deployedBytecode, ...(methodIdentifiers !== undefined && { methodIdentifiers }) },
  }
  const sources = Object.fromEntries([...contents].map(([path, content]) => [path, { content }]))
  return readCompilation({
    solcLongVersion: compilerVersion,
    input: { language, sources, settings },
    output: {
      sources: ast === undefined ? {} : { [file]: { ast } },
      contracts: { [file]: { [name]: contract } },
    },
  })
}

/**
 * Puts compilations of single contracts together where compiler, settings and the content of common sources are the same:
 * they were one run.
 */
export function mergeCompilations(compilations: readonly Compilation[]): Compilation[] {
  const runs = new Map<string, Omit<Compilation, 'id'>[]>()
  for (const compilation of compilations) {
    const { compilerVersion, input } = compilation
    const key = JSON.stringify([compilerVersion, input.language, input.settings])
    const known = runs.get(key)
    if (known === undefined) runs.set(key, [compilation])
    else known.push(compilation)
  }
  return [...runs.values()].map((run) => {
    const sources: Record<string, Compilation['input']['sources'][string]> = {}
    const asts: Record<string, Json> = {}
    const contracts: Record<string, Record<string, Compilation['output']['contracts'][string][string]>> = {}
    for (const { input, output } of run) {
      Object.assign(sources, input.sources)
      Object.assign(asts, output.sources)
      for (const [file, named] of Object.entries(output.contracts)) {
        contracts[file] = Object.assign(contracts[file] ?? {}, named)
      }
    }
    const { compilerVersion, input } = run[0] as Omit<Compilation, 'id'>
    return checkedCompilation({
      compilerVersion,
      input: { ...input, sources },
      output: { sources: asts, contracts },
    })
  })
}
