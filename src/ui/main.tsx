/** The entry of the explorer. */
import { render } from 'preact'
import { App } from './app.tsx'
import { startStore } from './store.ts'
import { applyTheme } from './theme.ts'

applyTheme()
startStore()
render(<App />, document.getElementById('app') as HTMLElement)
