/** Overrides of the block that simulated calls run in, under the names of geth, Erigon, reth and Anvil. */
import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import type { BlockOverrideValues } from '../../execution/request.ts'
import { literals, text } from '../json-forms.ts'
import {
  type Decoded,
  expected,
  mapOf,
  mapped,
  named,
  object,
  orNull,
  type Parameter,
  refine,
  scalar,
} from '../parameter.ts'
import { NamedAddress } from './overrides.ts'
import { BlockHash, Quantity, wholeNumber } from './scalars.ts'

/** Frames count gas in safe integers. */
const MAX_GAS = BigInt(Number.MAX_SAFE_INTEGER)

const Amount = named(Quantity, 'a number, in hex with 0x or in decimal digits')

/** A gas limit of a block that frames can count. */
const GasLimit = refine(Amount, { where: (gas) => gas <= MAX_GAS, what: `gas up to ${MAX_GAS}` })

const Height = wholeNumber('block number', Number.MAX_SAFE_INTEGER)
const Time = wholeNumber('seconds since 1970', LATEST_TIMESTAMP)

/** A block number as the name of a member. */
const HeightKey: Parameter<number> = scalar({
  form: text(/^(0x[0-9a-fA-F]+|[0-9]+)$/, { where: (value) => Number(value) <= Number.MAX_SAFE_INTEGER }),
  decode: Number,
  refusal: (_, name) => expected(name, 'a block number'),
})

const BlockHashes = mapOf(HeightKey, named(BlockHash, '32 bytes in hex'), (name, key) => `${name} key ${key}`)

/** Null or absent only. */
const Unsupported = scalar({
  form: literals(null),
  description: 'not supported',
  decode: () => undefined,
  refusal: (_, name) => `${name} is not supported`,
})

/** The members; those in one line are names of the same field, those at the end are of fields that this chain does not have. */
export const BLOCK_OVERRIDE_MEMBERS = {
  number: Height,
  blockNumber: Height,
  time: Time,
  timestamp: Time,
  gasLimit: GasLimit,
  feeRecipient: NamedAddress,
  coinbase: NamedAddress,
  difficulty: Amount,
  prevRandao: Amount,
  random: Amount,
  baseFeePerGas: Amount,
  baseFee: Amount,
  blockHash: BlockHashes,
  blobBaseFee: Unsupported,
  beaconRoot: Unsupported,
  withdrawals: Unsupported,
} as const

const SAME_FIELD = [
  ['number', 'blockNumber'],
  ['time', 'timestamp'],
  ['feeRecipient', 'coinbase'],
  ['prevRandao', 'random'],
  ['baseFeePerGas', 'baseFee'],
] as const

/** Why two members do not go together: they name the same field. */
export function namedTwice(members: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const has = (key: string) => Object.hasOwn(members, key) && members[key] != null
  const both = SAME_FIELD.find((names) => names.every(has))
  return both && `${name}.${both[0]} and ${name}.${both[1]} name the same field`
}

/** The values of the members. `prevRandao` goes before `difficulty`: both are what the opcode 0x44 answers. */
export function blockOverridesOf(members: Decoded<typeof BLOCK_OVERRIDE_MEMBERS>): BlockOverrideValues {
  const { blockNumber, number = blockNumber, time, timestamp = time, gasLimit, blockHash } = members
  const { feeRecipient, coinbase = feeRecipient, baseFee, baseFeePerGas = baseFee } = members
  const { random, prevRandao = random, difficulty = prevRandao } = members
  return {
    ...(number !== undefined && { number }),
    ...(timestamp !== undefined && { timestamp }),
    ...(gasLimit !== undefined && { gasLimit }),
    ...(coinbase !== undefined && { coinbase }),
    ...(difficulty !== undefined && { difficulty: prevRandao ?? difficulty }),
    ...(baseFeePerGas !== undefined && { minimumGasPrice: baseFeePerGas }),
    ...(blockHash !== undefined && { blockHashes: blockHash }),
  }
}

const Members = object(BLOCK_OVERRIDE_MEMBERS, { nullIsAbsent: true, check: namedTwice })

/** Null members count as absent, unknown ones are ignored. */
export const BlockOverridesObject: Parameter<BlockOverrideValues> = mapped(Members, blockOverridesOf)

/** The same as a parameter, where null is no override. */
export const BlockOverrides: Parameter<BlockOverrideValues | undefined> = orNull(
  BlockOverridesObject,
  undefined,
)
