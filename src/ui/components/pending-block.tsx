/** `#/block/pending`: the block that would be mined now. It has no height, hash, miner or proof yet. */
import { listOf, objectOf } from '../checks.ts'
import { callFor } from '../client.ts'
import { counted, grouped, isHex, percent, toBigInt } from '../format.ts'
import { useQuery } from '../query.ts'
import { Fields, Heading, Section, Show, Table } from './layout.tsx'
import { Amount, BlockLink, DateAndAge, Mono, TransactionLink } from './values.tsx'

/** Transactions of the table. */
const MOST_SHOWN = 100

/** What `eth_getBlockByNumber` states of the pending block; its other members are null. */
const isPendingBlock = objectOf({
  parentHash: isHex,
  timestamp: isHex,
  gasUsed: isHex,
  gasLimit: isHex,
  minimumGasPrice: isHex,
  paidFees: isHex,
  difficulty: isHex,
  stateRoot: isHex,
  transactions: listOf(isHex),
})

/** The page. */
export function PendingBlock() {
  const loaded = useQuery(
    'pending block',
    (signal) => callFor(isPendingBlock, 'eth_getBlockByNumber', ['pending', false], signal),
    'live',
  )
  return (
    <>
      <Heading title="Pending block">Pending block</Heading>
      <Show loaded={loaded}>
        {(block) => (
          <>
            <Section title="Header">
              <Fields
                rows={[
                  ['Status', 'Not mined: it has no height, hash or miner yet'],
                  ['Parent', <BlockLink key="parent" block={block.parentHash} />],
                  ['Time', <DateAndAge key="time" seconds={block.timestamp} />],
                  [
                    'Gas used',
                    `${grouped(toBigInt(block.gasUsed))} of ${grouped(toBigInt(block.gasLimit))} ` +
                      `(${percent(toBigInt(block.gasUsed), toBigInt(block.gasLimit))})`,
                  ],
                  ['Minimum gas price', `${grouped(toBigInt(block.minimumGasPrice))} wei`],
                  ['Fees', <Amount key="fees" wei={block.paidFees} digits={18} />],
                  ['Difficulty', grouped(toBigInt(block.difficulty))],
                  ['State root', <Mono key="state">{block.stateRoot}</Mono>],
                ]}
              />
            </Section>
            <Section title={counted(block.transactions.length, 'transaction')}>
              {block.transactions.length > MOST_SHOWN && <p class="dim">The first {MOST_SHOWN} are shown.</p>}
              <Table
                label="Transactions"
                columns={['#', 'Hash']}
                rows={block.transactions.slice(0, MOST_SHOWN).map((hash, i) => ({
                  key: hash,
                  cells: [i, <TransactionLink key="hash" hash={hash} />],
                }))}
              />
            </Section>
          </>
        )}
      </Show>
    </>
  )
}
