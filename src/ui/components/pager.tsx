/** Buttons to the previous and the next page; nothing where there is one page only. */

/** `label` names what is paged; a step that is not there is undefined. */
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
