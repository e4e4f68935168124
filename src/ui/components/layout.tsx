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

/** Names and their values; a row without a value is left out. */
export function Fields({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren | undefined, hint?: string])[]
}) {
  return (
    <dl class="fields">
      {rows.map(
        ([name, value, hint]) =>
          value !== undefined &&
          value !== null && (
            <div key={name}>
              <dt title={hint}>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** A table of few rows. A column that is `wide` leaves on a narrow screen; where the table is `stacked`, each row is a list of names and values there. */
export function Table({
  label,
  columns,
  rows,
  empty = 'None',
  stacked = false,
}: {
  readonly label: string
  readonly stacked?: boolean
  readonly columns: readonly (string | { readonly name: string; readonly wide?: true; readonly end?: true })[]
  readonly rows: readonly { readonly key: string | number; readonly cells: readonly ComponentChildren[] }[]
  readonly empty?: string
}) {
  if (rows.length === 0) return <p class="dim empty">{empty}</p>
  const shapes = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
  const classOf = (i: number): string | undefined => {
    const shape: { wide?: true; end?: true } | undefined = shapes[i]
    const names = [shape?.wide && 'wide', shape?.end && 'end'].filter(Boolean)
    return names.length === 0 ? undefined : names.join(' ')
  }
  return (
    <table aria-label={label} class={stacked ? 'stacked' : undefined}>
      <thead>
        <tr>
          {shapes.map(({ name }, i) => (
            <th key={name} scope="col" class={classOf(i)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, i) => (
              <td key={i} class={classOf(i)} data-label={stacked ? shapes[i]?.name : undefined}>
                {cell === '' || !stacked ? cell : <span>{cell}</span>}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Shows what was loaded, or why it was not. `undefined` is not loaded yet: a query that found nothing to load gives null. */
export function Show<Value>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Value>
  readonly children: (value: Value) => ComponentChildren
}) {
  if (loaded.error !== undefined) return <ErrorText message={loaded.error} />
  return loaded.value === undefined ? <p class="dim">Loading…</p> : children(loaded.value)
}
