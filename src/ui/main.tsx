/** The entry of the explorer. */
import { render } from 'preact'
import { App } from './app.tsx'
import { startOutput } from './output.ts'
import { startStore } from './store.ts'
import { applyTheme } from './theme.ts'

applyTheme()
startStore()
startOutput()
render(<App />, document.getElementById('app') as HTMLElement)
