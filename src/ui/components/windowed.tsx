/** A list of many rows of one height, of which only those in view are in the document. The page itself scrolls. */
import type { ComponentChildren } from 'preact'
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
}

/** The list, as an ARIA table with the number of all its rows. */
export function Windowed({ label, count, rowHeight, columns, row, keyOf, onRange, ...rest }: WindowedProps) {
  const body = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState<readonly [number, number]>([0, Math.min(count, 30)])
  const pixels = Math.min(count * rowHeight, MOST_PIXELS)
  /** Rows of pixels of the scroll bar: above 1 only where the list is higher than browsers allow. */
  const scale = (count * rowHeight) / Math.max(1, pixels)

  useEffect(() => {
    function measure(): void {
      const top = body.current?.getBoundingClientRect().top ?? 0
      const first = Math.floor((Math.max(0, -top) * scale) / rowHeight)
      const from = Math.max(0, Math.min(first, count) - MARGIN)
      const to = Math.min(count, first + Math.ceil(innerHeight / rowHeight) + MARGIN)
      setRange((before) => (before[0] === from && before[1] === to ? before : [from, to]))
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [count, rowHeight, scale])

  const [from, to] = range
  useEffect(() => onRange?.(from, to), [from, to, onRange])
  const indexes = Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, i) => from + i)
  const offset = scale > 1 ? Math.max(0, (from * rowHeight) / scale) : from * rowHeight
  return (
    <div role="table" aria-label={label} aria-rowcount={count + 1} class={`windowed ${rest.class}`}>
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map((name) => (
            <span role="columnheader" key={name}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="body" ref={body} style={{ height: `${pixels}px` }}>
        <div role="presentation" style={{ transform: `translateY(${offset}px)` }}>
          {indexes.map((index) => (
            <div
              role="row"
              class="row"
              key={keyOf?.(index) ?? index}
              aria-rowindex={index + 2}
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
      </div>
    </div>
  )
}
