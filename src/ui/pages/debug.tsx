/**
 * `#/debug/<transaction>`, `#/debug/at?block=12&transactions=1` (the transaction that ran last at a moment),
 * `#/debug/simulation?s=…&step=…`, `#/debug/failure`: an execution by its sources, forwards and back.
 */
import { useEffect, useState } from 'preact/hooks'
import { objectOf, orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { ErrorText } from '../components/action.tsx'
import { type CurrentLines, DebugSource } from '../components/debug-source.tsx'
import { DebugMachine, DebugVariables } from '../components/debug-variables.tsx'
import { Heading, Section, Show } from '../components/layout.tsx'
import { TimeSlider } from '../components/time-slider.tsx'
import { Mono } from '../components/values.tsx'
import {
  closeSession,
  type Direction,
  type Frame,
  type Move,
  moveSession,
  type Opened,
  openSession,
  type Place,
} from '../debugger/session.ts'
import { grouped, type Hex, isHex, messageOf, toNumber } from '../format.ts'
import { useKeys } from '../keys.ts'
import { type Moment, momentIn, transactionsOf } from '../moment.ts'
import { useQuery } from '../query.ts'
import { linkTo, replaceAddress, route } from '../router.ts'
import { head } from '../store.ts'

/** A button, and the key that does the same. */
type Control = readonly [move: Move, direction: Direction, text: string, key: string]

const FORWARD: readonly Control[] = [
  ['continue', 'forward', 'Continue', 'c'],
  ['over', 'forward', 'Over', 'n'],
  ['into', 'forward', 'Into', 's'],
  ['out', 'forward', 'Out', 'o'],
  ['instruction', 'forward', 'Instruction', 'i'],
]
const BACK: readonly Control[] = FORWARD.map(([move, , text, key]) => [
  move,
  'back',
  `${text} back`,
  key.toUpperCase(),
])
const CONTROLS = [...BACK, ...FORWARD]

const REASONS: Readonly<Record<Place['reason'], string>> = {
  step: 'Stopped',
  breakpoint: 'At a breakpoint',
  event: 'At an event',
  failure: 'At a failure',
  start: 'At the beginning',
  end: 'At the end',
}

/** The buttons, which keys press as well. */
function Controls({
  isMoving,
  onMove,
}: {
  readonly isMoving: boolean
  readonly onMove: (move: Move, direction: Direction) => void
}) {
  useKeys((event) => {
    const found = CONTROLS.find(([, , , key]) => key === event.key)
    if (found !== undefined) onMove(found[0], found[1])
  })
  const row = (label: string, controls: readonly Control[]) => (
    <fieldset class="choices" aria-label={label}>
      {controls.map(([move, direction, text, key]) => (
        <button
          key={text}
          type="button"
          title={`${text} (${key})`}
          aria-disabled={isMoving}
          onClick={() => onMove(move, direction)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
  return (
    <>
      {row('Forward', FORWARD)}
      {row('Back', BACK)}
    </>
  )
}

const nameOf = ({ contract, address, function: called }: Frame): string =>
  [contract ?? address, called].filter((part) => part !== undefined).join('.') || '?'

function CallStack({
  stack,
  chosen,
  onChoose,
}: {
  readonly stack: readonly Frame[]
  readonly chosen: number
  readonly onChoose: (frame: number) => void
}) {
  return (
    <Section title="Call stack">
      <ol class="frames">
        {stack.map((frame, i) => (
          <li key={i}>
            <button type="button" class="plain" aria-pressed={i === chosen} onClick={() => onChoose(i)}>
              <Mono>{nameOf(frame)}</Mono>{' '}
              {frame.file !== undefined && <span class="dim">{`${frame.file}:${frame.line}`}</span>}
            </button>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function linesOf({ line, endLine }: Frame): CurrentLines | undefined {
  return line === undefined ? undefined : { line, endLine: endLine ?? line }
}

/** Breakpoints by file; they stay while the page is open. */
type Breakpoints = ReadonlyMap<string, ReadonlySet<number>>

function toggled(all: Breakpoints, file: string, line: number): Breakpoints {
  const lines = new Set(all.get(file))
  if (!lines.delete(line)) lines.add(line)
  return new Map(all).set(file, lines)
}

function Standing({ place: { step, steps, reason, failure, gas } }: { readonly place: Place }) {
  return (
    <p aria-live="polite">
      <span class={reason === 'failure' ? 'badge bad' : 'badge'}>{REASONS[reason]}</span>{' '}
      {reason === 'failure' && failure !== undefined && <strong class="failure">{failure}</strong>}{' '}
      <span class="dim">
        instruction {grouped(step + 1)} of {grouped(steps)}
        {gas !== undefined && `, ${grouped(gas)} gas left`}
      </span>
    </p>
  )
}

function Session({ opened }: { readonly opened: Opened }) {
  const [place, setPlace] = useState(opened.place)
  const [chosen, setChosen] = useState(0)
  const [breakpoints, setBreakpoints] = useState<Breakpoints>(new Map())
  const [isMoving, setIsMoving] = useState(false)
  const [error, setError] = useState<string | undefined>(undefined)
  useEffect(() => () => closeSession(opened.place.session), [opened])

  async function move(kind: Move, direction: Direction): Promise<void> {
    if (isMoving) return
    setIsMoving(true)
    const lines = [...breakpoints].flatMap(([file, set]) => [...set].map((line) => ({ file, line })))
    try {
      setPlace(await moveSession(place.session, kind, direction, lines))
      setChosen(0)
      setError(undefined)
    } catch (reason) {
      setError(messageOf(reason))
    }
    setIsMoving(false)
  }

  const frame = place.stack[chosen] ?? place.stack[0]
  const source = opened.sources.find(({ file }) => file === frame?.file)
  const at = { session: place.session, step: place.step, frame: chosen }
  return (
    <>
      <Section title="Steps">
        <Standing place={place} />
        <Controls isMoving={isMoving} onMove={(kind, direction) => void move(kind, direction)} />
        <ErrorText message={error} />
      </Section>
      <div class="debugger">
        <Section title="Source">
          {source === undefined || frame === undefined ? (
            <p class="dim empty">The source of this code is not known</p>
          ) : (
            <DebugSource
              source={source}
              current={linesOf(frame)}
              breakpoints={breakpoints.get(source.file) ?? new Set()}
              onToggle={(line) => setBreakpoints(toggled(breakpoints, source.file, line))}
            />
          )}
        </Section>
        <div>
          <CallStack stack={place.stack} chosen={chosen} onChoose={setChosen} />
          <DebugVariables place={at} />
          <DebugMachine place={at} />
        </div>
      </div>
    </>
  )
}

/** A transaction, or what the parameters of the page name. */
function Opening({ argument }: { readonly argument: string }) {
  const { parameters } = route.value
  const opened = useQuery(`debug ${argument} ${parameters}`, () => openSession(argument, parameters), 'once')
  return <Show loaded={opened}>{(found) => <Session key={found.place.session} opened={found} />}</Show>
}

const isPlaced = objectOf({ blockNumber: orNull(isHex), transactionIndex: orNull(isHex) })

/** A transaction of the chain, and the moment after it; the hash is undefined where none of the block has run. */
interface Placed {
  readonly hash: Hex | undefined
  readonly moment: Moment | undefined
}

async function placedOf(hash: Hex, signal: AbortSignal): Promise<Placed> {
  const found = await callFor(orNull(isPlaced), 'eth_getTransactionByHash', [hash], signal)
  const { blockNumber = null, transactionIndex = null } = found ?? {}
  if (blockNumber === null || transactionIndex === null) return { hash, moment: undefined }
  return { hash, moment: { block: toNumber(blockNumber), transactions: toNumber(transactionIndex) + 1 } }
}

async function ranLast(moment: Moment, signal: AbortSignal): Promise<Placed> {
  const hashes = await transactionsOf(moment.block, signal)
  return { hash: hashes[(moment.transactions ?? hashes.length) - 1], moment }
}

function latestMoment(): Moment {
  return { block: toNumber(head.value?.number), transactions: undefined }
}

/** Shows the transaction that ran last at a moment. */
function showMoment(moment: Moment | undefined): void {
  const { block, transactions } = moment ?? latestMoment()
  const within = transactions === undefined ? {} : { transactions: String(transactions) }
  replaceAddress(linkTo('debug', 'at', { block: String(block), ...within }))
}

/** A transaction by its hash, or by its moment, with the sliders that lead to others. */
function TransactionSession({ argument }: { readonly argument: string }) {
  const asked = argument === 'at' ? (momentIn(route.value.parameters) ?? latestMoment()) : undefined
  const key = `place ${argument} ${asked?.block} ${asked?.transactions}`
  const placed = useQuery(key, (signal) =>
    asked === undefined ? placedOf(argument as Hex, signal) : ranLast(asked, signal),
  )
  const moment = asked ?? placed.value?.moment
  return (
    <>
      {placed.value?.hash !== undefined && (
        <p>
          <a class="mono wrap" href={linkTo('tx', placed.value.hash)}>
            {placed.value.hash}
          </a>
        </p>
      )}
      {moment !== undefined && <TimeSlider moment={moment} onChange={showMoment} />}
      <Show loaded={placed}>
        {({ hash }) =>
          hash === undefined ? (
            <p class="dim">Nothing to debug: no transaction of the block has run</p>
          ) : (
            <Opening argument={hash} />
          )
        }
      </Show>
    </>
  )
}

/** The page. */
export function DebugPage({ argument }: { readonly argument: string }) {
  const isPlace = argument.startsWith('0x') || argument === 'at'
  return (
    <>
      <Heading title="Debugger">Debugger</Heading>
      {isPlace ? <TransactionSession argument={argument} /> : <Opening argument={argument} />}
    </>
  )
}
