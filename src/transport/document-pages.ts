/** The documents in Markdown at their own addresses, and llms.txt; below `/<key>` where keys are in use. */
import { documentAt, llmsText } from '../mcp/documents.ts'
import type { MonitoringPage } from './monitoring-pages.ts'

const LLMS = '/llms.txt'
const DOCUMENT = /^(.*?)(\/llms\.txt|\/README\.md|\/docs\/(?:\w+\/)?[\w.-]+\.md)$/

/** Splits the path of a document into its prefix, such as `/<key>`, and the rest; `undefined` for other paths. */
export function documentPath(path: string): { readonly before: string; readonly page: string } | undefined {
  const [, before, page] = DOCUMENT.exec(path) ?? []
  return before === undefined || page === undefined ? undefined : { before, page }
}

/** The document at a path; `undefined` where there is none. */
export function documentPage(path: string): MonitoringPage | undefined {
  if (path === LLMS) return { status: 200, type: 'text/plain; charset=utf-8', body: llmsText() }
  const text = documentAt(path.slice(1))
  return text === undefined ? undefined : { status: 200, type: 'text/markdown; charset=utf-8', body: text }
}
