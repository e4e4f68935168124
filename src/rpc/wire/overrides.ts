/**
 * The state override set of `eth_call` (docs/rpc-reference.md#74-calls-and-estimates); every refusal names
 * the field.
 */
import { type Hex, isHexDigits } from '../../encoding/hex.ts'
import type { AccountOverride, StateOverrides } from '../../execution/request.ts'
import { hex, literals, text } from '../json-forms.ts'
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
const Word: Parameter<bigint> = scalar({
  form: hex({ prefix: 'optional', least: 1, most: 64 }),
  decode: (value) => BigInt(value.startsWith('0x') ? value : `0x${value}`),
  refusal: (_, name) => expected(name, 'at most 32 bytes in hex'),
})

const Storage = mapOf(Word, Word, (name, slot) => `${name} slot ${slot}`)

/** Null or absent only. */
const Unsupported = scalar({
  form: literals(null),
  description: 'not supported',
  decode: () => undefined,
  refusal: (_, name) => `${name} is not supported`,
})

const AccountObject: Parameter<AccountOverride> = object(
  {
    movePrecompileToAddress: Unsupported,
    balance: hexNumber(MAX_WORD),
    nonce: hexNumber(MAX_NONCE),
    code: Code,
    state: Storage,
    stateDiff: Storage,
  },
  {
    nullIsAbsent: true,
    check({ movePrecompileToAddress, state, stateDiff }, name) {
      if (isGiven(movePrecompileToAddress)) return `${name}.movePrecompileToAddress is not supported`
      return isGiven(state) && isGiven(stateDiff)
        ? `${name}.state and ${name}.stateDiff cannot be set at the same time`
        : undefined
    },
  },
)

function isGiven(member: unknown): boolean {
  return member !== undefined && member !== null
}

/** The key of an account. */
const AccountKey: Parameter<Hex> = {
  schema: Address.schema,
  read(value, name) {
    const digits = String(value).replace(/^0x/, '')
    return digits.length === 40 && isHexDigits(digits)
      ? Address.read(value, name)
      : refuse(name, 'an address')
  },
}

/** Accounts to override, in the order sent; null members count as absent, unknown ones are ignored. */
export const OverrideSet: Parameter<StateOverrides> = mapOf(
  AccountKey,
  AccountObject,
  (name, key) => `${name} key ${key}`,
)
