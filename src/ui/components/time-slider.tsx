/** The moment that a page shows: a slider over the blocks of the chain, and one over the transactions of the block. */
import { callFor } from '../client.ts'
import { grouped, quantity, toNumber } from '../format.ts'
import { isBlock } from '../model.ts'
import type { Moment } from '../moment.ts'
import { useQuery } from '../query.ts'
import { head } from '../store.ts'
import { Section } from './layout.tsx'

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

/** The slider over the transactions of a block. */
function TransactionSlider({
  moment,
  onChange,
}: {
  readonly moment: Moment
  readonly onChange: (moment: Moment) => void
}) {
  const { block, transactions } = moment
  const count = useQuery(`transactions of ${block}`, async (signal) => {
    const found = await callFor(isBlock, 'eth_getBlockByNumber', [quantity(block), false], signal)
    return found.transactions.length
  })
  if (count.value === undefined || count.value === 0) return null
  return (
    <Slider
      label="After transaction"
      value={transactions ?? count.value}
      most={count.value}
      onChange={(value) => onChange({ block, transactions: value === count.value ? undefined : value })}
    />
  )
}

/** The section with the sliders; `undefined` is the present. */
export function TimeSlider({
  moment,
  onChange,
}: {
  readonly moment: Moment | undefined
  readonly onChange: (moment: Moment | undefined) => void
}) {
  const latest = toNumber(head.value?.number)
  if (latest === 0) return null
  return (
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
        {moment !== undefined && <TransactionSlider moment={moment} onChange={onChange} />}
      </div>
    </Section>
  )
}
