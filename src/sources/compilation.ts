/** One run of a compiler: its input and output as the standard JSON interface of solc has them, and its contracts. */
import { createHash } from 'node:crypto'
import type { Hex } from '../encoding/hex.ts'

/** A JSON object of a compiler, of which only the named members have been checked. */
export type Json = Readonly<Record<string, unknown>>

/** The input of a run (https://docs.soliditylang.org/en/latest/using-the-compiler.html#input-description). */
export interface CompilerInput extends Json {
  readonly language: string
  /** By path; a source that is given by its URLs alone has no content. */
  readonly sources: Readonly<Record<string, Json & { readonly content?: string | undefined }>>
  readonly settings: Json
}

/** Bytes in code, by position. */
export interface CodeRange {
  readonly start: number
  readonly length: number
}

/** Creation code or deployed code as the compiler writes it. */
export interface CompilerCode extends Json {
  /** Hex without prefix; link places hold placeholders that are not hex. */
  readonly object: string
  /** By source and library. */
  readonly linkReferences: Readonly<Record<string, Readonly<Record<string, readonly CodeRange[]>>>>
  /** Of deployed code, by AST id. */
  readonly immutableReferences: Readonly<Record<string, readonly CodeRange[]>>
}

/** A contract of the output. */
export interface CompiledContract extends Json {
  readonly abi: readonly unknown[]
  readonly metadata?: string | undefined
  readonly evm: Json & { readonly bytecode: CompilerCode; readonly deployedBytecode: CompilerCode }
}

/** The output of a run, without what nobody reads back: assembly, IR, gas estimates. */
export interface CompilerOutput extends Json {
  /** AST and id by path. */
  readonly sources: Readonly<Record<string, Json>>
  /** By path and name. */
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>
}

/** One run of a compiler. */
export interface Compilation {
  /** SHA-256 of the text of the rest: equal runs are the same compilation. */
  readonly id: Hex
  /** `0.8.24+commit.e11b9ed9`, or without the commit where the source does not name it. */
  readonly compilerVersion: string
  readonly input: CompilerInput
  readonly output: CompilerOutput
}

/** Where a contract is in a compilation. */
export interface ContractName {
  /** Path of its source. */
  readonly file: string
  readonly name: string
}

/** How code on the chain agrees with compiled code: `exact` with the hash of the sources, `partial` without it. */
export type MatchKind = 'exact' | 'partial'

/** A contract of a compilation that has the code at an address. */
export interface SourceMatch extends ContractName {
  readonly kind: MatchKind
  /** Id of the compilation. */
  readonly compilation: Hex
  /** Addresses of linked libraries by `path:name`. */
  readonly libraries: ReadonlyMap<string, Hex>
  /** Values of immutable variables by AST id. */
  readonly immutables: ReadonlyMap<string, Hex>
}

/** `path:name`. */
export function qualifiedName({ file, name }: ContractName): string {
  return `${file}:${name}`
}

/** The text of a compilation, which is what is stored; its hash is the id. */
export function compilationText({ compilerVersion, input, output }: Omit<Compilation, 'id'>): string {
  return JSON.stringify({ compilerVersion, input, output })
}

/** The id of a compilation with this text. */
export function compilationId(text: string): Hex {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

/** All contracts of a compilation that have code, in order. */
export function* contractsOf({
  output,
}: Pick<Compilation, 'output'>): Generator<ContractName & { readonly contract: CompiledContract }> {
  for (const [file, contracts] of Object.entries(output.contracts)) {
    for (const [name, contract] of Object.entries(contracts)) {
      if (contract.evm.deployedBytecode.object !== '') yield { file, name, contract }
    }
  }
}

/** A contract of a compilation. */
export function contractIn(
  { output }: Compilation,
  { file, name }: ContractName,
): CompiledContract | undefined {
  const contracts = Object.hasOwn(output.contracts, file) ? output.contracts[file] : undefined
  return contracts !== undefined && Object.hasOwn(contracts, name) ? contracts[name] : undefined
}
