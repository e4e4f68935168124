/** The sources, contracts and code maps of a compilation; each part is read when it is first used. */
import { type AbiEntry, readEntries, selectorOf } from '../abi/entry.ts'
import { type CodeTemplate, creationMatch, templateOf } from '../sources/code-template.ts'
import {
  type Compilation,
  type CompiledContract,
  type CompilerCode,
  type CompilerOutput,
  type ContractName,
  contractIn,
  contractsOf,
  type Json,
  type MatchKind,
  qualifiedName,
} from '../sources/compilation.ts'
import { CodeMap, isVersionSince } from './code-map.ts'
import { type ContractModel, contractModel, type Declaration } from './contract-model.ts'
import { mapText, readEthdebug, readVyperMap, vyperChecks } from './other-maps.ts'
import { Reachability } from './reachability.ts'
import { SourceFile } from './source-file.ts'
import { readSourceMap, type SourceMap } from './source-map.ts'
import { declarationsIn, treeIn } from './syntax-tree.ts'
import { exportableByName, vyperDeclaration, withExports } from './vyper-tree.ts'

/** The numbers of `0.8.24+commit.e11b9ed9`; zeros for another text. */
function versionOf(text: string): readonly [number, number, number] {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text)
  return [Number(parts?.[1] ?? 0), Number(parts?.[2] ?? 0), Number(parts?.[3] ?? 0)]
}

/** Functions and errors by kind and selector. */
function entriesOf({ abi }: CompiledContract): ReadonlyMap<string, AbiEntry> {
  let entries: AbiEntry[]
  try {
    entries = readEntries(abi)
  } catch {
    return new Map()
  }
  return new Map(
    entries
      .filter(({ kind }) => kind === 'function' || kind === 'error')
      .map((entry) => [`${entry.kind}:${selectorOf(entry).slice(2)}`, entry]),
  )
}

/** Did the compiler optimise? */
function isOptimized({ input: { settings } }: Compilation): boolean {
  const { optimizer } = settings
  return (
    typeof optimizer === 'object' &&
    optimizer !== null &&
    'enabled' in optimizer &&
    optimizer.enabled === true
  )
}

/** Was it made by the code generator of Vyper that is called Venom? Settings or sources ask for it. */
function isReordered({ input: { settings, sources } }: Compilation): boolean {
  if (settings.experimentalCodegen === true || settings.venomExperimental === true) return true
  return Object.values(sources).some(({ content = '' }) =>
    /^#\s*pragma\s+(experimental-codegen|venom)/m.test(content),
  )
}

const NO_CHECKS: ReadonlyMap<number, string> = new Map()

interface CreationCode extends ContractName {
  readonly template: CodeTemplate
}

/** Compiled code, unless its references do not fit it. */
function readTemplate(compiled: CompilerCode): CodeTemplate | undefined {
  try {
    return templateOf(compiled)
  } catch {
    return undefined
  }
}

/** One compilation. */
export class CompilationMap {
  readonly id: Compilation['id']
  readonly #compilation: Compilation
  readonly #isVyper: boolean
  readonly #version: readonly [number, number, number]
  readonly #codes = new Map<string, CodeMap | undefined>()
  readonly #files = new Map<string, SourceFile>()
  readonly #byId = new Map<number, SourceFile>()
  readonly #declarations = new Map<number, Declaration>()
  readonly #reachability = new Reachability(this.#files.values())
  #creations: readonly CreationCode[] | undefined
  /** Of all contracts: a failure may come from code that is inlined, or assembled by hand. */
  #errors: ReadonlyMap<string, AbiEntry> | undefined

  constructor(compilation: Compilation) {
    this.id = compilation.id
    // The syntax trees, most of an output, are not kept.
    this.#compilation = { ...compilation, output: { ...compilation.output, sources: {} } }
    this.#version = versionOf(compilation.compilerVersion)
    const { input, output } = compilation
    this.#isVyper = input.language === 'Vyper'
    for (const [path, { content = '' }] of Object.entries(input.sources)) {
      this.#files.set(path, new SourceFile(path, content))
    }
    for (const [path, source] of Object.entries(output.sources)) {
      const file = this.#files.get(path)
      if (file?.hasText && typeof source.id === 'number') this.#byId.set(source.id, file)
    }
    if (this.#isVyper) {
      this.#declareVyper(output)
      return
    }
    const fileOf = (id: number) => this.#byId.get(id)
    for (const source of Object.values(output.sources)) {
      const tree = treeIn(source)
      if (tree === undefined) continue
      for (const declared of declarationsIn(tree, fileOf)) this.#declarations.set(declared.id, declared)
    }
  }

