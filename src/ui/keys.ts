/** Keys that do what a button of the page does. */
import { useLayoutEffect } from 'preact/hooks'
import { isField } from './components/form.tsx'

/** A slider takes arrows alone. */
function isTyping({ target }: KeyboardEvent): boolean {
  return isField(target) && !(target as Element).matches('[type=range]')
}

/**
 * Runs a function for each key that is pressed without Ctrl, Meta or Alt, and is not typed into a field.
 *
 * A layout effect, since others run only after the browser has painted: a key pressed before then would be lost.
 */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  useLayoutEffect(() => {
    function press(event: KeyboardEvent): void {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event)) onKey(event)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [onKey])
}
