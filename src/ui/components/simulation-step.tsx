/** A step of a simulation: its fields, its buttons, and what it does. */
import { maySend } from '../accounts.ts'
import { endpoint } from '../client.ts'
import { debugStep, sendOne } from '../simulation/commands.ts'
import { stepText } from '../simulation/copies.ts'
import { type StepDraft, scenarioOf, stepOf } from '../simulation/draft.ts'
import { changeDraft, changeStep, draft, moveStep, run, sent } from '../simulation/page-state.ts'
import { head, may } from '../store.ts'
import { ActionButton, ErrorText } from './action.tsx'
import { CopyAs } from './copy-as.tsx'
import { Section } from './layout.tsx'
import { StepEditor } from './step-editor.tsx'
import { StepOutcome } from './step-outcome.tsx'
import { TransactionLink } from './values.tsx'

function StepActions({
  step,
  number,
  count,
}: {
  readonly step: StepDraft
  readonly number: number
  readonly count: number
}) {
  const { id, isOff } = step
  const move = (by: -1 | 1, text: string, words: string) => (
    <button
      type="button"
      class="plain"
      aria-label={`Move step ${number} ${words}`}
      title={`Move ${words}`}
      disabled={by === -1 ? number === 1 : number === count}
      onClick={() => moveStep(id, by)}
    >
      {text}
    </button>
  )
  return (
    <div class="step-actions">
      <label class="check">
        <input
          type="checkbox"
          checked={!isOff}
          onChange={(event) => changeStep(id, { isOff: !event.currentTarget.checked })}
        />
        On
      </label>
      {move(-1, '↑', 'up')}
      {move(1, '↓', 'down')}
      <button
        type="button"
        class="plain"
        aria-label={`Remove step ${number}`}
        onClick={() => {
          changeDraft({ steps: draft.value.steps.filter((each) => each.id !== id) })
          // The focus would be lost with the button.
          document.getElementById('add-call')?.focus()
        }}
      >
        Remove
      </button>
    </div>
  )
}

function SentText({ id }: { readonly id: number }) {
  const outcome = sent.value.get(id)
  if (outcome === undefined) return null
  const { text, hash, hasFailed } = outcome
  if (hasFailed && hash === undefined) return <ErrorText message={text} />
  return (
    <span class={hasFailed ? 'bad' : 'good'}>
      {text} {hash !== undefined && <TransactionLink hash={hash} />}
    </span>
  )
}

/** The step: its fields, and what it did in the last run. */
export function SimulationStep({
  step,
  number,
  count,
}: {
  readonly step: StepDraft
  readonly number: number
  readonly count: number
}) {
  const { id, kind } = step
  const last = run.value
  const outcome = last?.outcomes.get(id)
  const isSent = kind === 'send' ? maySend() : kind !== 'call'
  return (
    <Section
      title={`Step ${number}: ${kind}`}
      actions={<StepActions step={step} number={number} count={count} />}
    >
      <div class={step.isOff ? 'step-fields off' : 'step-fields'}>
        <StepEditor step={step} number={number} />
        <CopyAs
          label={`Copy step ${number} as`}
          textOf={(tool) =>
            stepText(
              tool,
              endpoint(),
              scenarioOf({ ...draft.value, steps: [] }),
              stepOf(step),
              head.value?.baseFeePerGas !== undefined,
            )
          }
        />
        {isSent && (
          <div class="line">
            <ActionButton
              kind="danger"
              label={`Send step ${number} to the chain`}
              run={() => sendOne(step, number)}
            />
            <SentText id={id} />
          </div>
        )}
      </div>
      {outcome !== undefined && (
        <section class="step-outcome" aria-label={`Outcome of step ${number}`}>
          {last?.draft !== draft.value && <p class="dim">Before the last changes:</p>}
          <StepOutcome outcome={outcome} id={`${last?.id} ${id}`} />
          {(kind === 'call' || kind === 'send') && may('evm_debugSimulation') && (
            <ActionButton kind="plain" label={`Debug step ${number}`} run={() => debugStep(step)} />
          )}
        </section>
      )}
    </Section>
  )
}
