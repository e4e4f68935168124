/** The entries of a contract's ABI: functions, events and errors, read from JSON, with their canonical signatures. */
import { keccak256 } from '../encoding/hash.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { isObject } from '../encoding/json-object.ts'

/** A parameter of a function, event or error, or a member of a tuple. */
export interface AbiParameter {
  /** Empty when it has none. */
  readonly name: string
  readonly type: string
  /** Of tuples and arrays of tuples only. */
  readonly components: readonly AbiParameter[]
  /** Of events only. */
  readonly indexed: boolean
}

/** Whether a function reads or changes state, and takes value. */
export type Mutability = 'pure' | 'view' | 'nonpayable' | 'payable'

/** One entry of an ABI. */
export interface AbiEntry {
  readonly kind: 'function' | 'event' | 'error' | 'constructor'
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  /** Of functions only. */
  readonly outputs: readonly AbiParameter[]
  /** Of events: an anonymous one has no topic of its own. */
  readonly anonymous: boolean
  /** Of functions and constructors only. */
  readonly mutability?: Mutability
}

const KINDS: ReadonlySet<unknown> = new Set<AbiEntry['kind']>(['function', 'event', 'error', 'constructor'])
/** Entries without arguments, which are ignored. */
const NAMELESS: ReadonlySet<unknown> = new Set(['fallback', 'receive'])
/** Maximum nesting of tuples; compilers allow far less. */
const MAX_DEPTH = 16

/** Most entries of an ABI: code of the largest size has room for half as many functions. To name one takes some 20 µs. */
export const MOST_ENTRIES = 4096

/** Longest text of a type, characters. */
const MAX_TYPE = 256

type Json = Readonly<Record<string, unknown>>

const isKind = (type: unknown): type is AbiEntry['kind'] => KINDS.has(type)

function readParameters(value: unknown, where: string, depth = 0): AbiParameter[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || depth > MAX_DEPTH) throw new Error(`${where} is not a list of parameters`)
  return value.map((item, i) => {
    const place = `${where}[${i}]`
    if (!isObject(item) || typeof item.type !== 'string') throw new Error(`${place} has no type`)
    const { name, type, components, indexed } = item
    if (type.length > MAX_TYPE) throw new Error(`${place} has too long a type`)
    return {
      name: typeof name === 'string' ? name : '',
      type,
      components: readParameters(components, `${place}.components`, depth + 1),
      indexed: indexed === true,
    }
  })
}

const MUTABILITIES: readonly Mutability[] = ['pure', 'view', 'nonpayable', 'payable']

/** Compilers before Solidity 0.5 wrote `constant` and `payable`. */
function mutabilityOf({ stateMutability, constant, payable }: Json): Mutability {
  const named = MUTABILITIES.find((mutability) => mutability === stateMutability)
  return named ?? (constant === true ? 'view' : payable === true ? 'payable' : 'nonpayable')
}

/** Reads the entries of an ABI in JSON, as compilers write it. Throws an Error that names the first malformed one. */
export function readEntries(abi: unknown): AbiEntry[] {
  if (!Array.isArray(abi)) throw new Error('an ABI is a list of entries')
  if (abi.length > MOST_ENTRIES) {
    throw new Error(`the ABI has ${abi.length} entries, and may have ${MOST_ENTRIES}`)
  }
  return abi.flatMap((item, i) => {
    if (!isObject(item)) throw new Error(`entry ${i} is not an object`)
    const { type = 'function', name, inputs, outputs, anonymous } = item
    if (NAMELESS.has(type)) return []
    if (!isKind(type)) throw new Error(`entry ${i} has the unknown type ${JSON.stringify(type)}`)
    if (type !== 'constructor' && (typeof name !== 'string' || name === '')) {
      throw new Error(`entry ${i} has no name`)
    }
    return {
      kind: type,
      name: typeof name === 'string' ? name : '',
      inputs: readParameters(inputs, `entry ${i}: inputs`),
      outputs: readParameters(outputs, `entry ${i}: outputs`),
      anonymous: anonymous === true,
      ...((type === 'function' || type === 'constructor') && { mutability: mutabilityOf(item) }),
    }
  })
}

/** The type as in signatures: tuples as lists of their members, bare integers with their width. */
function canonicalType({ type, components }: AbiParameter): string {
  if (type.startsWith('tuple')) return `(${components.map(canonicalType).join(',')})${type.slice(5)}`
  return type.replace(/^(u?int)(?=\[|$)/, '$1256')
}

/** For example `transfer(address,uint256)`. */
export function signatureOf({ name, inputs }: Pick<AbiEntry, 'name' | 'inputs'>): string {
  return `${name}(${inputs.map(canonicalType).join(',')})`
}

/** The hash of a signature. */
export function signatureHash(signature: string): Hex {
  return toHex(keccak256(new TextEncoder().encode(signature)))
}

/** The first topic of an event: the hash of its signature. */
export function topicOf(entry: Pick<AbiEntry, 'name' | 'inputs'>): Hex {
  return signatureHash(signatureOf(entry))
}

/** The selector of a function or an error: the first 4 bytes of the hash of its signature. */
export function selectorOf(entry: Pick<AbiEntry, 'name' | 'inputs'>): Hex {
  return `0x${topicOf(entry).slice(2, 10)}`
}
