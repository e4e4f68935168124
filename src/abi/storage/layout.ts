/** The storage layout of a contract, read from the `storageLayout` that solc writes. */
import { z } from 'zod'

/** A variable of a contract, or a member of a struct. */
export interface StorageVariable {
  readonly name: string
  /** Of a member, counted from the first slot of its struct. */
  readonly slot: bigint
  /** Bytes from the low end of the slot. */
  readonly offset: number
  /** Key of its type in `StorageLayout.types`. */
  readonly type: string
}

/** A type of at most one word. Enums count as `uint`, contracts as `address`, external functions as `fixed-bytes`. */
export interface ValueType {
  readonly kind: 'uint' | 'int' | 'bool' | 'address' | 'fixed-bytes'
  /** As Solidity writes it. */
  readonly label: string
  /** Bytes, 1 to 32. */
  readonly size: number
}

/** `string` and `bytes`. */
export interface BytesType {
  readonly kind: 'string' | 'bytes'
  readonly label: string
}

/** A mapping; `key` and `value` are keys of types. */
export interface MappingType {
  readonly kind: 'mapping'
  readonly label: string
  readonly key: string
  readonly value: string
}

/** An array; one without `length` is dynamic. `base` is the key of a type. */
export interface ArrayType {
  readonly kind: 'array'
  readonly label: string
  readonly base: string
  readonly length: bigint | undefined
}

/** A struct. */
export interface StructType {
  readonly kind: 'struct'
  readonly label: string
  /** Slots. */
  readonly slots: bigint
  readonly members: readonly StorageVariable[]
}

/** A type of a variable in storage. */
export type StorageType = ValueType | BytesType | MappingType | ArrayType | StructType

/** The variables of a contract in the order of their slots, and the types that they use, by key. */
export interface StorageLayout {
  readonly variables: readonly StorageVariable[]
  readonly types: ReadonlyMap<string, StorageType>
}

/** Bounds of what is read; compilers write far less. */
const MOST_ENTRIES = 10_000
const MAX_NAME = 256
const MAX_TYPE = 4096
/** Nesting of structs and arrays, which is also that of the functions that walk a type. */
const MAX_DEPTH = 32

const Decimal = z.lazy(() => z.string().regex(/^\d{1,78}$/))
const Variable = z.lazy(() =>
  z.object({
    label: z.string().max(MAX_NAME),
    slot: Decimal,
    offset: z.int().min(0).max(31),
    type: z.string().max(MAX_TYPE),
  }),
)
const TypeEntry = z.lazy(() =>
  z.object({
    encoding: z.enum(['inplace', 'mapping', 'dynamic_array', 'bytes']),
    label: z.string().max(MAX_TYPE),
    numberOfBytes: Decimal,
    key: z.string().optional(),
    value: z.string().optional(),
    base: z.string().optional(),
    members: z.array(Variable).max(MOST_ENTRIES).optional(),
  }),
)
/** `types` is null in a contract without variables. */
const Layout = z.lazy(() =>
  z.object({
    storage: z.array(Variable).max(MOST_ENTRIES),
    types: z.record(z.string().max(MAX_TYPE), TypeEntry).nullable(),
  }),
)

type SentVariable = z.infer<typeof Variable>
type SentType = z.infer<typeof TypeEntry>

/** The types behind the names of Solidity's `type Price is uint128`, which a layout does not have, as in an ABI. */
export type NamedTypes = ReadonlyMap<string, string>

function variableOf({ label, slot, offset, type }: SentVariable): StorageVariable {
  return { name: label, slot: BigInt(slot), offset, type }
}

/** The kind of a value type: by its name, or by the name that stands behind one of its own. */
function valueKind(label: string, named: NamedTypes): ValueType['kind'] {
  const name = named.get(label) ?? label
  if (/^int\d*$/.test(name)) return 'int'
  if (name === 'bool') return 'bool'
  if (/^(address|contract )/.test(name)) return 'address'
  if (/^bytes\d+$/.test(name) || /^function .*\bexternal\b/.test(name)) return 'fixed-bytes'
  return 'uint'
}

function inPlaceType(sent: SentType, named: NamedTypes): StorageType {
  const { label, base, members } = sent
  const bytes = BigInt(sent.numberOfBytes)
  if (members !== undefined) {
    return { kind: 'struct', label, slots: (bytes + 31n) / 32n, members: members.map(variableOf) }
  }
  if (base !== undefined) {
    const length = /\[(\d{1,78})\]$/.exec(label)?.[1]
    if (length === undefined) throw new Error('has no length')
    return { kind: 'array', label, base, length: BigInt(length) }
  }
  if (bytes < 1n || bytes > 32n) throw new Error(`has ${bytes} bytes`)
  return { kind: valueKind(label, named), label, size: Number(bytes) }
}

