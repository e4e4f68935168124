/** Asset changes on the wire, as simulations of steps return them. */
import { z } from 'zod'
import { toQuantity } from '../../encoding/hex.ts'
import { ASSET_TYPES, type AssetChange } from '../../execution/asset-changes.ts'
import type { TokenFacts } from '../../execution/token-facts.ts'
import { AddressText, QuantityText } from './scalars.ts'
import { ITEM_BYTES, type ReplySize } from './trace/reply-size.ts'

/** A transfer, or an approval of a spender (`to`) by an owner (`from`). */
export const AssetChangeObject = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(ASSET_TYPES),
      change: z.enum(['transfer', 'approve']),
      from: AddressText.describe('the zero address for a mint; the owner for an approval'),
      to: AddressText.describe('the zero address for a burn; the spender for an approval'),
      amount: QuantityText.optional(),
      tokenId: QuantityText.optional(),
      approved: z.boolean().describe('of an approval for all tokens: given or taken back').optional(),
      token: AddressText.optional(),
      name: z.string().optional(),
      symbol: z.string().optional(),
      decimals: z.int().optional(),
    })
    .meta({ id: 'AssetChange', description: 'A transfer or approval of an asset' }),
)

/** An asset change object. */
export type RpcAssetChange = z.infer<typeof AssetChangeObject>

/** An asset change with the facts of its token. Checks the size of the reply before it is built. */
export function toRpcAssetChange(
  { type, change, from, to, amount, tokenId, approved, token }: AssetChange,
  { name, symbol, decimals }: TokenFacts = {},
  size: ReplySize,
): RpcAssetChange {
  size(3 * ITEM_BYTES + (name?.length ?? 0) + (symbol?.length ?? 0))
  return {
    type,
    change,
    from,
    to,
    ...(amount !== undefined && { amount: toQuantity(amount) }),
    ...(tokenId !== undefined && { tokenId: toQuantity(tokenId) }),
    ...(approved !== undefined && { approved }),
    ...(token !== undefined && { token }),
    ...(name !== undefined && { name }),
    ...(symbol !== undefined && { symbol }),
    ...(decimals !== undefined && { decimals }),
  }
}
