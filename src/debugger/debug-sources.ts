/** What a debugger needs of a compilation beside its maps: statements, variables, types, and layouts of contracts. */
import type { StorageLayout } from '../abi/storage/layout.ts'
import type { CodeMap } from '../source-level/code-map.ts'
import type { CompilationMap } from '../source-level/compilation-map.ts'
import { isSameRange, type SourceFile, type SourceRange } from '../source-level/source-file.ts'
import { isNode, nodesIn, rangeOf, type SyntaxNode, treeIn } from '../source-level/syntax-tree.ts'
import type { Compilation } from '../sources/compilation.ts'
import { type Constant, constantIn } from './constants.ts'
import {
  type FunctionScope,
  functionScope,
  type ScopeParts,
  type Statement,
  StatementIndex,
  statementAt,
} from './function-scope.ts'
import { SourceTypes, UnknownType } from './source-types.ts'

/** How much of the stack of a compilation is known: all, what an optimiser cannot have moved, or nothing. */
export type StackKnowledge = 'exact' | 'optimized' | 'none'

interface ContractNode {
  readonly node: SyntaxNode
  readonly path: string
  readonly modifiers: ReadonlyMap<string, FunctionScope>
}

const DECLARATIONS = new Set([
  'ContractDefinition',
  'StructDefinition',
  'EnumDefinition',
  'UserDefinedValueTypeDefinition',
])

function stackKnowledge({ input: { settings, language } }: Compilation): StackKnowledge {
  if (language !== 'Solidity' || settings.viaIR === true) return 'none'
  return isNode(settings.optimizer) && settings.optimizer.enabled === true ? 'optimized' : 'exact'
}

/** Is a variable in storage, and not in code or in transient storage? */
function isStored({ constant, mutability, storageLocation }: SyntaxNode): boolean {
  return (
    constant !== true &&
    mutability !== 'constant' &&
    mutability !== 'immutable' &&
    storageLocation !== 'transient'
  )
}

const rangeText = ({ file, start, end }: SourceRange): string => `${start}:${end}:${file.path}`

/** The sources of one compilation. */
export class DebugSources {
  readonly types: SourceTypes
  readonly stack: StackKnowledge
  /** Before 0.5 the variables of a function are all on the stack from its first statement on, below its modifiers. */
  readonly hasBlockScopes: boolean
  readonly #isVyper: boolean
  readonly #map: CompilationMap
  readonly #statements = new StatementIndex()
  /** Lines that stand for statements, of files without them. */
  readonly #lines = new Map<SourceFile, Map<number, Statement>>()
  /** Ranges whose code is no part of a statement. */
  readonly #prologues = new Set<string>()
  readonly #scopes = new Map<SourceFile, Map<number, FunctionScope>>()
  readonly #declarations = new Map<number, SyntaxNode>()
  readonly #modifiers = new Map<number, FunctionScope>()
  readonly #contracts = new Map<number, ContractNode>()
  readonly #layouts = new Map<string, StorageLayout | undefined>()

