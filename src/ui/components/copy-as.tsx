/** A simulation or a step in the form of another tool: a choice of the tool, and the text to paste. */
import { useState } from 'preact/hooks'
import { messageOf } from '../format.ts'
import { TOOLS, type Tool } from '../simulation/copies.ts'
import { ErrorText } from './action.tsx'
import { CopyBox } from './copy-box.tsx'

/** The text, or why there is none. */
function attempt(textOf: () => string): { readonly text?: string; readonly error?: string } {
  try {
    return { text: textOf() }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

/** A section that opens. `textOf` is called while it is open; the message of an Error that it throws is shown. */
export function CopyAs({
  label,
  textOf,
}: {
  readonly label: string
  readonly textOf: (tool: Tool) => string
}) {
  const [tool, setTool] = useState<Tool>('cast')
  const [isOpen, setIsOpen] = useState(false)
  const { text, error } = isOpen ? attempt(() => textOf(tool)) : {}
  return (
    <details class="copy-as" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      <fieldset class="choices" aria-label="Tool">
        {TOOLS.map((each) => (
          <button
            key={each}
            type="button"
            class="plain"
            aria-pressed={each === tool}
            onClick={() => setTool(each)}
          >
            {each}
          </button>
        ))}
      </fieldset>
      <ErrorText message={error} />
      {text !== undefined && <CopyBox label={`${label} ${tool}`} text={text} />}
    </details>
  )
}
