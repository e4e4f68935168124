/** The source of a frame in the debugger: the current line, and breakpoints that a click sets. */
import { useEffect, useRef } from 'preact/hooks'
import type { Source } from '../debugger/session.ts'
import { counted } from '../format.ts'
import { highlighted, type Part } from '../highlight.ts'

/** Lines that are shown of one source. */
const MOST_LINES = 20_000

/** Lines between which execution stands. */
export interface CurrentLines {
  readonly line: number
  readonly endLine: number
}

interface GutterProps {
  readonly line: number
  readonly isSet: boolean
  /** Can it be reached by the Tab key? One of them is, and the arrow keys go to the others. */
  readonly isReached: boolean
  readonly onToggle: (line: number) => void
}

function Gutter({ line, isSet, isReached, onToggle }: GutterProps) {
  return (
    <button
      type="button"
      class="gutter"
      data-line={line}
      tabIndex={isReached ? 0 : -1}
      aria-pressed={isSet}
      aria-label={`Breakpoint at line ${line}`}
      onClick={() => onToggle(line)}
    />
  )
}

function Text({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <code>
      {parts.map(({ kind, text }, at) =>
        kind === undefined ? (
          text
        ) : (
          <span key={at} class={`of-${kind}`}>
            {text}
          </span>
        ),
      )}
      {'\n'}
    </code>
  )
}

/** Moves the focus to the next or the previous breakpoint button. */
function moveFocus(event: KeyboardEvent): void {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const { target, currentTarget } = event
  if (by === 0 || !(target instanceof HTMLButtonElement) || !(currentTarget instanceof Element)) return
  const buttons = [...currentTarget.querySelectorAll<HTMLButtonElement>('button.gutter')]
  event.preventDefault()
  buttons[buttons.indexOf(target) + by]?.focus()
}

/** The source; the current line is scrolled into view. */
export function DebugSource({
  source: { file, content, lines: breakable },
  current,
  breakpoints,
  onToggle,
}: {
  readonly source: Source
  readonly current: CurrentLines | undefined
  readonly breakpoints: ReadonlySet<number>
  readonly onToggle: (line: number) => void
}) {
  const region = useRef<HTMLElement>(null)
  const lines = highlighted(content)
  const at = new Set(breakable)
  useEffect(() => {
    const box = region.current
    const row = box?.querySelector<HTMLElement>('[aria-current]')
    if (box && row) box.scrollTop = row.offsetTop - box.clientHeight / 3
  }, [file, current?.line])
  const reached = at.has(current?.line ?? 0) ? current?.line : breakable[0]
  return (
    <>
      <section
        ref={region}
        class="source debug-source"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
        tabIndex={0}
        aria-label={`Source ${file}`}
        onKeyDown={moveFocus}
      >
        {lines.slice(0, MOST_LINES).map((parts, i) => {
          const line = i + 1
          const isWithin = current !== undefined && current.line <= line && line <= current.endLine
          return (
            <div
              class={isWithin ? 'debug-line current' : 'debug-line'}
              key={line}
              aria-current={line === current?.line ? 'step' : undefined}
            >
              {at.has(line) ? (
                <Gutter
                  line={line}
                  isSet={breakpoints.has(line)}
                  isReached={line === reached}
                  onToggle={onToggle}
                />
              ) : (
                <span class="gutter" />
              )}
              <span class="line-number">{line}</span>
              <Text parts={parts} />
            </div>
          )
        })}
      </section>
      {lines.length > MOST_LINES && <p class="dim">{counted(lines.length - MOST_LINES, 'more line')}</p>}
    </>
  )
}
