/** Events as their ABIs decode them. */
import { bitcoinHashIn } from '../bitcoin.ts'
import type { DecodedItem } from '../decode.ts'
import { byteLength, counted } from '../format.ts'
import type { Log } from '../model.ts'
import { may } from '../store.ts'
import { Table } from './layout.tsx'
import { AddressLink, BitcoinLink, Bytes, Mono } from './values.tsx'

/** Events beyond this number are only counted. */
const MOST_EVENTS = 200

/** An event of the table. */
export interface TableEvent {
  readonly log: Pick<Log, 'address' | 'topics' | 'data'>
  readonly index: number
  readonly decoded: DecodedItem | null | undefined
}

/** An event as its ABI decodes it, or its topics and data. */
function Event({ event: { log, decoded } }: { readonly event: TableEvent }) {
  if (decoded) {
    return (
      <span class="wrap">
        <strong>{decoded.name}</strong>
        {decoded.text.slice(decoded.name.length)}
      </span>
    )
  }
  return (
    <Mono wrap>
      {log.topics.map((topic) => (
        <span key={topic} class="topic">
          {topic}
        </span>
      ))}
      {byteLength(log.data) > 0 && <Bytes hex={log.data} label="Data" />}
    </Mono>
  )
}

/** A link to the Bitcoin transaction that an event of the Bridge names. */
function BitcoinOf({ log }: Pick<TableEvent, 'log'>) {
  const hash = may('btc_transaction') ? bitcoinHashIn(log) : undefined
  return hash === undefined ? null : (
    <div class="dim">
      Bitcoin transaction <BitcoinLink hash={hash} />
    </div>
  )
}

/** The table. */
export function EventTable({ events }: { readonly events: readonly TableEvent[] }) {
  return (
    <>
      <Table
        label="Events"
        columns={[{ name: '#', wide: true }, 'Contract', 'Event']}
        rows={events.slice(0, MOST_EVENTS).map((event, i) => ({
          key: i,
          cells: [
            event.index,
            <AddressLink key="address" address={event.log.address} />,
            <div key="event">
              <Event event={event} />
              <BitcoinOf log={event.log} />
            </div>,
          ],
        }))}
      />
      {events.length > MOST_EVENTS && <p class="dim">{counted(events.length - MOST_EVENTS, 'more event')}</p>}
    </>
  )
}
