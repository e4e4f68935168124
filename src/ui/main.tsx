/** The entry of the explorer. */
import { render } from 'preact'
import { App } from './app.tsx'
import { startOutput } from './output.ts'
import { startStore } from './store.ts'
import { applyTheme } from './theme.ts'

applyTheme()
startStore()
startOutput()
const place = document.getElementById('app') as HTMLElement
// What the document shows before the script runs.
place.replaceChildren()
render(<App />, place)
