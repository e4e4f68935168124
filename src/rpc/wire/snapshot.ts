/** Snapshots on the wire: how they are named, listed and compared. */
import { z } from 'zod'
import { type Hex, toFixedHex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { ComparedAccount, ListDiff, SnapshotDiff } from '../../engine/dev/snapshot-diff.ts'
import type { Engine } from '../../engine/engine.ts'
import { invalidParams } from '../../errors.ts'
import type { VariableChanges } from '../../execution/variable-changes.ts'
import type { StorageValue } from '../../state/state-keys.ts'
import { anyOf, hex, text } from '../json-forms.ts'
import { expected, object, type Parameter, scalar } from '../parameter.ts'
import { AddressText, DataText, Flag, HashText, QuantityText } from './scalars.ts'
import { toRpcSender } from './transaction.ts'

function shown(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const NAME = text(/^[A-Za-z_][\w .:/-]{0,99}$/)

/** The name of a snapshot: it begins with a letter, so it cannot be mistaken for an id. */
export const SnapshotName: Parameter<string> = scalar({
  form: NAME,
  description: 'a name: a letter, and up to 99 letters, digits, spaces or . : / _ -',
  decode: (name) => name,
  refusal: (_, name) => expected(name, 'a letter, and up to 99 letters, digits, spaces or . : / _ -'),
})

/** How a snapshot is taken. */
export const SnapshotOptions = object({ keep: Flag }, { closed: true })

/** A snapshot by id or name. A number outside the range of ids is unknown, not malformed. */
export const SnapshotReference: Parameter<number | string> = scalar({
  form: anyOf(hex({ prefix: 'required', least: 1 }), NAME),
  description: 'id or name of a snapshot',
  decode: (value) => (value.startsWith('0x') ? Number(value) : value),
  refusal: (value) => `invalid snapshot id ${shown(value)}`,
})

/** The id that a reference names. Throws `invalid-params` for a name that no snapshot has. */
export function snapshotId(reference: number | string, { dev }: Engine): number {
  if (typeof reference === 'number') return reference
  const id = dev.snapshotNamed(reference)
  if (id === undefined) throw invalidParams(`invalid snapshot id ${reference}`)
  return id
}

const change = <T extends z.ZodType>(value: T) => z.strictObject({ from: value, to: value }).optional()
const ShownValue = z.lazy(() => z.union([z.string(), z.boolean()]))
const Word = z.lazy(() => z.union([HashText, DataText]))
const Lists = z.lazy(() =>
  z.strictObject({ removed: z.array(HashText), added: z.array(HashText) }).optional(),
)

/** Differences between two snapshots; equal values are omitted. */
export const SnapshotDiffObject = z.lazy(() =>
  z
    .strictObject({
      accounts: z.record(
        AddressText,
        z.strictObject({
          balance: change(QuantityText),
          nonce: change(QuantityText),
          code: change(DataText),
          storage: z.record(HashText, z.strictObject({ from: Word, to: Word })).optional(),
          variables: z
            .record(z.string(), z.strictObject({ from: ShownValue, to: ShownValue }))
            .optional()
            .describe('changed variables by name, where the storage layout is known'),
        }),
      ),
      blocks: Lists.describe('hashes: removed from the first head down, added up to the second'),
      pool: Lists.describe('hashes of transactions'),
    })
    .meta({
      id: 'SnapshotDiff',
      description: 'Differences between two snapshots; equal values are omitted',
    }),
)

type RpcSnapshotDiff = z.infer<typeof SnapshotDiffObject>

/** A value that is not 32 bytes long is shown as it is. */
function wordOf(value: StorageValue): Hex {
  return typeof value === 'bigint' ? toFixedHex(value, 32) : toHex(value)
}

function accountDiff(
  { address, before, after, code, cells }: ComparedAccount,
  variables: VariableChanges | undefined,
): RpcSnapshotDiff['accounts'][Hex] {
  const numbers = (from = 0n, to = 0n) =>
    from === to ? undefined : { from: toQuantity(from), to: toQuantity(to) }
  const balance = numbers(before?.balance, after?.balance)
  const nonce = numbers(before?.nonce, after?.nonce)
  const storage = [...cells].map(([slot, values]) => {
    return [toFixedHex(slot, 32), { from: wordOf(values.before), to: wordOf(values.after) }] as const
  })
  const named = variables?.of(address, cells.keys()) ?? []
  return {
    ...(balance && { balance }),
    ...(nonce && { nonce }),
    ...(code && { code: { from: toHex(code.before), to: toHex(code.after) } }),
    ...(storage.length > 0 && { storage: Object.fromEntries(storage) }),
    ...(named.length > 0 && {
      variables: Object.fromEntries(named.map(({ path, from, to }) => [path, { from, to }])),
    }),
  }
}

function listDiff({ removed, added }: ListDiff): RpcSnapshotDiff['blocks'] {
  return removed.length === 0 && added.length === 0 ? undefined : { removed: [...removed], added: [...added] }
}

/** A comparison of snapshots on the wire; `variables` names changed variables. */
export function toRpcSnapshotDiff(
  { accounts, blocks, pool }: SnapshotDiff,
  variables?: VariableChanges,
): RpcSnapshotDiff {
  const differing: RpcSnapshotDiff['accounts'] = {}
  for (const account of accounts) differing[toRpcSender(account.address)] = accountDiff(account, variables)
  const [blockDiff, poolDiff] = [listDiff(blocks), listDiff(pool)]
  return {
    accounts: differing,
    ...(blockDiff && { blocks: blockDiff }),
    ...(poolDiff && { pool: poolDiff }),
  }
}
