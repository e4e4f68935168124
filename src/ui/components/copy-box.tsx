/** A text, with a button that copies it. */
import { useEffect, useState } from 'preact/hooks'
import { ErrorText } from './action.tsx'

/** The box; `label` is the accessible name of the text. */
export function CopyBox({ label, text }: { readonly label: string; readonly text: string }) {
  const [state, setState] = useState<'copied' | 'refused' | undefined>(undefined)
  useEffect(() => setState(undefined), [text])
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      setState('refused')
    }
  }
  return (
    <div class="copy-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="bytes mono" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <button type="button" class="plain" onClick={copy} aria-label={`Copy: ${label}`}>
        {state === 'copied' ? 'Copied' : 'Copy'}
      </button>
      <ErrorText
        message={
          state === 'refused' ? 'The browser does not let this page copy: select the text instead' : undefined
        }
      />
    </div>
  )
}
