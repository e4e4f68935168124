/** The accounts that a transaction changed: balance, nonce, code and storage before and after. */
import type { ComponentChildren } from 'preact'
import { byteLength, coins, counted, grouped, type Hex, shortened, toBigInt } from '../format.ts'
import { useQuery } from '../query.ts'
import { traceTransaction } from '../trace.ts'
import { Section, Show, Table } from './layout.tsx'
import { AddressLink } from './values.tsx'

interface AccountState {
  readonly balance?: Hex
  readonly nonce?: number
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}
type States = Readonly<Record<Hex, AccountState>>

interface Row {
  readonly key: string
  readonly cells: readonly ComponentChildren[]
}

/** Slots beyond so many of one account are counted. */
const MOST_SLOTS = 200

/** A storage word without its leading zeros. */
function word(value: Hex | undefined): string {
  return value === undefined ? '0x0' : `0x${value.slice(2).replace(/^0+(?=.)/, '')}`
}

function rowsOf(address: Hex, before: AccountState, after: AccountState): Row[] {
  const rows: (readonly [name: ComponentChildren, before: ComponentChildren, after: ComponentChildren])[] = []
  const [from, to] = [toBigInt(before.balance), toBigInt(after.balance ?? before.balance)]
  if (from !== to) {
    const change = to - from
    rows.push([
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
    rows.push(['Nonce', grouped(before.nonce ?? 0), grouped(after.nonce)])
  }
  if (after.code !== undefined && after.code !== before.code) {
    const length = (code: Hex | undefined) => counted(byteLength(code ?? '0x'), 'byte')
    rows.push(['Code', length(before.code), length(after.code)])
  }
  const slots = [...new Set([...Object.keys(before.storage ?? {}), ...Object.keys(after.storage ?? {})])]
  for (const slot of slots.slice(0, MOST_SLOTS) as Hex[]) {
    rows.push([
      <>
        Slot{' '}
        <span class="mono" title={slot}>
          {shortened(word(slot))}
        </span>
      </>,
      <span key="before" class="mono wrap">
        {word(before.storage?.[slot])}
      </span>,
      <span key="after" class="mono wrap">
        {word(after.storage?.[slot])}
      </span>,
    ])
  }
  if (slots.length > MOST_SLOTS) rows.push([counted(slots.length - MOST_SLOTS, 'more slot'), '', ''])
  return rows.map(([name, was, is], i) => ({
    key: `${address} ${i}`,
    cells: [i === 0 ? <AddressLink key="address" address={address} /> : '', name, was, is],
  }))
}

/** The section; it runs the transaction again. */
export function StateChanges({ hash }: { readonly hash: Hex }) {
  const changes = useQuery(
    `state ${hash}`,
    (signal) =>
      traceTransaction<{ pre: States; post: States }>(
        hash,
        { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
        signal,
      ),
    'settled',
  )
  return (
    <Section title="State before and after">
      <Show loaded={changes}>
        {({ pre, post }) => (
          <Table
            label="State before and after"
            stacked
            empty="No changes"
            columns={['Account', 'What', 'Before', 'After']}
            rows={[...new Set([...Object.keys(pre), ...Object.keys(post)])].flatMap((address) =>
              rowsOf(address as Hex, pre[address as Hex] ?? {}, post[address as Hex] ?? {}),
            )}
          />
        )}
      </Show>
    </Section>
  )
}
