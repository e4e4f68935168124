/** The events of a contract, newest first, searched backwards in ranges of blocks. */
import { useEffect, useState } from 'preact/hooks'
import { listOf } from '../checks.ts'
import { callFor, RpcError } from '../client.ts'
import { type DecodedItem, decodeAll } from '../decode.ts'
import { type Hex, isHex, quantity, toNumber } from '../format.ts'
import { isLog, type Log } from '../model.ts'
import { useQuery } from '../query.ts'
import { head } from '../store.ts'
import { Section, Show } from './layout.tsx'
import { Pager } from './pager.tsx'
import { AddressLink, BlockLink, Bytes, Mono, TransactionLink } from './values.tsx'

const PAGE = 25
/** Blocks of the first range; a range without enough events is followed by larger ones. */
const FIRST_BLOCKS = 500
const MOST_BLOCKS = 8000
/** Ranges of one page. */
const MOST_RANGES = 12

interface Event {
  readonly log: Log
  readonly decoded: DecodedItem | null
}

/** Where a page begins: at height `to`, without its last `skip` events. */
interface Place {
  readonly to: number
  readonly skip: number
}

interface Found {
  readonly events: readonly Event[]
  /** Lowest height that was searched. */
  readonly from: number
  readonly next: Place | undefined
}

async function logsOf(
  address: Hex,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<readonly Log[] | undefined> {
  const query = { address, fromBlock: quantity(from), toBlock: quantity(to) }
  try {
    return await callFor(listOf(isLog), 'eth_getLogs', [query], signal)
  } catch (error) {
    // Too many blocks or logs for this node.
    if (error instanceof RpcError && to > from) return undefined
    throw error
  }
}

async function search(address: Hex, { to, skip }: Place, signal: AbortSignal): Promise<Found> {
  const logs: Log[] = []
  let blocks = FIRST_BLOCKS
  let upper = to
  let from = to + 1
  for (let i = 0; i < MOST_RANGES && from > 0 && logs.length < skip + PAGE; i++) {
    const lower = Math.max(0, upper - blocks + 1)
    const part = await logsOf(address, lower, upper, signal)
    if (part === undefined) {
      blocks = Math.max(1, blocks >> 2)
      continue
    }
    logs.push(...[...part].reverse())
    from = lower
    upper = lower - 1
    blocks = Math.min(MOST_BLOCKS, blocks * 2)
  }
  const shown = logs.slice(skip, skip + PAGE)
  const decoded = await decodeAll(
    shown.map(({ data, topics }) => ({ kind: 'event', address, data, topics })),
    signal,
  )
  const events = shown.map((log, i) => ({ log, decoded: decoded[i] ?? null }))
  const next =
    logs.length > skip + PAGE ? { to, skip: skip + PAGE } : from > 0 ? { to: from - 1, skip: 0 } : undefined
  return { events, from, next }
}

function Arguments({ decoded }: { readonly decoded: DecodedItem }) {
  return (
    <dl class="arguments">
      {decoded.arguments.map(({ name, type, value }, i) => (
        <div key={i}>
          <dt title={type}>{name || type}</dt>
          <dd>{isHex(value) && type === 'address' ? <AddressLink address={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  )
}

function EventRow({ event: { log, decoded } }: { readonly event: Event }) {
  return (
    <li>
      <div class="event-head">
        {decoded === null ? (
          <Mono wrap>{log.topics[0] ?? 'anonymous'}</Mono>
        ) : (
          <strong>{decoded.name}</strong>
        )}
        <span class="dim">
          in <TransactionLink hash={log.transactionHash} />, block <BlockLink block={log.blockNumber} />
        </span>
      </div>
      {decoded !== null && <Arguments decoded={decoded} />}
      {decoded === null && log.data !== '0x' && <Bytes hex={log.data} label="Data" />}
    </li>
  )
}

/** The section. */
export function AddressEvents({ address }: { readonly address: Hex }) {
  const [places, setPlaces] = useState<readonly Place[]>([])
  useEffect(() => setPlaces([]), [address])
  const height = head.value === undefined ? undefined : toNumber(head.value.number)
  const place = places.at(-1) ?? (height === undefined ? undefined : { to: height, skip: 0 })
  const page = useQuery(
    `${address} ${places.length === 0 ? `head ${height === undefined}` : `${place?.to} ${place?.skip}`}`,
    async (signal) => (place === undefined ? undefined : search(address, place, signal)),
    places.length === 0 ? 'live' : 'settled',
  )
  return (
    <Section title="Events">
      <Show loaded={page}>
        {({ events, from, next }) => (
          <>
            {events.length === 0 && (
              <p class="dim empty">{from === 0 ? 'None' : `None from block ${from} on`}</p>
            )}
            <ul class="events">
              {events.map((event) => (
                <EventRow key={`${event.log.transactionHash} ${event.log.logIndex}`} event={event} />
              ))}
            </ul>
            <Pager
              label="events"
              newer={places.length > 0 ? () => setPlaces(places.slice(0, -1)) : undefined}
              older={next && (() => setPlaces([...places, next]))}
            />
          </>
        )}
      </Show>
    </Section>
  )
}
