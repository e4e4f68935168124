/** `#/block/<height, hash or tag>`: header, proof of work, uncles, payouts and transactions of a block. */
import { listOf, orNull } from '../checks.ts'
import { callAll, callFor, present, RpcError } from '../client.ts'
import { Fields, Heading, Section, Show, Table } from '../components/layout.tsx'
import { MergedMiningSection } from '../components/merged-mining-section.tsx'
import { PendingBlock } from '../components/pending-block.tsx'
import { TransactionList } from '../components/transaction-list.tsx'
import {
  AddressLink,
  Amount,
  BlockLink,
  BlockLinks,
  Bytes,
  DateAndAge,
  Mono,
  TransactionLink,
} from '../components/values.tsx'
import { counted, grouped, type Hex, percent, quantity, toBigInt, toNumber } from '../format.ts'
import { type Block, type Header, isBlock, isHeader, isKnownBlock, isReceipt } from '../model.ts'
import { useQuery } from '../query.ts'
import { type Payout, payoutsOf, sentIn } from '../remasc.ts'
import { linkTo } from '../router.ts'
import { head, may } from '../store.ts'

interface Loaded {
  readonly block: Block
  readonly uncles: readonly Header[]
  /** Is it on the canonical chain? */
  readonly isCanonical: boolean
  /** Other blocks of the same height. */
  readonly siblings: readonly Hex[]
  readonly payouts: readonly Payout[]
}

const HASH = /^0x[0-9a-f]{64}$/i
/** Tags of Ethereum that the reference node does not have. */
const ETHEREUM_TAGS: ReadonlySet<string> = new Set(['safe', 'finalized'])

async function findBlock(argument: string, signal: AbortSignal): Promise<Block | null> {
  if (HASH.test(argument)) return callFor(orNull(isBlock), 'eth_getBlockByHash', [argument, false], signal)
  const height = /^\d+$/.test(argument) ? quantity(Number(argument)) : argument
  try {
    return await callFor(orNull(isBlock), 'eth_getBlockByNumber', [height, false], signal)
  } catch (error) {
    if (!(error instanceof RpcError) || !ETHEREUM_TAGS.has(argument)) throw error
    throw new Error(
      `The dialect of this node has no block ${argument}: its tags are latest, earliest and pending`,
    )
  }
}

async function loadPayouts(block: Block, signal: AbortSignal): Promise<readonly Payout[]> {
  const hash = block.hiddenTransactions?.at(-1) ?? block.transactions.at(-1)
  if (hash === undefined) return []
  const receipt = await callFor(orNull(isReceipt), 'eth_getTransactionReceipt', [hash], signal)
  return receipt?.blockHash === block.hash ? payoutsOf(receipt.logs) : []
}

/** The headers of the uncles; where the method for it is closed, those that the node has as blocks. */
async function loadUncles(block: Block, signal: AbortSignal): Promise<Header[]> {
  const calls = block.uncles.map((hash, i) =>
    may('eth_getUncleByBlockHashAndIndex')
      ? (['eth_getUncleByBlockHashAndIndex', [block.hash, quantity(i)]] as const)
      : (['eth_getBlockByHash', [hash, false]] as const),
  )
  return present(await callAll(orNull(isHeader), calls, signal))
}

async function loadBlock(argument: string, signal: AbortSignal): Promise<Loaded> {
  const block = await findBlock(argument, signal)
  if (block === null) throw new Error(`There is no block ${argument}`)
  const [uncles, known, payouts] = await Promise.all([
    loadUncles(block, signal),
    may('eth_getBlocksByNumber')
      ? callFor(listOf(isKnownBlock), 'eth_getBlocksByNumber', [block.number], signal)
      : [],
    loadPayouts(block, signal).catch(() => []),
  ])
  const own = known.find(({ hash }) => hash === block.hash)
  return {
    block,
    uncles,
    isCanonical: own?.inMainChain ?? true,
    siblings: known.flatMap(({ hash }) => (hash === block.hash ? [] : [hash])),
    payouts,
  }
}

function StatusBadge({ isCanonical }: { readonly isCanonical: boolean }) {
  return (
    <span class={`badge ${isCanonical ? 'good' : 'bad'}`}>{isCanonical ? 'Canonical' : 'Not canonical'}</span>
  )
}

function GasUsed({ block }: { readonly block: Block }) {
  const used = toBigInt(block.gasUsed)
  const limit = toBigInt(block.gasLimit)
  return (
    <>
      {grouped(used)} of {grouped(limit)} ({percent(used, limit)})
      <meter min={0} max={Number(limit)} value={Number(used)} aria-label="Gas used of the limit" />
    </>
  )
}

function LogsBloom({ bloom }: { readonly bloom: Hex }) {
  return /^0x0*$/.test(bloom) ? <span class="dim">empty</span> : <Bytes hex={bloom} label="Logs bloom" />
}

