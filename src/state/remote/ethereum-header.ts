/** The hash of an Ethereum header out of the members of a block, for upstreams of that family. */
import { z } from 'zod'
import { fromBigInt } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { encodeRlp } from '../../encoding/rlp.ts'
import { Data, Hash, Quantity, type WireHeader } from './wire.ts'

const Nonce = Data.refine(({ length }) => length === 8)
const Bytes32 = Hash.transform(fromHex)
const Amount = Quantity.transform(fromBigInt)

/** What the header read for this chain leaves out, and every Ethereum header has. */
const Sealed = z.looseObject({ mixHash: Bytes32, nonce: Nonce })

/** Members that forks added, in their order: London, Shanghai, Cancun (three), Prague. A later one needs those before it. */
const ADDED = [
  ['baseFeePerGas', Amount],
  ['withdrawalsRoot', Bytes32],
  ['blobGasUsed', Amount],
  ['excessBlobGas', Amount],
  ['parentBeaconBlockRoot', Bytes32],
  ['requestsHash', Bytes32],
] as const

/** Members of a block that are not of its header's bytes, with those that are. */
const KNOWN_MEMBERS = new Set(
  (
    'number hash parentHash sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner difficulty extraData ' +
    'gasLimit gasUsed timestamp mixHash nonce totalDifficulty size uncles transactions withdrawals'
  )
    .split(' ')
    .concat(ADDED.map(([name]) => name)),
)

/** The bytes of the members that forks added; `undefined` where one is missing before another, or has no valid form. */
function addedParts(fields: WireHeader): Uint8Array[] | undefined {
  const parts: Uint8Array[] = []
  for (const [index, [name, schema]] of ADDED.entries()) {
    const given = fields[name]
    if (given === undefined || given === null) continue
    const part =
      typeof given === 'bigint'
        ? { success: true as const, data: fromBigInt(given) }
        : schema.safeParse(given)
    if (!part.success || parts.length !== index) return undefined
    parts.push(part.data)
  }
  return parts
}

/**
 * Do the members of a header hash to the hash that stands beside them? A text is the hash that they have; `undefined`: they
 * cannot be hashed, or there are members that are not known, which may be part of the hash.
 */
export function ethereumHeaderCheck(fields: WireHeader): true | Hex | undefined {
  const sealed = Sealed.safeParse(fields)
  const added = addedParts(fields)
  if (!sealed.success || added === undefined) return undefined
  const hash = keccakHex(
    encodeRlp([
      fromHex(fields.parentHash),
      fromHex(fields.sha3Uncles),
      fromHex(fields.miner),
      fromHex(fields.stateRoot),
      fromHex(fields.transactionsRoot),
      fromHex(fields.receiptsRoot),
      fields.logsBloom,
      fromBigInt(fields.difficulty),
      fromBigInt(BigInt(fields.number)),
      fromBigInt(fields.gasLimit),
      fromBigInt(fields.gasUsed),
      fromBigInt(BigInt(fields.timestamp)),
      fields.extraData,
      sealed.data.mixHash,
      sealed.data.nonce,
      ...added,
    ]),
  )
  if (hash === fields.hash) return true
  return Object.keys(fields).every((name) => KNOWN_MEMBERS.has(name) || fields[name] == null)
    ? hash
    : undefined
}
