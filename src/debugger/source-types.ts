/**
 * The types of a compilation, read from its syntax trees as types of a storage layout
 * (https://docs.soliditylang.org/en/latest/internals/layout_in_storage.html).
 */
import type { StorageLayout, StorageType, StorageVariable, ValueType } from '../abi/storage/layout.ts'
import { elementsOf, slotsOf } from '../abi/storage/layout.ts'
import { isNode, nodesIn, type SyntaxNode } from '../source-level/syntax-tree.ts'

/** Nesting of types. */
const MAX_DEPTH = 32
const MOST_TYPES = 10_000
const SLOT_BYTES = 32
/** Address and selector. */
const EXTERNAL_FUNCTION_BYTES = 24
/** Places of the creation code and of the deployed code. */
const INTERNAL_FUNCTION_BYTES = 8

/** Why a type cannot be read. */
export class UnknownType extends Error {
  override readonly name = 'UnknownType'
}

/** A declaration by its id. */
export type DeclarationOf = (id: number) => SyntaxNode | undefined

/** What `elementaryType` names. */
const INTEGER = /^(u?int)(\d*)$/
const FIXED_BYTES = /^bytes(\d{1,2})$/

function elementaryType(name: string): StorageType | undefined {
  const integer = INTEGER.exec(name)
  if (integer !== null) {
    const kind = integer[1] === 'int' ? 'int' : 'uint'
    const bits = Number(integer[2] || 256)
    if (bits < 8 || bits > 256 || bits % 8 !== 0) return undefined
    return { kind, label: `${kind}${bits}`, size: bits / 8 }
  }
  const size = Number(FIXED_BYTES.exec(name)?.[1] ?? 0)
  if (size >= 1 && size <= SLOT_BYTES) return { kind: 'fixed-bytes', label: name, size }
  if (name === 'byte') return { kind: 'fixed-bytes', label: 'bytes1', size: 1 }
  if (name === 'bool') return { kind: 'bool', label: 'bool', size: 1 }
  if (name === 'address' || name === 'address payable') return { kind: 'address', label: name, size: 20 }
  if (name === 'string' || name === 'bytes') return { kind: name, label: name }
  return undefined
}

/** The id of what a name refers to; trees before 0.8 have it in the name itself, later ones in its path. */
function referencedId(node: SyntaxNode): number | undefined {
  const own = node.referencedDeclaration
  if (typeof own === 'number') return own
  const path = isNode(node.pathNode) ? node.pathNode.referencedDeclaration : undefined
  return typeof path === 'number' ? path : undefined
}

function nameOf({ canonicalName, name }: SyntaxNode): string {
  if (typeof canonicalName === 'string') return canonicalName
  return typeof name === 'string' ? name : '?'
}

/** The text of a type as the compiler writes it. */
export function typeText(node: SyntaxNode): string {
  const text = isNode(node.typeDescriptions) ? node.typeDescriptions.typeString : node.type
  return typeof text === 'string' ? text : ''
}

/** Types by key; each is read at its first use. */
export class SourceTypes {
  readonly #types = new Map<string, StorageType>()
  /** Names of the members of enums, by key. */
  readonly #enums = new Map<string, readonly string[]>()
  readonly #open = new Set<string>()
  /** Structs that could not be read. */
  readonly #failed = new Set<string>()
  readonly #declarationOf: DeclarationOf

  constructor(declarationOf: DeclarationOf) {
    this.#declarationOf = declarationOf
  }

  /** A layout of these types, and of some variables. */
  layout(variables: readonly StorageVariable[] = []): StorageLayout {
    return { variables, types: this.#types }
  }

  /** The names of the members of an enum, by the key of its type. */
  membersOf(key: string): readonly string[] | undefined {
    return this.#enums.get(key)
  }

  /** The key of the type that a declaration of a variable has. Throws `UnknownType`. */
  keyOf(declaration: SyntaxNode): string {
    const { typeName } = declaration
    return isNode(typeName) ? this.#read(typeName, 0) : this.#byText(typeText(declaration))
  }

  /** The type of a key that was given here. */
  typeOf(key: string): StorageType | undefined {
    return this.#types.get(key)
  }

  /** Places variables in order, from a slot on. Throws `UnknownType`. */
  place(declarations: readonly SyntaxNode[], firstSlot = 0n, depth = 0): StorageVariable[] {
    let slot = firstSlot
    let offset = 0
    return declarations.map((declaration) => {
      const { typeName, name } = declaration
      if (!isNode(typeName) || typeof name !== 'string') throw new UnknownType('a variable has no type')
      const key = this.#read(typeName, depth + 1)
      const type = this.#complete(key)
      const size = 'size' in type ? type.size : SLOT_BYTES
      if (offset + size > SLOT_BYTES || (!('size' in type) && offset > 0)) {
        slot += 1n
        offset = 0
      }
      const placed = { name, slot, offset, type: key }
      if ('size' in type) offset += size
      else slot += slotsOf(this.layout(), type)
      return placed
    })
  }

  #add(key: string, type: StorageType): string {
    if (this.#types.size >= MOST_TYPES) throw new UnknownType('there are too many types')
    this.#types.set(key, type)
    return key
  }

  /** A type that stands in place: one that is being read holds itself. */
  #complete(key: string): StorageType {
    const type = this.#types.get(key)
    if (type === undefined || this.#open.has(key)) throw new UnknownType(`${key} holds itself`)
    return type
  }

  /** The type of `var x = …`, which has no name of a type. */
  #byText(text: string): string {
    const name = text.replace(/ (memory|calldata|storage( (ref|pointer))?)$/, '')
    const type = elementaryType(name)
    if (type === undefined) throw new UnknownType(text)
    return this.#types.has(name) ? name : this.#add(name, type)
  }

