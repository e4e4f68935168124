/** Pages of lists, and buttons to the previous and the next page. */
import { useEffect, useState } from 'preact/hooks'

/** Rows of a page of a list that is loaded whole. */
const PAGE_ROWS = 50

/** Pages of a list that is loaded whole. */
export interface Pages {
  /** The rows of the open page, the last one where the list has become shorter. */
  shown<Row>(rows: readonly Row[]): readonly Row[]
  /** What `Pager` needs. */
  steps(rows: readonly unknown[]): {
    readonly newer: (() => void) | undefined
    readonly older: (() => void) | undefined
  }
}

/** The pages of a list, of which the first is open until another is chosen; `of` names what is listed. */
export function usePages(of = ''): Pages {
  const [chosen, setChosen] = useState(0)
  useEffect(() => setChosen(0), [of])
  const open = (rows: readonly unknown[]) =>
    Math.min(chosen, Math.max(0, Math.ceil(rows.length / PAGE_ROWS) - 1))
  return {
    shown: (rows) => rows.slice(open(rows) * PAGE_ROWS, (open(rows) + 1) * PAGE_ROWS),
    steps(rows) {
      const at = open(rows)
      return {
        newer: at > 0 ? () => setChosen(at - 1) : undefined,
        older: (at + 1) * PAGE_ROWS < rows.length ? () => setChosen(at + 1) : undefined,
      }
    },
  }
}

/** Nothing where there is one page only. `label` names what is paged; a step that is not there is undefined. */
export function Pager({
  label,
  newer,
  older,
  names = ['Newer', 'Older'],
}: {
  readonly label: string
  readonly newer: (() => void) | undefined
  readonly older: (() => void) | undefined
  readonly names?: readonly [back: string, on: string]
}) {
  if (newer === undefined && older === undefined) return null
  const steps = [
    [names[0], newer],
    [names[1], older],
  ] as const
  return (
    <div class="pager">
      {steps.map(([name, go]) => (
        <button
          key={name}
          type="button"
          class="plain"
          disabled={go === undefined}
          aria-label={`${name} ${label}`}
          onClick={go}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
