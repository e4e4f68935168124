/**
 * `#/simulate`: steps that share state, simulated at any block, with what each does. `#/simulate/<transaction>` opens a
 * transaction at its place, `#/simulate?s=…` a shared simulation.
 */
import { useEffect, useState } from 'preact/hooks'
import { maySend, useAccounts } from '../accounts.ts'
import { listOf } from '../checks.ts'
import { callFor, endpoint } from '../client.ts'
import { ActionButton, ErrorText } from '../components/action.tsx'
import { CopyAs } from '../components/copy-as.tsx'
import { CopyBox } from '../components/copy-box.tsx'
import { Field } from '../components/form.tsx'
import { Heading, Section } from '../components/layout.tsx'
import { AccountRows, BlockRows } from '../components/override-table.tsx'
import { SimulationStep } from '../components/simulation-step.tsx'
import { isKnownContract } from '../contracts.ts'
import { counted, messageOf } from '../format.ts'
import { useAction, useQuery } from '../query.ts'
import { route } from '../router.ts'
import { loadAddress, save, sendAll, share, simulate } from '../simulation/commands.ts'
import { simulationText } from '../simulation/copies.ts'
import { draftOf, emptyStep, isOn, scenarioOf } from '../simulation/draft.ts'
import { readFileText } from '../simulation/file.ts'
import { changeDraft, draft, openDraft, run } from '../simulation/page-state.ts'
import type { StepKind } from '../simulation/scenario.ts'
import { may } from '../store.ts'

/** Suggestions for addresses: the accounts of the node, and the contracts that it knows. */
function KnownAddresses() {
  const accounts = useAccounts().value ?? []
  const contracts = useQuery(
    `addresses ${may('evm_contracts')}`,
    async (signal) =>
      may('evm_contracts') ? callFor(listOf(isKnownContract), 'evm_contracts', [], signal) : [],
    'live',
  )
  return (
    <datalist id="known-addresses">
      {(contracts.value ?? []).map(
        ({ name, address }) =>
          address !== null && (
            <option key={address} value={address}>
              {name ?? 'contract'}
            </option>
          ),
      )}
      {accounts.map((address, i) => (
        <option key={address} value={address}>
          account {i + 1}
        </option>
      ))}
    </datalist>
  )
}

function Place() {
  const { block, place, overrides, blockOverrides } = draft.value
  return (
    <>
      <div class="line">
        <Field
          label="Block: a height, a hash, latest or pending"
          text={{ value: block, set: (text) => changeDraft({ block: text }) }}
        />
        <Field
          label="Before its transaction (empty: after all)"
          text={{ value: place, set: (text) => changeDraft({ place: text }) }}
          placeholder="index"
        />
      </div>
      <details open={overrides.length > 0 || blockOverrides.length > 0}>
        <summary>Overrides before the first step</summary>
        <AccountRows
          label="override"
          add="Override an account"
          rows={overrides}
          onChange={(rows) => changeDraft({ overrides: rows })}
        />
        <BlockRows rows={blockOverrides} onChange={(rows) => changeDraft({ blockOverrides: rows })} />
      </details>
    </>
  )
}

function OpenFile() {
  const [error, setError] = useState<string | undefined>(undefined)
  async function open(file: File | undefined): Promise<void> {
    if (file === undefined) return
    try {
      openDraft(draftOf(readFileText(await file.text())))
      setError(undefined)
    } catch (reason) {
      setError(`${file.name}: ${messageOf(reason)}`)
    }
  }
  return (
    <>
      <label class="field">
        <span>Open a file</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            const input = event.currentTarget
            void open(input.files?.[0])
            input.value = ''
          }}
        />
      </label>
      <ErrorText message={error} />
    </>
  )
}

function Share() {
  const [shared, setShared] = useState<{ readonly of: unknown; readonly link: string } | undefined>(undefined)
  return (
    <>
      <div class="line">
        <ActionButton
          kind="plain"
          label="Share as a link"
          run={async () => setShared({ of: draft.value, link: await share() })}
        />
        <ActionButton kind="plain" label="Save as a file" run={async () => save()} />
        <OpenFile />
      </div>
      {new URL(endpoint()).pathname !== '/' && (
        <p class="dim">Links and copied texts hold the API key of this page's address.</p>
      )}
      {shared !== undefined && shared.of === draft.value && <CopyBox label="Link" text={shared.link} />}
      <CopyAs
        label="Copy all as"
        textOf={(tool) => simulationText(tool, endpoint(), scenarioOf(draft.value, isOn))}
      />
    </>
  )
}

const ADDED: readonly (readonly [StepKind, string])[] = [
  ['call', 'Add a call'],
  ['send', 'Add a send'],
  ['set', 'Add a set'],
  ['warp', 'Add a warp'],
]

function AddButtons() {
  return (
    <div class="line">
      {ADDED.map(([kind, text]) => (
        <button
          key={kind}
          id={`add-${kind}`}
          type="button"
          class="plain"
          onClick={() => changeDraft({ steps: [...draft.value.steps, emptyStep(kind)] })}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

/** How the last run ended, for those who do not see the steps. */
function RunSummary() {
  const last = run.value
  const outcomes = [...(last?.outcomes.values() ?? [])]
  const failed = outcomes.filter((each) => 'status' in each && each.status !== '0x1').length
  return (
    <span role="status" class="dim">
      {last === undefined
        ? ''
        : last.draft !== draft.value
          ? 'Changed since it was simulated'
          : `Simulated ${counted(outcomes.length, 'step')}${failed > 0 ? `, ${failed} failed` : ''}`}
    </span>
  )
}

/** The buttons that stay at the foot of the window. */
function Controls() {
  const action = useAction(simulate)
  const canSend = draft.value.steps.some(({ kind, isOff }) => kind !== 'call' && !isOff)
  return (
    <div class="line run">
      <button type="button" disabled={action.isRunning} onClick={action.run}>
        Simulate
      </button>
      <RunSummary />
      <ErrorText message={action.error} />
      {canSend && maySend() && <ActionButton kind="danger" label="Send all to the chain" run={sendAll} />}
    </div>
  )
}

function Simulation() {
  const { steps } = draft.value
  return (
    <>
      <KnownAddresses />
      <Section title="Block and overrides">
        <Place />
        <Share />
      </Section>
      {steps.length === 0 && (
        <p class="dim">
          No steps yet. A call reads, a send is a transaction, a set changes balances, code or variables, a
          warp moves clock and height; each runs on the state that the one before left. Nothing is written to
          the chain.
        </p>
      )}
      {steps.map((step, i) => (
        <SimulationStep key={step.id} step={step} number={i + 1} count={steps.length} />
      ))}
      <AddButtons />
      <Controls />
    </>
  )
}

/** The page. */
export function SimulatePage({ argument }: { readonly argument: string }) {
  const place = route.value
  const [error, setError] = useState<string | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    setError(undefined)
    loadAddress(argument, place.parameters.get('s')).then(
      (opened) => {
        if (isCurrent && opened !== undefined) openDraft(opened)
      },
      (reason: unknown) => {
        if (isCurrent) setError(messageOf(reason))
      },
    )
    return () => {
      isCurrent = false
    }
  }, [place, argument])
  return (
    <>
      <Heading title="Simulate" />
      {error !== undefined && (
        <p>
          <ErrorText message={error} />
        </p>
      )}
      {may('evm_simulate') ? (
        <Simulation />
      ) : (
        <p class="dim">The node does not let this caller use evm_simulate</p>
      )}
    </>
  )
}
