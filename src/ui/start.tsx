/** Starts the explorer: the store, and the pages in place of what the document shows before. */
import { render } from 'preact'
import { App } from './app.tsx'
import { startOutput } from './output.ts'
import { startStore } from './store.ts'

startStore()
startOutput()
const place = document.getElementById('app') as HTMLElement
place.replaceChildren()
render(<App />, place)
