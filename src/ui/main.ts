/** The entry of the explorer: small, so that the browser paints the document before it runs the scripts of the pages. */
import { showTheme, storedTheme } from './stored-theme.ts'

showTheme(storedTheme())

function start(): void {
  void import('./start.tsx')
}

// A page that is hidden has no frames until it is shown.
if (document.hidden) start()
else requestAnimationFrame(() => setTimeout(start))
