/** Touched accounts before a transaction, or before and after: geth's `prestateTracer`. */
import { z } from 'zod'
import type { VariableChange } from '../../../abi/storage/changes.ts'
import { equal } from '../../../encoding/bytes.ts'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../../encoding/hex.ts'
import {
  type AccountSnapshot,
  PrestateTracer,
  type TouchedAccount,
} from '../../../evm/tracing/prestate-tracer.ts'
import { VariableTracer } from '../../../execution/variable-trace.ts'
import { AddressText, DataText, HashText, QuantityText } from '../scalars.ts'
import { toRpcSender } from '../transaction.ts'
import { OFF } from './options.ts'
import { ITEM_BYTES, type ReplySize } from './reply-size.ts'
import { tracer } from './tracer-record.ts'

/** Zero and empty values are omitted, except the balance before the transaction. */
const AccountStates = z.lazy(() =>
  z
    .record(
      AddressText,
      z.strictObject({
        balance: QuantityText.optional(),
        nonce: z.int().nonnegative().optional(),
        code: DataText.optional(),
        storage: z.record(HashText, HashText).optional(),
        variables: z.record(z.string(), z.union([z.string(), z.boolean()])).optional(),
      }),
    )
    .meta({ id: 'AccountStates', description: 'Accounts by address (prestateTracer)' }),
)
const AccountChanges = z.lazy(() =>
  z.strictObject({ pre: AccountStates, post: AccountStates }).meta({
    id: 'AccountChanges',
    description: 'Changed accounts before and after (prestateTracer in diffMode)',
  }),
)

type RpcAccountStates = z.infer<typeof AccountStates>
type RpcAccountState = RpcAccountStates[Hex]

interface Flags {
  readonly diffMode: boolean
  readonly disableCode: boolean
  readonly disableStorage: boolean
  /** In diffMode: the changed variables too, where the layout of the contract is known. */
  readonly variables: boolean
}

/** Changed variables by account. */
type Variables = ReadonlyMap<Hex, readonly VariableChange[]>

const NO_VARIABLES: Variables = new Map()

/** The `prestateTracer`. */
export const prestateTracer = tracer<Flags, RpcAccountStates | z.infer<typeof AccountChanges>>({
  name: 'prestateTracer',
  summary:
    'touched accounts before the transaction, in diffMode also after it; with variables there, changed variables by name where the storage layout is known',
  options: { diffMode: OFF, disableCode: OFF, disableStorage: OFF, variables: OFF },
  result: z.lazy(() => z.union([AccountChanges, AccountStates])),
  start(flags, { size, layoutAt }) {
    if (flags.diffMode && flags.variables) {
      const tracer = new VariableTracer(layoutAt)
      return { tracer, result: () => toRpcPrestate(tracer.recorder.touched, flags, size, tracer.changes) }
    }
    const recorder = new PrestateTracer()
    return { tracer: recorder, result: () => toRpcPrestate(recorder.touched, flags, size) }
  },
})

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

/** The changed values of one account; `undefined` without a change. */
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

/** All touched accounts as they were, without contracts that the transaction created. */
function prestate(touched: readonly TouchedAccount[], flags: Flags): RpcAccountStates {
  return Object.fromEntries(
    touched
      .filter(({ created, before }) => !(created && isNothing(before)))
      .map(({ address, before }) => [toRpcSender(address), stateOf(before, flags)]),
  )
}

/** The values of changed variables on one side. */
function variablesOf(
  changes: readonly VariableChange[] | undefined,
  side: 'from' | 'to',
): Pick<RpcAccountState, 'variables'> {
  if (changes === undefined) return {}
  return { variables: Object.fromEntries(changes.map((change) => [change.path, change[side]])) }
}

function difference(
  touched: readonly TouchedAccount[],
  flags: Flags,
  variables: Variables,
): z.infer<typeof AccountChanges> {
  const pre: [Hex, RpcAccountState][] = []
  const post: [Hex, RpcAccountState][] = []
  for (const account of touched) {
    const { before, after } = account
    const address = toRpcSender(account.address)
    const isGone = after === undefined && before.exists
    const changes = changesOf(account, flags)
    if (!isGone && changes === undefined) continue
    const named = variables.get(account.address)
    const slots = [...before.storage].filter(
      ([slot, value]) => value !== 0n && after?.storage.get(slot) !== value,
    )
    if (before.exists && !(account.created && isNothing(before)))
      pre.push([address, { ...stateOf(before, flags, slots), ...variablesOf(named, 'from') }])
    if (changes !== undefined) post.push([address, { ...changes, ...variablesOf(named, 'to') }])
  }
  return { pre: Object.fromEntries(pre), post: Object.fromEntries(post) }
}

/** Checks the size of the reply before it is built. */
function toRpcPrestate(
  touched: readonly TouchedAccount[],
  flags: Flags,
  size: ReplySize,
  variables: Variables = NO_VARIABLES,
): RpcAccountStates | z.infer<typeof AccountChanges> {
  for (const changes of variables.values()) {
    for (const { path, from, to } of changes) size(path.length + String(from).length + String(to).length)
  }
  for (const { before, after } of touched) {
    const codes = flags.disableCode
      ? 0
      : before.code.length + (flags.diffMode ? (after?.code.length ?? 0) : 0)
    size(ITEM_BYTES * (1 + before.storage.size) + codes)
  }
  return flags.diffMode ? difference(touched, flags, variables) : prestate(touched, flags)
}
