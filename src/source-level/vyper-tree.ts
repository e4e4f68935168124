/** Functions and getters in the syntax trees of Vyper (`ast` in the output of its standard JSON interface). */
import type { Declaration } from './contract-model.ts'
import type { FunctionKind, FunctionModel, SourceFile, SourceRange } from './source-file.ts'
import { isNode, type SyntaxNode } from './syntax-tree.ts'

const KINDS: Readonly<Record<string, FunctionKind>> = { __init__: 'constructor', __default__: 'fallback' }
const SHOWN: Readonly<Record<string, string>> = { __init__: 'constructor', __default__: '<fallback>' }

/** Reads `start:length:file`, which counts characters. */
function rangeIn(src: unknown, file: SourceFile): SourceRange | undefined {
  const parts = typeof src === 'string' ? /^(\d+):(\d+):/.exec(src) : null
  if (parts === null) return undefined
  const start = Number(parts[1])
  return { file, start: file.byteOf(start), end: file.byteOf(start + Number(parts[2])) }
}

function functionOf(node: SyntaxNode, file: SourceFile): FunctionModel | undefined {
  const range = rangeIn(node.src, file)
  const { name, decorator_list: decorators, args } = node
  if (node.ast_type !== 'FunctionDef' || range === undefined || typeof name !== 'string') return undefined
  const decorated = new Set((Array.isArray(decorators) ? decorators : []).map((one) => isNode(one) && one.id))
  const list = isNode(args) && Array.isArray(args.args) ? args.args.length : -1
  return {
    kind: Object.hasOwn(KINDS, name) ? (KINDS[name] as FunctionKind) : 'function',
    name: Object.hasOwn(SHOWN, name) ? (SHOWN[name] as string) : name,
    range,
    isPayable: decorated.has('payable'),
    changesState: !['view', 'pure', 'constant'].some((one) => decorated.has(one)),
    isExternal: decorated.has('external') || decorated.has('public') || decorated.has('deploy'),
    arity: list,
  }
}

/** The getter of a public variable. */
function getterOf(node: SyntaxNode, file: SourceFile): FunctionModel | undefined {
  const range = rangeIn(node.src, file)
  const { target } = node
  if (node.ast_type !== 'VariableDecl' || node.is_public !== true || range === undefined) return undefined
  if (!isNode(target) || typeof target.id !== 'string') return undefined
  return {
    kind: 'getter',
    name: target.id,
    range,
    isPayable: false,
    changesState: false,
    isExternal: true,
    arity: -1,
  }
}

/** The contract that a source of Vyper is; its functions are declared in its file. `undefined` without a tree. */
export function vyperDeclaration(
  tree: SyntaxNode,
  file: SourceFile,
  name: string,
  id: number,
): Declaration | undefined {
  if (tree.ast_type !== 'Module' || !Array.isArray(tree.body)) return undefined
  const functions = tree.body
    .filter(isNode)
    .flatMap((node) => functionOf(node, file) ?? getterOf(node, file) ?? [])
  for (const one of functions) file.declare(one)
  const range = { file, start: 0, end: file.lineStart(file.lineCount + 1) }
  return { id, name, isLibrary: false, range, bases: [id], functions }
}

/** Functions that contracts may export from the modules that declare them, by name; without names that several have. */
export function exportableByName(modules: readonly Declaration[]): ReadonlyMap<string, FunctionModel> {
  const named = new Map<string, FunctionModel | undefined>()
  for (const one of modules.flatMap(({ functions }) => functions)) {
    if (!one.isExternal || one.kind === 'constructor' || one.kind === 'fallback') continue
    named.set(one.name, named.has(one.name) && named.get(one.name) !== one ? undefined : one)
  }
  return new Map([...named].flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const])))
}

/** A contract with the functions of other modules that it exports: those of its selectors that it does not declare. */
export function withExports(
  declared: Declaration,
  methodIdentifiers: unknown,
  exportable: ReadonlyMap<string, FunctionModel>,
): Declaration {
  const own = new Set(declared.functions.map(({ name }) => name))
  const signatures = isNode(methodIdentifiers) ? Object.keys(methodIdentifiers) : []
  const names = new Set(signatures.map((signature) => signature.slice(0, signature.indexOf('('))))
  const exported = [...names].flatMap((name) => (own.has(name) ? [] : (exportable.get(name) ?? [])))
  return { ...declared, functions: [...declared.functions, ...exported] }
}
