/**
 * What the methods of the wallet take: texts, raw keys, durations (docs/rpc-reference.md#3-parameter-types,
 * docs/rpc-reference.md#714-personal).
 */
import { z } from 'zod'
import { CURVE_ORDER } from '../../chain/signature.ts'
import { fromHex, isHexDigits } from '../../encoding/hex.ts'
import { UNLOCK_MS } from '../../engine/wallet/wallet.ts'
import { invalidParams } from '../../errors.ts'
import type { Parameter } from '../method.ts'
import { refuse } from './scalars.ts'

/** A text; numbers and booleans count as their digits and words, and null is refused in these words. */
function textParameter(description: string, onNull: string): Parameter<string> {
  return {
    schema: z.string().describe(description),
    read(value, name) {
      if (value === null || value === undefined) throw invalidParams(onNull)
      if (typeof value === 'object') refuse(name, 'a text')
      return String(value)
    },
  }
}

/** What a key is sealed under. */
export const Passphrase = textParameter('passphrase', 'Passphrase is null')
/** What a key is made of. */
export const Seed = textParameter('text whose keccak-256 is the key', 'Seed is null')

/** Longest text that a refusal repeats whole: a mistyped key must not reach the log. */
const LONGEST_REPEATED = 32

/** A private key: 64 digits of any case, `0x` optional, from 1 to the curve's order. */
export const PrivateKey: Parameter<Uint8Array> = {
  schema: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]{64}$/)
    .describe('private key: 32 bytes in hex'),
  read(value, name) {
    if (value === null || value === undefined) throw invalidParams('Key cannot be null.')
    const text = typeof value === 'object' ? refuse(name, '32 bytes in hex') : String(value)
    const digits = text.startsWith('0x') ? text.slice(2) : text
    if (!isHexDigits(digits)) {
      const repeated = text.length > LONGEST_REPEATED ? `${text.slice(0, 4)}…` : text
      throw invalidParams(`Invalid param ${repeated}: value must be a valid hex.`)
    }
    const number = digits.length === 64 ? BigInt(`0x${digits}`) : 0n
    if (number === 0n || number >= CURVE_ORDER) {
      refuse(name, "32 bytes in hex, more than zero and less than the curve's order")
    }
    return fromHex(`0x${digits}`)
  },
}

const LONGEST_DURATION = 2n ** 63n - 1n

/** Milliseconds that an account is unlocked for: `0x` and lower-case digits; null and the empty text stand for half an hour. */
export const Duration: Parameter<number> = {
  schema: z
    .string()
    .regex(/^(0x[0-9a-f]+)?$/)
    .nullable()
    .describe('QUANTITY of milliseconds; null or empty: 1800000'),
  read(value, name) {
    if (value === null || value === undefined || value === '') return UNLOCK_MS
    const text = typeof value === 'object' ? refuse(name, 'a hex number of milliseconds') : String(value)
    if (text.length > 66) throw invalidParams(`Invalid argument: ${text.slice(0, 66)}...`)
    if (!/^0x[0-9a-f]*$/.test(text)) {
      throw invalidParams(`Invalid argument "${text}": param should be a hex value string.`)
    }
    if (text === '0x' || BigInt(text) > LONGEST_DURATION) {
      throw invalidParams('Invalid duration param: value must be a valid hex number.')
    }
    return Number(text)
  },
}
