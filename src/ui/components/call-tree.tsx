/** A call tree as an ARIA tree: calls with their arguments, values, gas and results, events and failures. */
import { useState } from 'preact/hooks'
import type { DecodedItem } from '../decode.ts'
import { byteLength, counted, grouped, shortened, toBigInt } from '../format.ts'
import { contractName } from '../names.ts'
import { type CallTree, creates, type Frame, failurePath } from '../trace.ts'
import { AddressLink, Amount } from './values.tsx'

/** What a frame calls, in words: `Shop.buy`, `new Token`, or a shortened address. */
function frameTitle({ raw, decoded }: Frame): string {
  if (creates(raw)) return `new ${decoded?.name ?? 'contract'}`
  const where = raw.to === undefined ? 'nobody' : (contractName(raw.to) ?? shortened(raw.to))
  if (decoded !== null) return `${where}.${decoded.name}`
  return byteLength(raw.input) >= 4 ? `${where}.${raw.input.slice(0, 10)}` : where
}

/** Why the transaction of a tree failed, and the frame where the failure began; nothing for one that succeeded. */
export function Failure({ tree }: { readonly tree: CallTree }) {
  const path = failurePath(tree.root)
  const culprit = path.at(-1)
  if (culprit === undefined) return null
  return (
    <span class="failure">
      <strong>{culprit.failure}</strong> in {frameTitle(culprit)}
      {path.length > 1 && <span class="dim"> called by {path.slice(0, -1).map(frameTitle).join(' → ')}</span>}
    </span>
  )
}

/** Arguments after a name. */
function Arguments({ decoded: { name, text } }: { readonly decoded: DecodedItem }) {
  return <span class="dim">{text.slice(name.length)}</span>
}

function Creation({ frame: { raw, decoded } }: { readonly frame: Frame }) {
  return (
    <>
      new <strong>{decoded?.name ?? 'contract'}</strong>
      {decoded !== null && <Arguments decoded={decoded} />}
      {raw.to !== undefined && (
        <>
          {' at '}
          <AddressLink address={raw.to} />
        </>
      )}
    </>
  )
}

function Call({ frame }: { readonly frame: Frame }) {
  const { raw, decoded } = frame
  if (raw.type === 'SELFDESTRUCT') {
    return (
      <>
        <AddressLink address={raw.from} /> to <AddressLink address={raw.to} />
      </>
    )
  }
  if (creates(raw)) return <Creation frame={frame} />
  if (decoded?.name === 'console.log') {
    return (
      <>
        <strong>console.log</strong> {decoded.text}
      </>
    )
  }
  if (decoded !== null) {
    return (
      <>
        <AddressLink address={raw.to} />.<strong>{decoded.name}</strong>
        <Arguments decoded={decoded} />
      </>
    )
  }
  const input = byteLength(raw.input)
  return (
    <>
      <AddressLink address={raw.to} />
      {input > 0 && (
        <span class="dim mono" title={raw.input}>
          {input >= 4 ? `.${raw.input.slice(0, 10)}` : ''}({counted(input, 'byte')})
        </span>
      )}
    </>
  )
}

function Result({ frame: { raw, decoded, failure } }: { readonly frame: Frame }) {
  if (failure !== undefined) return <span class="bad">✗ {failure}</span>
  if (decoded?.output !== undefined) return <span class="dim">→ {decoded.output}</span>
  const bytes = creates(raw) ? 0 : byteLength(raw.output ?? '0x')
  if (bytes === 0 || decoded?.name === 'console.log') return null
  return (
    <span class="dim mono" title={raw.output}>
      → {bytes <= 32 ? raw.output : counted(bytes, 'byte')}
    </span>
  )
}

/** What a frame does, in a line. */
function FrameLine({ frame, isCulprit }: { readonly frame: Frame; readonly isCulprit: boolean }) {
  const { raw } = frame
  return (
    <div class="frame">
      <span class="kind">{raw.type}</span>
      <span class="call">
        <Call frame={frame} />{' '}
        {toBigInt(raw.value) > 0n && (
          <span class="badge">
            <Amount wei={raw.value} />
          </span>
        )}{' '}
        <Result frame={frame} />
        {isCulprit && <span class="badge bad">failed here</span>}
      </span>
      <span class="gas" title="Gas used">
        {grouped(toBigInt(raw.gasUsed))} gas
      </span>
    </div>
  )
}

function EventLine({ event: { text, isDecoded } }: { readonly event: Frame['events'][number] }) {
  return (
    <div class="frame">
      <span class="kind">EVENT</span>
      <span class={isDecoded ? 'call' : 'call mono'}>{text}</span>
    </div>
  )
}

function Item({
  frame,
  level,
  culprit,
}: {
  readonly frame: Frame
  readonly level: number
  readonly culprit: Frame | undefined
}) {
  const [isOpen, setIsOpen] = useState(true)
  const { raw, calls, events } = frame
  const hasParts = calls.length > 0 || events.length > 0
  return (
    <div
      role="treeitem"
      aria-level={level}
      aria-expanded={hasParts ? isOpen : undefined}
      data-failed={raw.error !== undefined}
      data-culprit={frame === culprit}
      tabIndex={level === 1 ? 0 : -1}
      onClick={(event) => {
        event.stopPropagation()
        if (hasParts && !(event.target instanceof Element && event.target.closest('a'))) setIsOpen(!isOpen)
      }}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || !hasParts) return
        if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return
        setIsOpen(event.key === 'ArrowRight')
        event.preventDefault()
        event.stopPropagation()
      }}
    >
      <FrameLine frame={frame} isCulprit={frame === culprit} />
      {hasParts && isOpen && (
        <div role="group">
          {calls.map((each) => (
            <Item key={each.path} frame={each} level={level + 1} culprit={culprit} />
          ))}
          {events.map((event, i) => (
            <div role="treeitem" tabIndex={-1} aria-level={level + 1} key={`event ${i}`}>
              <EventLine event={event} />
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

/** Moves the focus to the item before or after, as a tree does. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  items[at + step]?.focus()
  event.preventDefault()
}

/** The tree. */
export function CallTreeView({ tree: { root, leftOut } }: { readonly tree: CallTree }) {
  const culprit = failurePath(root).at(-1)
  return (
    <>
      <div role="tree" data-testid="call-tree" class="call-tree" aria-label="Call tree" onKeyDown={moveFocus}>
        <Item frame={root} level={1} culprit={culprit} />
      </div>
      {leftOut > 0 && <p class="dim">{counted(leftOut, 'more call')} not shown</p>}
    </>
  )
}
