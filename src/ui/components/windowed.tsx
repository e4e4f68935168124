/**
 * A list of many rows of one height, of which only those in view are in the document. 1 kB (gzip): @tanstack/virtual-core
 * takes 9 kB, a record for each row (120 MB for 5 million blocks), and cannot scale a list that is higher than browsers allow.
 */
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows above and below the view. */
const MARGIN = 6
/** Browsers lay out no element higher than this, pixels. */
const MOST_PIXELS = 8_000_000

/** What the list is made of. */
export interface WindowedProps {
  readonly label: string
  readonly count: number
  /** Pixels; the same for all rows, set by the list. */
  readonly rowHeight: number
  readonly columns: readonly string[]
  /** Class of the list, which sets the widths of its columns. */
  readonly class: string
  /** The cells of a row; `undefined` while it is loaded. */
  readonly row: (index: number) => readonly ComponentChildren[] | undefined
  readonly keyOf?: (index: number) => string | number
  /** Called with the rows that are in view: from, to (not included). */
  readonly onRange?: (from: number, to: number) => void
  /** The rows scroll in a box of their own, not with the page. */
  readonly isBox?: boolean
  /** A row of the box that is scrolled into view when it changes. */
  readonly reveal?: number
}

/** The list in pixels: its height, and above 1 the scale of one that is higher than browsers allow. */
function sizeOf({ count, rowHeight }: WindowedProps): { readonly pixels: number; readonly scale: number } {
  const pixels = Math.min(count * rowHeight, MOST_PIXELS)
  return { pixels, scale: (count * rowHeight) / Math.max(1, pixels) }
}

/** The rows in view with a margin, from and to (not included), by where `body` is in `box` or on the page. */
function useRange(
  props: WindowedProps,
  box: RefObject<HTMLDivElement | null>,
  body: RefObject<HTMLDivElement | null>,
): readonly [from: number, to: number] {
  const { count, rowHeight, isBox = false, onRange } = props
  const { scale } = sizeOf(props)
  const [range, setRange] = useState<readonly [number, number]>([0, Math.min(count, 30)])
  useEffect(() => {
    function measure(): void {
      const edge = isBox ? (box.current?.getBoundingClientRect().top ?? 0) : 0
      const view = isBox ? (box.current?.clientHeight ?? 0) : innerHeight
      const above = Math.max(0, edge - (body.current?.getBoundingClientRect().top ?? 0))
      const first = Math.floor((above * scale) / rowHeight)
      const from = Math.max(0, Math.min(first, count) - MARGIN)
      const to = Math.min(count, first + Math.ceil(view / rowHeight) + MARGIN)
      setRange((before) => (before[0] === from && before[1] === to ? before : [from, to]))
    }
    measure()
    const target: EventTarget | null = isBox ? box.current : globalThis
    target?.addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      target?.removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [count, rowHeight, scale, isBox])
  const [from, to] = range
  useEffect(() => onRange?.(from, to), [from, to, onRange])
  return range
}

/** Scrolls the box to the row to reveal. */
function useReveal({ reveal, rowHeight }: WindowedProps, box: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const { current } = box
    if (current === null || reveal === undefined) return
    const top = reveal * rowHeight
    if (top < current.scrollTop) current.scrollTop = top
    else if (top + 2 * rowHeight > current.scrollTop + current.clientHeight) {
      current.scrollTop = top + 2 * rowHeight - current.clientHeight
    }
  }, [reveal, rowHeight])
}

function Rows({
  list,
  from,
  to,
}: {
  readonly list: WindowedProps
  readonly from: number
  readonly to: number
}) {
  const { count, rowHeight, columns, row, keyOf, reveal } = list
  const indexes = Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, i) => from + i)
  const offset = (from * rowHeight) / sizeOf(list).scale
  return (
    <div role="presentation" style={{ transform: `translateY(${offset}px)` }}>
      {indexes.map((index) => (
        <div
          role="row"
          class="row"
          key={keyOf?.(index) ?? index}
          aria-rowindex={index + 2}
          data-selected={index === reveal}
          style={{ height: `${rowHeight}px` }}
        >
          {(row(index) ?? columns.map(() => '…')).map((cell, i) => (
            <span role="cell" key={columns[i]}>
              {cell}
            </span>
          ))}
        </div>
      ))}
    </div>
  )
}

/** The list, as an ARIA table with the number of all its rows. */
export function Windowed(props: WindowedProps) {
  const { label, count, columns, isBox = false } = props
  const box = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const [from, to] = useRange(props, box, body)
  useReveal(props, box)
  return (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
      class={`windowed ${props.class}${isBox ? ' box' : ''}`}
      tabIndex={isBox ? 0 : undefined}
      ref={box}
    >
      <div role="rowgroup" class="heads">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map((name) => (
            <span role="columnheader" key={name}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="body" ref={body} style={{ height: `${sizeOf(props).pixels}px` }}>
        <Rows list={props} from={from} to={to} />
      </div>
    </div>
  )
}
