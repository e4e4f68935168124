/** The accounts that a transaction changed: balance, nonce, code and storage before and after. */
import type { ComponentChildren } from 'preact'
import { type Checked, either, isFlag, isNumber, isText, objectOf, recordOf } from '../checks.ts'
import {
  byteLength,
  coins,
  counted,
  entriesOf,
  grouped,
  type Hex,
  isHex,
  shortened,
  shortWord,
  toBigInt,
} from '../format.ts'
import { useQuery } from '../query.ts'
import { traceTransaction } from '../trace.ts'
import { Section, Show, Table, type TableRow } from './layout.tsx'
import { AddressLink, Mono } from './values.tsx'

const isVariable = either(isText, isFlag)
const isAccountState = objectOf(
  {},
  {
    balance: isHex,
    nonce: isNumber,
    code: isHex,
    storage: recordOf(isHex, isHex),
    variables: recordOf(isText, isVariable),
  },
)
type AccountState = Checked<typeof isAccountState>
const areStates = recordOf(isHex, isAccountState)
const areChanges = objectOf({ pre: areStates, post: areStates })

/** What changed, before and after. */
type Change = readonly [name: ComponentChildren, before: ComponentChildren, after: ComponentChildren]

/** Slots of one account beyond this number are only counted. */
const MOST_SLOTS = 200

function word(value: Hex | undefined): Hex {
  return value === undefined ? '0x0' : shortWord(value)
}

/** The changes of balance, nonce and code. */
function ownChanges(before: AccountState, after: AccountState): Change[] {
  const changes: Change[] = []
  const [from, to] = [toBigInt(before.balance), toBigInt(after.balance ?? before.balance)]
  if (from !== to) {
    const change = to - from
    changes.push([
      'Balance (coins)',
      coins(from),
      <>
        {coins(to)}{' '}
        <span class={change > 0n ? 'good' : 'bad'}>
          ({change > 0n ? '+' : ''}
          {coins(change)})
        </span>
      </>,
    ])
  }
  if (after.nonce !== undefined && after.nonce !== before.nonce) {
    changes.push(['Nonce', grouped(before.nonce ?? 0), grouped(after.nonce)])
  }
  if (after.code !== undefined && after.code !== before.code) {
    const length = (code: Hex | undefined) => counted(byteLength(code ?? '0x'), 'byte')
    changes.push(['Code', length(before.code), length(after.code)])
  }
  return changes
}

function slotChanges(
  { storage: before = {} }: AccountState,
  { storage: after = {} }: AccountState,
): Change[] {
  const slots = [...new Map([...entriesOf(before), ...entriesOf(after)]).keys()]
  const changes = slots.slice(0, MOST_SLOTS).map(
    (slot): Change => [
      <>
        Slot{' '}
        <span class="mono" title={slot}>
          {shortened(word(slot))}
        </span>
      </>,
      <Mono key="before" wrap>
        {word(before[slot])}
      </Mono>,
      <Mono key="after" wrap>
        {word(after[slot])}
      </Mono>,
    ],
  )
  const more = slots.length - MOST_SLOTS
  return more > 0 ? [...changes, [counted(more, 'more slot'), '', '']] : changes
}

/** The changes of variables, where the node knows the contract's storage layout. */
function variableChanges(
  { variables: before = {} }: AccountState,
  { variables: after = {} }: AccountState,
): Change[] {
  return Object.keys(after).map((path) => [
    <span key="path" class="mono wrap">
      {path}
    </span>,
    <Mono key="before" wrap>
      {String(before[path] ?? '')}
    </Mono>,
    <Mono key="after" wrap>
      {String(after[path])}
    </Mono>,
  ])
}

/** A changed account. */
export interface ChangedAccount {
  readonly address: Hex
  readonly before: AccountState
  readonly after: AccountState
}

/** The rows of an account, the first one with its address. */
function rowsOf({ address, before, after }: ChangedAccount): TableRow[] {
  return [...ownChanges(before, after), ...variableChanges(before, after), ...slotChanges(before, after)].map(
    (change, i) => ({
      key: `${address} ${i}`,
      cells: [i === 0 ? <AddressLink key="address" address={address} /> : '', ...change],
    }),
  )
}

/** The table of changed accounts. */
export function ChangedAccounts({ accounts }: { readonly accounts: readonly ChangedAccount[] }) {
  return (
    <Table
      label="State before and after"
      stacked
      empty="No changes"
      columns={['Account', 'What', 'Before', 'After']}
      rows={accounts.flatMap(rowsOf)}
    />
  )
}

/** The section; it runs the transaction again. */
export function StateChanges({ hash }: { readonly hash: Hex }) {
  const changes = useQuery(
    `state ${hash}`,
    (signal) =>
      traceTransaction(
        areChanges,
        hash,
        { tracer: 'prestateTracer', tracerConfig: { diffMode: true, variables: true } },
        signal,
      ),
    'settled',
  )
  return (
    <Section title="State before and after">
      <Show loaded={changes}>
        {({ pre, post }) => (
          <ChangedAccounts
            accounts={[...new Map([...entriesOf(pre), ...entriesOf(post)]).keys()].map((address) => ({
              address,
              before: pre[address] ?? {},
              after: post[address] ?? {},
            }))}
          />
        )}
      </Show>
    </Section>
  )
}
