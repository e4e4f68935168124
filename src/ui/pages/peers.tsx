/** `#/peers`: the use of API keys, callers from other machines with their scores, and bans. */
import { type Checked, isFlag, isNumber, isText, listOf, objectOf } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionButton } from '../components/action.tsx'
import { ActionForm, Field, useText } from '../components/form.tsx'
import { ACTIONS, type Column, Heading, Section, Show, Table, type TableRow } from '../components/layout.tsx'
import { Mono } from '../components/values.tsx'
import { grouped, percent } from '../format.ts'
import { type Loaded as Query, useQuery } from '../query.ts'
import { may } from '../store.ts'

/** `sco_peerList`, the counters that callers over JSON-RPC can have. */
const isPeer = objectOf({
  id: isText,
  goodReputation: isFlag,
  successfulHandshakes: isNumber,
  failedHandshakes: isNumber,
  validTransactions: isNumber,
  invalidTransactions: isNumber,
  invalidMessages: isNumber,
  timeoutMessages: isNumber,
  score: isNumber,
  punishments: isNumber,
})
type Peer = Checked<typeof isPeer>

/** `sco_keyUsage`. */
const isUsage = objectOf({
  key: isText,
  method: isText,
  calls: isNumber,
  errors: isNumber,
  seconds: isNumber,
})
type Usage = Checked<typeof isUsage>

interface Loaded {
  readonly usage: readonly Usage[]
  readonly peers: readonly Peer[]
  readonly banned: readonly string[]
}

async function load(signal: AbortSignal): Promise<Loaded> {
  const [usage, peers, banned] = await Promise.all([
    may('sco_keyUsage') ? callFor(listOf(isUsage), 'sco_keyUsage', [], signal) : [],
    may('sco_peerList') ? callFor(listOf(isPeer), 'sco_peerList', [], signal) : [],
    may('sco_bannedAddresses') ? callFor(listOf(isText), 'sco_bannedAddresses', [], signal) : [],
  ])
  return { usage, peers, banned }
}

/** Methods that are listed for a key, the most called ones. */
const MOST_METHODS = 3

const KEY_COLUMNS: readonly Column[] = [
  'Key',
  { name: 'Calls', end: true },
  { name: 'Errors', end: true },
  { name: 'Time', end: true },
  'Most called',
]

/** The use of one key, and how often it called. */
function usageRow(key: string, list: readonly Usage[]): { readonly calls: number; readonly row: TableRow } {
  const sum = (member: 'calls' | 'errors' | 'seconds') =>
    list.reduce((total, each) => total + each[member], 0)
  const [calls, errors] = [sum('calls'), sum('errors')]
  const mostCalled = [...list].sort((a, b) => b.calls - a.calls).slice(0, MOST_METHODS)
  const cells = [
    key === '' ? (
      <span key="key" class="dim">
        without a key
      </span>
    ) : (
      <strong key="key">{key}</strong>
    ),
    grouped(calls),
    `${grouped(errors)} (${percent(errors, calls)})`,
    `${sum('seconds').toFixed(2)} s`,
    mostCalled.map((each) => `${each.method}\u00a0${grouped(each.calls)}`).join(', '),
  ]
  return { calls, row: { key, cells } }
}

function KeyUsage({ usage }: { readonly usage: readonly Usage[] }) {
  const byKey = new Map<string, Usage[]>()
  for (const each of usage) byKey.set(each.key, [...(byKey.get(each.key) ?? []), each])
  const rows = [...byKey].map(([key, list]) => usageRow(key, list)).sort((a, b) => b.calls - a.calls)
  return <Table label="API keys" stacked columns={KEY_COLUMNS} rows={rows.map(({ row }) => row)} />
}

function Peers({ peers, onChange }: { readonly peers: readonly Peer[]; readonly onChange: () => void }) {
  const mayBan = may('sco_banAddress')
  return (
    <Table
      label="Callers"
      empty="No caller from another machine has been scored; those of this machine are not."
      columns={[
        'Address',
        { name: 'Score', end: true },
        { name: 'Connections', end: true, wide: true },
        { name: 'Transactions', end: true, wide: true },
        { name: 'Invalid', end: true, wide: true },
        { name: 'Timeouts', end: true, wide: true },
        { name: 'Punishments', end: true, wide: true },
        mayBan && ACTIONS,
      ]}
      rows={peers.map((peer) => ({
        key: peer.id,
        cells: [
          <Mono key="id" wrap>
            {peer.id}
          </Mono>,
          <span key="score" class={peer.goodReputation ? undefined : 'bad'}>
            {peer.score}
          </span>,
          `${grouped(peer.successfulHandshakes)} of ${grouped(peer.successfulHandshakes + peer.failedHandshakes)}`,
          grouped(peer.validTransactions),
          grouped(peer.invalidTransactions + peer.invalidMessages),
          grouped(peer.timeoutMessages),
          grouped(peer.punishments),
          <ActionButton
            key="ban"
            kind="danger"
            label={`Ban ${peer.id}`}
            text="Ban"
            run={async () => {
              await call('sco_banAddress', [peer.id])
              onChange()
            }}
          />,
        ],
      }))}
    />
  )
}

function BannedAddresses({
  banned,
  onChange,
}: {
  readonly banned: readonly string[]
  readonly onChange: () => void
}) {
  return (
    <Table
      label="Banned"
      empty="No address is banned"
      columns={['Address', may('sco_unbanAddress') && ACTIONS]}
      rows={banned.map((address) => ({
        key: address,
        cells: [
          <Mono key="address">{address}</Mono>,
          <ActionButton
            key="lift"
            kind="plain"
            label={`Lift the ban of ${address}`}
            text="Lift"
            run={async () => {
              await call('sco_unbanAddress', [address])
              onChange()
            }}
          />,
        ],
      }))}
    />
  )
}

/** The banned addresses, and a form that bans one. */
function Bans({ loaded }: { readonly loaded: Query<Loaded> }) {
  const address = useText()
  return (
    <Section title="Bans">
      {may('sco_banAddress') && (
        <ActionForm
          label="Ban"
          button="Ban"
          kind="danger"
          run={async () => {
            await call('sco_banAddress', [address.value.trim()])
            address.set('')
            loaded.reload()
          }}
        >
          <Field label="Address or range" text={address} placeholder="192.0.2.0/24" />
        </ActionForm>
      )}
      <Show loaded={loaded}>
        {({ banned }) => <BannedAddresses banned={banned} onChange={loaded.reload} />}
      </Show>
    </Section>
  )
}

/** The page. */
export function PeersPage() {
  const loaded = useQuery(`peers ${may('sco_peerList')}`, load, 'live')
  return (
    <>
      <Heading title="Peers" />
      {may('sco_keyUsage') && (
        <Section title="Calls by API key">
          <Show loaded={loaded}>{({ usage }) => <KeyUsage usage={usage} />}</Show>
        </Section>
      )}
      {may('sco_peerList') ? (
        <Section title="Callers">
          <Show loaded={loaded}>{({ peers }) => <Peers peers={peers} onChange={loaded.reload} />}</Show>
        </Section>
      ) : (
        <p class="dim">The node does not list its callers for this one</p>
      )}
      {may('sco_bannedAddresses') && <Bans loaded={loaded} />}
    </>
  )
}
