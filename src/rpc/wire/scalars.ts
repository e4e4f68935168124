/**
 * The scalars of the wire: how parameters are decoded (docs/internals/rpc-reference.md#3-parameter-types) and what results
 * look like (docs/internals/rpc-reference.md#5-encodings).
 */
import { z } from 'zod'
import { fromHex, type Hex, isHex, isHexDigits, lowerCaseHex } from '../../encoding/hex.ts'
import { ANY_NUMBER, anyOf, DIGITS, hex, integer, literals, text } from '../json-forms.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'

/** `id` names the schema in the description of the methods. */
function hexText(pattern: RegExp, id: string, description: string): z.ZodType<Hex> {
  return z.string().regex(pattern).refine(isHex).meta({ id, description })
}

/** Result: `0x` and minimal lower-case digits. */
export const QuantityText = hexText(
  /^0x(0|[1-9a-f][0-9a-f]*)$/,
  'Quantity',
  'QUANTITY: 0x and hex digits, no leading zeros',
)
/** Result: wei. The Bridge's balance can be below zero, which the reference node writes as `0x-5`. */
export const BalanceText = hexText(
  /^0x(0|-?[1-9a-f][0-9a-f]*)$/,
  'Balance',
  "QUANTITY; 0x- and hex digits for a balance below zero, which the Bridge's can be",
)
/** Result: `0x` and two digits per byte. */
export const DataText = hexText(/^0x([0-9a-f]{2})*$/, 'Data', 'DATA: 0x and two hex digits per byte')
/** Result: 32 bytes. */
export const HashText = hexText(/^0x[0-9a-f]{64}$/, 'Hash', 'HASH: 0x and 64 hex digits')
/** Result: 20 bytes. */
export const AddressText = hexText(/^0x[0-9a-f]{40}$/, 'Address', 'ADDRESS: 0x and 40 hex digits')
/** Result: a 2048-bit bloom. */
export const BloomText = hexText(/^0x[0-9a-f]{512}$/, 'Bloom', 'DATA of 256 bytes')

/** Maximum length of a number as text, in characters. */
export const MAX_NUMBER_TEXT = 66

const digitsOf = (value: string): string => (value.startsWith('0x') ? value.slice(2) : value)

/** 40 digits in any case, `0x` optional; checksums are not verified. */
export const Address: Parameter<Hex> = scalar({
  form: hex({ prefix: 'optional', least: 40, most: 40 }),
  description: 'ADDRESS: 20 bytes in hex',
  decode: lowerCaseHex,
  refusal: (value) =>
    typeof value !== 'string' || value.length < 40 || value.length > 42
      ? 'Invalid address: null, empty or invalid hex value.'
      : 'Invalid address format: invalid hex value.',
})

function hashParameter(what: string): Parameter<Hex> {
  return scalar({
    form: hex({ prefix: 'optional', least: 63, most: 64, bareLeast: 64 }),
    description: 'HASH: 32 bytes in hex',
    decode: (value): Hex =>
      value.length === 65 ? `0x0${value.slice(2).toLowerCase()}` : lowerCaseHex(value),
    refusal(value, name) {
      if (value === null) return `${name} is null`
      return typeof value !== 'string' ||
        value.length < 64 ||
        value.length > 66 ||
        isHexDigits(digitsOf(value))
        ? `Invalid ${what}: incorrect length.`
        : `Invalid ${what} format: invalid hex value`
    },
  })
}

/** A block's hash; `0x` optional, one leading zero may be missing. */
export const BlockHash = hashParameter('block hash')
/** A transaction's hash, as lenient as `BlockHash`. */
export const TransactionHash = hashParameter('transaction hash')
/** A log's topic, as lenient as `BlockHash`. */
export const Topic = hashParameter('topic')

/** Hex digits with or without `0x` as bytes; an odd digit count gets a zero in front. */
function bytesOf(value: string): Uint8Array {
  const isPrefixed = value.startsWith('0x')
  if (value.length % 2 !== 0) return fromHex(`0x0${isPrefixed ? value.slice(2) : value}`)
  return fromHex(isPrefixed ? value : `0x${value}`)
}

/** Hex text of any length, `0x` optional. */
export const HEX_DIGITS = hex({ prefix: 'optional' })

/** Texts of at least this many characters are decoded instead of matched: the pattern takes longer than decoding. */
const LONG = 1024

/** The bytes of a long text, as `bytesOf` returns them; `undefined` when a character is not a hex digit. */
function longBytesOf(value: string): Uint8Array | undefined {
  // The decoder reads only the low byte of a two-byte character, and stops at the first that is not a digit.
  if (Buffer.byteLength(value) !== value.length) return undefined
  const bytes = bytesOf(value)
  const digits = value.startsWith('0x') ? value.length - 2 : value.length
  return 2 * bytes.length === digits + (digits % 2) ? bytes : undefined
}

