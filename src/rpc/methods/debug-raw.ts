/** Blocks as the chain encodes them (docs/protocol.md#14-encodings). */
import { encodeBlock } from '../../chain/block.ts'
import { toHex } from '../../encoding/hex.ts'
import { blockAt } from '../block-lookup.ts'
import { method } from '../method.ts'
import { LookupBlock } from '../wire/block-reference.ts'
import { DataText } from '../wire/scalars.ts'

export const debug_getRawBlock = method({
  name: 'debug_getRawBlock',
  summary: 'RLP of a block: header in full, transactions, uncle headers.',
  params: { block: LookupBlock },
  result: DataText,
  errors: ['block-not-found'],
  examples: [],
  async run({ block }, { engine }) {
    return toHex(encodeBlock((await blockAt(block, engine)).executed.block, engine.config))
  },
})

/** The methods of this file, in the order of the document. */
export const DEBUG_RAW_METHODS = [debug_getRawBlock] as const
