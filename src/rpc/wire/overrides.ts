/**
 * The state override set of `eth_call` (docs/internals/rpc-reference.md#74-calls-and-estimates); every refusal names
 * the field.
 */
import { type Hex, isHexDigits } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { AccountOverride, StateOverrides } from '../../execution/request.ts'
import { hex, text } from '../json-forms.ts'
import { expected, mapOf, object, type Parameter, refuse, scalar } from '../parameter.ts'
import { Address, Data, HEX_DIGITS, MAX_NUMBER_TEXT } from './scalars.ts'

const MAX_WORD = (1n << 256n) - 1n
const MAX_NONCE = (1n << 63n) - 1n

/** An unsigned integer in `0x` hex; decimal text is refused, as the reference node does here. */
function hexNumber(maximum: bigint): Parameter<bigint> {
  return scalar({
    form: text(/^0x[0-9a-fA-F]+$/, { most: MAX_NUMBER_TEXT, where: (value) => BigInt(value) <= maximum }),
    decode: BigInt,
    refusal: (_, name) => expected(name, 'a hex number with 0x, within range'),
  })
}

const Code: Parameter<Uint8Array> = {
  schema: Data.schema,
  read: (value, name) => (HEX_DIGITS.accepts(value) ? Data.read(value, name) : refuse(name, 'hex text')),
}

/** A storage slot or word of at most 32 bytes; `0x` is optional, a short one counts as padded on the left. */
export const Word: Parameter<bigint> = scalar({
  form: hex({ prefix: 'optional', least: 1, most: 64 }),
  decode: (value) => BigInt(value.startsWith('0x') ? value : `0x${value}`),
  refusal: (_, name) => expected(name, 'at most 32 bytes in hex'),
})

const Storage = mapOf(Word, Word, (name, slot) => `${name} slot ${slot}`)

/** An address; the refusal names its field. */
export const AccountKey: Parameter<Hex> = {
  schema: Address.schema,
  read(value, name) {
    const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
    return digits.length === 40 && isHexDigits(digits)
      ? Address.read(value, name)
      : refuse(name, 'an address')
  },
}

/** An account's overrides as sent, including members that exclude each other or that this node refuses. */
interface SentOverride extends AccountOverride {
  readonly movePrecompileToAddress?: Hex
}

const AccountObject: Parameter<SentOverride> = object(
  {
    movePrecompileToAddress: AccountKey,
    balance: hexNumber(MAX_WORD),
    nonce: hexNumber(MAX_NONCE),
    code: Code,
    state: Storage,
    stateDiff: Storage,
  },
  { nullIsAbsent: true },
)

/** Overrides of `eth_call` as sent: `requireSupported` checks what the members mean. */
export const SentOverrideSet: Parameter<ReadonlyMap<Hex, SentOverride>> = mapOf(
  AccountKey,
  AccountObject,
  (name, key) => `${name} key ${key}`,
)

/**
 * Checks the overrides of a caller who may use them: the reference node refuses any other caller before it checks the
 * members. Throws `invalid-params`.
 */
export function requireSupported(overrides: ReadonlyMap<Hex, SentOverride>, name: string): StateOverrides {
  for (const [account, { movePrecompileToAddress, state, stateDiff }] of overrides) {
    const path = `${name}.${account}`
    if (movePrecompileToAddress !== undefined) {
      throw invalidParams(`${path}.movePrecompileToAddress is not supported`)
    }
    if (state !== undefined && stateDiff !== undefined) {
      throw invalidParams(`${path}.state and ${path}.stateDiff cannot be set at the same time`)
    }
  }
  return overrides
}

/** Accounts to override, in the order sent; null members count as absent, unknown ones are ignored. */
export const OverrideSet: Parameter<StateOverrides> = {
  schema: () =>
    SentOverrideSet.schema().refine((sent) => {
      try {
        requireSupported(SentOverrideSet.read(sent, ''), '')
        return true
      } catch {
        return false
      }
    }),
  read: (sent, name) => requireSupported(SentOverrideSet.read(sent, name), name),
}
