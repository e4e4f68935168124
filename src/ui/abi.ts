/** The arguments of a call as ABI-encoded hex, read from what a user typed. */
import type { Hex } from './format.ts'

/** A parameter of `evm_contractAbi`. */
export interface AbiParameter {
  readonly name: string
  readonly type: string
  readonly indexed?: boolean
  /** Of tuples and arrays of tuples only. */
  readonly components?: readonly AbiParameter[]
}

/** An entry of `evm_contractAbi`. */
export interface AbiEntry {
  readonly type: 'function' | 'event' | 'error' | 'constructor'
  readonly name?: string
  readonly inputs: readonly AbiParameter[]
  readonly outputs?: readonly AbiParameter[]
  readonly stateMutability?: 'pure' | 'view' | 'nonpayable' | 'payable'
  /** Such as `transfer(address,uint256)`. */
  readonly signature?: string
  /** 4 bytes, or the topic of an event. */
  readonly selector?: Hex
}

/** Hex digits of a word. */
const WORD = 64
/** Longest fixed array. */
const MOST_ITEMS = 100_000

/** Encoded, without `0x`; `isDynamic` stands behind an offset. */
interface Encoded {
  readonly isDynamic: boolean
  readonly digits: string
}

const fixed = (digits: string): Encoded => ({ isDynamic: false, digits })
const dynamic = (digits: string): Encoded => ({ isDynamic: true, digits })

function wordOf(value: bigint): string {
  return BigInt.asUintN(256, value).toString(16).padStart(WORD, '0')
}

/** Zeros behind the digits, up to whole words. */
function padded(digits: string): string {
  return digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0')
}

/** Heads, in which offsets stand for what is dynamic, and then the tails. */
function sequence(parts: readonly Encoded[]): Encoded {
  let offset = parts.reduce((sum, { isDynamic, digits }) => sum + (isDynamic ? WORD : digits.length), 0)
  let heads = ''
  let tails = ''
  for (const { isDynamic, digits } of parts) {
    heads += isDynamic ? wordOf(BigInt(offset / 2)) : digits
    if (!isDynamic) continue
    tails += digits
    offset += digits.length
  }
  return { isDynamic: tails !== '' || parts.some(({ isDynamic }) => isDynamic), digits: heads + tails }
}

/** A whole number: decimal, hex, or with a decimal exponent, such as `1.5e18`. */
function integerOf(text: string): bigint | undefined {
  const plain = text.replace(/[_\s]/g, '')
  if (/^-?(\d+|0x[0-9a-f]+)$/i.test(plain)) {
    return plain.startsWith('-') ? -BigInt(plain.slice(1)) : BigInt(plain)
  }
  const match = /^(-?)(\d+)(?:\.(\d+))?e\+?(\d{1,2})$/i.exec(plain)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent] = match
  const zeros = Number(exponent) - fraction.length
  if (zeros < 0) return undefined
  const value = BigInt(whole + fraction) * 10n ** BigInt(zeros)
  return sign === '-' ? -value : value
}

function encodeInteger(type: string, text: string): Encoded | undefined {
  const bits = BigInt(/\d+$/.exec(type)?.[0] ?? 256)
  const value = integerOf(text)
  const [least, most] = type.startsWith('u')
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
  return value === undefined || value < least || value > most ? undefined : fixed(wordOf(value))
}

function encodeBytes(type: string, text: string): Encoded | undefined {
  const digits = /^0x((?:[0-9a-f]{2})*)$/i.exec(text.trim())?.[1]?.toLowerCase()
  if (digits === undefined) return undefined
  if (type === 'bytes') return dynamic(wordOf(BigInt(digits.length / 2)) + padded(digits))
  return digits.length === 2 * Number(type.slice(5)) ? fixed(padded(digits)) : undefined
}

function encodeText(text: string): Encoded {
  const bytes = new TextEncoder().encode(text)
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return dynamic(wordOf(BigInt(bytes.length)) + padded(digits))
}

/** A value of an elementary type; `undefined` for text that is none. */
function encodeElement(type: string, text: string): Encoded | undefined {
  if (type === 'string') return encodeText(text)
  if (type === 'address') {
    const plain = text.trim()
    return /^0x[0-9a-f]{40}$/i.test(plain)
      ? fixed(plain.slice(2).toLowerCase().padStart(WORD, '0'))
      : undefined
  }
  if (type === 'bool') {
    const plain = text.trim().toLowerCase()
    return plain === 'true' || plain === '1'
      ? fixed(wordOf(1n))
      : plain === 'false' || plain === '0'
        ? fixed(wordOf(0n))
        : undefined
  }
  if (/^u?int\d*$/.test(type)) return encodeInteger(type, text)
  // A function is an address and a selector: 24 bytes.
  if (/^bytes\d*$/.test(type)) return encodeBytes(type, text)
  return type === 'function' ? encodeBytes('bytes24', text) : undefined
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

/** A value of JSON: text for what is elementary, since numbers of JavaScript are too short. */
function encodeValue(parameter: AbiParameter, value: unknown, where: string): Encoded {
  const array = /^(.*)\[(\d*)\]$/.exec(parameter.type)
  if (array !== null) {
    const [, type = '', length = ''] = array
    if (!Array.isArray(value))
      throw new Error(`${where}: expected a list, such as [1, 2] (${parameter.type})`)
    if ((length !== '' && value.length !== Number(length)) || value.length > MOST_ITEMS) {
      throw new Error(`${where}: expected ${length || `at most ${MOST_ITEMS}`} values, got ${value.length}`)
    }
    const items = value.map((item, i) => encodeValue({ ...parameter, type }, item, `${where}[${i}]`))
    const { isDynamic, digits } = sequence(items)
    return length === '' ? dynamic(wordOf(BigInt(items.length)) + digits) : { isDynamic, digits }
  }
  if (parameter.type === 'tuple') {
    const members = parameter.components ?? []
    const isList = Array.isArray(value)
    if (typeof value !== 'object' || value === null || (isList && value.length !== members.length)) {
      throw new Error(
        `${where}: expected ${members.length} values, such as [${members.map(({ name }) => name).join(', ')}]`,
      )
    }
    const values = value as Readonly<Record<string, unknown>>
    return sequence(
      members.map((member, i) =>
        encodeValue(member, values[isList ? String(i) : member.name], `${where}.${member.name || i}`),
      ),
    )
  }
  if (typeof value !== 'string' && typeof value !== 'boolean') refuse(where, parameter.type)
  return encodeElement(parameter.type, String(value)) ?? refuse(where, parameter.type)
}

/** JSON in which numbers and hex need no quotes and keep all their digits. */
function readJson(text: string, where: string): unknown {
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

/**
 * The input of a call: its selector, and its arguments, a text for each parameter. Lists and tuples are JSON. Throws an
 * Error that names the parameter and what it takes.
 */
export function encodeCall({ inputs, selector = '0x' }: AbiEntry, texts: readonly string[]): Hex {
  const parts = inputs.map((parameter, i) => {
    const text = texts[i] ?? ''
    const where = parameter.name || `#${i + 1}`
    const isStructured = parameter.type.endsWith(']') || parameter.type === 'tuple'
    return encodeValue(parameter, isStructured ? readJson(text, where) : text, where)
  })
  return `${selector}${sequence(parts).digits}`
}
