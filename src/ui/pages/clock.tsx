/** `#/clock`: the clock of the next block, the mining mode, and blocks on request. */
import { firstOpen } from '../accounts.ts'
import { isFlag, isNumber, objectOf, orNull } from '../checks.ts'
import { call, callFor } from '../client.ts'
import { ActionForm, Choice, Field, useText } from '../components/form.tsx'
import { Fields, Heading, Section, Show } from '../components/layout.tsx'
import { DateAndAge } from '../components/values.tsx'
import { dateText, durationText, isHex, quantity, toNumber } from '../format.ts'
import { type Loaded, useQuery } from '../query.ts'
import { announce, head, may, now } from '../store.ts'

interface Times {
  /** Of the block that would be mined now, Unix seconds. */
  readonly next: number | undefined
  readonly isAutomatic: boolean | undefined
  /** Seconds between blocks on a timer. */
  readonly interval: number | null | undefined
}

/** The part of a block that the pending one has as well. */
const isTimed = objectOf({ timestamp: isHex })

async function loadTimes(signal: AbortSignal): Promise<Times> {
  const [pending, isAutomatic, interval] = await Promise.all([
    callFor(orNull(isTimed), 'eth_getBlockByNumber', ['pending', false], signal),
    may('hardhat_getAutomine') ? callFor(isFlag, 'hardhat_getAutomine', [], signal) : undefined,
    may('anvil_getIntervalMining')
      ? callFor(orNull(isNumber), 'anvil_getIntervalMining', [], signal)
      : undefined,
  ])
  return { next: pending === null ? undefined : toNumber(pending.timestamp), isAutomatic, interval }
}

function modeText({ isAutomatic, interval }: Times): string | undefined {
  if (isAutomatic === undefined && interval === undefined) return undefined
  const every = typeof interval === 'number' ? `every ${durationText(interval)}` : undefined
  if (isAutomatic === true) return `A block for each transaction${every ? `, and ${every}` : ''}`
  return every ? `A block ${every}` : 'On request only'
}

/** Digits as a number. Throws an Error in words. */
function countOf(text: string, what: string): number {
  const plain = text.replace(/[\s_]/g, '')
  if (!/^\d{1,15}$/.test(plain)) throw new Error(`Expected ${what}, a whole number`)
  return Number(plain)
}

const UNITS = [
  ['1', 'seconds'],
  ['60', 'minutes'],
  ['3600', 'hours'],
  ['86400', 'days'],
] as const