const AnyData: Parameter<Uint8Array> = scalar({
  form: HEX_DIGITS,
  description: 'DATA: bytes in hex',
  decode: bytesOf,
  refusal: (value, name) =>
    typeof value === 'string' ? 'Invalid data format: invalid hex value.' : expected(name, 'hex text'),
})

/** Bytes in hex; `0x` optional, an odd digit count gets a zero in front, empty is no bytes. */
export const Data: Parameter<Uint8Array> = {
  schema: AnyData.schema,
  read(value, name) {
    const long = typeof value === 'string' && value.length >= LONG ? longBytesOf(value) : undefined
    return long ?? AnyData.read(value, name)
  },
}

/** Bytes in hex, no fewer than `shortest` and no more than `longest`. */
export function sizedData(shortest: number, longest: number): Parameter<Uint8Array> {
  const what = shortest === longest ? `${longest} bytes in hex` : `up to ${longest} bytes in hex`
  return scalar({
    form: hex({ prefix: 'optional', least: 2 * shortest - 1, most: 2 * longest }),
    description: what,
    decode: bytesOf,
    refusal: (value, name) => {
      if (typeof value !== 'string') return expected(name, 'hex text')
      return HEX_DIGITS.accepts(value) ? expected(name, what) : 'Invalid data format: invalid hex value.'
    },
  })
}

/** Why a value is not a `Quantity`. */
function quantityRefusal(value: unknown, name: string): string {
  if (typeof value !== 'string' && typeof value !== 'number') {
    return expected(name, 'a hex or decimal number')
  }
  const given = String(value)
  if (given.length > MAX_NUMBER_TEXT) return `Invalid param: ${given.slice(0, MAX_NUMBER_TEXT)}...`
  return /^[0-9a-fA-F]+$/.test(given)
    ? 'Number values should not contain letters or hex values should start with 0x.'
    : `Invalid param ${given}: value must be a valid hex or string number.`
}

/** An unsigned integer of up to 256 bits: `0x` hex or decimal text of at most 66 characters, or a JSON integer. */
export const Quantity: Parameter<bigint> = scalar({
  form: anyOf(text(/^(0x[0-9a-fA-F]+|[0-9]+)$/, { most: MAX_NUMBER_TEXT }), DIGITS),
  description: 'QUANTITY',
  decode: (value) => BigInt(value),
  refusal: quantityRefusal,
})

/** The position of a storage slot: a `Quantity`, where `0x` is slot 0. */
export const StoragePosition: Parameter<bigint> = scalar({
  form: anyOf(text(/^(0x[0-9a-fA-F]*|[0-9]+)$/, { most: MAX_NUMBER_TEXT }), DIGITS),
  description: 'QUANTITY',
  decode: (value) => (value === '0x' ? 0n : BigInt(value)),
  refusal: quantityRefusal,
})

/** A JSON scalar as text, converted as the reference node does (docs/internals/rpc-reference.md#3-parameter-types). */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** The refusal for hex numbers with lower-case digits only; `undefined` for a number that is out of range. */
export function argumentRefusal(value: string): string | undefined {
  if (value.length > MAX_NUMBER_TEXT) return `Invalid argument: ${value.slice(0, MAX_NUMBER_TEXT)}...`
  return value === '' || /^0x[0-9a-f]*$/.test(value)
    ? undefined
    : `Invalid argument "${value}": param should be a hex value string.`
}

/** A position in a list: `0x` and lower-case digits, at most 2^31 - 1. */
export const Index: Parameter<number> = scalar({
  form: text(/^0x0*[0-7]?[0-9a-f]{1,7}$/, { most: MAX_NUMBER_TEXT }),
  description: 'QUANTITY: 0x and lower-case hex digits',
  decode: Number,
  refusal(value, name) {
    const given = textOf(value)
    if (given === undefined) return expected(name, 'a hex number as text')
    return argumentRefusal(given) ?? 'Invalid index param: value must be a valid hex number.'
  },
})

/** A boolean; the texts "true" and "false" and numbers (0 is false) are accepted too. */
export const Flag: Parameter<boolean> = scalar({
  form: anyOf(literals(true, false, 'true', 'false'), ANY_NUMBER),
  decode: (value) => value === true || value === 'true' || (typeof value === 'number' && value !== 0),
  refusal: (_, name) => expected(name, 'true or false'),
})

/** An unsigned integer that a timer or a clock can hold: a JSON integer, decimal text or `0x` hex. */
export function wholeNumber(description: string, maximum: number): Parameter<number> {
  const number = text(/^(0[xX][0-9a-fA-F]+|[0-9]+)$/, { where: (value) => Number(value) <= maximum })
  return scalar({
    form: anyOf(integer(0, maximum), number),
    description,
    decode: Number,
    refusal: (_, name) => expected(name, `a whole number from 0 to ${maximum}`),
  })
}
