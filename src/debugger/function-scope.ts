/** The statements of a function, and its variables with where each is on the stack while it runs. */
import type { SourceFile, SourceRange } from '../source-level/source-file.ts'
import { type FileOf, isNode, nodesIn, rangeOf, type SyntaxNode } from '../source-level/syntax-tree.ts'
import { type LocalVariable, localVariable, parametersIn, wordsIn } from './local-variable.ts'
import type { SourceTypes } from './source-types.ts'

/** Nesting of statements. */
const MAX_DEPTH = 256

/** A part of the source at which execution stops: a statement, or a condition. */
export interface Statement extends SourceRange {
  /** Line of its first byte, from 1. */
  readonly line: number
  /** Are these the arguments of a modifier or of the constructor of a base? They are computed before that is on the stack. */
  readonly isInvocation?: true
  /** Is it in a function of assembly? The variables around it cannot be used there. */
  readonly isApart?: true
  /** Is it the declaration of a constant? Code with the place of its value is a part of the statement that uses it. */
  readonly isConstant?: true
}

/** A modifier that a function has. */
export interface InvokedModifier {
  readonly name: string
  /** The id of the declaration that the name means, unless a more derived contract overrides it. */
  readonly id: number | undefined
  /** Is it named with its contract? */
  readonly isQualified: boolean
}

/** A function or modifier. */
export interface FunctionScope {
  readonly range: SourceRange
  readonly name: string
  readonly parameters: readonly LocalVariable[]
  readonly returns: readonly LocalVariable[]
  readonly locals: readonly LocalVariable[]
  readonly modifiers: readonly InvokedModifier[]
  /** Words of the locals of a modifier around the function's body; `NaN` where it runs that at places that differ. */
  readonly wordsAtPlaceholder: number
}

/** What the parts of a tree are read with. */
export interface ScopeParts {
  readonly fileOf: FileOf
  readonly types: SourceTypes
  /** Before 0.5 the variables of a function are all on the stack from its first statement on. */
  readonly hasBlockScopes: boolean
}

/** A statement at a range. */
export function statementAt(range: SourceRange): Statement {
  return { ...range, line: range.file.positionOf(range.start).line }
}

/** Reads the statements of one body. */
export class BodyReader {
  readonly statements: Statement[] = []
  readonly locals: LocalVariable[] = []
  /** Of the locals. */
  readonly declarations: SourceRange[] = []
  readonly #parts: ScopeParts
  /** Variables that are in scope, in order. */
  readonly #open: LocalVariable[] = []
  #wordsAtPlaceholder: number | undefined

  constructor(parts: ScopeParts) {
    this.#parts = parts
  }

  /** Words of the locals where the body of the function is placed; 0 without such a place. */
  get wordsAtPlaceholder(): number {
    return this.#wordsAtPlaceholder ?? 0
  }

  /** Reads a block, whose variables end with it. */
  read(body: SyntaxNode): void {
    this.#block(body, 0)
  }

  #range(node: unknown): SourceRange | undefined {
    return isNode(node) ? rangeOf(node.src, this.#parts.fileOf) : undefined
  }

