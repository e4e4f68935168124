/**
 * How a caller names a block, family by family (docs/internals/rpc-reference.md#31-block-parameters,
 * docs/internals/rpc-reference.md#32-eip-1898): each method takes one of these.
 */
import { z } from 'zod'
import { lowerCaseHex } from '../../encoding/hex.ts'
import type { BlockReference } from '../../engine/model.ts'
import { invalidParams } from '../../errors.ts'
import { anyOf, DIGITS, hex, literals, text } from '../json-forms.ts'
import {
  either,
  expected,
  mapped,
  NOTHING,
  object,
  type Parameter,
  refuse,
  scalar,
  withText,
} from '../parameter.ts'
import { BlockHash, MAX_NUMBER_TEXT, Quantity } from './scalars.ts'

/** A block as the caller named it. */
export interface BlockArgument {
  readonly reference: BlockReference
  /** As the caller wrote it, for error messages: `Block 0xff`, `Block with hash 0x…`. */
  readonly label: string
  /** Named by an EIP-1898 object: this block and no other, so absence is always an error. */
  readonly exact: boolean
}

const TAGS: Readonly<Record<string, BlockArgument>> = {
  earliest: { reference: { tag: 'earliest' }, label: 'Block earliest', exact: false },
  latest: { reference: { tag: 'latest' }, label: 'Block latest', exact: false },
  pending: { reference: { tag: 'pending' }, label: 'Block pending', exact: false },
}

/** The tag's argument, or `undefined`; a plain lookup would find inherited members such as `constructor`. */
function tagged(text: string): BlockArgument | undefined {
  return Object.hasOwn(TAGS, text) ? TAGS[text] : undefined
}

const HEX = /^0x[0-9a-fA-F]+$/
const DECIMAL = /^[0-9]+$/
const FULL_HASH = /^0x[0-9a-fA-F]{64}$/
/** Tags in any case, including Ethereum's tags that this chain does not have. */
const ANY_TAG = /^(latest|earliest|pending|finalized|safe)$/i

const TAG = literals('latest', 'earliest', 'pending')
const HEX_OR_HASH = hex({ prefix: 'required', least: 1, most: 64 })
/** A hex number that is not as long as a hash. */
const HEX_NUMBER = hex({ prefix: 'required', least: 1, most: 63 })
const DECIMAL_NUMBER = text(/^[0-9]{1,66}$/)

/** The height that a number or its text names; one that no chain reaches is cut to the largest safe integer. */
function height(value: bigint | number | string): number {
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER)
}

/** What an accepted text means. */
function argumentOf(given: string): BlockArgument {
  const tag = tagged(given)
  if (tag !== undefined) return tag
  const label = `Block ${given}`
  return FULL_HASH.test(given)
    ? { reference: { hash: lowerCaseHex(given) }, label, exact: false }
    : { reference: { number: height(given) }, label, exact: false }
}

const RequireCanonical = scalar({
  form: literals(true, false, 'true', 'false'),
  decode: (value) => value === true || value === 'true',
  refusal: () => 'Invalid input: requireCanonical must be a String "true" or "false"',
})

const ByHash = mapped(
  object({ requireCanonical: RequireCanonical, blockHash: withText(BlockHash) }, { required: ['blockHash'] }),
  ({ blockHash, requireCanonical = false }): BlockArgument => ({
    reference: { hash: blockHash.value, requireCanonical },
    label: `Block with hash ${blockHash.text}`,
    exact: true,
  }),
)

const ByNumber = mapped(
  object(
    { blockHash: NOTHING, blockNumber: withText(Quantity, 'blockNumber') },
    {
      required: ['blockNumber'],
      check: ({ blockNumber }) =>
        blockNumber === undefined || blockNumber === null ? 'Invalid block input' : undefined,
    },
  ),
  ({ blockNumber: { value, text: given } }): BlockArgument => ({
    reference: { number: height(value) },
    label: `Block ${given}`,
    exact: true,
  }),
)

