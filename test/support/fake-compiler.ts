/** Packages named `solc` whose compilers behave as a test asks: they stand in for the program, not for its output. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a package `solc` of a version whose `compile` has this body (`input` is its text); returns its folder. */
export function installCompiler(folder: string, version: string, long: string, body: string): string {
  const place = join(folder, 'node_modules', `solc-${version}`)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'solc', version, main: 'index.js' }))
  writeFileSync(
    join(place, 'index.js'),
    `exports.version = () => ${JSON.stringify(`${long}.Emscripten.clang`)}\nexports.compile = (input) => { ${body} }\n`,
  )
  return place
}
