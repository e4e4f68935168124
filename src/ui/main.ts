/** The entry of the explorer: small, so that the browser paints the document before it runs the scripts of the pages. */
import { showTheme, storedTheme } from './stored-theme.ts'

showTheme(storedTheme())

async function start(): Promise<void> {
  try {
    await import('./start.tsx')
  } catch {
    document
      .querySelector('main')
      ?.replaceChildren('The node did not send the explorer: load the page again.')
  }
}

// A page that is hidden has no frames until it is shown.
if (document.hidden) void start()
else requestAnimationFrame(() => setTimeout(start))
