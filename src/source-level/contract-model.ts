/** Contracts and functions of a compilation, read from its syntax trees, and the functions of a contract by selector. */
import type { Json } from '../sources/compilation.ts'
import type { FunctionModel, SourceRange } from './source-file.ts'

/** A contract as it is declared. */
export interface Declaration {
  readonly id: number
  readonly name: string
  readonly isLibrary: boolean
  readonly range: SourceRange
  /** Ids of the contract and its bases, the most derived first. */
  readonly bases: readonly number[]
  readonly functions: readonly FunctionModel[]
}

/** A contract with what it inherits. */
export interface ContractModel {
  readonly name: string
  readonly isLibrary: boolean
  readonly range: SourceRange
  readonly constructor_: FunctionModel | undefined
  readonly fallback: FunctionModel | undefined
  readonly receive: FunctionModel | undefined
  /** By 8 hex digits. */
  readonly bySelector: ReadonlyMap<string, FunctionModel>
}

const nameIn = (signature: string): string => signature.slice(0, signature.indexOf('('))

/** Parameters of a signature: commas outside of the parentheses of tuples. */
function arityOf(signature: string): number {
  const list = signature.slice(signature.indexOf('(') + 1, -1)
  if (list === '') return 0
  let depth = 0
  let count = 1
  for (const character of list) {
    if (character === '(') depth++
    else if (character === ')') depth--
    else if (character === ',' && depth === 0) count++
  }
  return count
}

/** The selectors of a contract by signature, where the compiler gives them. */
function selectorsIn(methodIdentifiers: unknown): readonly (readonly [string, string])[] {
  if (typeof methodIdentifiers !== 'object' || methodIdentifiers === null) return []
  return Object.entries(methodIdentifiers).flatMap(([signature, selector]) =>
    // Vyper writes them with 0x, and without zeros in front.
    typeof selector === 'string' &&
    /^(0x[0-9a-f]{1,8}|[0-9a-f]{8})$/.test(selector) &&
    /^[^(]*\(.*\)$/.test(signature)
      ? [[signature, selector.replace('0x', '').padStart(8, '0')] as const]
      : [],
  )
}

/** Can a transaction call it by a selector? */
function isReachable({ isExternal, kind }: FunctionModel): boolean {
  return isExternal && (kind === 'function' || kind === 'getter')
}

/** Functions whose selectors the tree does not give, by name. */
function byName(functions: readonly FunctionModel[]): ReadonlyMap<string, readonly FunctionModel[]> {
  const named = new Map<string, FunctionModel[]>()
  for (const one of functions) {
    if (!isReachable(one) || one.selector !== undefined) continue
    const others = named.get(one.name)
    if (others === undefined) named.set(one.name, [one])
    else others.push(one)
  }
  return named
}

/** The function of its name that a signature means: the only one, or the only one with as many parameters. */
function bySignature(signature: string, named: readonly FunctionModel[]): FunctionModel | undefined {
  const [first] = named
  if (first === undefined || named.length === 1) return first
  const arity = arityOf(signature)
  const fitting = named.filter((one) => one.arity === arity)
  return fitting.length === 1 ? fitting[0] : undefined
}

/** A contract with its bases, which are declarations by id. `evm` is what the compiler gives of its code. */
export function contractModel(
  declared: Declaration,
  declarations: ReadonlyMap<number, Declaration>,
  evm: Json,
): ContractModel {
  const bases = [...new Set(declared.bases)].flatMap((id) => declarations.get(id) ?? [])
  const inherited = bases.flatMap(({ functions }) => functions)
  const bySelector = new Map<string, FunctionModel>()
  for (const one of inherited.filter(isReachable)) {
    if (one.selector !== undefined && !bySelector.has(one.selector)) bySelector.set(one.selector, one)
  }
  const named = bases.map(({ functions }) => byName(functions))
  for (const [signature, selector] of selectorsIn(evm.methodIdentifiers)) {
    if (bySelector.has(selector)) continue
    for (const functions of named) {
      const found = bySignature(signature, functions.get(nameIn(signature)) ?? [])
      if (found === undefined) continue
      bySelector.set(selector, found)
      break
    }
  }
  return {
    name: declared.name,
    isLibrary: declared.isLibrary,
    range: declared.range,
    constructor_: declared.functions.find(({ kind }) => kind === 'constructor'),
    fallback: inherited.find(({ kind }) => kind === 'fallback'),
    receive: inherited.find(({ kind }) => kind === 'receive'),
    bySelector,
  }
}
