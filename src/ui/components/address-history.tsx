/** The transactions in which an account takes part, newest first, through the index of the node. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Checked, isFlag, isNumber, listOf, objectOf } from '../checks.ts'
import { callFor } from '../client.ts'
import { type Hex, toNumber } from '../format.ts'
import { type Method, methodsOf } from '../methods.ts'
import { isTransaction, RECEIPT, type Transaction } from '../model.ts'
import { useQuery } from '../query.ts'
import { isRemasc } from '../remasc.ts'
import { may } from '../store.ts'
import { type Column, Section, Show, Table } from './layout.tsx'
import { MethodName } from './method-name.tsx'
import { Pager } from './pager.tsx'
import { AddressLink, Age, Amount, BlockLink, TransactionLink } from './values.tsx'

const PAGE = 25

/** `ots_searchTransactionsBefore`. */
const isFound = objectOf({
  txs: listOf(isTransaction),
  receipts: listOf(objectOf({ ...RECEIPT, timestamp: isNumber })),
  lastPage: isFlag,
})

/** Where a page begins: below a height (0 is the end of the chain), without the first `skip` transactions of that answer. */
interface Place {
  readonly below: number
  readonly skip: number
}

const NEWEST: Place = { below: 0, skip: 0 }

interface Row {
  readonly transaction: Transaction
  readonly receipt: Checked<typeof isFound>['receipts'][number] | undefined
  readonly method: Method
}

async function load(address: Hex, { below, skip }: Place, signal: AbortSignal) {
  const parameters = [address, below, PAGE]
  const found = await callFor(isFound, 'ots_searchTransactionsBefore', parameters, signal)
  const { txs, receipts, lastPage } = found
  const shown = txs.slice(skip, skip + PAGE)
  const methods = await methodsOf(shown, signal)
  const rows = shown.map(
    (transaction, i): Row => ({
      transaction,
      receipt: receipts[skip + i],
      method: methods[i] ?? { name: '' },
    }),
  )
  const last = txs.at(-1)
  // A block's transactions come together: an answer can be longer than a page.
  const next: Place | undefined =
    skip + PAGE < txs.length
      ? { below, skip: skip + PAGE }
      : lastPage || last === undefined
        ? undefined
        : { below: toNumber(last.blockNumber), skip: 0 }
  return { rows, next }
}

const COLUMNS: readonly Column[] = [
  'Hash',
  'Method',
  { name: 'Block', wide: true },
  { name: 'Age', wide: true },
  'From / to',
  { name: 'Value', end: true },
]

/** The account at the other end of a transaction, and which way it went. */
function OtherAccount({ address, row }: { readonly address: Hex; readonly row: Row }) {
  const { transaction, receipt } = row
  if (isRemasc(transaction)) return <span class="dim">ends its block</span>
  const isOut = transaction.from === address
  return (
    <>
      <span class={isOut ? 'badge' : 'badge good'}>{isOut ? 'out' : 'in'}</span>{' '}
      <AddressLink
        address={isOut ? (transaction.to ?? receipt?.contractAddress) : transaction.from}
        digits={4}
      />
    </>
  )
}

function cellsOf(address: Hex, row: Row): ComponentChildren[] {
  const { transaction, receipt, method } = row
  return [
    <TransactionLink key="hash" hash={transaction.hash} digits={4} />,
    <MethodName key="method" method={method} status={receipt?.status} />,
    <BlockLink key="block" block={transaction.blockNumber ?? '0x0'} />,
    receipt?.timestamp === undefined ? '' : <Age key="age" seconds={receipt.timestamp} />,
    <span key="other">
      <OtherAccount address={address} row={row} />
    </span>,
    <Amount key="value" wei={transaction.value} />,
  ]
}

/** The section; absent where the caller may not search. */
export function AddressHistory({ address }: { readonly address: Hex }) {
  const [places, setPlaces] = useState<readonly Place[]>([NEWEST])
  useEffect(() => setPlaces([NEWEST]), [address])
  const place = places.at(-1) ?? NEWEST
  const isOpen = may('ots_searchTransactionsBefore')
  const page = useQuery(
    `${address} ${place.below} ${place.skip} ${isOpen}`,
    async (signal) => (isOpen ? load(address, place, signal) : undefined),
    places.length === 1 ? 'live' : 'settled',
  )
  if (!isOpen) return null
  return (
    <Section title="Transactions">
      <Show loaded={page}>
        {({ rows, next }) => (
          <>
            <Table
              label="Transactions"
              columns={COLUMNS}
              rows={rows.map((row) => ({ key: row.transaction.hash, cells: cellsOf(address, row) }))}
            />
            <Pager
              label="transactions"
              newer={places.length > 1 ? () => setPlaces(places.slice(0, -1)) : undefined}
              older={next && (() => setPlaces([...places, next]))}
            />
          </>
        )}
      </Show>
    </Section>
  )
}
