/** `#/tx/<hash>`: what a transaction did, how it was called, and why it failed. */

import { orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { CallTreeView, Failure } from '../components/call-tree.tsx'
import { EventTable } from '../components/event-table.tsx'
import { FlameGraph } from '../components/flame-graph.tsx'
import { Fields, Heading, Section, Show, Table } from '../components/layout.tsx'
import { RuleComparison } from '../components/rule-comparison.tsx'
import { StackTrace } from '../components/stack-trace.tsx'
import { StateChanges } from '../components/state-changes.tsx'
import { Steps } from '../components/steps.tsx'
import { TypedLists, typedRows } from '../components/typed-transaction.tsx'
import { AddressLink, Amount, BlockLink, Bytes, DateAndAge, Mono } from '../components/values.tsx'
import { type DecodedItem, decodeAll } from '../decode.ts'
import { byteLength, counted, grouped, percent, toBigInt, toNumber } from '../format.ts'
import { type Header, isHeader, isReceipt, isTransaction, type Receipt, type Transaction } from '../model.ts'
import { useQuery } from '../query.ts'
import { isRemasc, payoutsOf } from '../remasc.ts'
import { linkTo } from '../router.ts'
import { head, may } from '../store.ts'
import { type CallTree, loadCallTree } from '../trace.ts'

interface Found {
  readonly transaction: Transaction
  /** Absent while it is pending. */
  readonly receipt: Receipt | null
  readonly header: Header | null
  readonly input: DecodedItem | null
  readonly events: readonly (DecodedItem | null)[]
}

async function loadTransaction(hash: string, signal: AbortSignal): Promise<Found> {
  const transaction = await callFor(orNull(isTransaction), 'eth_getTransactionByHash', [hash], signal)
  if (transaction === null) throw new Error(`There is no transaction ${hash}`)
  const { to, input, blockHash } = transaction
  const [receipt, header] =
    blockHash === null
      ? [null, null]
      : await Promise.all([
          callFor(orNull(isReceipt), 'eth_getTransactionReceipt', [hash], signal),
          callFor(orNull(isHeader), 'eth_getBlockByHash', [blockHash, false], signal),
        ])
  const [own, ...events] = await decodeAll(
    [
      to === null ? { kind: 'creation', data: input } : { kind: 'call', data: input, address: to },
      ...(receipt?.logs ?? []).map(({ address, topics, data }) => ({
        kind: 'event' as const,
        address,
        topics,
        data,
      })),
    ],
    signal,
  )
  return { transaction, receipt, header, input: own ?? null, events }
}

function Status({
  receipt,
  tree,
}: {
  readonly receipt: Receipt | null
  readonly tree: CallTree | undefined
}) {
  if (receipt === null) return <span class="badge">Pending</span>
  if (toNumber(receipt.status) === 1) return <span class="badge good">Succeeded</span>
  return (
    <>
      <span class="badge bad">Failed</span> {tree !== undefined && <Failure tree={tree} />}
    </>
  )
}

/** Where a mined transaction is, and how many blocks are on top. */
function MinedIn({ receipt }: { readonly receipt: Receipt }) {
  const depth = toNumber(head.value?.number) - toNumber(receipt.blockNumber) + 1
  return (
    <>
      <BlockLink block={receipt.blockNumber} />{' '}
      <span class="dim">
        index {toNumber(receipt.transactionIndex)}
        {depth > 0 && `, ${counted(depth, 'confirmation')}`}
      </span>
    </>
  )
}

function Sender({ transaction }: { readonly transaction: Transaction }) {
  return isRemasc(transaction) ? (
    <>no account: REMASC ends each block</>
  ) : (
    <AddressLink address={transaction.from} full />
  )
}

function Summary({ found, tree }: { readonly found: Found; readonly tree: CallTree | undefined }) {
  const { transaction, receipt, header } = found
  const limit = toBigInt(transaction.gas)
  const used = toBigInt(receipt?.gasUsed)
  const price = toBigInt(transaction.gasPrice)
  const created = receipt?.contractAddress
  return (
    <Fields
      rows={[
        ['Status', <Status key="status" receipt={receipt} tree={tree} />],
        ['Block', receipt && <MinedIn key="block" receipt={receipt} />],
        ['Time', header && <DateAndAge key="time" seconds={header.timestamp} />],
        ['From', <Sender key="from" transaction={transaction} />],
        ['To', <AddressLink key="to" address={transaction.to} full />],
        ['Created', created && <AddressLink key="created" address={created} full />],
        ['Value', <Amount key="value" wei={transaction.value} digits={18} />],
        ['Fee', receipt && <Amount key="fee" wei={used * price} digits={18} />],
        [
          'Gas',
          receipt === null
            ? `limit ${grouped(limit)}`
            : `${grouped(used)} used of ${grouped(limit)} (${percent(used, limit)})`,
        ],
        ['Gas price', `${grouped(price)} wei`],
        ...typedRows(transaction),
        ['Nonce', grouped(toNumber(transaction.nonce))],
      ]}
    />
  )
}

function DecodedInput({ input: { name, arguments: values } }: { readonly input: DecodedItem }) {
  return (
    <>
      <p>
        <Mono wrap>
          <strong>{name}</strong>({values.map((each) => `${each.type} ${each.name}`.trim()).join(', ')})
        </Mono>
      </p>
      <Table
        label="Arguments"
        stacked
        empty="No arguments"
        columns={['Name', 'Type', 'Value']}
        rows={values.map((each, i) => ({
          key: i,
          cells: [
            each.name === '' ? i : each.name,
            <span key="type" class="mono dim">
              {each.type}
            </span>,
            <Mono key="value" wrap>
              {each.value}
            </Mono>,
          ],
        }))}
      />
    </>
  )
}

function Input({
  transaction,
  input,
}: {
  readonly transaction: Transaction
  readonly input: DecodedItem | null
}) {
  if (byteLength(transaction.input) === 0) return null
  return (
    <Section title={transaction.to === null ? 'Init code' : 'Input'}>
      {input !== null && <DecodedInput input={input} />}
      <details open={input === null}>
        <summary>{counted(byteLength(transaction.input), 'byte')}</summary>
        <Bytes hex={transaction.input} label="Input" />
      </details>
    </Section>
  )
}

function Events({
  receipt: { logs },
  events,
}: {
  readonly receipt: Receipt
  readonly events: readonly (DecodedItem | null)[]
}) {
  return (
    <Section title="Events">
      <EventTable
        events={logs.map((log, i) => ({ log, index: toNumber(log.logIndex), decoded: events[i] }))}
      />
    </Section>
  )
}

function Payouts({ receipt }: { readonly receipt: Receipt }) {
  const payouts = payoutsOf(receipt.logs)
  if (payouts.length === 0) return null
  return (
    <Section title="REMASC payouts">
      <Table
        label="REMASC payouts"
        columns={['Payee', 'Fees of', { name: 'Amount', end: true }]}
        rows={payouts.map(({ payee, block, wei }, i) => ({
          key: i,
          cells: [
            <AddressLink key="payee" address={payee} full />,
            <BlockLink key="block" block={block} />,
            <Amount key="wei" wei={wei} digits={18} />,
          ],
        }))}
      />
    </Section>
  )
}

/** The link to the debugger. */
function DebugLink({ hash }: { readonly hash: string }) {
  if (!may('evm_debugTransaction')) return null
  return (
    <a class="button" href={linkTo('debug', hash)}>
      Debug
    </a>
  )
}

/** The link to the page that simulates a transaction at its place. */
function SimulateLink({ transaction }: { readonly transaction: Transaction }) {
  if (!may('evm_simulate') || isRemasc(transaction)) return null
  return (
    <a class="button" href={linkTo('simulate', transaction.hash)}>
      Simulate again with changes
    </a>
  )
}

function Mined({ found, receipt }: { readonly found: Found; readonly receipt: Receipt }) {
  const { transaction, input, events } = found
  const canTrace = may('debug_traceTransaction')
  const tree = useQuery(`tree ${transaction.hash} ${receipt.blockHash} ${canTrace}`, (signal) =>
    canTrace
      ? loadCallTree(transaction.hash, signal)
      : Promise.reject(new Error('Tracing is not open to this caller')),
  )
  return (
    <>
      <Section
        title="Transaction"
        actions={
          <span class="line">
            <DebugLink hash={transaction.hash} />
            <SimulateLink transaction={transaction} />
          </span>
        }
      >
        <Summary found={found} tree={tree.value} />
      </Section>
      {toNumber(receipt.status) === 0 && may('evm_stackTrace') && <StackTrace hash={transaction.hash} />}
      {canTrace && (
        <Section title="Call tree">
          <Show loaded={tree}>{(value) => <CallTreeView tree={value} />}</Show>
        </Section>
      )}
      <TypedLists transaction={transaction} />
      <Input transaction={transaction} input={input} />
      <Payouts receipt={receipt} />
      <Events receipt={receipt} events={events} />
      {canTrace && <StateChanges hash={transaction.hash} />}
      {may('evm_gasProfile') && !isRemasc(transaction) && <FlameGraph hash={transaction.hash} />}
      {canTrace && <Steps hash={transaction.hash} />}
      {may('debug_compareRules') && !isRemasc(transaction) && <RuleComparison hash={transaction.hash} />}
    </>
  )
}

/** The page. */
export function TransactionPage({ argument }: { readonly argument: string }) {
  const found = useQuery(
    `transaction ${argument} ${may('evm_decode')}`,
    (signal) => loadTransaction(argument, signal),
    'live',
  )
  return (
    <>
      <Heading title={`Transaction ${argument}`}>
        Transaction <span class="mono hash">{argument}</span>
      </Heading>
      <Show loaded={found}>
        {(value) =>
          value.receipt === null ? (
            <>
              <Section title="Transaction" actions={<SimulateLink transaction={value.transaction} />}>
                <Summary found={value} tree={undefined} />
              </Section>
              <TypedLists transaction={value.transaction} />
              <Input transaction={value.transaction} input={value.input} />
            </>
          ) : (
            <Mined key={argument} found={value} receipt={value.receipt} />
          )
        }
      </Show>
    </>
  )
}
