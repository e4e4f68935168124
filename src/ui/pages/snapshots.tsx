/** `#/snapshots`: take, name, revert to and compare snapshots. */
import { useState } from 'preact/hooks'
import { type Checked, isFlag, isNumber, isText, listOf, objectOf, orNull } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionButton } from '../components/action.tsx'
import { ActionForm, Choice, Field, useText } from '../components/form.tsx'
import { ACTIONS, Heading, Section, Show, Table } from '../components/layout.tsx'
import { isSnapshotDiff, type SnapshotDiff, SnapshotDifference } from '../components/snapshot-difference.tsx'
import { Age, BlockLink } from '../components/values.tsx'
import { isHex, toNumber } from '../format.ts'
import { useQuery } from '../query.ts'
import { announce, head, may } from '../store.ts'

/** `evm_snapshots`. */
const isSnapshot = objectOf({ id: isHex, name: orNull(isText), height: isNumber, time: isNumber })
type Snapshot = Checked<typeof isSnapshot>

const nameOf = ({ id, name }: Snapshot): string => name ?? id

function TakeForm({ onTaken }: { readonly onTaken: () => void }) {
  const name = useText()
  const [isKept, setIsKept] = useState(false)
  return (
    <ActionForm
      label="New snapshot"
      button="Take snapshot"
      run={async () => {
        const text = name.value.trim()
        await call('evm_snapshot', isKept ? [text || null, { keep: true }] : text === '' ? [] : [text])
        name.set('')
        onTaken()
      }}
    >
      <Field label="Name (optional)" text={name} placeholder="before the sale" />
      <label class="check">
        <input
          type="checkbox"
          checked={isKept}
          onChange={(event) => setIsKept(event.currentTarget.checked)}
        />
        Keep over a restart of the node
      </label>
    </ActionForm>
  )
}

function CompareForm({ snapshots }: { readonly snapshots: readonly Snapshot[] }) {
  const before = useText(snapshots.at(-1)?.id)
  const after = useText()
  const [found, setFound] = useState<SnapshotDiff | undefined>(undefined)
  const options = snapshots.map((each): [string, string] => [
    each.id,
    `${nameOf(each)}, block ${each.height}`,
  ])
  return (
    <Section title="Compare">
      <ActionForm
        label="Compare snapshots"
        button="Compare"
        kind="plain"
        run={async () => {
          setFound(undefined)
          const parameters = after.value === '' ? [before.value] : [before.value, after.value]
          setFound(await callFor(isSnapshotDiff, 'evm_diff', parameters))
        }}
      >
        <Choice label="Before" text={before} options={options} />
        <Choice label="After" text={after} options={[['', 'now'], ...options]} />
      </ActionForm>
      {found !== undefined && <SnapshotDifference difference={found} />}
    </Section>
  )
}

async function revertTo({ id, height }: Snapshot): Promise<void> {
  // A change of the chain announces itself; a snapshot of the head changes clock and pool only.
  const isHead = toNumber(head.value?.number) === height
  if (!(await callFor(isFlag, 'evm_revert', [id]))) throw new Error('There is no such snapshot any more')
  if (isHead) announce(`Reverted to block ${height}`)
}

function SnapshotTable({
  snapshots,
  onRevert,
}: {
  readonly snapshots: readonly Snapshot[]
  readonly onRevert: () => void
}) {
  return (
    <Table
      label="Snapshots"
      empty="None yet. A snapshot keeps the state of the chain, its pool and its clock."
      columns={['Name', 'Block', 'Taken', may('evm_revert') && ACTIONS]}
      rows={[...snapshots].reverse().map((snapshot) => ({
        key: snapshot.id,
        cells: [
          <span key="name">
            <strong>{snapshot.name ?? 'unnamed'}</strong> <span class="dim">{snapshot.id}</span>
          </span>,
          <BlockLink key="block" block={snapshot.height} />,
          <Age key="time" seconds={snapshot.time} />,
          <ActionButton
            key="revert"
            kind="danger"
            label={`Revert to ${nameOf(snapshot)}`}
            text="Revert"
            run={async () => {
              await revertTo(snapshot)
              onRevert()
            }}
          />,
        ],
      }))}
    />
  )
}

/** The page. */
export function SnapshotsPage() {
  const isOpen = may('evm_snapshots')
  const snapshots = useQuery(
    `snapshots ${isOpen}`,
    async (signal) => (isOpen ? callFor(listOf(isSnapshot), 'evm_snapshots', [], signal) : null),
    'live',
  )
  return (
    <>
      <Heading title="Snapshots" />
      <Section title="Snapshots">
        {may('evm_snapshot') && <TakeForm onTaken={snapshots.reload} />}
        <Show loaded={snapshots}>
          {(list) =>
            list === null ? (
              <p class="dim empty">The node does not list its snapshots for this caller</p>
            ) : (
              <SnapshotTable snapshots={list} onRevert={snapshots.reload} />
            )
          }
        </Show>
      </Section>
      {may('evm_diff') && (snapshots.value?.length ?? 0) > 0 && (
        <CompareForm snapshots={snapshots.value ?? []} />
      )}
    </>
  )
}
