/** `#/chaos`: the chaos that is set, what it has done, and forms that set a profile or a plan. */
import { isAnything, isNumber, isText, listOf, objectOf, orNull, recordOf } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionButton } from '../components/action.tsx'
import { ActionForm, Choice, Field, useText } from '../components/form.tsx'
import { Fields, Heading, Section, Show, Table } from '../components/layout.tsx'
import { grouped } from '../format.ts'
import { type Loaded as Query, useQuery } from '../query.ts'
import { announce, may } from '../store.ts'

/** `evm_chaos`. */
const isState = objectOf({ plan: isAnything, seed: isText, counts: recordOf(isText, isNumber) })
/** `evm_chaosProfiles`. */
const isProfile = objectOf({ name: isText, summary: isText, plan: isAnything })

interface Loaded {
  readonly state: {
    readonly plan: unknown
    readonly seed: string
    readonly counts: Readonly<Record<string, number>>
  } | null
  readonly profiles: readonly { readonly name: string; readonly summary: string; readonly plan: unknown }[]
}

async function load(signal: AbortSignal): Promise<Loaded> {
  const [state, profiles] = await Promise.all([
    callFor(orNull(isState), 'evm_chaos', [], signal),
    may('evm_chaosProfiles') ? callFor(listOf(isProfile), 'evm_chaosProfiles', [], signal) : [],
  ])
  return { state, profiles }
}

/** Sets a profile or a plan; an empty seed is that of the node. */
async function setChaos(plan: unknown, seed: string): Promise<void> {
  await call('evm_setChaos', seed.trim() === '' ? [plan] : [plan, seed.trim()])
  announce('Chaos is set')
}

interface FormProps {
  readonly loaded: Query<Loaded>
}

function ProfileForm({ loaded, profiles }: FormProps & { readonly profiles: Loaded['profiles'] }) {
  const name = useText(profiles[0]?.name)
  const seed = useText()
  const summary = profiles.find((profile) => profile.name === name.value)?.summary
  return (
    <ActionForm
      label="Profile"
      button="Set profile"
      run={async () => {
        await setChaos(name.value, seed.value)
        loaded.reload()
      }}
    >
      <Choice label="Profile" text={name} options={profiles.map((each) => [each.name, each.name])} />
      <Field label="Seed (empty: that of the node)" text={seed} placeholder="7" />
      {summary !== undefined && <p class="dim">{summary}</p>}
    </ActionForm>
  )
}

function PlanForm({ loaded }: FormProps) {
  const plan = useText()
  const seed = useText()
  return (
    <ActionForm
      label="Plan"
      button="Set plan"
      kind="plain"
      run={async () => {
        let parsed: unknown
        try {
          parsed = JSON.parse(plan.value)
        } catch {
          throw new Error('Expected a plan as JSON')
        }
        await setChaos(parsed, seed.value)
        loaded.reload()
      }}
    >
      <Field label="Plan (JSON)" text={plan} placeholder='{"receipts": {"probability": 1, "polls": 3}}' />
      <Field label="Seed (empty: that of the node)" text={seed} placeholder="7" />
    </ActionForm>
  )
}

function Current({ state, loaded }: FormProps & { readonly state: NonNullable<Loaded['state']> }) {
  const faults = Object.entries(state.counts).sort(([, a], [, b]) => b - a)
  return (
    <>
      <Fields rows={[['Seed', state.seed]]} />
      <pre>{JSON.stringify(state.plan, undefined, 2)}</pre>
      <Table
        label="Faults"
        empty="No fault was made yet"
        columns={['Fault', { name: 'Count', end: true }]}
        rows={faults.map(([name, count]) => ({ key: name, cells: [name, grouped(count)] }))}
      />
      {may('evm_setChaos') && (
        <ActionButton
          kind="danger"
          label="Turn chaos off"
          text="Turn off"
          run={async () => {
            await call('evm_setChaos', [null])
            announce('Chaos is off')
            loaded.reload()
          }}
        />
      )}
    </>
  )
}

/** The page. */
export function ChaosPage() {
  if (may('evm_chaos')) return <ChaosForms />
  return (
    <>
      <Heading title="Chaos" />
      <p class="dim">The node does not show its chaos to this caller</p>
    </>
  )
}

function ChaosForms() {
  const loaded = useQuery('chaos', load, 'live')
  return (
    <>
      <Heading title="Chaos" />
      <Section title="Now">
        <Show loaded={loaded}>
          {({ state }) =>
            state === null ? (
              <p class="dim">Off: calls are answered at once, and none fails</p>
            ) : (
              <Current state={state} loaded={loaded} />
            )
          }
        </Show>
      </Section>
      {may('evm_setChaos') && (
        <div class="columns">
          <Section title="Profiles">
            <Show loaded={loaded}>
              {({ profiles }) => <ProfileForm loaded={loaded} profiles={profiles} />}
            </Show>
          </Section>
          <Section title="A plan of your own">
            <PlanForm loaded={loaded} />
          </Section>
        </div>
      )}
    </>
  )
}
