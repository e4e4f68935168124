/** What REMASC has paid to an account for the blocks that it mined, newest first; nothing where it was paid nothing. */
import { listOf } from '../checks.ts'
import { callFor, RpcError } from '../client.ts'
import { type Hex, quantity, toNumber } from '../format.ts'
import { isLog, type Log } from '../model.ts'
import { useQuery } from '../query.ts'
import { PAYOUT_TOPIC, payoutsOf, REMASC } from '../remasc.ts'
import { head } from '../store.ts'
import { Section, Table } from './layout.tsx'
import { Amount, BlockLink, TransactionLink } from './values.tsx'

/** Blocks that are searched, and payouts that are shown. */
const BLOCKS = 5000
const MOST_SHOWN = 10

async function loadPayouts(payee: Hex, height: number, signal: AbortSignal): Promise<readonly Log[]> {
  const from = Math.max(0, height - BLOCKS + 1)
  const topics = [PAYOUT_TOPIC, `0x${payee.slice(2).padStart(64, '0')}`]
  const query = { address: REMASC, topics, fromBlock: quantity(from), toBlock: quantity(height) }
  try {
    return [...(await callFor(listOf(isLog), 'eth_getLogs', [query], signal))].reverse()
  } catch (error) {
    // Where REMASC's logs are hidden or the range is too large for the caller, nothing is shown.
    if (error instanceof RpcError) return []
    throw error
  }
}

/** The section. */
export function AddressPayouts({ address }: { readonly address: Hex }) {
  const height = head.value === undefined ? undefined : toNumber(head.value.number)
  const loaded = useQuery(
    `payouts ${address} ${height === undefined}`,
    async (signal) => (height === undefined ? [] : loadPayouts(address, height, signal)),
    'live',
  )
  const logs = loaded.value ?? []
  if (logs.length === 0) return null
  return (
    <Section title="REMASC payouts">
      <Table
        label="REMASC payouts"
        columns={['Transaction', 'Block', { name: 'Fees of', wide: true }, { name: 'Amount', end: true }]}
        rows={logs.slice(0, MOST_SHOWN).map((log) => {
          const [payout] = payoutsOf([log])
          return {
            key: `${log.transactionHash} ${log.logIndex}`,
            cells: [
              <TransactionLink key="hash" hash={log.transactionHash} digits={4} />,
              <BlockLink key="block" block={log.blockNumber} />,
              payout && <BlockLink key="paid" block={payout.block} />,
              payout && <Amount key="wei" wei={payout.wei} digits={18} />,
            ],
          }
        })}
      />
      {logs.length > MOST_SHOWN && (
        <p class="dim">
          {logs.length} in the last {BLOCKS} blocks
        </p>
      )}
    </Section>
  )
}
