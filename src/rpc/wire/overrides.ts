/**
 * The state override set of simulations (docs/internals/rpc-reference.md#74-calls-and-estimates); every refusal names the
 * member.
 */
import type { VariableValue } from '../../abi/storage/value-type.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { AccountOverride } from '../../execution/request.ts'
import { hex, text } from '../json-forms.ts'
import { expected, mapOf, named, object, orNull, type Parameter, scalar } from '../parameter.ts'
import { Address, Data, MAX_NUMBER_TEXT } from './scalars.ts'
import { Variables } from './variables.ts'

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

/** A storage slot or word of at most 32 bytes; `0x` is optional, a short one counts as padded on the left. */
export const Word: Parameter<bigint> = scalar({
  form: hex({ prefix: 'optional', least: 1, most: 64 }),
  decode: (value) => BigInt(value.startsWith('0x') ? value : `0x${value}`),
  refusal: (_, name) => expected(name, 'at most 32 bytes in hex'),
})

const Storage = mapOf(Word, Word, (name, slot) => `${name} slot ${slot}`)

/** An address; the refusal names its field. */
export const NamedAddress = named(Address, 'an address')

/** An account's overrides as sent, members that exclude each other included. */
export interface SentOverride extends Omit<AccountOverride, 'replacesPrecompile' | 'variables'> {
  /** By path. */
  readonly variables?: ReadonlyMap<string, VariableValue> | undefined
}

/** Overrides by account, in the order sent. */
export type SentOverrides = ReadonlyMap<Hex, SentOverride>

const CHANGES = {
  balance: hexNumber(MAX_WORD),
  nonce: hexNumber(MAX_NONCE),
  code: named(Data, 'hex text'),
  state: Storage,
  stateDiff: Storage,
  variables: Variables,
} as const

/** Changes of an account that are written to the chain. */
export const AccountChangesObject = object(CHANGES, { nullIsAbsent: true, closed: true })

const AccountObject: Parameter<SentOverride> = object(
  { movePrecompileToAddress: NamedAddress, ...CHANGES },
  { nullIsAbsent: true },
)

/** The empty set. */
export const NO_OVERRIDES: SentOverrides = new Map()

/**
 * State overrides as sent; unknown members are ignored. What the members mean is checked by `placedSimulation`, after
 * the caller's right to use them, as the reference node does.
 */
export const OverriddenAccounts: Parameter<SentOverrides> = mapOf(
  NamedAddress,
  AccountObject,
  (name, key) => `${name} key ${key}`,
)

/** The same where null is no override. */
export const StateOverrideSet: Parameter<SentOverrides> = orNull(OverriddenAccounts, NO_OVERRIDES)
