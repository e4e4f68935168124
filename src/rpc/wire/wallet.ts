/**
 * Parameters of the wallet's methods: texts, raw keys, durations (docs/internals/rpc-reference.md#3-parameter-types,
 * docs/internals/rpc-reference.md#714-personal).
 */
import { CURVE_ORDER } from '../../chain/signature.ts'
import { fromHex, isHexDigits } from '../../encoding/hex.ts'
import { UNLOCK_MS } from '../../engine/wallet/wallet.ts'
import { ANY_NUMBER, anyOf, anyText, literals, text } from '../json-forms.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'
import { argumentRefusal, MAX_NUMBER_TEXT } from './scalars.ts'

/** A secret text; numbers and booleans are read as their JSON text, and null is refused with a message of its own. */
function textParameter(description: string, onNull: string): Parameter<string> {
  return scalar({
    form: anyOf(anyText(), ANY_NUMBER, literals(true, false)),
    description,
    secret: 'text',
    decode: String,
    refusal: (value, name) => (value === null || value === undefined ? onNull : expected(name, 'a text')),
  })
}

/** The passphrase that encrypts a key. */
export const Passphrase = textParameter('passphrase', 'Passphrase is null')
/** The text that a key is derived from. */
export const Seed = textParameter('text whose keccak-256 is the key', 'Seed is null')

/** Maximum length of a text that a refusal repeats in full: a mistyped key must not reach the log. */
const LONGEST_REPEATED = 32

function isPrivateKey(digits: string): boolean {
  const number = BigInt(`0x${digits}`)
  return number > 0n && number < CURVE_ORDER
}

const withoutPrefix = (value: string): string => (value.startsWith('0x') ? value.slice(2) : value)

/** A private key: 64 digits of any case, `0x` optional, from 1 to the curve's order. */
export const PrivateKey: Parameter<Uint8Array> = scalar({
  form: text(/^(0x)?[0-9a-fA-F]{64}$/, { where: (value) => isPrivateKey(withoutPrefix(value)) }),
  description: 'private key: 32 bytes in hex',
  secret: 'key',
  decode: (value) => fromHex(`0x${withoutPrefix(value)}`),
  refusal(value, name) {
    if (value === null || value === undefined) return 'Key cannot be null.'
    if (typeof value === 'object') return expected(name, '32 bytes in hex')
    const given = String(value)
    if (isHexDigits(withoutPrefix(given))) {
      return expected(name, "32 bytes in hex, more than zero and less than the curve's order")
    }
    const repeated = given.length > LONGEST_REPEATED ? `${given.slice(0, 4)}…` : given
    return `Invalid param ${repeated}: value must be a valid hex.`
  },
})

/** How many milliseconds to unlock an account: `0x` and lower-case digits below 2^63; null and empty text mean half an hour. */
export const Duration: Parameter<number> = scalar({
  form: anyOf(text(/^(0x0*[0-7]?[0-9a-f]{1,15})?$/, { most: MAX_NUMBER_TEXT }), literals(null)),
  description: 'QUANTITY of milliseconds; null or empty: 1800000',
  decode: (value) => (value === null || value === '' ? UNLOCK_MS : Number(value)),
  refusal(value, name) {
    if (typeof value === 'object' || value === undefined)
      return expected(name, 'a hex number of milliseconds')
    return argumentRefusal(String(value)) ?? 'Invalid duration param: value must be a valid hex number.'
  },
})
