/**
 * How a caller names a block, family by family (docs/rpc-reference.md#31-block-parameters,
 * docs/rpc-reference.md#32-eip-1898): each method reads one of these.
 */
import { z } from 'zod'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockReference } from '../../engine/model.ts'
import { invalidParams } from '../../errors.ts'
import type { Parameter } from '../method.ts'
import { BlockHash, Flag, Quantity, refuse } from './scalars.ts'

/** A block as the caller named it. */
export interface BlockArgument {
  readonly reference: BlockReference
  /** The caller's words, as a refusal repeats them: `Block 0xff`, `Block with hash 0x…`. */
  readonly label: string
  /** Named by an EIP-1898 object: this block and no other, so absence is always an error. */
  readonly exact: boolean
}

const TAGS: Readonly<Record<string, BlockArgument>> = {
  earliest: { reference: { tag: 'earliest' }, label: 'Block earliest', exact: false },
  latest: { reference: { tag: 'latest' }, label: 'Block latest', exact: false },
  pending: { reference: { tag: 'pending' }, label: 'Block pending', exact: false },
}

/** The tag's argument, or `undefined`; a plain lookup would find what every object inherits. */
function tagged(text: string): BlockArgument | undefined {
  return Object.hasOwn(TAGS, text) ? TAGS[text] : undefined
}

const HEX = /^0x[0-9a-fA-F]+$/
const DECIMAL = /^[0-9]+$/
const FULL_HASH = /^0x[0-9a-fA-F]{64}$/
/** Longest text that can name a block; more of it is neither read nor repeated in a refusal. */
const MAX_TEXT = 66
const FOREIGN_TAG = /^(latest|earliest|pending|finalized|safe)$/i

const schema = z
  .union([z.enum(['latest', 'earliest', 'pending']), z.string().regex(HEX)])
  .describe('Block: hex number or tag')
const schemaWithObject = z
  .union([
    z.enum(['latest', 'earliest', 'pending']),
    z.string().regex(HEX),
    z.object({ blockHash: z.string(), requireCanonical: z.boolean().optional() }),
    z.object({ blockNumber: z.string() }),
  ])
  .describe('Block: hex number, tag, hash or EIP-1898 object')

/** A height; one that no chain reaches is cut to the largest safe integer. */
function height(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value)
}

function numbered(text: string): BlockArgument {
  return { reference: { number: height(BigInt(text)) }, label: `Block ${text}`, exact: false }
}

function hashed(text: string): BlockArgument {
  return { reference: { hash: text.toLowerCase() as Hex }, label: `Block ${text}`, exact: false }
}

const FLAGS: ReadonlySet<unknown> = new Set([true, false, 'true', 'false'])

/** EIP-1898: `blockHash` wins over `blockNumber`; booleans and numbers are taken as such and as text. */
function fromObject(given: object): BlockArgument {
  const { blockHash, blockNumber, requireCanonical } = given as Record<string, unknown>
  if (blockHash !== undefined && blockHash !== null) {
    if (requireCanonical !== undefined && !FLAGS.has(requireCanonical)) {
      throw invalidParams('Invalid input: requireCanonical must be a String "true" or "false"')
    }
    const hash = BlockHash.read(blockHash, 'blockHash')
    const required = requireCanonical === undefined ? false : Flag.read(requireCanonical, 'requireCanonical')
    return {
      reference: { hash, requireCanonical: required },
      label: `Block with hash ${blockHash}`,
      exact: true,
    }
  }
  if (blockNumber === undefined || blockNumber === null) throw invalidParams('Invalid block input')
  const number = Quantity.read(blockNumber, 'blockNumber')
  return { reference: { number: height(number) }, label: `Block ${blockNumber}`, exact: true }
}

/** Decimal digits take time to read that grows faster than their number. */
function refuseLong(text: string): void {
  if (text.length > MAX_TEXT) throw invalidParams(`Invalid block identifier '${text.slice(0, MAX_TEXT)}...'`)
}

/** The forms that accept objects take no bare numbers, and tags in lower case only. */
function readText(value: unknown, name: string): string | BlockArgument {
  if (typeof value === 'string') {
    refuseLong(value)
    if (tagged(value) !== undefined || HEX.test(value) || DECIMAL.test(value)) return value
    throw invalidParams(`Invalid block identifier '${value}'`)
  }
  if (value === null) refuse(name, 'a block number, tag, hash or object')
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams('Invalid input')
  return fromObject(value)
}

