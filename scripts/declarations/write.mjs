/** Writes those of the compiler's declarations that an importer of the package reaches: `write.mjs <from> <to>`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageDeclarations } from './package.mjs'

const [from, to] = process.argv.slice(2)
for (const [file, text] of packageDeclarations(from).texts()) {
  mkdirSync(dirname(join(to, file)), { recursive: true })
  writeFileSync(join(to, file), text)
}