  private constructor(compilation: Compilation, map: CompilationMap) {
    this.#map = map
    this.stack = stackKnowledge(compilation)
    this.#isVyper = compilation.input.language === 'Vyper'
    this.hasBlockScopes = map.isSince(0, 5, 0)
    this.types = new SourceTypes((id) => this.#declarations.get(id))
  }

  /** Reads the trees of a compilation, of which `map` is the map. `pause` is called again and again, and a promise waited for. */
  static async read(
    compilation: Compilation,
    map: CompilationMap,
    pause: () => Promise<void> | undefined = () => undefined,
  ): Promise<DebugSources> {
    const sources = new DebugSources(compilation, map)
    for (const _ of sources.#readTrees(compilation)) await pause()
    return sources
  }

  /** Pauses at each `yield`: the trees of a compilation may have millions of nodes. */
  *#readTrees({ output }: Compilation): Generator<void, void, void> {
    const trees = Object.entries(output.sources).flatMap(([path, source]) => {
      const tree = treeIn(source)
      return tree === undefined ? [] : [{ path, nodes: nodesIn(tree.nodes) }]
    })
    for (const { nodes } of trees) {
      this.#note(nodes)
      yield
    }
    const parts: ScopeParts = {
      fileOf: (id) => this.#map.fileOf(id),
      types: this.types,
      hasBlockScopes: this.hasBlockScopes,
    }
    for (const { path, nodes } of trees) {
      for (const node of nodes) yield* this.#read(node, path, parts)
    }
  }

  get files(): ReadonlyMap<string, SourceFile> {
    return this.#map.files
  }

  /** The statement that a range is a part of; of a source without a tree its line. */
  statementAround(range: SourceRange): Statement | undefined {
    const { file } = range
    if (this.#statements.of(file).length > 0) {
      const found = this.#prologues.has(rangeText(range)) ? undefined : this.#statements.around(range)
      return found?.isConstant === true && !isSameRange(found, range) ? undefined : found
    }
    if (file.functions.length > 0 && !this.#isVyper) return undefined
    const { line } = file.positionOf(range.start)
    return range.end <= file.lineStart(line + 1) ? this.#lineOf(file, line) : undefined
  }

  /** A line as one statement. */
  #lineOf(file: SourceFile, line: number): Statement {
    let lines = this.#lines.get(file)
    if (lines === undefined) {
      lines = new Map()
      this.#lines.set(file, lines)
    }
    let found = lines.get(line)
    if (found === undefined) {
      found = { file, start: file.lineStart(line), end: file.lineStart(line + 1), line }
      lines.set(line, found)
    }
    return found
  }

  /** The lines of a file at which execution can stop: of its statements, or without a tree those that code is made of. */
  linesOf(file: SourceFile, code: CodeMap): ReadonlySet<number> {
    const statements = this.#statements.of(file)
    if (statements.length > 0) return new Set(statements.map(({ line }) => line))
    const lines = new Set<number>()
    for (let pc = 0; pc < code.length; pc++) {
      const range = code.at(pc)?.range
      const statement = range?.file === file ? this.statementAround(range) : undefined
      if (statement !== undefined) lines.add(statement.line)
    }
    return lines
  }

  /** A function or modifier with its variables. */
  scopeOf({ file, start }: SourceRange): FunctionScope | undefined {
    return this.#scopes.get(file)?.get(start)
  }

  /** The modifier that an invocation means in the code of a contract; `undefined` for a constructor of a base. */
  modifierOf(
    { name, id, isQualified }: FunctionScope['modifiers'][number],
    contract: string,
    path: string,
  ): FunctionScope | undefined | 'constructor' {
    if (id !== undefined && this.#contracts.has(id)) return 'constructor'
    if (!isQualified) {
      for (const base of this.#basesOf(contract, path)) {
        const found = this.#contracts.get(base)?.modifiers.get(name)
        if (found !== undefined) return found
      }
    }
    return id === undefined ? undefined : this.#modifiers.get(id)
  }

  /** The constants of a contract and its bases whose values are literals, those of the first base first. */
  constantsOf(contract: string, path: string): readonly Constant[] {
    return this.#basesOf(contract, path)
      .toReversed()
      .flatMap((id) => nodesIn(this.#contracts.get(id)?.node.nodes).flatMap((node) => constantIn(node) ?? []))
  }

  /** The state variables of a contract by the rules of the storage layout; `undefined` where they cannot be placed. */
  layoutOf(contract: string, path: string): StorageLayout | undefined {
    const key = `${path}:${contract}`
    if (!this.#layouts.has(key)) this.#layouts.set(key, this.#readLayout(contract, path))
    return this.#layouts.get(key)
  }

  #contractNamed(name: string, path: string): ContractNode | undefined {
    for (const one of this.#contracts.values()) {
      if (one.path === path && one.node.name === name) return one
    }
    return undefined
  }

  /** Ids of a contract and its bases, the most derived first. */
  #basesOf(name: string, path: string): readonly number[] {
    const bases = this.#contractNamed(name, path)?.node.linearizedBaseContracts
    return Array.isArray(bases) ? [...new Set(bases.filter((id) => typeof id === 'number'))] : []
  }

  #readLayout(contract: string, path: string): StorageLayout | undefined {
    const declared = this.#contractNamed(contract, path)
    const bases = this.#basesOf(contract, path)
    // A layout of its own (0.8.29) begins at a place that an expression gives.
    if (declared === undefined || bases.length === 0 || isNode(declared.node.storageLayout)) return undefined
    const variables = bases
      .toReversed()
      .flatMap((id) =>
        nodesIn(this.#contracts.get(id)?.node.nodes).filter(
          (node) => node.nodeType === 'VariableDeclaration' && isStored(node),
        ),
      )
    if (bases.some((id) => !this.#contracts.has(id))) return undefined
    try {
      return this.types.layout(this.types.place(variables))
    } catch (error) {
      if (error instanceof UnknownType) return undefined
      throw error
    }
  }

  /** Notes the declarations of types in a source, and in its contracts. */
  #note(nodes: readonly SyntaxNode[]): void {
    for (const node of nodes) {
      this.#noteOne(node)
      if (node.nodeType !== 'ContractDefinition') continue
      for (const inner of nodesIn(node.nodes)) this.#noteOne(inner)
    }
  }

  #noteOne(node: SyntaxNode): void {
    if (typeof node.id === 'number' && DECLARATIONS.has(String(node.nodeType))) {
      this.#declarations.set(node.id, node)
    }
  }

  *#read(node: SyntaxNode, path: string, parts: ScopeParts): Generator<void, void, void> {
    if (node.nodeType === 'FunctionDefinition') this.#readFunction(node, parts)
    if (node.nodeType !== 'ContractDefinition' || typeof node.id !== 'number') return
    const modifiers = new Map<string, FunctionScope>()
    for (const inner of nodesIn(node.nodes)) {
      const scope = this.#readMember(inner, parts)
      yield
      if (inner.nodeType !== 'ModifierDefinition' || scope === undefined) continue
      modifiers.set(scope.name, scope)
      if (typeof inner.id === 'number') this.#modifiers.set(inner.id, scope)
    }
    this.#contracts.set(node.id, { node, path, modifiers })
  }

  #readMember(node: SyntaxNode, parts: ScopeParts): FunctionScope | undefined {
    if (node.nodeType === 'FunctionDefinition' || node.nodeType === 'ModifierDefinition') {
      return this.#readFunction(node, parts)
    }
    const hasCode = node.visibility === 'public' || isNode(node.value)
    const range = node.nodeType === 'VariableDeclaration' && hasCode && rangeOf(node.src, parts.fileOf)
    const isConstant = node.constant === true || node.mutability === 'constant'
    if (range) this.#statements.add([{ ...statementAt(range), ...(isConstant && { isConstant }) }])
    return undefined
  }

  #readFunction(node: SyntaxNode, parts: ScopeParts): FunctionScope | undefined {
    const found = functionScope(node, parts)
    if (found === undefined) return undefined
    const { scope, statements, prologue } = found
    this.#statements.add(statements)
    for (const range of prologue) this.#prologues.add(rangeText(range))
    const { file, start } = scope.range
    const known = this.#scopes.get(file)
    if (known === undefined) this.#scopes.set(file, new Map([[start, scope]]))
    else known.set(start, scope)
    return scope
  }
}