/** Where state is read: tag, hex number, block hash, EIP-1898 object. */
export const StateBlock: Parameter<BlockArgument> = {
  schema: schemaWithObject,
  read(value, name) {
    const text = readText(value, name)
    if (typeof text !== 'string') return text
    if (DECIMAL.test(text)) throw invalidParams(`invalid blocknumber ${text}`)
    return tagged(text) ?? (FULL_HASH.test(text) ? hashed(text) : numbered(text))
  },
}

/** Where a call runs: tag, hex or decimal number, EIP-1898 object; a hash stands in an object only. */
export const CallBlock: Parameter<BlockArgument> = {
  schema: schemaWithObject,
  read(value, name) {
    const text = readText(value, name)
    if (typeof text !== 'string') return text
    if (FULL_HASH.test(text)) refuse(name, 'a block number, tag or object; name a hash as {"blockHash": …}')
    return tagged(text) ?? numbered(text)
  },
}

/** The text forms take JSON numbers for text, and no objects. */
function readIdentifier(value: unknown): string {
  if (value === undefined || value === '' || value === null) {
    throw invalidParams('Invalid block identifier: empty or null.')
  }
  if (Array.isArray(value)) throw invalidParams("Invalid block identifier '['")
  if (typeof value === 'object') throw invalidParams("Invalid block identifier '{'")
  const text = String(value)
  refuseLong(text)
  if (!FOREIGN_TAG.test(text) && !HEX.test(text) && !DECIMAL.test(text)) {
    throw invalidParams(`Invalid block identifier '${text}'`)
  }
  return text
}

/** Which block is looked up: tag, hex number, or a block's hash. */
export const LookupBlock: Parameter<BlockArgument> = {
  schema,
  read(value) {
    const text = readIdentifier(value)
    const tag = tagged(text)
    if (tag !== undefined) return tag
    if (!HEX.test(text)) throw invalidParams(`invalid blocknumber ${text}`)
    return FULL_HASH.test(text) ? hashed(text) : numbered(text)
  },
}

/** Texts that the chain's node takes as they come; JSON numbers and booleans count as text. */
function readPlainText(value: unknown, name: string, expected: string): string {
  if (typeof value === 'object' || value === undefined) refuse(name, expected)
  return String(value)
}

/** Whose raw header is asked for: as `LookupBlock`, but every other text is taken for a wrong number. */
export const HeaderBlock: Parameter<BlockArgument> = {
  schema,
  read(value, name) {
    const text = readPlainText(value, name, 'a block number, tag or hash')
    if (text.length > MAX_TEXT) throw invalidParams(`invalid block identifier ${text.slice(0, MAX_TEXT)}...`)
    if (tagged(text) === undefined && !HEX.test(text)) throw invalidParams(`invalid blocknumber ${text}`)
    return LookupBlock.read(text, name)
  },
}

/** A height alone, hex or decimal. */
export const Height: Parameter<number> = {
  schema: z
    .string()
    .regex(/^(0x[0-9a-fA-F]+|[0-9]+)$/)
    .describe('Height: hex or decimal number'),
  read(value, name) {
    const text = readPlainText(value, name, 'a hex or decimal block number')
    if (text.length > MAX_TEXT) throw invalidParams(`invalid blocknumber ${text.slice(0, MAX_TEXT)}...`)
    if (!HEX.test(text) && !DECIMAL.test(text)) throw invalidParams(`invalid blocknumber ${text}`)
    return height(BigInt(text))
  },
}

/** Where gas is estimated: tag, hex or decimal number; null is the head. */
export const EstimateBlock: Parameter<BlockArgument> = {
  schema,
  read(value, name) {
    const text = readIdentifier(value === null ? 'latest' : value)
    const tag = tagged(text)
    if (tag !== undefined) return tag
    if (FULL_HASH.test(text)) refuse(name, 'a block number or tag')
    if (HEX.test(text) || DECIMAL.test(text)) return numbered(text)
    const accepted = "Can only be either 'earliest', 'latest', 'pending' or a specific block number"
    throw invalidParams(
      `Unsupported block specifier '${text}'. ${accepted} (either hex - prepending '0x' or decimal).`,
    )
  },
}

/** A bound of a log query: tag of any case, or hex number. */
export const LogBlock: Parameter<BlockArgument> = {
  schema,
  read(value, name) {
    if (value === null) throw invalidParams("Invalid block identifier 'null'")
    const text = readIdentifier(value)
    const tag = tagged(text.toLowerCase())
    if (tag !== undefined) return tag
    if (!HEX.test(text) || FULL_HASH.test(text)) refuse(name, 'a hex block number or a tag')
    return numbered(text)
  },
}
