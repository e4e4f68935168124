/** Changed accounts on the wire, as simulations of steps return them. */
import { z } from 'zod'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { AccountChange, Change } from '../../execution/account-changes.ts'
import type { VariableChanges } from '../../execution/variable-changes.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'
import { ITEM_BYTES, type ReplySize } from './trace/reply-size.ts'
import { toRpcSender } from './transaction.ts'

const changeOf = <T extends z.ZodType<Hex>>(value: T) => z.strictObject({ from: value, to: value })

const ShownValue = z.union([z.string(), z.boolean()])

/** What differs of an account. An account that does not exist has zeros and no code. */
export const StateChangeObject = z.lazy(() =>
  z
    .strictObject({
      address: AddressText,
      balance: changeOf(QuantityText).optional(),
      nonce: changeOf(QuantityText).optional(),
      code: changeOf(DataText).optional(),
      storage: z.array(changeOf(HashText).extend({ slot: HashText })).optional(),
      variables: z
        .array(z.strictObject({ path: z.string(), from: ShownValue, to: ShownValue }))
        .optional()
        .describe('changed variables by name, where the storage layout is known'),
    })
    .meta({ id: 'StateChange', description: 'A changed account; equal values are omitted' }),
)

/** A state change object. */
export type RpcStateChange = z.infer<typeof StateChangeObject>

function shown<T>(change: Change<T> | undefined, text: (value: T) => Hex) {
  return change && { from: text(change.from), to: text(change.to) }
}

const wordText = (word: bigint): Hex => toFixedHex(word, 32)

/** A changed account, whose changed variables `variables` names. Checks the size of the reply before it is built. */
export function toRpcStateChange(
  change: AccountChange,
  variables: VariableChanges,
  size: ReplySize,
): RpcStateChange {
  const { address, storage } = change
  const named = variables.of(
    address,
    storage.map(({ slot }) => slot),
  )
  for (const { path, from, to } of named) size(path.length + String(from).length + String(to).length)
  const codes = change.code === undefined ? 0 : change.code.from.length + change.code.to.length
  size(ITEM_BYTES * (1 + 2 * storage.length) + codes)
  const balance = shown(change.balance, toQuantity)
  const nonce = shown(change.nonce, toQuantity)
  const code = shown(change.code, toHex)
  const slots = storage.map(({ slot, from, to }) => ({
    slot: wordText(slot),
    from: wordText(from),
    to: wordText(to),
  }))
  return {
    address: toRpcSender(address),
    ...(balance && { balance }),
    ...(nonce && { nonce }),
    ...(code && { code }),
    ...(slots.length > 0 && { storage: slots }),
    ...(named.length > 0 && { variables: [...named] }),
  }
}
