/** One contract as compilers leave it: Hardhat's and Foundry's artifacts, or an ABI alone. */
import { EMPTY, toNumber } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, isHexDigits, toHex } from '../encoding/hex.ts'
import { isObject } from '../encoding/json-object.ts'
import type { AbiCodec } from './codec.ts'
import { type AbiEntry, readEntries } from './entry.ts'
import { readStorageLayout, type StorageLayout } from './storage/layout.ts'
import { namedTypesOf } from './storage/named-types.ts'

/** How a contract's creation code is recognised in front of its arguments. */
export interface CreationCode {
  /** Bytes. */
  readonly length: number
  /** Its last 32 bytes, compared first. */
  readonly end: Hex
  readonly hash: Hex
}

/** A contract's names, and what it is recognised by. */
export interface Artifact {
  /** Empty when the source does not name it. */
  readonly name: string
  readonly entries: readonly AbiEntry[]
  readonly creation?: CreationCode
  /** Identifies its code at an address. */
  readonly codeKey?: string
  /** Where its variables stand, when the compiler was asked for that. */
  readonly layout?: StorageLayout
}

/** The compiler's metadata at the end of code holds a hash of the sources; shorter metadata only names the compiler. */
const MIN_METADATA = 40

/**
 * The same for all copies of one contract, though their immutable values differ: the compiler's metadata at the end,
 * which the creation code has as well, or the hash of code without metadata.
 */
export function codeKey(code: Uint8Array): string | undefined {
  if (code.length === 0) return undefined
  const note = code.length < 2 ? 0 : toNumber(code.subarray(-2))
  if (note >= MIN_METADATA && note + 2 < code.length) {
    return toHex(code.subarray(code.length - 2 - note))
  }
  return keccakHex(code)
}

/** How creation code is recognised; `undefined` when there is none, as for an interface. */
export function creationOf(code: Uint8Array): CreationCode | undefined {
  if (code.length < 32) return undefined
  return { length: code.length, end: toHex(code.subarray(-32)), hash: keccakHex(code) }
}

/**
 * The bytes of a member of an artifact: Hardhat has plain hex, Foundry and solc an object around it. `undefined` for code with
 * unlinked libraries.
 */
export function bytesOf(value: unknown): Uint8Array | undefined {
  const text = isObject(value) ? value.object : value
  if (typeof text !== 'string') return undefined
  const digits = text.startsWith('0x') ? text.slice(2) : text
  return digits.length > 0 && digits.length % 2 === 0 && isHexDigits(digits)
    ? fromHex(`0x${digits}`)
    : undefined
}

function entriesOf(abi: unknown, codec: AbiCodec): AbiEntry[] {
  if (Array.isArray(abi) && abi.length > 0 && abi.every((item) => typeof item === 'string')) {
    return codec.parse(abi)
  }
  return readEntries(abi)
}

/** Does this JSON look like an ABI or an artifact? */
export function holdsAbi(json: unknown): boolean {
  return Array.isArray(json) || (isObject(json) && Array.isArray(json.abi))
}

/**
 * Reads an artifact, or an ABI alone (JSON entries, or human-readable signatures). `name` is used where the source does
 * not name its contract. Throws an Error that describes the fault.
 */
export function readArtifact(json: unknown, codec: AbiCodec, name = ''): Artifact {
  if (!isObject(json)) return { name, entries: entriesOf(json, codec) }
  const { abi, contractName, bytecode, deployedBytecode, storageLayout } = json
  const creationBytes = bytesOf(bytecode)
  const creation = creationBytes && creationOf(creationBytes)
  const code = bytesOf(deployedBytecode)
  const key = codeKey(code ?? creationBytes ?? EMPTY)
  const entries = entriesOf(abi, codec)
  const layout = isObject(storageLayout) ? readStorageLayout(storageLayout, namedTypesOf(abi)) : undefined
  return {
    name: typeof contractName === 'string' ? contractName : name,
    entries,
    ...(creation && { creation }),
    ...(key !== undefined && { codeKey: key }),
    ...(layout && { layout }),
  }
}
