/** Headers as subscribers to `newHeads` get them (docs/internals/rpc-reference.md#66-header-notification). */
import { z } from 'zod'
import type { ExecutedBlock } from '../../chain/block.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import { AddressText, BloomText, DataText, HashText, QuantityText } from './scalars.ts'

/** Key order is that of the reference node. */
export const HeaderObject = z.lazy(() =>
  z.strictObject({
    difficulty: QuantityText,
    extraData: DataText,
    gasLimit: QuantityText,
    gasUsed: QuantityText,
    logsBloom: BloomText,
    miner: AddressText,
    number: QuantityText,
    parentHash: HashText,
    receiptsRoot: HashText,
    sha3Uncles: HashText,
    stateRoot: HashText,
    timestamp: QuantityText,
    transactionsRoot: HashText,
    hash: HashText,
    baseEvent: DataText,
  }),
)

/** The header of a block; an absent base event is shown as a zero byte, as in the reference node. */
export function toRpcHeader({ hash, block: { header } }: ExecutedBlock): z.infer<typeof HeaderObject> {
  const { baseEvent } = header
  return {
    difficulty: toQuantity(header.difficulty),
    extraData: toHex(header.extraData),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    logsBloom: toHex(header.logsBloom),
    miner: header.coinbase,
    number: toQuantity(header.number),
    parentHash: header.parentHash,
    receiptsRoot: header.receiptsRoot,
    sha3Uncles: header.unclesHash,
    stateRoot: header.stateRoot,
    timestamp: toQuantity(header.timestamp),
    transactionsRoot: header.transactionsRoot,
    hash,
    baseEvent: baseEvent === undefined || baseEvent.length === 0 ? '0x00' : toHex(baseEvent),
  }
}
