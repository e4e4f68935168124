/** The moment that a page shows: sliders over the blocks of the chain and the transactions of the block, buttons and keys for steps. */
import { useRef } from 'preact/hooks'
import { grouped, toNumber } from '../format.ts'
import { useKeys } from '../keys.ts'
import { type Moment, nextMoment, previousMoment, transactionsOf } from '../moment.ts'
import { useAction, useQuery } from '../query.ts'
import { linkTo, route } from '../router.ts'
import { head, may } from '../store.ts'
import { ErrorText } from './action.tsx'
import { Section } from './layout.tsx'
import { TransactionLink } from './values.tsx'

type Step = (moment: Moment, latest: number) => Moment | Promise<Moment>

/** What a button does, and the key that does the same. */
const STEPS: readonly (readonly [label: string, key: string, step: Step])[] = [
  ['Previous block', '<', ({ block }) => ({ block: Math.max(0, block - 1), transactions: undefined })],
  ['Previous transaction', ',', previousMoment],
  ['Next transaction', '.', nextMoment],
  [
    'Next block',
    '>',
    ({ block }, latest) => ({ block: Math.min(latest, block + 1), transactions: undefined }),
  ],
]

interface Properties {
  /** `undefined` is the present. */
  readonly moment: Moment | undefined
  readonly onChange: (moment: Moment | undefined) => void
}

/** A slider with its label and the value that it shows. */
function Slider({
  label,
  value,
  most,
  onChange,
}: {
  readonly label: string
  readonly value: number
  readonly most: number
  readonly onChange: (value: number) => void
}) {
  return (
    <label class="field grows">
      <span>
        {label} {grouped(value)} of {grouped(most)}
      </span>
      <input
        type="range"
        min={0}
        max={most}
        value={value}
        onChange={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
    </label>
  )
}

/** The slider over the transactions of a block, and the transaction that has run last. */
function WithinBlock({ moment, onChange }: Properties & { readonly moment: Moment }) {
  const { block, transactions } = moment
  const hashes = useQuery(`transactions of ${block}`, (signal) => transactionsOf(block, signal))
  const count = hashes.value?.length ?? 0
  const ran = transactions ?? count
  const hash = hashes.value?.[ran - 1]
  return (
    <>
      {count > 0 && (
        <Slider
          label="After transaction"
          value={ran}
          most={count}
          onChange={(value) => onChange({ block, transactions: value === count ? undefined : value })}
        />
      )}
      <p class="whole empty" aria-live="polite">
        {hash !== undefined && (
          <>
            <span class="dim">After</span> <TransactionLink hash={hash} />{' '}
            {may('evm_debugTransaction') && route.value.page !== 'debug' && (
              <a href={linkTo('debug', hash)}>Debug</a>
            )}
          </>
        )}
        {hashes.value !== undefined && hash === undefined && (
          <span class="dim">No transaction of the block has run</span>
        )}
      </p>
    </>
  )
}

/** The buttons, which keys press as well. */
function Steps({
  isRunning,
  onStep,
}: {
  readonly isRunning: boolean
  readonly onStep: (step: Step) => void
}) {
  useKeys(({ key }) => {
    const found = STEPS.find(([, each]) => each === key)
    if (found !== undefined) onStep(found[2])
  })
  return (
    <fieldset class="choices" aria-label="Steps through the chain">
      {STEPS.map(([label, key, step]) => (
        <button
          key={key}
          type="button"
          class="plain"
          title={`${label} (${key})`}
          aria-disabled={isRunning}
          onClick={() => onStep(step)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  )
}

/** The section; absent on a chain without blocks. */
export function TimeSlider({ moment, onChange }: Properties) {
  const latest = toNumber(head.value?.number)
  const asked = useRef<Step | undefined>(undefined)
  const action = useAction(async () => {
    const here = moment ?? { block: latest, transactions: undefined }
    if (asked.current !== undefined) onChange(await asked.current(here, latest))
  })
  if (latest === 0) return null
  return (
    <div class="moment">
      <Section
        title="Moment"
        actions={
          moment !== undefined && (
            <button type="button" class="plain" onClick={() => onChange(undefined)}>
              Latest
            </button>
          )
        }
      >
        <div class="line">
          <Slider
            label="Block"
            value={moment?.block ?? latest}
            most={latest}
            onChange={(block) => onChange({ block, transactions: undefined })}
          />
          {moment !== undefined && <WithinBlock moment={moment} onChange={onChange} />}
          <Steps
            isRunning={action.isRunning}
            onStep={(step) => {
              asked.current = step
              action.run()
            }}
          />
        </div>
        <ErrorText message={action.error} />
      </Section>
    </div>
  )
}
