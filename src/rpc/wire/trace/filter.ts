/** Parameters of `trace_*` and `debug_*` (docs/internals/rpc-reference.md#710-trace). */
import { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import { isHexDigits, lowerCaseHex } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { anyOf, DIGITS, hex, integer, text } from '../../json-forms.ts'
import {
  arrayOf,
  either,
  expected,
  mapped,
  object,
  orNull,
  type Parameter,
  scalar,
  type ValueOf,
  withText,
} from '../../parameter.ts'
import { type BlockArgument, LookupBlock } from '../block-reference.ts'
import { MOST_ITEMS } from '../log-filter.ts'
import { BlockHash } from '../scalars.ts'

/** A text of at most this length is a tag or a height, a longer one a hash. */
const LONGEST_NUMBER = 19
const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > LONGEST_NUMBER

/** A tag in any case or a hex number; `longer` names what the parameter accepts, for the refusal of longer texts. */
function shortBlock(longer: string): Parameter<BlockArgument> {
  return scalar({
    form: anyOf(
      text(/^(latest|earliest|pending)$/i),
      hex({ prefix: 'required', least: 1, most: LONGEST_NUMBER - 2 }),
    ),
    description: 'Block: number or tag',
    decode: (value) => LookupBlock.read(value.toLowerCase(), ''),
    refusal: (value, name) =>
      (typeof value !== 'string' && typeof value !== 'number') || isLong(value)
        ? expected(name, longer)
        : `invalid blocknumber ${value}`,
  })
}

const HashedBlock = mapped(
  withText(BlockHash),
  ({ value, text }): BlockArgument => ({ reference: { hash: value }, label: `Block ${text}`, exact: false }),
)

/** Tags in any case, hex numbers, hashes. */
export const TraceBlock: Parameter<BlockArgument> = either(
  isLong,
  HashedBlock,
  shortBlock('a block number, tag or hash'),
)

/** A block by number or tag, as `eth_getBlockByNumber` takes it, with the reference node's message for other texts. */
export const NumberedBlock: Parameter<BlockArgument> = {
  schema: LookupBlock.schema,
  read(value, name) {
    const isNumber =
      typeof value !== 'string' || /^(0x[0-9a-f]+|[0-9]+|latest|earliest|pending)$/i.test(value)
    if (!isNumber && !isLong(value)) throw invalidParams(`invalid blocknumber ${value}`)
    return LookupBlock.read(value, name)
  },
}

function looseHash(least: number): Parameter<Hex | undefined> {
  return scalar({
    form: anyOf(hex({ prefix: 'optional', least }), DIGITS),
    description: 'HASH: 32 bytes in hex',
    decode(value): Hex | undefined {
      const digits = lowerCaseHex(String(value)).slice(2)
      return digits.length === 63 || digits.length === 64 ? `0x${digits.padStart(64, '0')}` : undefined
    },
    refusal(value, name) {
      if (least > 0 && (value === '' || value === null)) return `'${name}' cannot be null or empty`
      return typeof value === 'string'
        ? 'Invalid transaction hash format: invalid hex value'
        : expected(name, 'a transaction hash as text')
    },
  })
}

/** The hash of a transaction; `undefined` for hex of another length, which no transaction has. */
export const LooseHash = looseHash(0)
/** The same, but not empty. */
export const NonEmptyHash = looseHash(1)

/** An address, with the reference node's message for a wrong length. */
export const ExactAddress: Parameter<Hex> = scalar({
  form: hex({ prefix: 'optional', least: 40, most: 40 }),
  description: 'ADDRESS: 20 bytes in hex',
  decode: lowerCaseHex,
  refusal(value, name) {
    if (typeof value !== 'string' && typeof value !== 'number') return expected(name, 'an address as text')
    const digits = String(value).replace(/^0x/, '')
    return isHexDigits(digits)
      ? `invalid argument 0: hex string has length ${digits.length}, want 40 for RSK address`
      : 'Invalid address format: invalid hex value.'
  },
})

const Addresses = orNull(
  either(
    Array.isArray,
    arrayOf(ExactAddress, { most: MOST_ITEMS }),
    mapped(ExactAddress, (address) => [address]),
  ),
  undefined,
)

/** Maximum digits of a count as text; a longer number may not be a safe integer. */
const COUNT_DIGITS = 15

/** A JSON integer or decimal text; its range depends on the options of the node. */
const Count = orNull(
  scalar({
    form: anyOf(
      integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      text(new RegExp(`^-?[0-9]{1,${COUNT_DIGITS}}$`)),
    ),
    decode: Number,
    refusal: (_, name) => expected(name, 'a whole number'),
  }),
  undefined,
)

const Bound = shortBlock('a hex block number or a tag')

const FilterMembers = object(
  {
    fromBlock: Bound,
    toBlock: Bound,
    fromAddress: Addresses,
    toAddress: Addresses,
    after: Count,
    count: Count,
  },
  { closed: true },
)

/** A selection of traces; absent members get the defaults of the profile, and no addresses match all. */
export type TraceFilter = ValueOf<typeof FilterMembers>

/** The filter object of `trace_filter`. */
export const TraceFilterObject: Parameter<TraceFilter> = {
  schema: FilterMembers.schema,
  read(value, name) {
    if (value === null) throw invalidParams('Invalid trace_filter parameters.')
    return FilterMembers.read(value, name)
  },
}

const Position = scalar({
  form: text(/^0x[0-9a-fA-F]{1,8}$/),
  decode: Number,
  refusal: (value, name) =>
    value === undefined || value === null || value === ''
      ? `'${name}' cannot be null or empty`
      : expected(name, 'a hex index'),
})

/** The index of a trace: one hex index, alone or in an array. */
export const TracePosition: Parameter<number> = {
  schema: () =>
    z
      .union([Position.schema(), z.array(Position.schema()).length(1)])
      .describe('Index of a trace: 0x and hex digits'),
  read(value, name) {
    if (!Array.isArray(value)) return Position.read(value, name)
    if (value.length > 1) throw invalidParams(`'${name}' accepts only one index`)
    return Position.read(value[0], name)
  },
}
