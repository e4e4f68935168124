/** The declarations that belong to the package: all that its `exports` reach. */
import { readFileSync } from 'node:fs'
import { Declarations } from './declarations.mjs'

/** The files of declarations that package.json names as `types`, below `dist`. */
export function entryDeclarations() {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return Object.values(exports)
    .filter((entry) => typeof entry === 'object')
    .map(({ types }) => types.replace('./dist/', ''))
}

/** The declarations below a folder that importers of the package reach. */
export function packageDeclarations(folder) {
  const declarations = new Declarations(folder)
  for (const entry of entryDeclarations()) declarations.enter(entry)
  return declarations
}