function typeOf(sent: SentType, named: NamedTypes): StorageType {
  const { encoding, label, key, value, base } = sent
  if (encoding === 'inplace') return inPlaceType(sent, named)
  if (encoding === 'bytes') return { kind: label === 'string' ? 'string' : 'bytes', label }
  if (encoding === 'dynamic_array') {
    if (base === undefined) throw new Error('has no base')
    return { kind: 'array', label, base, length: undefined }
  }
  if (key === undefined || value === undefined) throw new Error('has no key or value')
  return { kind: 'mapping', label, key, value }
}

/** The types that a type is made of where it stands; those of a mapping or a dynamic array stand elsewhere. */
function partsOf(type: StorageType): readonly string[] {
  if (type.kind === 'struct') return type.members.map((member) => member.type)
  return type.kind === 'array' && type.length !== undefined ? [type.base] : []
}

/** All types that a type names. */
function usedBy(type: StorageType): readonly string[] {
  if (type.kind === 'mapping') return [type.key, type.value]
  return type.kind === 'array' ? [type.base] : partsOf(type)
}

/** Throws where a type is missing, or holds itself in place, or holds others too deeply. */
function requireFinite(types: StorageLayout['types']): void {
  const depths = new Map<string, number>()
  function depthOf(key: string, above: number): number {
    const known = depths.get(key)
    const type = types.get(key)
    if (type === undefined) throw new Error(`type ${key} is missing`)
    const depth =
      known ??
      (above > MAX_DEPTH ? above : 1 + Math.max(0, ...partsOf(type).map((part) => depthOf(part, above + 1))))
    if (depth > MAX_DEPTH) throw new Error(`type ${key} holds itself, or others too deeply`)
    depths.set(key, depth)
    return depth
  }
  for (const [key, type] of types) for (const used of [key, ...usedBy(type)]) depthOf(used, 0)
}

/** Throws where variables have no type or leave their slot, and where the key of a mapping is no value. */
function requireSound(layout: StorageLayout): void {
  const { variables, types } = layout
  requireFinite(types)
  const members = [...types.values()].flatMap((type) => (type.kind === 'struct' ? type.members : []))
  for (const { name, offset, type } of [...variables, ...members]) {
    const found = types.get(type)
    if (found === undefined) throw new Error(`type ${type} of ${name} is missing`)
    const end = offset + ('size' in found ? found.size : 0)
    if (end > 32) throw new Error(`${name} ends at byte ${end} of its slot`)
  }
  for (const type of types.values()) if (type.kind === 'mapping') keyType(layout, type)
}

/** Reads solc's `storageLayout`. Throws an Error that names the first fault. */
export function readStorageLayout(json: unknown, named: NamedTypes = new Map()): StorageLayout {
  const read = Layout.safeParse(json)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`storageLayout.${issue?.path.join('.')}: ${issue?.message}`)
  }
  const sent = Object.entries(read.data.types ?? {})
  if (sent.length > MOST_ENTRIES) throw new Error(`storageLayout.types: more than ${MOST_ENTRIES}`)
  const types = new Map<string, StorageType>()
  for (const [key, entry] of sent) {
    try {
      types.set(key, typeOf(entry, named))
    } catch (error) {
      throw new Error(`storageLayout.types.${key} ${error instanceof Error ? error.message : error}`)
    }
  }
  const layout = { variables: read.data.storage.map(variableOf), types }
  try {
    requireSound(layout)
  } catch (error) {
    throw new Error(`storageLayout: ${error instanceof Error ? error.message : error}`)
  }
  return layout
}

/** The type of a key that the layout has, as every one within a layout is. */
export function typeIn({ types }: StorageLayout, key: string): StorageType {
  const type = types.get(key)
  if (type === undefined) throw new Error(`storageLayout: type ${key} is missing`)
  return type
}

/** The type of a mapping's keys. */
export function keyType(layout: StorageLayout, { label, key }: MappingType): ValueType | BytesType {
  const type = typeIn(layout, key)
  if (type.kind === 'mapping' || type.kind === 'array' || type.kind === 'struct') {
    throw new Error(`the key of ${label} is no value`)
  }
  return type
}

/** Slots that a type takes where it stands: at least one. */
export function slotsOf(layout: StorageLayout, type: StorageType): bigint {
  if (type.kind === 'struct') return type.slots > 0n ? type.slots : 1n
  if (type.kind !== 'array' || type.length === undefined) return 1n
  const { perSlot, slots } = elementsOf(layout, type)
  const used = perSlot > 1n ? (type.length + perSlot - 1n) / perSlot : type.length * slots
  return used > 0n ? used : 1n
}

/** How the elements of an array stand: so many in one slot, or each in so many slots. */
export function elementsOf(
  layout: StorageLayout,
  array: ArrayType,
): { readonly type: StorageType; readonly perSlot: bigint; readonly slots: bigint } {
  const type = typeIn(layout, array.base)
  const perSlot = 'size' in type ? BigInt(Math.floor(32 / type.size)) : 1n
  return { type, perSlot, slots: slotsOf(layout, type) }
}
