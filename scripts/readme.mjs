/** Fills the tables of README.md from the code: `npm run readme`; with `--check` it only says whether they are stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { methodRow } from '../dist/cli/methods.js'
import { flagName, SETTINGS } from '../dist/cli/settings.js'
import { fallbackWords } from '../dist/options/setting.js'
import { METHODS } from '../dist/rpc/methods/index.js'

const README = new URL('../README.md', import.meta.url)

/** Text as it stands in a cell. */
const cell = (text) =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('<', '\\<')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
const code = (text) => `\`${text.replaceAll('|', '\\|')}\``

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function methodTable() {
  const rows = METHODS.map(methodRow).map(({ names, params, summary }) => [
    names.map(code).join(', '),
    params.length === 0 ? '' : code(params.join(', ')),
    cell(summary),
  ])
  return table(['method', 'parameters', 'what it does'], rows)
}

function optionTable() {
  const rows = Object.entries(SETTINGS).map(([key, { flag, help, nodeKeys, ...rest }]) => {
    // The key of a flag that turns something off says the contrary of the flag.
    const standard = fallbackWords(rest)
    const names = Object.keys(nodeKeys ?? {})
    const alias = names.length === 0 ? '' : `; in the file also ${names.map(code).join(', ')}`
    const named = flagName(flag).startsWith('no-') ? `${key}: false` : key
    return [code(flag), code(named), cell(standard), cell(help) + alias]
  })
  return table(['flag', 'key', 'default', 'what it does'], rows)
}

function replace(text, name, content) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from === -1 || to < from) throw new Error(`README.md has no place for the ${name}: ${start} … ${end}`)
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`
}

const before = readFileSync(README, 'utf8')
const after = replace(replace(before, 'methods', methodTable()), 'options', optionTable())

if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('The tables of README.md are stale: npm run build && npm run readme')
    process.exitCode = 1
  }
} else {
  writeFileSync(README, after)
}
