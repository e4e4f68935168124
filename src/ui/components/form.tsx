/** Parts of forms: labelled fields, and a form that runs a call and shows why it failed. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../query.ts'
import { ErrorText } from './action.tsx'

/** Is this an element that a user types in or chooses by? */
export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, textarea, select')
}

/** A text that a user edits. */
export interface Text {
  readonly value: string
  set(value: string): void
}

/** The state of a field. */
export function useText(initial = ''): Text {
  const [value, set] = useState(initial)
  return { value, set }
}

/** The states of `count` fields. */
export function useTexts(count: number): {
  readonly texts: readonly string[]
  setText(index: number, text: string): void
} {
  const [texts, setTexts] = useState<readonly string[]>(Array.from({ length: count }, () => ''))
  return { texts, setText: (index, text) => setTexts((before) => before.with(index, text)) }
}

/** A field of one line with its label. */
export function Field({
  label,
  text,
  placeholder,
  wide,
  list,
}: {
  readonly label: string
  readonly text: Text
  readonly placeholder?: string | undefined
  /** The id of a `datalist` with suggestions. */
  readonly list?: string | undefined
  /** It takes the remaining width. */
  readonly wide?: boolean
}) {
  return (
    <label class={wide ? 'field grows' : 'field'}>
      <span>{label}</span>
      <input
        type="text"
        value={text.value}
        placeholder={placeholder}
        list={list}
        onInput={(event) => text.set(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
  )
}

/** A choice among a few values. */
export function Choice({
  label,
  text,
  options,
}: {
  readonly label: string
  readonly text: Text
  readonly options: readonly (readonly [value: string, name: string])[]
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={text.value} onChange={(event) => text.set(event.currentTarget.value)}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Fields and the button that runs; `label` is the accessible name of the form. */
export function ActionForm({
  label,
  button,
  run,
  kind,
  children,
}: {
  readonly label: string
  readonly button: string
  readonly run: () => Promise<unknown>
  readonly kind?: 'danger' | 'plain'
  readonly children?: ComponentChildren
}) {
  const action = useAction(run)
  return (
    <form
      aria-label={label}
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        action.run()
      }}
    >
      {children}
      <button type="submit" class={kind} disabled={action.isRunning}>
        {button}
      </button>
      <ErrorText message={action.error} />
    </form>
  )
}
