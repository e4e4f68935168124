/** Local variables, parameters and return variables as they are declared, with the words of the stack that they take. */
import type { StorageType } from '../abi/storage/layout.ts'
import { isNode, type SyntaxNode } from '../source-level/syntax-tree.ts'
import { type SourceTypes, typeText, UnknownType } from './source-types.ts'

/** Where the value of a variable of a reference type is. Others are `value`. */
export type DataLocation = 'value' | 'memory' | 'storage' | 'calldata'

/** A variable of a function. */
export interface LocalVariable {
  /** Empty for a parameter without a name. */
  readonly name: string
  /** Key of its type; absent where it is not known. */
  readonly type: string | undefined
  /** As the compiler writes it. */
  readonly label: string
  readonly location: DataLocation
  /** Words of the stack; `NaN` where its type is not known. */
  readonly words: number
  /** Words from the first one of its group: the parameters, the return variables, or the variables of a body. */
  readonly offset: number
  /** Bytes of the source between which it can be used. */
  readonly start: number
  readonly end: number
  /** Is it one of assembly? An optimiser leaves none of them in place. */
  readonly isYul?: true
}

/** What `localVariable` is told. */
export interface Placing {
  readonly offset: number
  readonly start: number
  readonly end: number
}

function locationOf(declaration: SyntaxNode, type: StorageType | undefined): DataLocation {
  if (type?.kind === 'mapping') return 'storage'
  const isReference = type === undefined || !('size' in type)
  if (!isReference) return 'value'
  const written = / (memory|storage|calldata)\b[^[\]]*$/.exec(typeText(declaration))?.[1]
  const location = written ?? declaration.storageLocation
  return location === 'memory' || location === 'storage' || location === 'calldata' ? location : 'value'
}

/** Words that a variable takes on the stack (https://docs.soliditylang.org/en/latest/assembly.html#access-to-external-variables-functions-and-libraries). */
function wordsOf(key: string, type: StorageType, location: DataLocation): number {
  if (key.startsWith('external ')) return 2
  if (location !== 'calldata') return 1
  const isDynamic =
    type.kind === 'string' || type.kind === 'bytes' || (type.kind === 'array' && type.length === undefined)
  // Its length stands beside its place.
  return isDynamic ? 2 : 1
}

/** A declared variable at its place. */
export function localVariable(declaration: SyntaxNode, types: SourceTypes, placing: Placing): LocalVariable {
  let key: string | undefined
  try {
    key = types.keyOf(declaration)
  } catch (error) {
    if (!(error instanceof UnknownType)) throw error
  }
  const type = key === undefined ? undefined : types.typeOf(key)
  const location = locationOf(declaration, type)
  return {
    name: typeof declaration.name === 'string' ? declaration.name : '',
    type: key,
    label: typeText(declaration).replace(/ (storage) (pointer|ref)$/, ' $1'),
    location,
    words: key === undefined || type === undefined ? Number.NaN : wordsOf(key, type, location),
    ...placing,
  }
}

/** The variables of a list of parameters; `undefined` where the tree does not have it. */
export function parametersIn(
  list: unknown,
  types: SourceTypes,
  { start, end }: Omit<Placing, 'offset'>,
): readonly LocalVariable[] | undefined {
  if (!isNode(list) || !Array.isArray(list.parameters)) return undefined
  let offset = 0
  return list.parameters.filter(isNode).map((declaration) => {
    const found = localVariable(declaration, types, { offset, start, end })
    offset += found.words
    return found
  })
}

/** Words of all of them; `NaN` where one is not known. */
export function wordsIn(variables: readonly LocalVariable[]): number {
  return variables.reduce((words, variable) => words + variable.words, 0)
}
