/** Values of variables in storage. */
import type { StorageLayout } from '../abi/storage/layout.ts'
import { keyType, typeIn } from '../abi/storage/layout.ts'
import { VariableError } from '../abi/storage/path.ts'
import {
  elementPlace,
  hashedPlace,
  mappedPlace,
  memberPlace,
  type StoragePlace,
} from '../abi/storage/place.ts'
import { bytesIn, type ReadSlot, readPlace } from '../abi/storage/read.ts'
import { keyOfWord } from '../abi/storage/value-type.ts'
import { toBigInt } from '../encoding/bytes.ts'
import {
  arrayValue,
  isValueType,
  partedValue,
  plainValue,
  UNKNOWN_TEXT,
  type Value,
  valueText,
} from './value.ts'

/** The storage of a contract before a step, and what else the values need. */
export interface StorageParts {
  readonly layout: StorageLayout
  readonly read: ReadSlot
  /** Names of the members of an enum, by the key of its type. */
  membersOf(key: string): readonly string[] | undefined
  /** The keys, as they are hashed, that the execution used with a mapping at a slot. */
  keysOf(slot: bigint): Iterable<Uint8Array>
}

/** Names the keys of a mapping that an execution used. */
function keyNames(
  { layout, keysOf }: StorageParts,
  { slot, type }: StoragePlace,
): ReadonlyMap<string, Uint8Array> {
  const names = new Map<string, Uint8Array>()
  if (type.kind !== 'mapping') return names
  const key = keyType(layout, type)
  for (const bytes of keysOf(slot)) {
    if (isValueType(key)) {
      const found = bytes.length === 32 ? keyOfWord(key, toBigInt(bytes)) : undefined
      if (found !== undefined) names.set(found.text, found.bytes)
    } else
      names.set(
        key.kind === 'string' ? new TextDecoder().decode(bytes) : `0x${Buffer.from(bytes).toString('hex')}`,
        bytes,
      )
  }
  return names
}

/** The value of a place; `key` is that of its type. */
export function storageValue(name: string, key: string, place: StoragePlace, parts: StorageParts): Value {
  const { layout, read } = parts
  const { type, slot, offset } = place
  const { label } = type
  if (isValueType(type)) {
    return plainValue(
      name,
      label,
      valueText(type, bytesIn(read(slot), offset, type.size), parts.membersOf(key)),
    )
  }
  switch (type.kind) {
    case 'mapping': {
      const keys = keyNames(parts, place)
      return partedValue(name, label, label, [...keys.keys()], (wanted) => {
        const known = keys.get(wanted)
        const inner = known
          ? hashedPlace(layout, type, slot, known)
          : tryPlace(() => mappedPlace(layout, type, slot, wanted))
        return inner && storageValue(wanted, type.value, inner, parts)
      })
    }
    case 'array':
      return arrayValue(name, label, type.length ?? read(slot), (index, number) =>
        storageValue(index, type.base, elementPlace(layout, type, slot, number), parts),
      )
    case 'struct': {
      const names = type.members.map((member) => member.name)
      return partedValue(name, label, label.replace(/^struct /, ''), names, (wanted) => {
        const member = type.members.find((one) => one.name === wanted)
        return member && storageValue(wanted, member.type, memberPlace(layout, slot, member), parts)
      })
    }
    default:
      return plainValue(name, label, contentText(place, parts))
  }
}

/** The text of a `string` or `bytes`. */
function contentText(place: StoragePlace, { layout, read }: StorageParts): string {
  const value = tryPlace(() => readPlace(layout, place, read))
  if (value === undefined) return UNKNOWN_TEXT
  return place.type.kind === 'string' ? JSON.stringify(value) : String(value)
}

function tryPlace<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof VariableError) return undefined
    throw error
  }
}

/** The state variables of a layout, in order. */
export function stateValues(parts: StorageParts): readonly Value[] {
  const { layout } = parts
  return layout.variables.map((variable) =>
    storageValue(variable.name, variable.type, memberPlace(layout, 0n, variable), parts),
  )
}

/** What a pointer to storage on the stack points to. */
export function pointedValue(name: string, key: string, slot: bigint, parts: StorageParts): Value {
  return storageValue(name, key, { slot, offset: 0, type: typeIn(parts.layout, key) }, parts)
}
