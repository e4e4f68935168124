/** The report of the API: each name that `tandem` exports, with its declaration. */
import { fileURLToPath } from 'node:url'
import { Declarations } from '../declarations/declarations.mjs'
import { NOTICE, page } from './markdown.mjs'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))

/** A declaration without its comment, so that a better comment does not change the report. */
function withoutComments(text) {
  return text.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*\n/gm, '')
}

/** The page of the exports of `tandem`; a change of it is a change of the API. */
export function apiPage() {
  const declarations = new Declarations(DIST)
  const names = declarations.exportsOf('index.d.ts').toSorted()
  return page([
    NOTICE,
    '# API report',
    '',
    "What `import … from 'tandem'` exports, as the compiler declares it. A change here changes the API of the package:",
    'review it as such. The types that these declarations name come with the package.',
    '',
    ...names.flatMap((name) => [
      `## ${name}`,
      '',
      '```ts',
      ...declarations.declarationsOf('index.d.ts', name).map(({ text }) => withoutComments(text)),
      '```',
      '',
    ]),
  ])
}
