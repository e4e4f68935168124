/** Touched accounts before a transaction, or before and after: geth's `prestateTracer`. */
import { equal } from '../../../encoding/bytes.ts'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { AccountSnapshot, TouchedAccount } from '../../../evm/tracing/prestate-tracer.ts'
import { toRpcSender } from '../transaction.ts'
import type { TraceOptions } from './options.ts'
import { ITEM_BYTES, type ReplyRoom } from './reply-room.ts'

/** An account as callers get it; what is zero or empty is left out, but for the balance. */
export interface RpcAccountState {
  readonly balance?: Hex
  readonly nonce?: number
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}

/** Accounts by address. */
export type RpcAccountStates = Readonly<Record<Hex, RpcAccountState>>

type Flags = Pick<TraceOptions['flags'], 'diffMode' | 'disableCode' | 'disableStorage'>

function storageObject(slots: readonly (readonly [bigint, bigint])[]): Readonly<Record<Hex, Hex>> {
  return Object.fromEntries(slots.map(([slot, value]) => [toFixedHex(slot, 32), toFixedHex(value, 32)]))
}

function stateOf(
  { balance, nonce, code, storage }: AccountSnapshot,
  { disableCode, disableStorage }: Flags,
  slots: readonly (readonly [bigint, bigint])[] = [...storage],
): RpcAccountState {
  return {
    balance: toQuantity(balance),
    ...(nonce > 0n && { nonce: Number(nonce) }),
    ...(code.length > 0 && !disableCode && { code: toHex(code) }),
    ...(slots.length > 0 && !disableStorage && { storage: storageObject(slots) }),
  }
}

function isNothing({ balance, nonce, code }: AccountSnapshot): boolean {
  return balance === 0n && nonce === 0n && code.length === 0
}

/** What a transaction made different of one account; `undefined` when nothing. */
function changesOf(
  { before, after }: TouchedAccount,
  { disableCode, disableStorage }: Flags,
): RpcAccountState | undefined {
  if (after === undefined) return undefined
  const slots = disableStorage
    ? []
    : [...after.storage].filter(([slot, value]) => value !== before.storage.get(slot))
  const changes = {
    ...(after.balance !== before.balance && { balance: toQuantity(after.balance) }),
    ...(after.nonce !== before.nonce && { nonce: Number(after.nonce) }),
    ...(!disableCode && !equal(after.code, before.code) && { code: toHex(after.code) }),
    ...(slots.length > 0 && { storage: storageObject(slots.filter(([, value]) => value !== 0n)) }),
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/** All touched accounts as they were; a contract that came into being was nothing. */
function prestate(touched: readonly TouchedAccount[], flags: Flags): RpcAccountStates {
  return Object.fromEntries(
    touched
      .filter(({ created, before }) => !(created && isNothing(before)))
      .map(({ address, before }) => [toRpcSender(address), stateOf(before, flags)]),
  )
}

function difference(
  touched: readonly TouchedAccount[],
  flags: Flags,
): { readonly pre: RpcAccountStates; readonly post: RpcAccountStates } {
  const pre: [Hex, RpcAccountState][] = []
  const post: [Hex, RpcAccountState][] = []
  for (const account of touched) {
    const { before, after } = account
    const address = toRpcSender(account.address)
    const isGone = after === undefined && before.exists
    const changes = changesOf(account, flags)
    if (!isGone && changes === undefined) continue
    const slots = [...before.storage].filter(
      ([slot, value]) => value !== 0n && after?.storage.get(slot) !== value,
    )
    if (before.exists && !(account.created && isNothing(before)))
      pre.push([address, stateOf(before, flags, slots)])
    if (changes !== undefined) post.push([address, changes])
  }
  return { pre: Object.fromEntries(pre), post: Object.fromEntries(post) }
}

/** The accounts as callers get them. */
export function toRpcPrestate(touched: readonly TouchedAccount[], flags: Flags, room: ReplyRoom): object {
  for (const { before, after } of touched) {
    const codes = flags.disableCode
      ? 0
      : before.code.length + (flags.diffMode ? (after?.code.length ?? 0) : 0)
    room(ITEM_BYTES * (1 + before.storage.size) + codes)
  }
  return flags.diffMode ? difference(touched, flags) : prestate(touched, flags)
}