  #read(node: SyntaxNode, depth: number): string {
    if (depth > MAX_DEPTH) throw new UnknownType('types are nested too deeply')
    switch (node.nodeType) {
      case 'ElementaryTypeName': {
        const payable = node.stateMutability === 'payable' && node.name === 'address'
        return this.#byText(payable ? 'address payable' : String(node.name))
      }
      case 'UserDefinedTypeName':
      case 'IdentifierPath':
        return this.#declared(node, depth)
      case 'ArrayTypeName':
        return this.#array(node, depth)
      case 'Mapping':
        return this.#mapping(node, depth)
      case 'FunctionTypeName': {
        const isExternal = node.visibility === 'external'
        const label = typeText(node) || 'function'
        const key = `${isExternal ? 'external' : 'internal'} ${label}`
        const type: ValueType = isExternal
          ? { kind: 'fixed-bytes', label, size: EXTERNAL_FUNCTION_BYTES }
          : { kind: 'uint', label, size: INTERNAL_FUNCTION_BYTES }
        return this.#types.has(key) ? key : this.#add(key, type)
      }
      default:
        throw new UnknownType(String(node.nodeType))
    }
  }

  #declared(node: SyntaxNode, depth: number): string {
    const id = referencedId(node)
    const declared = id === undefined ? undefined : this.#declarationOf(id)
    if (declared === undefined) throw new UnknownType(nameOf(node))
    const key = `${String(declared.nodeType)}:${id}`
    const label = nameOf(declared)
    if (this.#failed.has(key)) throw new UnknownType(label)
    if (this.#types.has(key)) return key
    switch (declared.nodeType) {
      case 'ContractDefinition':
        return this.#add(key, { kind: 'address', label: `contract ${label}`, size: 20 })
      case 'EnumDefinition': {
        const members = nodesIn(declared.members).map((member) => String(member.name))
        this.#enums.set(key, members)
        return this.#add(key, { kind: 'uint', label: `enum ${label}`, size: members.length > 256 ? 2 : 1 })
      }
      case 'UserDefinedValueTypeDefinition': {
        const underlying = isNode(declared.underlyingType) ? declared.underlyingType : {}
        const type = this.#types.get(this.#read(underlying, depth + 1))
        if (type === undefined || !('size' in type)) throw new UnknownType(label)
        return this.#add(key, { ...type, label })
      }
      case 'StructDefinition':
        return this.#struct(key, `struct ${label}`, declared, depth)
      default:
        throw new UnknownType(label)
    }
  }

  #struct(key: string, label: string, declared: SyntaxNode, depth: number): string {
    // Arrays and mappings of it are made while it is read.
    this.#add(key, { kind: 'struct', label, slots: 1n, members: [] })
    this.#open.add(key)
    try {
      const members = this.place(nodesIn(declared.members), 0n, depth)
      const last = members.at(-1)
      const lastType = last && this.#types.get(last.type)
      const slots = last && lastType ? last.slot + slotsOf(this.layout(), lastType) : 1n
      return this.#add(key, { kind: 'struct', label, slots, members })
    } catch (error) {
      this.#failed.add(key)
      throw error
    } finally {
      this.#open.delete(key)
    }
  }

  #array(node: SyntaxNode, depth: number): string {
    const { baseType } = node
    if (!isNode(baseType)) throw new UnknownType('an array has no base')
    const base = this.#read(baseType, depth + 1)
    const isDynamic = node.length === undefined || node.length === null
    // The length may be an expression; its value stands in the text of the type.
    const literal = isNode(node.length) && typeof node.length.value === 'string' ? node.length.value : ''
    const written = /\[(\d{1,78})\]( (memory|calldata|storage( (ref|pointer))?))?$/.exec(typeText(node))?.[1]
    const text = written ?? (/^\d{1,78}$/.test(literal) ? literal : undefined)
    if (!isDynamic && text === undefined) throw new UnknownType('an array has an unknown length')
    const length = isDynamic ? undefined : BigInt(text as string)
    const key = `${base}[${length ?? ''}]`
    if (this.#types.has(key)) return key
    if (length !== undefined) this.#complete(base)
    const type: StorageType = {
      kind: 'array',
      label: `${this.#types.get(base)?.label ?? '?'}[${length ?? ''}]`,
      base,
      length,
    }
    this.#add(key, type)
    if (length !== undefined) elementsOf(this.layout(), type)
    return key
  }

  #mapping(node: SyntaxNode, depth: number): string {
    const { keyType, valueType } = node
    if (!isNode(keyType) || !isNode(valueType)) throw new UnknownType('a mapping has no types')
    const key = this.#read(keyType, depth + 1)
    const value = this.#read(valueType, depth + 1)
    const name = `mapping(${key}=>${value})`
    if (this.#types.has(name)) return name
    const labels = [key, value].map((one) => this.#types.get(one)?.label ?? '?')
    return this.#add(name, { kind: 'mapping', label: `mapping(${labels.join(' => ')})`, key, value })
  }
}
