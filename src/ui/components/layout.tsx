/** Parts of pages: sections, definition lists, tables, and what is shown while something is loaded. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Loaded } from '../query.ts'
import { ErrorText } from './action.tsx'

/** The heading of a page: its title, which is the document's as well, or `children` in place of it. */
export function Heading({
  title,
  children = title,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${title} · Tandem`
  }, [title])
  return <h1>{children}</h1>
}

/** A section with its heading. */
export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

/** A name, its value, and the tooltip of the name. */
export type FieldRow = readonly [name: string, value: ComponentChildren, hint?: string]

/** Names and their values; a row without a value, or with false, is left out. */
export function Fields({ rows }: { readonly rows: readonly FieldRow[] }) {
  return (
    <dl class="fields">
      {rows.map(
        ([name, value, hint]) =>
          value !== undefined &&
          value !== null &&
          value !== false && (
            <div key={name}>
              <dt title={hint}>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** A column's heading, or a column that is `wide` or whose cells stand at its `end`. */
export type Column = string | { readonly name: string; readonly wide?: true; readonly end?: true }

/** The column of buttons. */
export const ACTIONS: Column = { name: 'Action', end: true }

/** A row of a table. */
export interface TableRow {
  readonly key: string | number
  readonly cells: readonly ComponentChildren[]
}

/**
 * A table of few rows. A column that is `wide` is hidden on a narrow screen, one that is false is left out with its
 * cells; where the table is `stacked`, each row is a list of names and values on a narrow screen.
 */
export function Table({
  label,
  columns,
  rows,
  empty = 'None',
  stacked = false,
}: {
  readonly label: string
  readonly stacked?: boolean
  readonly columns: readonly (Column | false)[]
  readonly rows: readonly TableRow[]
  readonly empty?: string
}) {
  if (rows.length === 0) return <p class="dim empty">{empty}</p>
  const shapes = columns.map((column) => {
    if (column === false) return undefined
    const { name, wide, end }: Exclude<Column, string> =
      typeof column === 'string' ? { name: column } : column
    return { name, class: [wide && 'wide', end && 'end'].filter(Boolean).join(' ') || undefined }
  })
  return (
    <table aria-label={label} class={stacked ? 'stacked' : undefined}>
      <thead>
        <tr>
          {shapes.map(
            (shape) =>
              shape && (
                <th key={shape.name} scope="col" class={shape.class}>
                  {shape.name}
                </th>
              ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {shapes.map(
              (shape, i) =>
                shape && (
                  <td key={i} class={shape.class} data-label={stacked ? shape.name : undefined}>
                    {cells[i] === '' || !stacked ? cells[i] : <span>{cells[i]}</span>}
                  </td>
                ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const isLoaded = <Value,>(value: Value): value is Exclude<Value, undefined> => value !== undefined

/** Shows what was loaded, or why it was not. `undefined` is not loaded yet: a query that found nothing to load gives null. */
export function Show<Value>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Value>
  readonly children: (value: Exclude<Value, undefined>) => ComponentChildren
}) {
  if (loaded.error !== undefined) return <ErrorText message={loaded.error} />
  const { value } = loaded
  return isLoaded(value) ? children(value) : <p class="dim">Loading…</p>
}
