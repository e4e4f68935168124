/** The overview: the head, rates, and the latest blocks and transactions, live. */
import type { ComponentChildren } from 'preact'
import { either, isNumber, objectOf, orNull } from '../checks.ts'
import { callAll, callFor, poolName, present, RpcError } from '../client.ts'
import { Heading, Section, Show, Table } from '../components/layout.tsx'
import { MethodName } from '../components/method-name.tsx'
import { AddressLink, Age, Amount, BlockLink, TransactionLink } from '../components/values.tsx'
import {
  counted,
  durationText,
  grouped,
  type Hex,
  isHex,
  percent,
  quantity,
  toBigInt,
  toNumber,
} from '../format.ts'
import { type Method, methodsOf } from '../methods.ts'
import { type Block, type Header, isBlock, isTransaction, type Transaction } from '../model.ts'
import { useQuery } from '../query.ts'
import { isRemasc, sentIn } from '../remasc.ts'
import { head, identity, may } from '../store.ts'

/** Blocks that are loaded, for the list and the figures. */
const BLOCKS = 12
const TRANSACTIONS = 12

/** A transaction, what it calls, and the status of its receipt. */
interface LatestTransaction {
  readonly transaction: Transaction
  readonly method: Method
  readonly status: Hex | undefined
}

interface Latest {
  readonly blocks: readonly Block[]
  readonly transactions: readonly LatestTransaction[]
}

/** What earlier loads fetched; blocks and transactions are known by their hashes and never change. */
let knownBlocks: ReadonlyMap<Hex, Block> = new Map()
let knownTransactions: ReadonlyMap<Hex, Transaction> = new Map()

function byHash<Value extends { readonly hash: Hex }>(values: readonly Value[]): ReadonlyMap<Hex, Value> {
  return new Map(values.map((value) => [value.hash, value]))
}

/** The newest blocks, down from this one; only those that no earlier load fetched are requested. */
async function loadBlocks(newest: Block, signal: AbortSignal): Promise<readonly Block[]> {
  const blocks = [newest]
  const count = Math.min(BLOCKS, toNumber(newest.number) + 1)
  let parent = knownBlocks.get(newest.parentHash)
  while (parent !== undefined && blocks.length < count) {
    blocks.push(parent)
    parent = knownBlocks.get(parent.parentHash)
  }
  const height = toNumber(newest.number)
  const calls = Array.from(
    { length: count - blocks.length },
    (_, i) => ['eth_getBlockByNumber', [quantity(height - blocks.length - i), false]] as const,
  )
  blocks.push(...present(await callAll(orNull(isBlock), calls, signal)))
  knownBlocks = byHash(blocks)
  return blocks
}

/** The newest transactions of these blocks, without REMASC's. */
async function loadTransactions(
  blocks: readonly Block[],
  signal: AbortSignal,
): Promise<readonly Transaction[]> {
  // The last transaction of a block is REMASC's.
  const hashes = blocks
    .flatMap(({ transactions }) => transactions.slice(-TRANSACTIONS - 1).reverse())
    .slice(0, TRANSACTIONS + BLOCKS)
  const calls = hashes
    .filter((hash) => !knownTransactions.has(hash))
    .map((hash) => ['eth_getTransactionByHash', [hash]] as const)
  const loaded = byHash(present(await callAll(orNull(isTransaction), calls, signal)))
  const all = hashes.flatMap((hash) => loaded.get(hash) ?? knownTransactions.get(hash) ?? [])
  knownTransactions = byHash(all)
  return all.filter((each) => !isRemasc(each)).slice(0, TRANSACTIONS)
}

const isStatus = objectOf({ status: isHex })

/** The transactions with what they call and whether they failed. */
async function described(
  transactions: readonly Transaction[],
  signal: AbortSignal,
): Promise<readonly LatestTransaction[]> {
  const [methods, receipts] = await Promise.all([
    methodsOf(transactions, signal),
    callAll(
      orNull(isStatus),
      transactions.map(({ hash }) => ['eth_getTransactionReceipt', [hash]] as const),
      signal,
    ),
  ])
  return transactions.map((transaction, i) => {
    const receipt = receipts[i]
    const status = receipt instanceof RpcError ? undefined : receipt?.status
    return { transaction, method: methods[i] ?? { name: '' }, status }
  })
}