  /** Characters of its sources, codes and maps: what it takes of memory is a few times that. */
  get size(): number {
    let size = 0
    for (const { content = '' } of Object.values(this.#compilation.input.sources)) size += content.length
    for (const { contract } of contractsOf(this.#compilation)) {
      for (const { object, sourceMap } of [contract.evm.bytecode, contract.evm.deployedBytecode]) {
        size += object.length + mapText(sourceMap).length
      }
    }
    return size
  }

  /** All sources whose text is known, by path. */
  get files(): ReadonlyMap<string, SourceFile> {
    return this.#files
  }

  /** Finds a source by the id that trees and maps use. */
  fileOf(id: number): SourceFile | undefined {
    return this.#byId.get(id)
  }

  /** Is the compiler's version at least this one? */
  isSince(major: number, minor: number, patch: number): boolean {
    return isVersionSince(this.#version, [major, minor, patch])
  }

  /**
   * The contract whose creation code begins this init code: an exact match comes before a partial one. Contracts with equal
   * code are told apart by their order: a later one may inherit all from an earlier one.
   */
  creationOf(initcode: Uint8Array): (ContractName & { readonly kind: MatchKind }) | undefined {
    let best:
      | {
          readonly found: ContractName & { readonly kind: MatchKind }
          readonly rank: readonly [number, number]
        }
      | undefined
    for (const { file, name, template } of this.#creationCodes()) {
      const kind = creationMatch(template, initcode)
      if (kind === undefined) continue
      const rank = [kind === 'exact' ? 1 : 0, this.#declared({ file, name })?.id ?? 0] as const
      if (
        best === undefined ||
        rank[0] > best.rank[0] ||
        (rank[0] === best.rank[0] && rank[1] > best.rank[1])
      ) {
        best = { found: { file, name, kind }, rank }
      }
    }
    return best?.found
  }

  /** The map of a contract's code; `undefined` where there is no such code, or it is malformed. */
  code(contract: ContractName, isCreation: boolean): CodeMap | undefined {
    const key = `${isCreation ? 'creation' : 'deployed'}:${qualifiedName(contract)}`
    if (!this.#codes.has(key)) this.#codes.set(key, this.#readCode(contract, isCreation))
    return this.#codes.get(key)
  }

  #readCode(name: ContractName, isCreation: boolean): CodeMap | undefined {
    const contract = contractIn(this.#compilation, name)
    const compiled = isCreation ? contract?.evm.bytecode : contract?.evm.deployedBytecode
    if (contract === undefined || compiled === undefined || compiled.object === '') return undefined
    const code = readTemplate(compiled)?.code
    if (code === undefined) return undefined
    let entries: ReadonlyMap<string, AbiEntry> | undefined
    return new CodeMap({
      compilation: this.id,
      path: name.file,
      name: name.name,
      contract: this.#model(name, contract.evm),
      version: this.#version,
      isCreation,
      code,
      map: this.#mapOf(compiled, code.length),
      ethdebug: readEthdebug(compiled.ethdebug, code.length),
      isVyper: this.#isVyper,
      isReordered: this.#isVyper && isReordered(this.#compilation),
      checks: this.#isVyper ? vyperChecks(compiled.sourceMap) : NO_CHECKS,
      fileOf: (id) => this.#byId.get(id),
      reachability: isOptimized(this.#compilation) ? this.#reachability : undefined,
      entry: (kind, selector) => {
        entries ??= entriesOf(contract)
        const key = `${kind}:${selector}`
        return entries.get(key) ?? (kind === 'error' ? this.#allErrors().get(key) : undefined)
      },
    })
  }

  #mapOf({ sourceMap }: CompilerCode, codeLength: number): SourceMap {
    const text = mapText(sourceMap)
    return this.#isVyper && this.isSince(0, 4, 0)
      ? readVyperMap(text, codeLength)
      : readSourceMap(text, codeLength)
  }

  #declareVyper({ sources, contracts }: CompilerOutput): void {
    const declared: { readonly found: Declaration; readonly evm: Json }[] = []
    for (const [path, source] of Object.entries(sources)) {
      const tree = treeIn(source)
      const file = this.#files.get(path)
      if (tree === undefined || file === undefined || !file.hasText) continue
      for (const [name, { evm }] of Object.entries(contracts[path] ?? {})) {
        const found = vyperDeclaration(tree, file, name, declared.length)
        if (found !== undefined) declared.push({ found, evm })
      }
    }
    const exportable = exportableByName(declared.map(({ found }) => found))
    for (const { found, evm } of declared) {
      this.#declarations.set(found.id, withExports(found, evm.methodIdentifiers, exportable))
    }
  }

  #creationCodes(): readonly CreationCode[] {
    this.#creations ??= [...contractsOf(this.#compilation)].flatMap(({ file, name, contract }) => {
      const template = readTemplate(contract.evm.bytecode)
      return template === undefined ? [] : [{ file, name, template }]
    })
    return this.#creations
  }

  #allErrors(): ReadonlyMap<string, AbiEntry> {
    this.#errors ??= new Map(
      [...contractsOf(this.#compilation)].flatMap(({ contract }) => [...entriesOf(contract)]),
    )
    return this.#errors
  }

  #declared({ file, name }: ContractName): Declaration | undefined {
    for (const declared of this.#declarations.values()) {
      if (declared.name === name && declared.range.file.path === file) return declared
    }
    return undefined
  }

  #model(name: ContractName, evm: Json): ContractModel | undefined {
    const declared = this.#declared(name)
    return declared && contractModel(declared, this.#declarations, evm)
  }
}
