/**
 * The scalars of the wire: how parameters are read (docs/rpc-reference.md#3-parameter-types) and what results
 * look like (docs/rpc-reference.md#5-encodings).
 */
import { z } from 'zod'
import { fromHex, type Hex, isHexDigits } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Parameter } from '../method.ts'

/** `id` names the schema in the description of the methods. */
function hexText(pattern: RegExp, id: string, description: string): z.ZodType<Hex> {
  return z.string().regex(pattern).meta({ id, description }) as unknown as z.ZodType<Hex>
}

/** Result: `0x` and minimal lower-case digits. */
export const QuantityText = hexText(
  /^0x(0|[1-9a-f][0-9a-f]*)$/,
  'Quantity',
  'QUANTITY: 0x and hex digits, no leading zeros',
)
/** Result: `0x` and two digits per byte. */
export const DataText = hexText(/^0x([0-9a-f]{2})*$/, 'Data', 'DATA: 0x and two hex digits per byte')
/** Result: 32 bytes. */
export const HashText = hexText(/^0x[0-9a-f]{64}$/, 'Hash', 'HASH: 0x and 64 hex digits')
/** Result: 20 bytes. */
export const AddressText = hexText(/^0x[0-9a-f]{40}$/, 'Address', 'ADDRESS: 0x and 40 hex digits')
/** Result: a 2048-bit bloom. */
export const BloomText = hexText(/^0x[0-9a-f]{512}$/, 'Bloom', 'DATA of 256 bytes')

/** The refusal of a value that the chain's texts do not cover; it names the parameter. */
export function refuse(name: string, expected: string): never {
  throw invalidParams(`Invalid ${name}: expected ${expected}.`)
}

function stripPrefix(text: string): string {
  return text.startsWith('0x') ? text.slice(2) : text
}

/** 40 digits of any case, `0x` optional; checksums are not looked at. */
export const Address: Parameter<Hex> = {
  schema: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]{40}$/)
    .describe('ADDRESS: 20 bytes in hex'),
  read(value) {
    if (typeof value !== 'string' || value.length < 40 || value.length > 42) {
      throw invalidParams('Invalid address: null, empty or invalid hex value.')
    }
    const digits = stripPrefix(value)
    if (digits.length !== 40 || !isHexDigits(digits)) {
      throw invalidParams('Invalid address format: invalid hex value.')
    }
    return `0x${digits.toLowerCase()}`
  },
}

function hashParameter(what: string): Parameter<Hex> {
  return {
    schema: z
      .string()
      .regex(/^(0x)?[0-9a-fA-F]{63,64}$/)
      .describe('HASH: 32 bytes in hex'),
    read(value) {
      if (typeof value !== 'string' || value.length < 64 || value.length > 66) {
        throw invalidParams(`Invalid ${what}: incorrect length.`)
      }
      const digits = stripPrefix(value)
      if (!isHexDigits(digits)) throw invalidParams(`Invalid ${what} format: invalid hex value`)
      if (digits.length < 63 || digits.length > 64) throw invalidParams(`Invalid ${what}: incorrect length.`)
      return `0x${digits.toLowerCase().padStart(64, '0')}`
    },
  }
}

/** A block's hash; `0x` optional, one leading zero may be missing. */
export const BlockHash = hashParameter('block hash')
/** A transaction's hash, as lenient as `BlockHash`. */
export const TransactionHash = hashParameter('transaction hash')
/** A log's topic, as lenient as `BlockHash`. */
export const Topic = hashParameter('topic')

/** Bytes in hex; `0x` optional, an odd digit count gets a zero in front, empty is no bytes. */
export const Data: Parameter<Uint8Array> = {
  schema: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]*$/)
    .describe('DATA: bytes in hex'),
  read(value, name) {
    if (typeof value !== 'string') refuse(name, 'hex text')
    const digits = stripPrefix(value)
    if (!isHexDigits(digits)) throw invalidParams('Invalid data format: invalid hex value.')
    return fromHex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`)
  },
}

/** An unsigned integer of up to 256 bits: `0x` hex or decimal text of at most 66 characters, or a JSON integer. */
export const Quantity: Parameter<bigint> = {
  schema: z
    .union([
      z
        .string()
        .regex(/^(0x[0-9a-fA-F]+|[0-9]+)$/)
        .max(66),
      z.int().nonnegative(),
    ])
    .describe('QUANTITY'),
  read(value, name) {
    if (typeof value !== 'string' && typeof value !== 'number') refuse(name, 'a hex or decimal number')
    const text = String(value)
    if (text.length > 66) throw invalidParams(`Invalid param: ${text.slice(0, 66)}...`)
    if (/^(0x[0-9a-fA-F]+|[0-9]+)$/.test(text)) return BigInt(text)
    if (/^[0-9a-fA-F]+$/.test(text)) {
      throw invalidParams('Number values should not contain letters or hex values should start with 0x.')
    }
    throw invalidParams(`Invalid param ${text}: value must be a valid hex or string number.`)
  },
}

/** A position in a list: `0x` and lower-case digits, at most 2^31 - 1. */
export const Index: Parameter<number> = {
  schema: z
    .string()
    .regex(/^0x[0-9a-f]+$/)
    .describe('QUANTITY: 0x and lower-case hex digits'),
  read(value, name) {
    if (typeof value !== 'string') refuse(name, 'a hex number as text')
    if (value.length > 66) throw invalidParams(`Invalid argument: ${value.slice(0, 66)}...`)
    if (value !== '' && !/^0x[0-9a-f]*$/.test(value)) {
      throw invalidParams(`Invalid argument "${value}": param should be a hex value string.`)
    }
    const index = value.length > 2 ? Number(value) : Number.NaN
    if (!(index <= 0x7fff_ffff)) throw invalidParams('Invalid index param: value must be a valid hex number.')
    return index
  },
}

/** A boolean; the texts "true" and "false" and numbers (0 is false) count as one. */
export const Flag: Parameter<boolean> = {
  schema: z.boolean(),
  read(value, name) {
    if (typeof value === 'boolean') return value
    if (value === 'true') return true
    if (value === 'false') return false
    if (typeof value === 'number') return value !== 0
    return refuse(name, 'true or false')
  },
}

/** An unsigned integer that a timer or a clock can hold: a JSON integer, decimal text or `0x` hex. */
export function wholeNumber(description: string, maximum: number): Parameter<number> {
  return {
    schema: z.union([z.int().nonnegative().max(maximum), z.string()]).describe(description),
    read(value, name) {
      const fits =
        typeof value === 'number' || (typeof value === 'string' && /^(0x[0-9a-f]+|\d+)$/i.test(value))
      const number = fits ? Number(value) : Number.NaN
      if (!Number.isInteger(number) || number < 0 || number > maximum) {
        refuse(name, `a whole number from 0 to ${maximum}`)
      }
      return number
    },
  }
}
