/** Parameters of `trace_*` (docs/rpc-reference.md#710-trace). */
import { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import { isHexDigits } from '../../../encoding/hex.ts'
import { invalidParams } from '../../../errors.ts'
import { type Parameter, refuse } from '../../parameter.ts'
import { type BlockArgument, LookupBlock } from '../block-reference.ts'
import { MOST_ITEMS } from '../log-filter.ts'
import { Address, BlockHash, textOf } from '../scalars.ts'

/** Texts of at most this length are a tag or a height, longer ones a hash. */
const LONGEST_NUMBER = 19

/** Tags in any case, hex numbers, hashes. */
export const TraceBlock: Parameter<BlockArgument> = {
  schema: LookupBlock.schema,
  read(value, name) {
    if (typeof value !== 'string' && typeof value !== 'number') refuse(name, 'a block number, tag or hash')
    const text = String(value)
    if (text.length > LONGEST_NUMBER) {
      return { reference: { hash: BlockHash.read(text, name) }, label: `Block ${text}`, exact: false }
    }
    const isTag = /^(latest|earliest|pending)$/i.test(text)
    if (!isTag && !/^0x[0-9a-f]+$/i.test(text)) throw invalidParams(`invalid blocknumber ${text}`)
    return LookupBlock.read(isTag ? text.toLowerCase() : text, name)
  },
}

/** A bound of a range: no hash. */
const TraceBound: Parameter<BlockArgument> = {
  schema: LookupBlock.schema,
  read(value, name) {
    const block = TraceBlock.read(value, name)
    if ('hash' in block.reference) refuse(name, 'a hex block number or a tag')
    return block
  },
}

/** An address, with the reference node's message for a wrong length. */
export const ExactAddress: Parameter<Hex> = {
  schema: Address.schema,
  read(value, name) {
    const text = textOf(value)
    if (text === undefined) refuse(name, 'an address as text')
    const digits = text.replace(/^0x/, '')
    if (isHexDigits(digits) && digits.length !== 40) {
      throw invalidParams(
        `invalid argument 0: hex string has length ${digits.length}, want 40 for RSK address`,
      )
    }
    return Address.read(value, name)
  },
}

function readAddresses(value: unknown, name: string): readonly Hex[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [ExactAddress.read(value, name)]
  if (value.length > MOST_ITEMS) refuse(name, `at most ${MOST_ITEMS} items`)
  return value.map((item) => ExactAddress.read(item, name))
}

/** A JSON integer or decimal text. */
function readCount(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}$/.test(value))
  const number = isNumber ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : refuse(name, 'a whole number')
}

/** A selection of traces; absent members get the defaults of the profile. */
export interface TraceFilter {
  readonly fromBlock?: BlockArgument
  readonly toBlock?: BlockArgument
  /** Any of these; empty matches all. */
  readonly fromAddress: readonly Hex[]
  readonly toAddress: readonly Hex[]
  readonly after?: number
  readonly count?: number
}

const MEMBERS: ReadonlySet<string> = new Set([
  'fromBlock',
  'toBlock',
  'fromAddress',
  'toAddress',
  'after',
  'count',
])
const addresses = z.union([Address.schema, z.array(Address.schema)]).optional()
const number = z.union([z.int(), z.string().regex(/^\d+$/)]).optional()

/** The filter object of `trace_filter`. */
export const TraceFilterObject: Parameter<TraceFilter> = {
  schema: z.object({
    fromBlock: TraceBound.schema.optional(),
    toBlock: TraceBound.schema.optional(),
    fromAddress: addresses,
    toAddress: addresses,
    after: number,
    count: number,
  }),
  read(value, name) {
    if (value === null) throw invalidParams('Invalid trace_filter parameters.')
    if (typeof value !== 'object' || Array.isArray(value)) refuse(name, 'an object')
    const given = value as Record<string, unknown>
    for (const member of Object.keys(given)) {
      if (!MEMBERS.has(member)) throw invalidParams(`Invalid ${name}: there is no member "${member}".`)
    }
    const after = readCount(given.after, `${name}.after`)
    const count = readCount(given.count, `${name}.count`)
    return {
      ...(given.fromBlock !== undefined && {
        fromBlock: TraceBound.read(given.fromBlock, `${name}.fromBlock`),
      }),
      ...(given.toBlock !== undefined && { toBlock: TraceBound.read(given.toBlock, `${name}.toBlock`) }),
      fromAddress: readAddresses(given.fromAddress, `${name}.fromAddress`),
      toAddress: readAddresses(given.toAddress, `${name}.toAddress`),
      ...(after !== undefined && { after }),
      ...(count !== undefined && { count }),
    }
  },
}

/** The index of a trace: one hex index, alone or in an array. */
export const TracePosition: Parameter<number> = {
  schema: z
    .union([z.string(), z.array(z.string()).length(1)])
    .describe('Index of a trace: 0x and hex digits'),
  read(value, name) {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value]
    const [text] = given
    if (text === undefined || text === null || text === '') {
      throw invalidParams(`'${name}' cannot be null or empty`)
    }
    if (given.length > 1) throw invalidParams(`'${name}' accepts only one index`)
    if (typeof text !== 'string' || !/^0x[0-9a-f]{1,8}$/i.test(text)) refuse(name, 'a hex index')
    return Number(text)
  },
}