async function loadLatest(signal: AbortSignal): Promise<Latest> {
  const newest = head.peek() ?? (await callFor(isBlock, 'eth_getBlockByNumber', ['latest', false], signal))
  const blocks = await loadBlocks(newest, signal)
  return { blocks, transactions: await described(await loadTransactions(blocks, signal), signal) }
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Seconds between the blocks, on average; `undefined` for less than two. A genesis of time 0 is no block of the clock. */
function interval(blocks: readonly Block[]): number | undefined {
  const timed = blocks.filter(({ number, timestamp }) => toNumber(number) > 0 || toNumber(timestamp) > 0)
  const [newest, oldest] = [timed[0], timed.at(-1)]
  if (newest === undefined || oldest === undefined || newest === oldest) return undefined
  return (toNumber(newest.timestamp) - toNumber(oldest.timestamp)) / (timed.length - 1)
}

/** Counts are numbers, or quantities with the presets of other nodes. */
const isCount = either(isNumber, isHex)
const isPoolStatus = objectOf({ pending: isCount, queued: isCount })

function PoolFigure() {
  const pool = useQuery(
    `pool ${may('txpool_status')}`,
    async (signal) => (may('txpool_status') ? callFor(isPoolStatus, 'txpool_status', [], signal) : undefined),
    'live',
  )
  if (pool.value === undefined) return null
  const [pending, queued] = [toNumber(pool.value.pending), toNumber(pool.value.queued)]
  return (
    <Figure name="In the pool">
      {grouped(pending + queued)}
      <small>
        {pending} pending, {queued} queued
      </small>
    </Figure>
  )
}

function HeadFigure({ latest }: { readonly latest: Header | undefined }) {
  if (latest === undefined) return <Figure name="Head">…</Figure>
  return (
    <Figure name="Head">
      <BlockLink block={latest.number} text={grouped(toNumber(latest.number))} />
      <small>
        <Age seconds={latest.timestamp} />
      </small>
    </Figure>
  )
}

function Figures({ blocks }: { readonly blocks: readonly Block[] }) {
  const latest = head.value
  const seconds = interval(blocks)
  const used = blocks.reduce((sum, { gasUsed }) => sum + toBigInt(gasUsed), 0n)
  const limit = blocks.reduce((sum, { gasLimit }) => sum + toBigInt(gasLimit), 0n)
  const count = blocks.reduce((sum, block) => sum + sentIn(block), 0)
  return (
    <dl class="figures">
      <HeadFigure latest={latest} />
      <Figure name="Block interval">
        {seconds === undefined ? '—' : durationText(Math.round(seconds))}
        <small>mean of the last {counted(blocks.length, 'block')}</small>
      </Figure>
      <Figure name="Gas used">
        {percent(used, limit)}
        <small>of {latest === undefined ? '…' : grouped(toBigInt(latest.gasLimit))} a block</small>
      </Figure>
      <Figure name="Transactions">
        {grouped(count)}
        <small>in the last {counted(blocks.length, 'block')}</small>
      </Figure>
      <PoolFigure />
    </dl>
  )
}

function BlockTable({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <Table
      label="Latest blocks"
      columns={[
        'Height',
        'Age',
        { name: 'Transactions', end: true },
        { name: 'Gas used', wide: true, end: true },
        { name: 'Uncles', wide: true, end: true },
      ]}
      rows={blocks.map((block) => ({
        key: block.hash,
        cells: [
          <BlockLink key="link" block={block.number} />,
          <Age key="age" seconds={block.timestamp} />,
          sentIn(block),
          `${grouped(toBigInt(block.gasUsed))} (${percent(toBigInt(block.gasUsed), toBigInt(block.gasLimit))})`,
          block.uncles.length,
        ],
      }))}
    />
  )
}

function TransactionTable({ transactions }: { readonly transactions: readonly LatestTransaction[] }) {
  return (
    <Table
      label="Latest transactions"
      empty="No transactions in the last blocks"
      columns={['Hash', 'Method', 'From', 'To', { name: 'Value', wide: true, end: true }]}
      rows={transactions.map(({ transaction: { hash, from, to, value }, method, status }) => ({
        key: hash,
        cells: [
          <TransactionLink key="link" hash={hash} digits={4} />,
          <MethodName key="method" method={method} status={status} />,
          <AddressLink key="from" address={from} digits={4} />,
          <AddressLink key="to" address={to} digits={4} />,
          <Amount key="value" wei={value} />,
        ],
      }))}
    />
  )
}

/** What the chain continues from, another chain or the base of its pool, and the rules that it has of its own. */
function Beginning() {
  const { fork, rules } = identity.value ?? {}
  if (fork === undefined && rules === undefined && poolName === undefined) return null
  return (
    <p class="dim">
      {poolName !== undefined && `Chain ${poolName} of a pool. `}
      {fork !== undefined && `A ${fork}: blocks up to it are read from there. `}
      {rules !== undefined && `Rules of its own: ${rules}.`}
    </p>
  )
}

/** `#/` */
export function OverviewPage() {
  const latest = useQuery('latest', loadLatest, 'live')
  return (
    <>
      <Heading title="Overview" />
      <Beginning />
      <Show loaded={latest}>
        {({ blocks, transactions }) => (
          <>
            <Figures blocks={blocks} />
            <div class="columns">
              <Section title="Latest blocks">
                <BlockTable blocks={blocks} />
              </Section>
              <Section title="Latest transactions">
                <TransactionTable transactions={transactions} />
              </Section>
            </div>
          </>
        )}
      </Show>
    </>
  )
}