  #stopAt(node: unknown): void {
    const range = this.#range(node)
    if (range !== undefined) this.statements.push(statementAt(range))
  }

  #words(): number {
    return wordsIn(this.#parts.hasBlockScopes ? this.#open : this.locals)
  }

  #declare(declaration: SyntaxNode, start: number, end: number): void {
    const found = localVariable(declaration, this.#parts.types, { offset: this.#words(), start, end })
    this.locals.push(found)
    this.#open.push(found)
    const range = this.#range(declaration)
    if (range !== undefined) this.declarations.push(range)
  }

  /** Runs work whose variables end with it. */
  #scoped(work: () => void): void {
    const open = this.#open.length
    work()
    this.#open.length = open
  }

  #block(node: unknown, depth: number): void {
    const range = this.#range(node)
    if (!isNode(node) || range === undefined || depth > MAX_DEPTH) return
    this.#scoped(() => {
      for (const statement of nodesIn(node.statements)) this.#statement(statement, range.end, depth + 1)
    })
  }

  #statement(node: unknown, end: number, depth: number): void {
    if (!isNode(node) || depth > MAX_DEPTH) return
    switch (node.nodeType) {
      case 'Block':
      case 'UncheckedBlock':
        this.#block(node, depth)
        break
      case 'VariableDeclarationStatement':
        this.#stopAt(node)
        this.#declareAll(node, end)
        break
      case 'IfStatement':
        this.#stopAt(node.condition)
        this.#body(node.trueBody, depth)
        this.#body(node.falseBody, depth)
        break
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#stopAt(node.condition)
        this.#body(node.body, depth)
        break
      case 'ForStatement':
        this.#loop(node, depth)
        break
      case 'TryStatement':
        this.#try(node, depth)
        break
      case 'InlineAssembly':
        this.#assembly(node, depth)
        break
      case 'PlaceholderStatement':
        this.#placeholder()
        break
      default:
        this.#stopAt(node)
    }
  }

  /** A block, or a single statement. */
  #body(node: unknown, depth: number): void {
    const range = this.#range(node)
    if (range !== undefined) this.#scoped(() => this.#statement(node, range.end, depth + 1))
  }

  #declareAll(node: SyntaxNode, end: number): void {
    const range = this.#range(node)
    if (range === undefined || !Array.isArray(node.declarations)) return
    for (const declaration of node.declarations) {
      if (isNode(declaration)) this.#declare(declaration, range.end, end)
    }
  }

  #loop(node: SyntaxNode, depth: number): void {
    const range = this.#range(node)
    if (range === undefined) return
    this.#scoped(() => {
      this.#statement(node.initializationExpression, range.end, depth + 1)
      this.#stopAt(node.condition)
      this.#statement(node.loopExpression, range.end, depth + 1)
      this.#body(node.body, depth)
    })
  }

  #try(node: SyntaxNode, depth: number): void {
    this.#stopAt(node.externalCall)
    for (const clause of nodesIn(node.clauses)) {
      const block = this.#range(clause.block)
      if (block === undefined) continue
      this.#scoped(() => {
        const list = isNode(clause.parameters) ? clause.parameters.parameters : []
        for (const parameter of nodesIn(list)) this.#declare(parameter, block.start, block.end)
        this.#block(clause.block, depth + 1)
      })
    }
  }

  #placeholder(): void {
    const words = this.#words()
    const known = this.#wordsAtPlaceholder
    this.#wordsAtPlaceholder = known === undefined || known === words ? words : Number.NaN
  }

  #assembly(node: SyntaxNode, depth: number): void {
    const range = this.#range(node.AST)
    if (isNode(node.AST) && range !== undefined) this.#yul(node.AST, range.end, depth + 1)
    else this.#stopAt(node)
  }

  #yulBlock(node: unknown, depth: number): void {
    const range = this.#range(node)
    if (!isNode(node) || range === undefined || depth > MAX_DEPTH) return
    this.#scoped(() => {
      for (const statement of nodesIn(node.statements)) this.#yul(statement, range.end, depth + 1)
    })
  }

  #yul(node: unknown, end: number, depth: number): void {
    if (!isNode(node) || depth > MAX_DEPTH) return
    switch (node.nodeType) {
      case 'YulBlock':
        this.#yulBlock(node, depth)
        break
      case 'YulFunctionDefinition':
        this.#yulFunction(node, depth)
        break
      case 'YulIf':
        this.#stopAt(node.condition)
        this.#yulBlock(node.body, depth)
        break
      case 'YulSwitch':
        this.#stopAt(node.expression)
        for (const one of nodesIn(node.cases)) this.#yulBlock(one.body, depth)
        break
      case 'YulForLoop':
        this.#yulLoop(node, depth)
        break
      case 'YulVariableDeclaration':
        this.#stopAt(node)
        this.#declareYul(node, end)
        break
      default:
        this.#stopAt(node)
    }
  }

  #yulLoop(node: SyntaxNode, depth: number): void {
    const range = this.#range(node)
    if (range === undefined) return
    this.#scoped(() => {
      // Its variables can be used in all of the loop.
      const first = isNode(node.pre) ? nodesIn(node.pre.statements) : []
      for (const statement of first) this.#yul(statement, range.end, depth + 1)
      this.#stopAt(node.condition)
      this.#yulBlock(node.post, depth)
      this.#yulBlock(node.body, depth)
    })
  }

  #yulFunction(node: SyntaxNode, depth: number): void {
    const [statements, locals] = [this.statements.length, this.locals.length]
    this.#yulBlock(node.body, depth)
    this.locals.length = locals
    for (let at = statements; at < this.statements.length; at++) {
      const one = this.statements[at]
      if (one !== undefined) this.statements[at] = { ...one, isApart: true }
    }
  }

  /** A variable of assembly is a word. */
  #declareYul(node: SyntaxNode, end: number): void {
    const range = this.#range(node)
    if (range === undefined || !this.#parts.hasBlockScopes) return
    for (const { name } of nodesIn(node.variables)) {
      const placing = { offset: this.#words(), start: range.end, end }
      const declaration = { name, typeDescriptions: { typeString: 'bytes32' } }
      const found = { ...localVariable(declaration, this.#parts.types, placing), isYul: true as const }
      this.locals.push(found)
      this.#open.push(found)
    }
  }
}

function modifiersIn(node: SyntaxNode): InvokedModifier[] {
  return nodesIn(node.modifiers).flatMap(({ modifierName, kind }) => {
    if (!isNode(modifierName) || kind === 'baseConstructorSpecifier') return []
    const { name, referencedDeclaration } = modifierName
    const text = typeof name === 'string' ? name : ''
    return [
      {
        name: text,
        id: typeof referencedDeclaration === 'number' ? referencedDeclaration : undefined,
        isQualified: text.includes('.'),
      },
    ]
  })
}

/** A function or modifier with what is in it. */
interface ReadFunction {
  readonly scope: FunctionScope
  readonly statements: readonly Statement[]
  /** Ranges whose code puts variables on the stack before the first statement. */
  readonly prologue: readonly SourceRange[]
}

/** A function or modifier that a node declares, with its statements; `undefined` for one without a body or without places. */
export function functionScope(node: SyntaxNode, parts: ScopeParts): ReadFunction | undefined {
  const range = rangeOf(node.src, parts.fileOf)
  const { body } = node
  if (range === undefined || !isNode(body)) return undefined
  const parameters = parametersIn(node.parameters, parts.types, range)
  const returns = parametersIn(node.returnParameters, parts.types, range) ?? []
  if (parameters === undefined) return undefined
  const reader = new BodyReader(parts)
  const invoked = nodesIn(node.modifiers).flatMap((one) => {
    const hasArguments = Array.isArray(one.arguments) && one.arguments.length > 0
    const at = hasArguments ? rangeOf(one.src, parts.fileOf) : undefined
    return at === undefined ? [] : [{ ...statementAt(at), isInvocation: true as const }]
  })
  reader.read(body)
  const { statements, locals, wordsAtPlaceholder } = reader
  return {
    scope: {
      range,
      name: typeof node.name === 'string' ? node.name : '',
      parameters,
      returns,
      locals: parts.hasBlockScopes
        ? locals
        : locals.map((local) => ({ ...local, start: range.start, end: range.end })),
      modifiers: modifiersIn(node),
      wordsAtPlaceholder: parts.hasBlockScopes ? wordsAtPlaceholder : wordsIn(locals),
    },
    statements: [...invoked, ...statements],
    prologue: parts.hasBlockScopes ? [] : reader.declarations,
  }
}

/** Statements of files, to be found by the ranges within them. */
export class StatementIndex {
  readonly #byFile = new Map<SourceFile, Statement[]>()
  #isSorted = true

  add(statements: readonly Statement[]): void {
    for (const one of statements) {
      const known = this.#byFile.get(one.file)
      if (known === undefined) this.#byFile.set(one.file, [one])
      else known.push(one)
    }
    this.#isSorted = false
  }

  /** The statements of a file in the order of their places. */
  of(file: SourceFile): readonly Statement[] {
    if (!this.#isSorted) {
      for (const list of this.#byFile.values()) list.sort((a, b) => a.start - b.start || a.end - b.end)
      this.#isSorted = true
    }
    return this.#byFile.get(file) ?? []
  }

  /** The statement that a range is a part of. They do not overlap. */
  around({ file, start, end }: SourceRange): Statement | undefined {
    const list = this.of(file)
    let [low, high] = [-1, list.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((list[middle]?.start ?? 0) <= start) low = middle
      else high = middle - 1
    }
    const found = list[low]
    return found !== undefined && end <= found.end ? found : undefined
  }
}
