/** A button that runs a call, and shows why it failed. */
import { useAction } from '../query.ts'

/** `label` is the accessible name, and what is shown unless `text` is a shorter form of it. */
export function ActionButton({
  label,
  text = label,
  run,
  kind,
}: {
  readonly label: string
  readonly text?: string
  readonly run: () => Promise<unknown>
  readonly kind?: 'danger' | 'plain'
}) {
  const action = useAction(run)
  return (
    <span class="action">
      <button
        type="button"
        class={kind}
        disabled={action.isRunning}
        onClick={action.run}
        aria-label={text === label ? undefined : label}
      >
        {text}
      </button>
      <ErrorText message={action.error} />
    </span>
  )
}

/** An error message, nothing where there is none. */
export function ErrorText({ message }: { readonly message: string | undefined }) {
  return message === undefined ? null : (
    <span role="alert" class="error">
      {message}
    </span>
  )
}
