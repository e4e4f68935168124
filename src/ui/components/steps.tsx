/** The opcode steps of a transaction, loaded on request: one step's stack, memory and storage at a time. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Checked, isNumber, isText, listOf, objectOf, recordOf } from '../checks.ts'
import { counted, grouped, type Hex, shortWord } from '../format.ts'
import { useAction } from '../query.ts'
import { traceTransaction } from '../trace.ts'
import { ErrorText } from './action.tsx'
import { Section } from './layout.tsx'
import { Windowed } from './windowed.tsx'

const isStep = objectOf(
  { pc: isNumber, op: isText, gas: isNumber, gasCost: isNumber, depth: isNumber },
  { error: isText, stack: listOf(isText), memory: listOf(isText), storage: recordOf(isText, isText) },
)
type Step = Checked<typeof isStep>
const areSteps = objectOf({ structLogs: listOf(isStep) })

/** Steps of the first request; each further one asks for ten times as many. */
const FIRST_LIMIT = 2000

function Words({
  title,
  rows,
}: {
  readonly title: string
  readonly rows: readonly (readonly [string, string])[]
}) {
  return (
    <>
      <h3>
        {title} <span class="dim">{rows.length}</span>
      </h3>
      {rows.length === 0 ? (
        <p class="dim empty">Empty</p>
      ) : (
        <ol class="words mono">
          {rows.slice(0, 256).map(([name, value]) => (
            <li key={name}>
              <span class="dim">{name}</span> <span class="wrap">{value}</span>
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

function StepDetails({ step, index }: { readonly step: Step; readonly index: number }) {
  const stack = [...(step.stack ?? [])].reverse()
  return (
    <section aria-label={`Step ${index}`} class="step-details">
      <p>
        <strong class="mono">{step.op}</strong> at {step.pc}, depth {step.depth}
        {step.error !== undefined && <span class="bad"> {step.error}</span>}
      </p>
      <Words title="Stack" rows={stack.map((word, i) => [i === 0 ? 'top' : String(i), shortWord(word)])} />
      <Words
        title="Memory"
        rows={(step.memory ?? []).map((word, i) => [`0x${(32 * i).toString(16).padStart(4, '0')}`, word])}
      />
      <Words
        title="Storage"
        rows={Object.entries(step.storage ?? {}).map(([slot, word]) => [shortWord(slot), shortWord(word)])}
      />
    </section>
  )
}

function StepList({
  steps,
  selected,
  onSelect,
}: {
  readonly steps: readonly Step[]
  readonly selected: number
  readonly onSelect: (index: number) => void
}) {
  const cellsOf = ({ op, depth, gas, gasCost, error }: Step, index: number): ComponentChildren[] => [
    index,
    <button
      key="op"
      type="button"
      class="link mono"
      aria-pressed={index === selected}
      onClick={() => onSelect(index)}
    >
      {'\u00a0'.repeat(Math.min(2 * (depth - 1), 12))}
      {op}
    </button>,
    <span key="cost" class={error === undefined ? undefined : 'bad'}>
      {grouped(gasCost)}
    </span>,
    grouped(gas),
  ]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys move the selection of the rows in it
    <div
      onKeyDown={(event) => {
        const move = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
        if (move === 0) return
        event.preventDefault()
        onSelect(Math.max(0, Math.min(steps.length - 1, selected + move)))
      }}
    >
      <Windowed
        label="Steps"
        class="step-list"
        count={steps.length}
        rowHeight={28}
        isBox
        reveal={selected}
        columns={['Step', 'Opcode', 'Cost', 'Gas left']}
        row={(index) => {
          const step = steps[index]
          return step && cellsOf(step, index)
        }}
      />
    </div>
  )
}

function LoadedSteps({ steps, isCut }: { readonly steps: readonly Step[]; readonly isCut: boolean }) {
  const [selected, setSelected] = useState(0)
  const step = steps[selected]
  return (
    <>
      <p class="dim">
        {counted(steps.length, 'step')}
        {isCut ? ', more follow' : ''}
      </p>
      {step !== undefined && (
        <div class="steps">
          <StepList steps={steps} selected={selected} onSelect={setSelected} />
          <StepDetails step={step} index={selected} />
        </div>
      )}
    </>
  )
}

/** The section. */
export function Steps({ hash }: { readonly hash: Hex }) {
  const [limit, setLimit] = useState(FIRST_LIMIT)
  const [steps, setSteps] = useState<readonly Step[] | undefined>(undefined)
  const load = useAction(async () => {
    const options = { tracer: 'structLogger', enableMemory: true, limit }
    const { structLogs } = await traceTransaction(areSteps, hash, options)
    setSteps(structLogs)
    setLimit(limit * 10)
  })
  const isCut = steps !== undefined && steps.length > 0 && steps.length === limit / 10
  return (
    <Section
      title="Opcode steps"
      actions={
        (steps === undefined || isCut) && (
          <button type="button" class="plain" disabled={load.isRunning} onClick={load.run}>
            {steps === undefined ? 'Load steps' : `Load ${grouped(limit)} steps`}
          </button>
        )
      }
    >
      <ErrorText message={load.error} />
      {steps === undefined ? (
        <p class="dim">Runs the transaction again with the stack, memory and storage of every step.</p>
      ) : (
        <LoadedSteps steps={steps} isCut={isCut} />
      )}
    </Section>
  )
}
