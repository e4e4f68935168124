/** What a program loads: the names of texts that the modules hold which it imports, as a bundle of them does as well. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const INDEX = new URL('../../dist/index.js', import.meta.url).href

/** Prints the name of each text that a loaded module holds. */
const hooks = (texts: Readonly<Record<string, string>>) => `export async function load(url, context, next) {
  const loaded = await next(url, context)
  for (const [what, text] of Object.entries(${JSON.stringify(texts)}))
    if (String(loaded.source).includes(text)) process._rawDebug('loaded ' + what)
  return loaded
}`

/**
 * The lines that a program in a process of its own prints to the standard error: those of `process._rawDebug`, and
 * `loaded <name>` when it loads a module with that text. The built package is imported as `tandem`.
 */
export async function linesOf(program: string, texts: Readonly<Record<string, string>>): Promise<string[]> {
  const script = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks(texts))}))
    const tandem = await import(${JSON.stringify(INDEX)})
    ${program}`
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  return stderr.split('\n')
}