function HeaderFields({ block, isCanonical, siblings }: Omit<Loaded, 'uncles' | 'payouts'>) {
  return (
    <Fields
      rows={[
        ['Status', <StatusBadge key="status" isCanonical={isCanonical} />],
        ['Hash', <Mono key="hash">{block.hash}</Mono>],
        ['Time', <DateAndAge key="time" seconds={block.timestamp} />],
        ['Parent', toNumber(block.number) > 0 && <BlockLink key="parent" block={block.parentHash} />],
        ['Same height', siblings.length > 0 && <BlockLinks key="siblings" hashes={siblings} />],
        ['Miner', <AddressLink key="miner" address={block.miner} full />],
        ['Gas used', <GasUsed key="gas" block={block} />],
        ['Minimum gas price', `${grouped(toBigInt(block.minimumGasPrice))} wei`],
        ['Fees', <Amount key="fees" wei={block.paidFees} digits={18} />],
        ['Difficulty', grouped(toBigInt(block.difficulty))],
        ['Difficulty with uncles', grouped(toBigInt(block.cumulativeDifficulty))],
        ['Total difficulty', grouped(toBigInt(block.totalDifficulty))],
        ['Size', counted(toBigInt(block.size), 'byte')],
        ['State root', <Mono key="state">{block.stateRoot}</Mono>],
        ['Transactions root', <Mono key="transactions">{block.transactionsRoot}</Mono>],
        ['Receipts root', <Mono key="receipts">{block.receiptsRoot}</Mono>],
        ['Uncles hash', <Mono key="uncles">{block.sha3Uncles}</Mono>],
        ['Extra data', <Bytes key="extra" hex={block.extraData} label="Extra data" />],
        ['Logs bloom', <LogsBloom key="bloom" bloom={block.logsBloom} />],
      ]}
    />
  )
}

function Uncles({ uncles }: { readonly uncles: readonly Header[] }) {
  return (
    <Section title="Uncles">
      <Table
        label="Uncles"
        columns={['Height', 'Hash', { name: 'Miner', wide: true }, { name: 'Difficulty', end: true }]}
        rows={uncles.map((uncle) => ({
          key: uncle.hash,
          cells: [
            grouped(toNumber(uncle.number)),
            <BlockLink key="hash" block={uncle.hash} />,
            <AddressLink key="miner" address={uncle.miner} />,
            grouped(toBigInt(uncle.difficulty)),
          ],
        }))}
      />
    </Section>
  )
}

function Payouts({ payouts }: { readonly payouts: readonly Payout[] }) {
  const total = payouts.reduce((sum, { wei }) => sum + wei, 0n)
  const paid = payouts[0]?.block
  return (
    <Section title="REMASC payouts">
      {paid !== undefined && (
        <p class="dim">
          <Amount wei={total} digits={18} /> of the fees up to block <BlockLink block={paid} />
        </p>
      )}
      <Table
        label="REMASC payouts"
        empty="No payouts: REMASC pays the fees of a block to its miner only after the maturity."
        columns={['Payee', { name: 'Amount', end: true }]}
        rows={payouts.map(({ payee, wei }, i) => ({
          key: i,
          cells: [
            <AddressLink key="payee" address={payee} full />,
            <Amount key="wei" wei={wei} digits={18} />,
          ],
        }))}
      />
    </Section>
  )
}

/** `3 transactions and REMASC`. */
function transactionsTitle(block: Block): string {
  const sent = sentIn(block)
  return `${counted(sent, 'transaction')}${sent < block.transactions.length ? ' and REMASC' : ''}`
}

/** Links to the blocks before and after. */
function Neighbours({ height }: { readonly height: number }) {
  const newest = toNumber(head.value?.number)
  return (
    <span class="neighbours">
      {height > 0 && (
        <a href={linkTo('block', height - 1)} rel="prev" aria-label={`Previous, ${height - 1}`}>
          ←
        </a>
      )}
      {height < newest && (
        <a href={linkTo('block', height + 1)} rel="next" aria-label={`Next, ${height + 1}`}>
          →
        </a>
      )}
    </span>
  )
}

/** The page. */
export function BlockPage({ argument }: { readonly argument: string }) {
  return argument === 'pending' ? <PendingBlock /> : <MinedBlock argument={argument} />
}

function MinedBlock({ argument }: { readonly argument: string }) {
  const open = [may('eth_getUncleByBlockHashAndIndex'), may('eth_getBlocksByNumber')]
  const loaded = useQuery(`block ${argument} ${open}`, (signal) => loadBlock(argument, signal))
  const height = loaded.value === undefined ? undefined : toNumber(loaded.value.block.number)
  const title = `Block ${height === undefined ? argument : grouped(height)}`
  return (
    <>
      <Heading title={title}>
        {title}
        {height !== undefined && <Neighbours height={height} />}
      </Heading>
      <Show loaded={loaded}>
        {({ block, uncles, payouts, ...rest }) => (
          <>
            <Section title="Header">
              <HeaderFields block={block} {...rest} />
            </Section>
            <div class="columns">
              <Uncles uncles={uncles} />
              <Payouts payouts={payouts} />
            </div>
            <Section title={transactionsTitle(block)}>
              <TransactionList key={block.hash} block={block.hash} hashes={block.transactions} />
              {block.hiddenTransactions?.map((hash) => (
                <p key={hash} class="dim">
                  Hidden from other clients: <TransactionLink hash={hash} />
                </p>
              ))}
            </Section>
            <MergedMiningSection header={block} />
            {may('eth_getBlocksByNumber') && (
              <p>
                <a href={linkTo('tree', block.number)}>Branches around this block</a>
              </p>
            )}
          </>
        )}
      </Show>
    </>
  )
}
