/** What `tandem init` changes in the configuration of Hardhat 2 and Hardhat 3: the plugin. */
import { join } from 'node:path'
import { z } from 'zod'
import { NodeError } from '../../errors.ts'
import type { Change } from './change.ts'
import { firstOf, HARDHAT_CONFIGS, type Project, textOf } from './project.ts'

const PLUGIN = 'hardhat-tandem'

const Manifest = z.object({ version: z.string() })

/** The major version of Hardhat that is installed, or that the manifest names. */
function majorVersion({ folder, packages }: Project): number {
  const installed = textOf(join(folder, 'node_modules/hardhat'), 'package.json')
  const version = installed === undefined ? packages.hardhat : Manifest.parse(JSON.parse(installed)).version
  return Number(/\d+/.exec(version ?? '')?.[0] ?? 2)
}

/** Inserts a line behind the imports of a module, or at its top. */
function withImport(lines: readonly string[], line: string): string[] {
  const last = lines.findLastIndex((each) =>
    /^(import\b|(const|let|var)\b.*\brequire\(|require\(|\} from )/.test(each),
  )
  return [...lines.slice(0, last + 1), line, ...lines.slice(last + 1)]
}

/** The beginnings of the object of a configuration. */
const OBJECT = /^(.*(defineConfig\(|HardhatUserConfig\s*=|module\.exports\s*=|export default)\s*\{)(.*)$/

/** The configuration of Hardhat 3 with the plugin in its list. Throws `invalid-options` where no list can be found. */
function withPlugin(lines: readonly string[], file: string): string[] {
  const list = lines.findIndex((line) => /\bplugins\s*:\s*\[/.test(line))
  if (list >= 0) {
    return lines.map((line, at) =>
      at === list
        ? line.replace(
            /(\bplugins\s*:\s*\[)(\s*)(\S?)/,
            (_, head, gap, next) => `${head}${gap}tandem${next === ']' ? '' : ', '}${next}`,
          )
        : line,
    )
  }
  const object = lines.findIndex((line) => OBJECT.test(line))
  if (object < 0) {
    throw new NodeError(
      'invalid-options',
      `${file} has a form that cannot be changed here. Add the plugin by hand: import { tandem } from '${PLUGIN}/3', ` +
        'and plugins: [tandem] in the configuration.',
    )
  }
  const [, head = '', , rest = ''] = OBJECT.exec(lines[object] ?? '') ?? []
  const added = rest === '' ? [head, '  plugins: [tandem],'] : [`${head} plugins: [tandem],${rest}`]
  return [...lines.slice(0, object), ...added, ...lines.slice(object + 1)]
}

/** The changed configuration. Throws `invalid-options` where there is none, or where it has an unknown form. */
export function changeHardhatConfig(project: Project): Change {
  const file = firstOf(project.folder, HARDHAT_CONFIGS)
  const before = file === undefined ? undefined : textOf(project.folder, file)
  if (file === undefined || before === undefined) {
    throw new NodeError('invalid-options', `There is no configuration of Hardhat in ${project.folder}.`)
  }
  if (before.includes(PLUGIN)) return { file, before, after: before }
  const lines = before.split('\n')
  const quote = before.includes('"') && !before.includes("'") ? '"' : "'"
  const end = /;\s*$/m.test(before) ? ';' : ''
  const named = (name: string) => `${quote}${name}${quote}`
  if (majorVersion(project) >= 3) {
    const imported = withImport(lines, `import { tandem } from ${named(`${PLUGIN}/3`)}${end}`)
    return { file, before, after: withPlugin(imported, file).join('\n') }
  }
  const isModule = /^\s*(import|export)\b/m.test(before)
  const line = isModule ? `import ${named(PLUGIN)}${end}` : `require(${named(PLUGIN)})${end}`
  return { file, before, after: withImport(lines, line).join('\n') }
}
