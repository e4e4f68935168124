/** The transactions of one block: only those in view are loaded and in the document. */
import type { ComponentChildren } from 'preact'
import { useCallback, useRef, useState } from 'preact/hooks'
import { orNull } from '../checks.ts'
import { callAll, RpcError } from '../client.ts'
import { grouped, type Hex, quantity, toBigInt } from '../format.ts'
import { type Method, methodsOf } from '../methods.ts'
import { isReceipt, isTransaction, type Receipt, type Transaction } from '../model.ts'
import { isRemasc } from '../remasc.ts'
import { MethodName } from './method-name.tsx'
import { AddressLink, Amount, TransactionLink } from './values.tsx'
import { Windowed } from './windowed.tsx'

const COLUMNS = ['#', 'Hash', 'Method', 'From', 'To', 'Value', 'Gas used']

interface Row {
  readonly transaction: Transaction
  readonly receipt: Receipt | undefined
  readonly method: Method
}

async function loadRows(block: Hex, hashes: readonly Hex[], from: number, to: number): Promise<Row[]> {
  const indexes = Array.from({ length: to - from }, (_, i) => from + i)
  const [transactions, receipts] = await Promise.all([
    callAll(
      orNull(isTransaction),
      indexes.map((index) => ['eth_getTransactionByBlockHashAndIndex', [block, quantity(index)]] as const),
    ),
    callAll(
      orNull(isReceipt),
      indexes.map((index) => ['eth_getTransactionReceipt', [hashes[index]]] as const),
    ),
  ])
  const present = transactions.flatMap((transaction, i) => {
    if (transaction === null || transaction instanceof RpcError) return []
    const receipt = receipts[i]
    const own = receipt instanceof RpcError || receipt?.blockHash !== block ? undefined : receipt
    return [{ transaction, receipt: own ?? undefined }]
  })
  const methods = await methodsOf(present.map(({ transaction }) => transaction))
  return present.map((each, i) => ({ ...each, method: methods[i] ?? { name: '' } }))
}

/** The rows that have been in view; those of a range are loaded when it comes into view. */
function useRows(block: Hex, hashes: readonly Hex[]) {
  const [rows, setRows] = useState<ReadonlyMap<number, Row>>(new Map())
  const asked = useRef(new Set<number>())
  const onRange = useCallback(
    (from: number, to: number) => {
      const { current } = asked
      const missing = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).filter(
        (index) => index < hashes.length && !current.has(index),
      )
      const [first, last] = [missing[0], missing.at(-1)]
      if (first === undefined || last === undefined) return
      for (let index = first; index <= last; index++) current.add(index)
      loadRows(block, hashes, first, last + 1).then(
        (loaded) =>
          setRows((before) => new Map([...before, ...loaded.map((row, i) => [first + i, row] as const)])),
        () => {
          for (const index of missing) current.delete(index)
        },
      )
    },
    [block, hashes],
  )
  return { rows, onRange }
}

function cellsOf(index: number, hash: Hex, row: Row | undefined): ComponentChildren[] {
  const link = <TransactionLink key="link" hash={hash} />
  if (row === undefined) return [index, link, '…', '', '', '', '']
  const { transaction, receipt, method } = row
  return [
    index,
    link,
    <MethodName key="method" method={method} status={receipt?.status} />,
    isRemasc(transaction) ? '' : <AddressLink key="from" address={transaction.from} />,
    <AddressLink key="to" address={transaction.to ?? receipt?.contractAddress} />,
    <Amount key="value" wei={transaction.value} />,
    receipt === undefined ? '' : grouped(toBigInt(receipt.gasUsed)),
  ]
}

/** The list; its key has to be the block. */
export function TransactionList({ block, hashes }: { readonly block: Hex; readonly hashes: readonly Hex[] }) {
  const { rows, onRange } = useRows(block, hashes)
  if (hashes.length === 0) return <p class="dim empty">None</p>
  return (
    <Windowed
      label="Transactions"
      class="transactions"
      count={hashes.length}
      rowHeight={40}
      columns={COLUMNS}
      keyOf={(index) => hashes[index] ?? index}
      onRange={onRange}
      row={(index) => {
        const hash = hashes[index]
        return hash && cellsOf(index, hash, rows.get(index))
      }}
    />
  )
}
