/** What differs between two snapshots: accounts with their storage, blocks, pool. */
import type { ComponentChildren } from 'preact'
import { type Checked, either, isFlag, isText, listOf, objectOf, recordOf } from '../checks.ts'
import { byteLength, counted, entriesOf, grouped, type Hex, isHex, shortWord, toBigInt } from '../format.ts'
import { Table } from './layout.tsx'
import { AddressLink, Amount, BlockLink, TransactionLink } from './values.tsx'

const isChange = objectOf({ from: isHex, to: isHex })
type Change = Checked<typeof isChange>

const isVariable = either(isText, isFlag)
const isVariableChange = objectOf({ from: isVariable, to: isVariable })
type VariableChange = Checked<typeof isVariableChange>

const areLists = objectOf({ removed: listOf(isHex), added: listOf(isHex) })

const isAccountChange = objectOf(
  {},
  {
    balance: isChange,
    nonce: isChange,
    code: isChange,
    storage: recordOf(isHex, isChange),
    variables: recordOf(isText, isVariableChange),
  },
)
type AccountChange = Checked<typeof isAccountChange>

/** `evm_diff`. */
export const isSnapshotDiff = objectOf(
  { accounts: recordOf(isHex, isAccountChange) },
  { blocks: areLists, pool: areLists },
)
export type SnapshotDiff = Checked<typeof isSnapshotDiff>

/** Rows of the table, slots of an account, and hashes of a list. */
const MOST_ACCOUNTS = 100
const MOST_SLOTS = 20
const MOST_HASHES = 6

function Slots({ storage }: { readonly storage: Readonly<Record<Hex, Change>> }) {
  const slots = changedCells(storage)
  return (
    <>
      {slots.slice(0, MOST_SLOTS).map(([slot, { from, to }]) => (
        <div key={slot} class="mono wrap">
          <span class="dim">{shortWord(slot)}:</span> {shortWord(from)} → {shortWord(to)}
        </div>
      ))}
      {slots.length > MOST_SLOTS && (
        <span class="dim">{counted(slots.length - MOST_SLOTS, 'further slot')}</span>
      )}
    </>
  )
}

function Variables({ variables }: { readonly variables: Readonly<Record<string, VariableChange>> }) {
  const entries = Object.entries(variables)
  return (
    <>
      {entries.slice(0, MOST_SLOTS).map(([path, { from, to }]) => (
        <div key={path} class="mono wrap">
          {path}: {String(from)} → {String(to)}
        </div>
      ))}
      {entries.length > MOST_SLOTS && (
        <span class="dim">{counted(entries.length - MOST_SLOTS, 'further variable')}</span>
      )}
    </>
  )
}

function HashList({
  title,
  hashes,
  kind,
}: {
  readonly title: string
  readonly hashes: readonly Hex[] | undefined
  readonly kind: 'block' | 'transaction'
}) {
  if (hashes === undefined || hashes.length === 0) return null
  return (
    <p>
      {title}:{' '}
      {hashes.slice(0, MOST_HASHES).map((hash) => (
        <span key={hash}>
          {kind === 'block' ? <BlockLink block={hash} /> : <TransactionLink hash={hash} />}{' '}
        </span>
      ))}
      {hashes.length > MOST_HASHES && <span class="dim">and {hashes.length - MOST_HASHES} more</span>}
    </p>
  )
}

/** Cells whose words differ; an empty cell and one of zero bytes are the same word. */
function changedCells(storage: Readonly<Record<Hex, Change>> = {}): [slot: string, Change][] {
  return Object.entries(storage).filter(([, { from, to }]) => shortWord(from) !== shortWord(to))
}

/** The accounts with a difference that is shown. */
function changedAccounts({ accounts }: SnapshotDiff): [address: Hex, AccountChange][] {
  return entriesOf(accounts).filter(
    ([, { balance, nonce, code, storage }]) =>
      balance !== undefined ||
      nonce !== undefined ||
      (code !== undefined && code.from !== code.to) ||
      changedCells(storage).length > 0,
  )
}

function cellsOf(
  address: Hex,
  { balance, nonce, code, storage, variables }: AccountChange,
): ComponentChildren[] {
  return [
    <AddressLink key="address" address={address} />,
    balance && (
      <Amount key="balance" wei={toBigInt(balance.to) - toBigInt(balance.from)} digits={18} isChange />
    ),
    nonce && (
      <span key="nonce" class="short">
        {grouped(toBigInt(nonce.from))} → {grouped(toBigInt(nonce.to))}
      </span>
    ),
    <span key="state">
      {code !== undefined && code.from !== code.to && (
        <div>
          code: {byteLength(code.from)} → {counted(byteLength(code.to), 'byte')}
        </div>
      )}
      {variables && <Variables variables={variables} />}
      {storage && <Slots storage={storage} />}
    </span>,
  ]
}

/** The difference. */
export function SnapshotDifference({ difference }: { readonly difference: SnapshotDiff }) {
  const accounts = changedAccounts(difference)
  return (
    <div aria-live="polite" class="difference">
      <HashList title="Removed blocks" hashes={difference.blocks?.removed} kind="block" />
      <HashList title="Added blocks" hashes={difference.blocks?.added} kind="block" />
      <HashList title="Gone from the pool" hashes={difference.pool?.removed} kind="transaction" />
      <HashList title="New in the pool" hashes={difference.pool?.added} kind="transaction" />
      <Table
        label="Changed accounts"
        stacked
        empty="No account differs"
        columns={['Account', 'Balance', 'Nonce', 'Code and storage']}
        rows={accounts.slice(0, MOST_ACCOUNTS).map(([address, change]) => ({
          key: address,
          cells: cellsOf(address, change),
        }))}
      />
      {accounts.length > MOST_ACCOUNTS && (
        <p class="dim">{counted(accounts.length - MOST_ACCOUNTS, 'further account')}</p>
      )}
    </div>
  )
}