/** A time as a field of date and time takes it, in this machine's zone. */
function localText(seconds: number): string {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** A section holds a form where at least one of these methods is open. */
const CLOCK_METHODS = ['evm_increaseTime', 'evm_setNextBlockTimestamp', 'anvil_setBlockTimestampInterval']
const MINING_METHODS = ['evm_setAutomine', 'evm_mine']

/** A form of the page: what it changes is loaded again afterwards. */
interface FormProps {
  readonly times: Loaded<Times>
}

function MoveForm({ times }: FormProps) {
  const amount = useText()
  const unit = useText('3600')
  return (
    <ActionForm
      label="Move the clock"
      button="Move forward"
      run={async () => {
        const seconds = countOf(amount.value, 'a length of time') * Number(unit.value)
        await call('evm_increaseTime', [quantity(seconds)])
        announce(`The clock was moved by ${durationText(seconds)}`)
        times.reload()
      }}
    >
      <Field label="By" text={amount} placeholder="1" />
      <Choice label="Unit" text={unit} options={UNITS} />
    </ActionForm>
  )
}

function NextTimeForm({ times }: FormProps) {
  const time = useText()
  return (
    <ActionForm
      label="Next block"
      button="Set time"
      run={async () => {
        const seconds = Math.floor(new Date(time.value).getTime() / 1000)
        if (!(seconds > 0)) throw new Error('Expected a date and a time')
        await call('evm_setNextBlockTimestamp', [seconds])
        announce(`The next block has the time ${dateText(seconds)}`)
        times.reload()
      }}
    >
      <label class="field">
        <span>Time of the next block, in this machine's zone</span>
        <input
          type="datetime-local"
          step="1"
          value={time.value || localText(times.value?.next ?? now.peek())}
          onInput={(event) => time.set(event.currentTarget.value)}
        />
      </label>
    </ActionForm>
  )
}

function SpacingForm({ times }: FormProps) {
  const spacing = useText()
  return (
    <ActionForm
      label="Fix the time between blocks"
      button="Fix"
      kind="plain"
      run={async () => {
        const text = spacing.value.trim()
        await (text === ''
          ? call('anvil_removeBlockTimestampInterval')
          : call('anvil_setBlockTimestampInterval', [countOf(text, 'seconds')]))
        times.reload()
      }}
    >
      <Field label="Seconds between blocks (empty: as the clock)" text={spacing} placeholder="30" />
    </ActionForm>
  )
}

function ClockForms({ times }: FormProps) {
  return (
    <Section title="Clock">
      {may('evm_increaseTime') && <MoveForm times={times} />}
      {may('evm_setNextBlockTimestamp') && <NextTimeForm times={times} />}
      {may('anvil_setBlockTimestampInterval') && <SpacingForm times={times} />}
    </Section>
  )
}

const MODES = [
  ['auto', 'a block for each transaction'],
  ['interval', 'a block at an interval'],
  ['manual', 'on request only'],
] as const

function ModeForm({ times }: FormProps) {
  const mode = useText('auto')
  const seconds = useText('5')
  return (
    <ActionForm
      label="Mining mode"
      button="Set mode"
      run={async () => {
        if (mode.value === 'interval') {
          const length = countOf(seconds.value, 'seconds')
          if (length === 0) throw new Error('Expected at least one second')
          await call('evm_setIntervalMining', [length * 1000])
          // Under the preset hardhat a timer does not end automining.
          if (may('evm_setAutomine')) await call('evm_setAutomine', [false])
        } else {
          if (toNumber(times.value?.interval) > 0) await call('evm_setIntervalMining', [0])
          await call('evm_setAutomine', [mode.value === 'auto'])
        }
        times.reload()
      }}
    >
      <Choice label="Mode" text={mode} options={MODES} />
      {mode.value === 'interval' && <Field label="Seconds" text={seconds} />}
    </ActionForm>
  )
}

function BlocksForm({ times }: FormProps) {
  const count = useText('10')
  return (
    <ActionForm
      label="Several blocks"
      button="Add blocks"
      run={async () => {
        const blocks = countOf(count.value, 'a number of blocks')
        const many = firstOpen('hardhat_mine', 'anvil_mine')
        await (many === undefined ? call('evm_mine', [{ blocks }]) : call(many, [quantity(blocks)]))
        times.reload()
      }}
    >
      <Field label="Blocks" text={count} />
    </ActionForm>
  )
}

function MiningForms({ times }: FormProps) {
  return (
    <Section title="Mining">
      {may('evm_setAutomine') && may('evm_setIntervalMining') && <ModeForm times={times} />}
      {may('evm_mine') && <BlocksForm times={times} />}
    </Section>
  )
}

function TimeFields({ times }: { readonly times: Times }) {
  const latest = head.value
  return (
    <Fields
      rows={[
        ['This machine', dateText(now.value)],
        ['Head', latest && <DateAndAge key="head" seconds={latest.timestamp} />],
        [
          'Next block',
          times.next !== undefined && <DateAndAge key="next" seconds={times.next} />,
          'The time of a block mined when this was loaded',
        ],
        ['Mining', modeText(times)],
      ]}
    />
  )
}

/** The page. */
export function ClockPage() {
  const times = useQuery(
    `times ${may('hardhat_getAutomine')} ${may('anvil_getIntervalMining')}`,
    loadTimes,
    'live',
  )
  return (
    <>
      <Heading title="Clock and mining" />
      <Section title="Now">
        <Show loaded={times}>{(value) => <TimeFields times={value} />}</Show>
      </Section>
      <div class="columns">
        {CLOCK_METHODS.some(may) && <ClockForms times={times} />}
        {MINING_METHODS.some(may) && <MiningForms times={times} />}
      </div>
      {![...CLOCK_METHODS, ...MINING_METHODS].some(may) && (
        <p class="dim">The node does not let this caller move its clock or mine</p>
      )}
    </>
  )
}
