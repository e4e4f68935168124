/** What of a source can be covered: the statements, functions and branches in its syntax tree. */
import type { SourceFile, SourceRange } from '../source-level/source-file.ts'
import {
  compact,
  type FileOf,
  isNode,
  nodesIn,
  rangeOf,
  SHOWN_NAMES,
  type SyntaxNode,
} from '../source-level/syntax-tree.ts'

/** Nodes of one tree that are read; what is behind them is not covered. */
const MOST_NODES = 2_000_000

/** A statement. */
export interface Statement {
  readonly range: SourceRange
  /** Its header runs once more than its body. */
  readonly isLoop: boolean
  /** Index of the function around it; -1 outside of functions. */
  readonly function: number
}

/** A function, constructor or modifier with a body. */
export interface CoveredFunction {
  readonly name: string
  readonly range: SourceRange
  readonly body: SourceRange
}

/** A choice between two ways. */
export interface Branch {
  /** `if` has a true way and a false way, `cond-expr` (`? :`) also, `require` one that goes on and one that fails. */
  readonly kind: 'if' | 'cond-expr' | 'require'
  readonly range: SourceRange
  readonly condition: SourceRange
  /** Of an `if` without `else`, and of `require`, the second is absent. */
  readonly ways: readonly [SourceRange, SourceRange | undefined]
  /** Index of the function around it; -1 outside of functions. */
  readonly function: number
}

/** A source with what can be covered in it, each in the order of the tree. */
export interface CoverableFile {
  readonly file: SourceFile
  readonly statements: readonly Statement[]
  readonly functions: readonly CoveredFunction[]
  readonly branches: readonly Branch[]
}

const LOOPS = new Set(['ForStatement', 'WhileStatement', 'DoWhileStatement', 'YulForLoop'])
const STATEMENTS = new Set([
  ...LOOPS,
  'ExpressionStatement',
  'VariableDeclarationStatement',
  // Before 0.4.12.
  'VariableDefinitionStatement',
  'Return',
  'EmitStatement',
  'RevertStatement',
  'Throw',
  'Break',
  'Continue',
  'IfStatement',
  'TryStatement',
  'UncheckedBlock',
  // Via IR its instructions have no places of their own, and compilers before 0.6.0 give no tree of it.
  'InlineAssembly',
  'YulExpressionStatement',
  'YulAssignment',
  'YulVariableDeclaration',
  'YulIf',
  'YulSwitch',
  'YulBreak',
  'YulContinue',
  'YulLeave',
])

/** A node that waits to be read. */
interface Waiting {
  readonly node: SyntaxNode
  /** Index of the function around it. */
  readonly around: number
}

/** The children of a node, as the members of the compact form, or by their index in the older one. */
function child(node: SyntaxNode, name: string, index: number): SyntaxNode | undefined {
  const found = node[name] ?? nodesIn(node.nodes)[index]
  return isNode(found) ? compact(found) : undefined
}

class TreeReader {
  readonly statements: Statement[] = []
  readonly functions: CoveredFunction[] = []
  readonly branches: Branch[] = []
  readonly #fileOf: FileOf
  readonly #file: SourceFile

  constructor(file: SourceFile, fileOf: FileOf) {
    this.#file = file
    this.#fileOf = fileOf
  }

  /** Reads a tree, in which nodes may contain each other. */
  read(tree: SyntaxNode): void {
    const seen = new WeakSet<object>()
    const waiting: Waiting[] = [{ node: tree, around: -1 }]
    for (let read = 0; read < MOST_NODES; read++) {
      const next = waiting.pop()
      if (next === undefined) return
      if (seen.has(next.node)) continue
      seen.add(next.node)
      const node = compact(next.node)
      const around = this.#functionOf(node) ?? next.around
      this.#take(node, around)
      const inner: Waiting[] = []
      for (const member of Object.values(node)) {
        for (const value of Array.isArray(member) ? member : [member]) {
          if (isNode(value)) inner.push({ node: value, around })
        }
      }
      for (const one of inner.reverse()) waiting.push(one)
    }
  }

  #rangeOf(node: SyntaxNode | undefined): SourceRange | undefined {
    const range = rangeOf(node?.src, this.#fileOf)
    return range?.file === this.#file ? range : undefined
  }

  /** Notes the function that a node declares; its index. */
  #functionOf(node: SyntaxNode): number | undefined {
    const { nodeType, name } = node
    const isFunction = nodeType === 'FunctionDefinition'
    if (!isFunction && nodeType !== 'ModifierDefinition') return undefined
    const blocks = nodesIn(node.nodes).filter((one) => one.nodeType === 'Block')
    const range = this.#rangeOf(node)
    const body = this.#rangeOf(isNode(node.body) ? node.body : blocks.at(-1))
    if (range === undefined || body === undefined) return undefined
    const known = typeof name === 'string' ? name : ''
    const kind = known === '' || node.isConstructor === true ? shownKind(node) : known
    return this.functions.push({ name: kind, range, body }) - 1
  }

  #take(node: SyntaxNode, around: number): void {
    const { nodeType } = node
    if (typeof nodeType !== 'string') return
    const range = this.#rangeOf(node)
    if (range === undefined) return
    if (STATEMENTS.has(nodeType)) {
      this.statements.push({ range, isLoop: LOOPS.has(nodeType), function: around })
    }
    const branch = this.#branchOf(node, nodeType, range)
    if (branch !== undefined) this.branches.push({ ...branch, function: around })
  }

  #branchOf(node: SyntaxNode, nodeType: string, range: SourceRange): Omit<Branch, 'function'> | undefined {
    if (nodeType === 'FunctionCall') return this.#requireOf(node, range)
    if (nodeType !== 'IfStatement' && nodeType !== 'Conditional') return undefined
    const isIf = nodeType === 'IfStatement'
    const condition = this.#rangeOf(child(node, 'condition', 0))
    const whenTrue = this.#rangeOf(child(node, isIf ? 'trueBody' : 'trueExpression', 1))
    const whenFalse = this.#rangeOf(child(node, isIf ? 'falseBody' : 'falseExpression', 2))
    if (condition === undefined || whenTrue === undefined) return undefined
    return { kind: isIf ? 'if' : 'cond-expr', range, condition, ways: [whenTrue, whenFalse] }
  }

  #requireOf(node: SyntaxNode, range: SourceRange): Omit<Branch, 'function'> | undefined {
    const called = child(node, 'expression', 0)
    const name = called?.name ?? called?.value
    if (called?.nodeType !== 'Identifier' || (name !== 'require' && name !== 'assert')) return undefined
    const [argument] = Array.isArray(node.arguments) ? nodesIn(node.arguments) : nodesIn(node.nodes).slice(1)
    const condition = this.#rangeOf(argument)
    if (condition === undefined) return undefined
    return { kind: 'require', range, condition, ways: [range, undefined] }
  }
}

function shownKind(node: SyntaxNode): string {
  const { kind } = node
  if (kind === 'constructor' || node.isConstructor === true) return 'constructor'
  return (kind === 'receive' ? SHOWN_NAMES.receive : SHOWN_NAMES.fallback) ?? ''
}

/** What can be covered in a source with this tree. Nothing is read twice, so a tree may contain itself. */
export function coverableFile(file: SourceFile, tree: SyntaxNode, fileOf: FileOf): CoverableFile {
  const reader = new TreeReader(file, fileOf)
  reader.read(tree)
  const { statements, functions, branches } = reader
  return { file, statements, functions, branches }
}