/** EIP-1898: `blockHash` wins over `blockNumber`; booleans and numbers are accepted as JSON values and as text. */
const BlockObject: Parameter<BlockArgument> = {
  schema: () => z.union([ByHash.schema(), ByNumber.schema()]),
  read(value, name) {
    if (value === null) refuse(name, 'a block number, tag, hash or object')
    if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('Invalid input')
    const hasHash = 'blockHash' in value && value.blockHash !== undefined && value.blockHash !== null
    return (hasHash ? ByHash : ByNumber).read(value, name)
  },
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** The refusal of a text too long to name a block: the time to parse decimal digits grows faster than their number. */
function lengthRefusal(given: string): string | undefined {
  if (given.length <= MAX_NUMBER_TEXT) return undefined
  return `Invalid block identifier '${given.slice(0, MAX_NUMBER_TEXT)}...'`
}

const DESCRIPTION = 'Block: number, tag, hash or EIP-1898 object'

/** Parameters that accept objects accept no bare JSON numbers, and tags in lower case only. */
function withObjects(plain: Parameter<BlockArgument>): Parameter<BlockArgument> {
  const { schema, read } = either(isText, plain, BlockObject)
  return { schema: () => schema().describe(DESCRIPTION), read }
}

/** Where state is read: tag, hex number, block hash, EIP-1898 object. */
export const StateBlock = withObjects(
  scalar({
    form: anyOf(TAG, HEX_OR_HASH),
    decode: argumentOf,
    refusal(value) {
      const given = String(value)
      const plain = DECIMAL.test(given)
        ? `invalid blocknumber ${given}`
        : `Invalid block identifier '${given}'`
      return lengthRefusal(given) ?? plain
    },
  }),
)

/** Where a call runs: tag, hex or decimal number, EIP-1898 object; a hash is accepted in an object only. */
export const CallBlock = withObjects(
  scalar({
    form: anyOf(TAG, HEX_NUMBER, DECIMAL_NUMBER),
    decode: argumentOf,
    refusal(value, name) {
      const given = String(value)
      if (FULL_HASH.test(given)) {
        return expected(name, 'a block number, tag or object; name a hash as {"blockHash": …}')
      }
      return lengthRefusal(given) ?? `Invalid block identifier '${given}'`
    },
  }),
)

/** The refusal of a parameter that accepts text only; it reads JSON numbers as text and accepts no objects. */
function identifierRefusal(value: unknown): string | undefined {
  if (value === undefined || value === '' || value === null) {
    return 'Invalid block identifier: empty or null.'
  }
  if (typeof value === 'object') return `Invalid block identifier '${Array.isArray(value) ? '[' : '{'}'`
  const given = String(value)
  if (given.length > MAX_NUMBER_TEXT) return lengthRefusal(given)
  return ANY_TAG.test(given) || HEX.test(given) || DECIMAL.test(given)
    ? undefined
    : `Invalid block identifier '${given}'`
}

/** Which block is looked up: tag, hex number, or a block's hash. */
export const LookupBlock: Parameter<BlockArgument> = scalar({
  form: anyOf(TAG, HEX_OR_HASH),
  description: 'Block: hex number, tag or hash',
  decode: argumentOf,
  refusal: (value) => identifierRefusal(value) ?? `invalid blocknumber ${value}`,
})

/** The refusal of a parameter that treats every value but an object as a wrong number. */
function numberRefusal(value: unknown, name: string, what: string, long: string): string {
  if (typeof value === 'object' || value === undefined) return expected(name, what)
  const given = String(value)
  if (given.length > MAX_NUMBER_TEXT) return `${long} ${given.slice(0, MAX_NUMBER_TEXT)}...`
  return `invalid blocknumber ${given}`
}

/** The block of a raw header: as `LookupBlock`, but any other text is refused as a wrong number. */
export const HeaderBlock: Parameter<BlockArgument> = scalar({
  form: anyOf(TAG, HEX_OR_HASH),
  description: 'Block: hex number, tag or hash',
  decode: argumentOf,
  refusal: (value, name) =>
    numberRefusal(value, name, 'a block number, tag or hash', 'invalid block identifier'),
})

/** As `LookupBlock`, and JSON integers: what explorers send. */
export const NumberedBlock: Parameter<BlockArgument> = scalar({
  form: anyOf(TAG, HEX_OR_HASH, DIGITS),
  description: 'Block: JSON integer, hex number, tag or hash',
  decode: (value) => argumentOf(String(value)),
  refusal: (_, name) => expected(name, 'a block number, tag or hash'),
})

/** A height alone, hex or decimal. */
export const Height: Parameter<number> = scalar({
  form: anyOf(text(/^(0x[0-9a-fA-F]+|[0-9]+)$/, { most: MAX_NUMBER_TEXT }), DIGITS),
  description: 'Height: hex or decimal number',
  decode: height,
  refusal: (value, name) =>
    numberRefusal(value, name, 'a hex or decimal block number', 'invalid blocknumber'),
})

/** Where gas is estimated: tag, hex or decimal number. */
export const EstimateBlock: Parameter<BlockArgument> = scalar({
  form: anyOf(TAG, HEX_NUMBER, DECIMAL_NUMBER, DIGITS),
  description: 'Block: hex or decimal number, or tag',
  decode: (value) => argumentOf(String(value)),
  refusal(value, name) {
    const unreadable = identifierRefusal(value)
    if (unreadable !== undefined) return unreadable
    const given = String(value)
    if (FULL_HASH.test(given)) return expected(name, 'a block number or tag')
    const accepted = "Can only be either 'earliest', 'latest', 'pending' or a specific block number"
    return `Unsupported block specifier '${given}'. ${accepted} (either hex - prepending '0x' or decimal).`
  },
})

/** A bound of a log query: tag of any case, or hex number. */
export const LogBlock: Parameter<BlockArgument> = scalar({
  form: anyOf(text(/^(latest|earliest|pending)$/i), HEX_NUMBER),
  description: 'Block: hex number or tag',
  decode: (value) => tagged(value.toLowerCase()) ?? argumentOf(value),
  refusal(value, name) {
    if (value === null) return "Invalid block identifier 'null'"
    return identifierRefusal(value) ?? expected(name, 'a hex block number or a tag')
  },
})
