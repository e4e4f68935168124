/** Changed accounts: OpenEthereum's `stateDiff`. */
import { z } from 'zod'
import { equal } from '../../../encoding/bytes.ts'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { AccountSnapshot, TouchedAccount } from '../../../evm/tracing/prestate-tracer.ts'
import { AddressText, DataText, HashText, QuantityText } from '../scalars.ts'
import { toRpcSender } from '../transaction.ts'
import { ITEM_BYTES, type ReplySize } from './reply-size.ts'

/** `=` unchanged, `+` new, `-` gone, `*` changed. */
function changeOf<T extends z.ZodType<Hex>>(value: T) {
  return z.union([
    z.literal('='),
    z.strictObject({ '+': value }),
    z.strictObject({ '-': value }),
    z.strictObject({ '*': z.strictObject({ from: value, to: value }) }),
  ])
}

const AccountDiff = z.lazy(() =>
  z.strictObject({
    balance: changeOf(QuantityText),
    code: changeOf(DataText),
    nonce: changeOf(QuantityText),
    storage: z.record(HashText, changeOf(HashText)),
  }),
)

/** Accounts by address, without unchanged ones. */
export const StateDiff = z.lazy(() =>
  z
    .record(AddressText, AccountDiff)
    .meta({ id: 'StateDiff', description: 'Changed accounts (trace type stateDiff)' }),
)

type Change = '=' | { '+': Hex } | { '-': Hex } | { '*': { from: Hex; to: Hex } }

function change(before: Hex | undefined, after: Hex | undefined): Change {
  if (before === undefined) return after === undefined ? '=' : { '+': after }
  if (after === undefined) return { '-': before }
  return before === after ? '=' : { '*': { from: before, to: after } }
}

type Texts = Record<'balance' | 'code' | 'nonce', Hex | undefined>

function textsOf(account: AccountSnapshot | undefined): Texts {
  if (account === undefined) return { balance: undefined, code: undefined, nonce: undefined }
  const { balance, code, nonce } = account
  return { balance: toQuantity(balance), code: toHex(code), nonce: toQuantity(nonce) }
}

function word(account: AccountSnapshot | undefined, slot: bigint): Hex | undefined {
  return account && toFixedHex(account.storage.get(slot) ?? 0n, 32)
}

const ZERO = toFixedHex(0n, 32)

function diffOf({ before, after }: TouchedAccount): z.infer<typeof AccountDiff> | undefined {
  const known = before.exists ? before : undefined
  if (known === undefined && after === undefined) return undefined
  const [from, to] = [textsOf(known), textsOf(after)]
  const storage: Record<Hex, Change> = {}
  for (const slot of new Set([...before.storage.keys(), ...(after?.storage.keys() ?? [])])) {
    const [old, now] = [word(known, slot), word(after, slot)]
    // Empty slots of a created or deleted account are not listed.
    if (old === now || (old ?? ZERO) === (now ?? ZERO)) continue
    storage[toFixedHex(slot, 32)] = change(old, now)
  }
  const diff = {
    balance: change(from.balance, to.balance),
    code: after !== undefined && equal(before.code, after.code) && known ? '=' : change(from.code, to.code),
    nonce: change(from.nonce, to.nonce),
    storage,
  } as const
  const isSame = diff.balance === '=' && diff.code === '=' && diff.nonce === '='
  return isSame && Object.keys(storage).length === 0 ? undefined : diff
}

/** The changed accounts of a transaction. Checks the size of the reply before it is built. */
export function toStateDiff(touched: readonly TouchedAccount[], size: ReplySize): z.infer<typeof StateDiff> {
  for (const { before, after } of touched) {
    const slots = ITEM_BYTES * (1 + before.storage.size)
    size(
      slots +
        (after !== undefined && equal(before.code, after.code)
          ? 0
          : before.code.length + (after?.code.length ?? 0)),
    )
  }
  return Object.fromEntries(
    touched.flatMap((account) => {
      const diff = diffOf(account)
      return diff === undefined ? [] : [[toRpcSender(account.address), diff] as const]
    }),
  )
}
