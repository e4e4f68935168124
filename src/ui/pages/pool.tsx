/** `#/pool`: the transactions that wait, runnable or queued after a missing nonce, and buttons that drop them. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { firstOpen } from '../accounts.ts'
import { type Checked, isText, listOf, objectOf, recordOf } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionButton } from '../components/action.tsx'
import { ACTIONS, type Column, Heading, Section, Show, Table } from '../components/layout.tsx'
import { MethodName } from '../components/method-name.tsx'
import { AddressLink, Amount, TransactionLink } from '../components/values.tsx'
import { byteLength, counted, grouped, type Hex, isHex, shortened, toBigInt } from '../format.ts'
import { type Method, methodsOf } from '../methods.ts'
import { useQuery } from '../query.ts'
import { connection, may } from '../store.ts'

/** Transactions of a table. */
const MOST_SHOWN = 100
/** Milliseconds between two loads: no subscription reports queued and dropped transactions. */
const RELOAD_MS = 2000

/** A transaction of `txpool_content`. */
const isPooled = objectOf({
  hash: isHex,
  from: isHex,
  to: isHex,
  nonce: isHex,
  gas: isHex,
  gasPrice: isHex,
  value: isHex,
  input: isHex,
})
type Pooled = Checked<typeof isPooled>

/** By sender and nonce. */
const isQueue = recordOf(isText, recordOf(isText, listOf(isPooled)))
const isContent = objectOf({ pending: isQueue, queued: isQueue })

interface List {
  readonly count: number
  readonly shown: readonly (Pooled & { readonly method: Method })[]
}

async function listed(bySender: Checked<typeof isQueue>, signal: AbortSignal): Promise<List> {
  const all = Object.values(bySender).flatMap((byNonce) => Object.values(byNonce).flat())
  const shown = all.slice(0, MOST_SHOWN)
  const methods = await methodsOf(
    shown.map((each) => ({ ...each, to: byteLength(each.to) === 20 ? each.to : null })),
    signal,
  )
  return {
    count: all.length,
    shown: shown.map((each, i) => ({ ...each, method: methods[i] ?? { name: '' } })),
  }
}

interface Pool {
  readonly pending: List
  readonly queued: List
}

async function loadPool(signal: AbortSignal): Promise<Pool> {
  const content = await callFor(isContent, 'txpool_content', [], signal)
  return { pending: await listed(content.pending, signal), queued: await listed(content.queued, signal) }
}

const COLUMNS: readonly Column[] = [
  'Hash',
  'From',
  { name: 'Nonce', end: true, wide: true },
  'To',
  { name: 'Method', wide: true },
  { name: 'Value', wide: true, end: true },
  { name: 'Gas price (wei)', wide: true, end: true },
]

function cellsOf(transaction: List['shown'][number]): ComponentChildren[] {
  const { hash, from, to, nonce, value, gasPrice, method } = transaction
  return [
    <TransactionLink key="hash" hash={hash} digits={4} />,
    <AddressLink key="from" address={from} digits={4} />,
    grouped(toBigInt(nonce)),
    <AddressLink key="to" address={byteLength(to) === 20 ? to : null} digits={4} />,
    <MethodName key="method" method={method} />,
    <Amount key="value" wei={toBigInt(value)} />,
    grouped(toBigInt(gasPrice)),
  ]
}

function PoolTable({
  title,
  hint,
  list: { count, shown },
  onDrop,
}: {
  readonly title: string
  readonly hint: string
  readonly list: List
  readonly onDrop: () => void
}) {
  const drop = firstOpen('hardhat_dropTransaction', 'anvil_dropTransaction')
  const dropButton = (hash: Hex) =>
    drop !== undefined && (
      <ActionButton
        key="drop"
        kind="danger"
        label={`Drop ${shortened(hash, 4)}`}
        text="Drop"
        run={async () => {
          await call(drop, [hash])
          onDrop()
        }}
      />
    )
  return (
    <Section title={title} actions={<span class="dim">{counted(count, 'transaction')}</span>}>
      <p class="dim empty">{hint}</p>
      <Table
        label={title}
        columns={[...COLUMNS, drop !== undefined && ACTIONS]}
        rows={shown.map((each) => ({ key: each.hash, cells: [...cellsOf(each), dropButton(each.hash)] }))}
      />
      {count > shown.length && <p class="dim">{counted(count - shown.length, 'further transaction')}</p>}
    </Section>
  )
}

function PoolTables({ pending, queued, onDrop }: Pool & { readonly onDrop: () => void }) {
  return (
    <>
      <PoolTable title="Pending" hint="The next block may contain these." list={pending} onDrop={onDrop} />
      <PoolTable
        title="Queued"
        hint="These wait for a transaction of an earlier nonce."
        list={queued}
        onDrop={onDrop}
      />
    </>
  )
}

/** The page. */
export function PoolPage() {
  const isOpen = may('txpool_content')
  const pool = useQuery(`pool ${isOpen}`, async (signal) => (isOpen ? loadPool(signal) : null), 'live')
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && connection.value === 'open') pool.reload()
    }, RELOAD_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      <div class="page-head">
        <Heading title="Pool" />
        {may('anvil_dropAllTransactions') && (
          <ActionButton
            label="Empty the pool"
            kind="danger"
            run={async () => {
              await call('anvil_dropAllTransactions')
              pool.reload()
            }}
          />
        )}
      </div>
      <Show loaded={pool}>
        {(lists) =>
          lists === null ? (
            <p class="dim">The node does not list its pool for this caller</p>
          ) : (
            <PoolTables {...lists} onDrop={pool.reload} />
          )
        }
      </Show>
    </>
  )
}
