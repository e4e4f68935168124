/** Where a variable stands: slot, offset and type of a path, by the rules of Solidity's storage layout. */
import { concat, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { editDistance } from '../../encoding/edit-distance.ts'
import { keccak256 } from '../../encoding/hash.ts'
import {
  type ArrayType,
  elementsOf,
  keyType,
  type MappingType,
  type StorageLayout,
  type StorageType,
  type StorageVariable,
  typeIn,
  type ValueType,
} from './layout.ts'
import { type PathStep, readPath, stepText, VariableError, within } from './path.ts'
import { keyBytes, type VariableValue } from './value-type.ts'

/** A place in storage. */
export interface StoragePlace {
  readonly slot: bigint
  /** Bytes from the low end of the slot. */
  readonly offset: number
  readonly type: StorageType
}

/** The length of a dynamic array. */
export const LENGTH: ValueType = { kind: 'uint', label: 'uint256', size: 32 }

/** Names of an error, at most, out of the first so many. */
const MOST_NAMES = 3
const MOST_CANDIDATES = 1000
/** A longer name is no misspelt one. */
const LONGEST_NAME = 64
/** Characters that differ in a misspelt name, at most: this part of it, or these few of a short one. */
const PART_DIFFERENT = 1 / 2
const FEW_DIFFERENT = 2

const toSlot = (value: bigint): bigint => BigInt.asUintN(256, value)

/** The first slot of a dynamic array's elements, or of the content of a long `string` or `bytes`. */
export function contentSlot(slot: bigint): bigint {
  return toBigInt(keccak256(fromBigIntFixed(slot, 32)))
}

/** The place of a key's value. Throws a `VariableError` that names what is expected of the key. */
export function mappedPlace(
  layout: StorageLayout,
  mapping: MappingType,
  slot: bigint,
  key: VariableValue,
): StoragePlace {
  return hashedPlace(layout, mapping, slot, keyBytes(keyType(layout, mapping), key))
}

/** The place of the value of a key as it is hashed. */
export function hashedPlace(
  layout: StorageLayout,
  { value }: MappingType,
  slot: bigint,
  key: Uint8Array,
): StoragePlace {
  const hash = keccak256(concat(key, fromBigIntFixed(slot, 32)))
  return { slot: toBigInt(hash), offset: 0, type: typeIn(layout, value) }
}

/** The place of a member. */
export function memberPlace(layout: StorageLayout, slot: bigint, member: StorageVariable): StoragePlace {
  return { slot: toSlot(slot + member.slot), offset: member.offset, type: typeIn(layout, member.type) }
}

/** The place of an array's element, whatever the length. */
export function elementPlace(
  layout: StorageLayout,
  array: ArrayType,
  slot: bigint,
  index: bigint,
): StoragePlace {
  const { type, perSlot, slots } = elementsOf(layout, array)
  const first = array.length === undefined ? contentSlot(slot) : slot
  if (!('size' in type)) return { slot: toSlot(first + index * slots), offset: 0, type }
  return { slot: toSlot(first + index / perSlot), offset: Number(index % perSlot) * type.size, type }
}

/** The names that are the nearest to one that does not exist, the nearest first. */
function nearestNames(name: string, names: readonly string[]): string {
  if (name.length > LONGEST_NAME) return ''
  const most = Math.max(FEW_DIFFERENT, Math.floor(name.length * PART_DIFFERENT))
  const near = [...new Set(names)]
    .slice(0, MOST_CANDIDATES)
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => [editDistance(name, candidate), candidate] as const)
    .filter(([distance]) => distance <= most)
    .sort(([a], [b]) => a - b)
    .slice(0, MOST_NAMES)
    .map(([, candidate]) => candidate)
  return near.length === 0 ? '' : `; the nearest: ${near.join(', ')}`
}

/** The last one of a name: a contract cannot name the private variable of another that it inherits from. */
function named(variables: readonly StorageVariable[], name: string, what: string): StorageVariable {
  const found = variables.findLast((variable) => variable.name === name)
  if (found !== undefined) return found
  const names = variables.map((variable) => variable.name)
  throw new VariableError(`no ${what} has this name${nearestNames(name, names)}`)
}

function indexOf({ label, length }: ArrayType, key: string): bigint {
  if (!/^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(key))
    throw new VariableError(`${JSON.stringify(key)} is not an index of ${label}`)
  const index = BigInt(key)
  if (length !== undefined && index >= length)
    throw new VariableError(`index ${index} is beyond the end of ${label}`)
  return index
}

function stepInto(layout: StorageLayout, { slot, type }: StoragePlace, step: PathStep): StoragePlace {
  if ('member' in step) {
    if (type.kind === 'struct') {
      return memberPlace(layout, slot, named(type.members, step.member, `member of ${type.label}`))
    }
    const isLength = type.kind === 'array' && type.length === undefined && step.member === 'length'
    if (isLength) return { slot, offset: 0, type: LENGTH }
    throw new VariableError(`${type.label} has no member ${step.member}`)
  }
  if (type.kind === 'array') return elementPlace(layout, type, slot, indexOf(type, step.key))
  if (type.kind !== 'mapping') throw new VariableError(`${type.label} takes no key`)
  return mappedPlace(layout, type, slot, step.key)
}

/** The place of a path. Throws a `VariableError` that begins with the part of it which does not fit, and names the nearest names. */
export function placeOf(layout: StorageLayout, path: string): StoragePlace {
  const { name, steps } = within(path, () => readPath(path))
  const variable = within(name, () => named(layout.variables, name, 'variable'))
  let place = memberPlace(layout, 0n, variable)
  let walked = name
  for (const step of steps) {
    walked += stepText(step)
    const above = place
    place = within(walked, () => stepInto(layout, above, step))
  }
  return place
}
