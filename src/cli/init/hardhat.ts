/** What `tandem init` changes in the configuration of Hardhat 2 and Hardhat 3: the plugin. */
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { NodeError } from '../../errors.ts'
import { type Change, lineEnd } from './change.ts'
import { depthAt, type MaskedModule, maskModule } from './masked-module.ts'
import { firstOf, HARDHAT_CONFIGS, type Project, textOf } from './project.ts'

const PLUGIN = 'hardhat-tandem'

const Manifest = z.object({ version: z.string() })

/** The version of Hardhat that the project finds: in its folder, or in one above, as in a monorepo. */
function installedVersion(folder: string): string | undefined {
  const manifest = textOf(join(folder, 'node_modules/hardhat'), 'package.json')
  if (manifest !== undefined) return Manifest.parse(JSON.parse(manifest)).version
  const parent = dirname(folder)
  return parent === folder ? undefined : installedVersion(parent)
}

/** The major version of Hardhat that is installed, or that the manifest names; by the form of the configuration for `latest`. */
function majorVersion({ folder, packages }: Project, { structure }: MaskedModule): number {
  const digits = /\d+/.exec(installedVersion(folder) ?? packages.hardhat ?? '')?.[0]
  if (digits !== undefined) return Number(digits)
  return /\bmodule\.exports\b|\brequire\s*\(/.test(structure) ? 2 : 3
}

/** The last line of the statement that begins on a line. */
function statementEnd(structure: readonly string[], first: number): number {
  for (let at = first, depth = 0; at < structure.length; at++) {
    depth += depthAt(structure[at] ?? '', Number.POSITIVE_INFINITY)
    if (depth <= 0 && !/^\s*from\b/.test(structure[at + 1] ?? '')) return at
  }
  return first
}

/** How many lines the interpreter's name and the directives of a module take, with comments between them. */
function directiveLines(text: string, code: readonly string[]): number {
  let end = text.startsWith('#!') ? 1 : 0
  for (const [at, line] of code.entries()) {
    if (/^\s*(['"])use \w+\1\s*;?\s*$/.test(line)) end = at + 1
    else if (line.trim() !== '') break
  }
  return end
}

/** Inserts a line behind the imports of a module, or before its first statement. */
function withImport(text: string, { code, structure }: MaskedModule, added: string): string {
  const [lines, masked] = [text.split('\n'), structure.split('\n')]
  const ends = masked.flatMap((line, first) => {
    if (!/^(import\b(?!\s*[(.])|(const|let|var|require)\b)/.test(line)) return []
    const last = statementEnd(masked, first)
    const isImport =
      line.startsWith('import') || /\brequire\s*\(/.test(masked.slice(first, last + 1).join('\n'))
    return isImport ? [last + 1] : []
  })
  const at = ends.at(-1) ?? directiveLines(text, code.split('\n'))
  const end = lineEnd(text) === '\r\n' ? '\r' : ''
  return [...lines.slice(0, at), `${added}${end}`, ...lines.slice(at)].join('\n')
}

/** Inserts a member or an element behind the bracket at a position, on a line of its own where the others have one. */
function withFirst(text: string, structure: string, bracket: number, added: string): string {
  const [above, below] = [text.slice(0, bracket + 1), text.slice(bracket + 1)]
  const rest = structure.slice(bracket + 1)
  const [, gap = '', next = ''] = /^(\s*)(\S?)/.exec(rest) ?? []
  if (/[\]}]/.test(next)) return `${above}${next === '}' ? ` ${added} ` : added}${below.slice(gap.length)}`
  if (!gap.includes('\n')) return `${above}${gap}${added}, ${below.slice(gap.length)}`
  const indent = gap.slice(gap.lastIndexOf('\n') + 1)
  return `${above}${lineEnd(text)}${indent}${added},${below}`
}

/** The beginnings of the object of a configuration. */
const OBJECT = /(defineConfig\s*\(|HardhatUserConfig\s*=|module\.exports\s*=|export\s+default)\s*\{/

/** The configuration of Hardhat 3 with the plugin in its list. Throws `invalid-options` where no list can be found. */
function withPlugin(text: string, structure: string, file: string): string {
  const lists = [...structure.matchAll(/\bplugins\s*:\s*\[/g)]
    .map(({ index, 0: { length } }) => ({ at: index + length - 1, depth: depthAt(structure, index) }))
    .sort((one, other) => one.depth - other.depth)
  if (lists[0] !== undefined) return withFirst(text, structure, lists[0].at, 'tandem')
  const object = OBJECT.exec(structure)
  if (object === null || /\bplugins\b/.test(structure)) {
    throw new NodeError(
      'invalid-options',
      `${file} has a form that cannot be changed here. Add the plugin by hand: import { tandem } from '${PLUGIN}/3', ` +
        'and plugins: [tandem] in the configuration.',
    )
  }
  return withFirst(text, structure, object.index + object[0].length - 1, 'plugins: [tandem]')
}

/** The changed configuration. Throws `invalid-options` where there is none, or where it has an unknown form. */
export function changeHardhatConfig(project: Project): Change {
  const file = firstOf(project.folder, HARDHAT_CONFIGS)
  const before = file === undefined ? undefined : textOf(project.folder, file)
  if (file === undefined || before === undefined) {
    throw new NodeError('invalid-options', `There is no configuration of Hardhat in ${project.folder}.`)
  }
  const masked = maskModule(before)
  if (masked.code.includes(PLUGIN)) return { file, before, after: before }
  const quote = before.includes('"') && !before.includes("'") ? '"' : "'"
  const end = /;\s*$/m.test(masked.structure) ? ';' : ''
  const named = (name: string) => `${quote}${name}${quote}`
  if (majorVersion(project, masked) >= 3) {
    const listed = withPlugin(before, masked.structure, file)
    const line = `import { tandem } from ${named(`${PLUGIN}/3`)}${end}`
    return { file, before, after: withImport(listed, maskModule(listed), line) }
  }
  const isModule = /^(import\b(?!\s*[(.])|export\b)/m.test(masked.structure)
  const line = isModule ? `import ${named(PLUGIN)}${end}` : `require(${named(PLUGIN)})${end}`
  return { file, before, after: withImport(before, masked, line) }
}
