/**
 * Declarations in the syntax trees of solc: contracts, functions, modifiers and public variables. Reads the compact form
 * (`ast`), and the form of compilers before 0.4.12 (`legacyAST`). What is malformed is left out.
 */
import type { Declaration } from './contract-model.ts'
import type { FunctionKind, FunctionModel, SourceFile, SourceRange } from './source-file.ts'

/** A node of a tree; what its members hold is not checked. */
export type SyntaxNode = Readonly<Record<string, unknown>>
type Node = SyntaxNode

/** Finds a source by the id that trees and maps use. */
export type FileOf = (id: number) => SourceFile | undefined

/** Is it a node of a tree? */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A node of the older form as one of the compact form. */
export function compact(node: Node): Node {
  if (typeof node.nodeType === 'string' || typeof node.name !== 'string') return node
  const attributes = isNode(node.attributes) ? node.attributes : {}
  return { ...attributes, nodeType: node.name, id: node.id, src: node.src, nodes: node.children }
}

/** The nodes of a list, in the compact form. */
export function nodesIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode).map(compact) : []
}

/** Reads `start:length:file`. */
export function rangeOf(src: unknown, fileOf: FileOf): SourceRange | undefined {
  const parts = typeof src === 'string' ? /^(\d+):(\d+):(\d+)$/.exec(src) : null
  if (parts === null) return undefined
  const file = fileOf(Number(parts[3]))
  const start = Number(parts[1])
  return file && { file, start, end: start + Number(parts[2]) }
}

function kindOf(node: Node): FunctionKind {
  switch (node.kind) {
    case 'constructor':
    case 'fallback':
    case 'receive':
      return node.kind
    case 'freeFunction':
      return 'free function'
    case undefined:
      // Before 0.5 the tree has no kinds.
      return node.isConstructor === true ? 'constructor' : node.name === '' ? 'fallback' : 'function'
    default:
      return 'function'
  }
}

/** How functions without a name are shown. */
export const SHOWN_NAMES: Readonly<Partial<Record<FunctionKind, string>>> = {
  constructor: 'constructor',
  fallback: '<fallback>',
  receive: '<receive>',
}

function parameterCount(node: Node): number {
  const list = isNode(node.parameters) ? node.parameters.parameters : undefined
  return Array.isArray(list) ? list.length : -1
}

/** Members that functions and getters share. */
function facts(node: Node, range: SourceRange): Omit<FunctionModel, 'kind' | 'name' | 'arity'> {
  const { visibility, functionSelector, stateMutability } = node
  return {
    range,
    isPayable: stateMutability === 'payable' || node.payable === true,
    changesState: stateMutability !== 'view' && stateMutability !== 'pure' && node.constant !== true,
    isExternal: visibility === 'public' || visibility === 'external' || visibility === undefined,
    ...(typeof functionSelector === 'string' && { selector: functionSelector }),
  }
}

/** The function that a node declares, if it is one with code. */
function functionOf(node: Node, fileOf: FileOf): FunctionModel | undefined {
  const range = rangeOf(node.src, fileOf)
  const { nodeType, name } = node
  if (range === undefined || typeof name !== 'string') return undefined
  if (nodeType === 'FunctionDefinition') {
    if (node.implemented === false) return undefined
    const kind = kindOf(node)
    return { ...facts(node, range), kind, name: SHOWN_NAMES[kind] ?? name, arity: parameterCount(node) }
  }
  if (nodeType === 'ModifierDefinition') {
    return { ...facts(node, range), kind: 'modifier', name, arity: -1, isExternal: false }
  }
  if (nodeType === 'VariableDeclaration' && node.visibility === 'public') {
    return { ...facts(node, range), kind: 'getter', name, arity: -1, isPayable: false, changesState: false }
  }
  return undefined
}

/** The tree of a source in the output of a compiler. */
export function treeIn(source: Node): Node | undefined {
  const tree = source.ast ?? source.legacyAST ?? source.AST
  return isNode(tree) ? compact(tree) : undefined
}

/** The contracts that a tree declares. Their functions, and those outside of contracts, are declared in their files. */
export function declarationsIn(tree: Node, fileOf: FileOf): Declaration[] {
  const found: Declaration[] = []
  for (const node of nodesIn(tree.nodes)) {
    if (node.nodeType === 'FunctionDefinition') {
      const free = functionOf(node, fileOf)
      free?.range.file.declare(free)
    }
    if (node.nodeType !== 'ContractDefinition') continue
    const range = rangeOf(node.src, fileOf)
    if (range === undefined || typeof node.name !== 'string' || typeof node.id !== 'number') continue
    const functions = nodesIn(node.nodes).flatMap((inner) => functionOf(inner, fileOf) ?? [])
    for (const one of functions) one.range.file.declare(one)
    const { linearizedBaseContracts: bases } = node
    found.push({
      id: node.id,
      name: node.name,
      isLibrary: node.contractKind === 'library' || node.isLibrary === true,
      range,
      bases: Array.isArray(bases) ? bases.filter((id) => typeof id === 'number') : [node.id],
      functions,
    })
  }
  return found
}
