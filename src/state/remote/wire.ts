/** Schemas of an upstream's answers. Members that are not needed may be anything; needed ones have no default that is a guess. */
import { z } from 'zod'
import { fromHex, lowerCaseHex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'

/** QUANTITY, with leading zeros too: some nodes send `0x01`. `0x` is refused. */
export const Quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text) => BigInt(text))
/** Wei; `0x-5` is what the reference node answers for a balance below zero. */
export const Balance = z.union([
  Quantity,
  z
    .string()
    .regex(/^0x-[0-9a-f]{1,64}$/i)
    .transform((text) => -BigInt(`0x${text.slice(3)}`)),
])
/** A QUANTITY that is a height, a time or an index. */
export const Count = Quantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number)
/** Bytes; null and absent are not. */
export const Data = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/i)
  .transform((text) => fromHex(text))

function hexOf(digits: number) {
  return z
    .string()
    .regex(new RegExp(`^0x[0-9a-f]{${digits}}$`, 'i'))
    .transform((text) => lowerCaseHex(text))
}

export const Hash = hexOf(64)
export const Address = hexOf(40)

/**
 * The word of a storage slot: 32 bytes, or a QUANTITY, since older nodes answer `0x0` for an empty slot; `0x`, which
 * others answer, is an empty slot too.
 */
export const Word = z
  .string()
  .regex(/^0x[0-9a-f]{0,64}$/i)
  .transform((text) => (text.length === 2 ? 0n : BigInt(text)))

/** What `eth_getAccountInfo` answers. */
export const AccountInfo = z.looseObject({ balance: Balance, nonce: Quantity, code: Data })

/** What `eth_getStorageValues` answers: words by account. */
export const StorageValues = z.record(
  z.string().transform((text) => text.toLowerCase()),
  z.array(Word),
)

/** A signature value; older nodes answer null for the REMASC transaction. */
const Signed = Quantity.nullish().transform((value) => value ?? 0n)

/** A transaction of a block. */
export const WireTransaction = z.looseObject({
  hash: Hash,
  nonce: Quantity,
  from: Address.nullable(),
  to: Address.nullish().transform((to) => to ?? null),
  gas: Quantity,
  gasPrice: Quantity.nullish().transform((price) => price ?? undefined),
  maxFeePerGas: Quantity.nullish().transform((price) => price ?? undefined),
  value: Quantity,
  input: Data,
  v: Signed,
  r: Signed,
  s: Signed,
  type: Quantity.nullish().transform((type) => type ?? 0n),
})
export type WireTransaction = z.output<typeof WireTransaction>

/** What all blocks and uncles have. */
export const WireHeader = z.looseObject({
  number: Count,
  hash: Hash,
  parentHash: Hash,
  sha3Uncles: Hash,
  logsBloom: Data.refine(({ length }) => length === 256),
  transactionsRoot: Hash,
  stateRoot: Hash,
  receiptsRoot: Hash,
  miner: Address,
  difficulty: Quantity,
  totalDifficulty: Quantity.nullish().transform((value) => value ?? undefined),
  extraData: Data,
  gasLimit: Quantity,
  gasUsed: Quantity,
  timestamp: Count,
  uncles: z.array(Hash).nullish(),
  baseFeePerGas: Quantity.nullish().transform((value) => value ?? undefined),
  minimumGasPrice: Quantity.nullish().transform((value) => value ?? undefined),
  paidFees: Quantity.nullish().transform((value) => value ?? undefined),
  rskPteEdges: z.array(z.int().min(0).max(0xffff)).nullish(),
  baseEvent: Data.nullish(),
  bitcoinMergedMiningHeader: Data.nullish(),
  bitcoinMergedMiningCoinbaseTransaction: Data.nullish(),
  bitcoinMergedMiningMerkleProof: Data.nullish(),
})
export type WireHeader = z.output<typeof WireHeader>

/** A block with whole transactions. */
export const WireBlock = WireHeader.extend({
  transactions: z.array(WireTransaction),
  uncles: z.array(Hash),
  /** What a node of ours leaves out of `transactions` under --hide-remasc. */
  hiddenTransactions: z.array(Hash).nullish(),
})
export type WireBlock = z.output<typeof WireBlock>

/** A log with its place. */
export const WireLog = z.looseObject({
  address: Address,
  topics: z.array(Hash).max(4),
  data: Data,
  blockNumber: Count,
  blockHash: Hash,
  transactionHash: Hash,
  transactionIndex: Count,
  logIndex: Count,
  blockTimestamp: Count.nullish().transform((time) => time ?? undefined),
})
export type WireLog = z.output<typeof WireLog>

/** A receipt. */
export const WireReceipt = z.looseObject({
  transactionHash: Hash,
  transactionIndex: Count,
  blockHash: Hash,
  cumulativeGasUsed: Quantity,
  gasUsed: Quantity,
  effectiveGasPrice: Quantity.nullish().transform((price) => price ?? undefined),
  status: z.enum(['0x0', '0x1', '0x01', '0x00']).transform((status) => BigInt(status) === 1n),
  logs: z.array(WireLog),
})
export type WireReceipt = z.output<typeof WireReceipt>

/** Where a transaction stands. */
export const WireLocation = z.looseObject({
  hash: Hash,
  blockHash: Hash.nullish(),
  blockNumber: Count.nullish(),
  transactionIndex: Count.nullish(),
})

/** What `eth_createAccessList` answers. */
export const WireAccessList = z.looseObject({
  accessList: z.array(z.looseObject({ address: Address, storageKeys: z.array(Word).nullish() })),
})

/** What the prestate tracer answers: accounts by address. */
export const WirePrestate = z.record(
  z.string().regex(/^0x[0-9a-f]{40}$/i),
  z.looseObject({ storage: z.record(z.string().regex(/^0x[0-9a-f]{1,64}$/i), z.unknown()).nullish() }),
)

/** An answer that cannot be used; it never reaches the state. */
export function wrongAnswer(origin: string, what: string): NodeError {
  return new NodeError(
    'upstream',
    `The upstream ${origin} gave a wrong answer: ${what}. Nothing of it was used; try again, or fork from another URL.`,
  )
}

/** Reads an answer. Throws `upstream` naming the method and the first member that is wrong. */
export function readAnswer<T>(schema: z.ZodType<T>, value: unknown, method: string, origin: string): T {
  const outcome = schema.safeParse(value)
  if (outcome.success) return outcome.data
  const path = outcome.error.issues[0]?.path.join('.') ?? ''
  throw wrongAnswer(origin, `${method} has ${path === '' ? 'an unknown form' : `no valid ${path}`}`)
}
