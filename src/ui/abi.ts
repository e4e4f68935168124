/**
 * The arguments of a call as ABI-encoded hex, read from what a user typed. viem encodes, in 6 kB
 * (gzip) of a contract's page; micro-eth-signer would take 12 kB.
 */
import { concat, encodeAbiParameters } from 'viem/utils'
import type { Hex } from './format.ts'
import { integerOf } from './input.ts'
import type { AbiEntry, AbiParameter } from './model.ts'

/** Longest fixed array. */
const MOST_ITEMS = 100_000
/** A function is an address and a selector. */
const FUNCTION_BYTES = 24

/** A value of an integer type; `undefined` for any other text. */
function rangedInteger(type: string, text: string): bigint | undefined {
  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 256)
  const value = integerOf(text)
  const [least, most] = type.startsWith('u')
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
  return value === undefined || value < least || value > most ? undefined : value
}

/** Bytes as hex, of a length if one is given; `undefined` for any other text. */
function bytesOf(text: string, length?: number): Hex | undefined {
  const plain = text.trim().toLowerCase()
  if (!/^0x(?:[0-9a-f]{2})*$/.test(plain)) return undefined
  return length === undefined || plain.length === 2 + 2 * length ? `0x${plain.slice(2)}` : undefined
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** A value of an elementary type as the encoder takes it; `undefined` for any other text. */
function elementOf(type: string, text: string): unknown {
  if (type === 'string') return text
  if (type === 'address') return bytesOf(text, 20)
  if (type === 'bool') return BOOLS.get(text.trim().toLowerCase())
  if (/^u?int\d*$/.test(type)) return rangedInteger(type, text)
  if (type === 'bytes') return bytesOf(text)
  if (/^bytes\d+$/.test(type)) return bytesOf(text, Number(type.slice('bytes'.length)))
  return type === 'function' ? bytesOf(text, FUNCTION_BYTES) : undefined
}

const EXPECTED: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/^address$/, '0x and 40 hex digits'],
  [/^bool$/, 'true or false'],
  [/^u?int/, 'a whole number of this type'],
  [/^bytes$/, '0x and two hex digits a byte'],
  [/^bytes|^function$/, '0x and all its hex digits'],
]

function refuse(where: string, type: string): never {
  const expected = EXPECTED.find(([pattern]) => pattern.test(type))?.[1] ?? 'a value of this type'
  throw new Error(`${where}: expected ${expected} (${type})`)
}

function listOf(
  parameter: AbiParameter,
  type: string,
  length: string,
  value: unknown,
  where: string,
): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${where}: expected a list, such as [1, 2] (${parameter.type})`)
  if ((length !== '' && value.length !== Number(length)) || value.length > MOST_ITEMS) {
    throw new Error(`${where}: expected ${length || `at most ${MOST_ITEMS}`} values, got ${value.length}`)
  }
  return value.map((item, i) => argumentOf({ ...parameter, type }, item, `${where}[${i}]`))
}

/** The members of a tuple in order; they are given in order or by name. */
function membersOf({ components = [] }: AbiParameter, value: unknown, where: string): unknown[] {
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || value === null || (isList && value.length !== components.length)) {
    const names = components.map(({ name }) => name).join(', ')
    throw new Error(`${where}: expected ${components.length} values, such as [${names}]`)
  }
  const given = new Map(Object.entries(value))
  return components.map((member, i) =>
    argumentOf(member, given.get(isList ? String(i) : member.name), `${where}.${member.name || i}`),
  )
}

/** A value of JSON as the encoder takes it: elements come as text, since JavaScript numbers are too small. */
function argumentOf(parameter: AbiParameter, value: unknown, where: string): unknown {
  const [, type, length = ''] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? []
  if (type !== undefined) return listOf(parameter, type, length, value, where)
  if (parameter.type === 'tuple') return membersOf(parameter, value, where)
  if (typeof value !== 'string' && typeof value !== 'boolean') refuse(where, parameter.type)
  return elementOf(parameter.type, String(value)) ?? refuse(where, parameter.type)
}

/** JSON in which numbers and hex need no quotes and keep all their digits, as texts. Throws an Error that names `where`. */
export function readJson(text: string, where: string): unknown {
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|0x[0-9a-f]*|-?\d[\w.+]*/gi, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
  try {
    return JSON.parse(quoted)
  } catch {
    throw new Error(`${where}: expected JSON, such as [1, 2]`)
  }
}

/** What a parameter is called on the page. */
export function parameterLabel({ name, type }: AbiParameter, index: number): string {
  return `${name === '' ? `#${index + 1}` : name} (${type})`
}

/** A type that viem knows: it has none for functions. */
export function encodable({ name, type, components }: AbiParameter): AbiParameter {
  return {
    name,
    type: type.replace(/^function/, `bytes${FUNCTION_BYTES}`),
    ...(components && { components: components.map(encodable) }),
  }
}

/**
 * The input of a call: its selector, and its arguments, a text for each parameter. Lists and tuples are JSON. Throws an
 * Error that names the parameter and what it takes.
 */
export function encodeCall({ inputs, selector = '0x' }: AbiEntry, texts: readonly string[]): Hex {
  const values = inputs.map((parameter, i) => {
    const text = texts[i] ?? ''
    const where = parameter.name || `#${i + 1}`
    const isStructured = parameter.type.endsWith(']') || parameter.type === 'tuple'
    return argumentOf(parameter, isStructured ? readJson(text, where) : text, where)
  })
  return concat([selector, encodeAbiParameters(inputs.map(encodable), values)])
}
