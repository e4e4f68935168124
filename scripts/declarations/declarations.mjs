/**
 * The declarations of the package: of the files that the compiler wrote, the statements that an importer of an entry can
 * reach. TypeScript 7 has no interface for programs, and bundlers of declarations need one or a later Node.js, so this
 * reads the compiler's regular output itself: a statement counts as reached when a reached one holds its name as a word.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g

/** Blanks comments and strings, so that the rest keeps its positions. */
function bare(text) {
  const blank = (found) => found.replace(/[^\n]/g, ' ')
  return text.replace(new RegExp(`${COMMENT.source}|${STRING.source}`, 'g'), blank)
}

/** The statements of a file, each with the comment above it. */
function statementsOf(text) {
  const code = bare(text)
  const found = []
  let from = 0
  let depth = 0
  for (let i = 0; i < code.length; i++) {
    if ('{([<'.includes(code[i])) depth++
    else if ('})]'.includes(code[i]) || (code[i] === '>' && code[i - 1] !== '=')) depth--
    const atEnd = code[i] === ';' || (code[i] === '}' && /^\s*(\n|$)/.test(code.slice(i + 1, i + 3)))
    if (depth !== 0 || !atEnd) continue
    // A block that a semicolon or more of the type follows is not the end.
    if (code[i] === '}' && /^\s*[;&|[]/.test(code.slice(i + 1))) continue
    found.push(text.slice(from, i + 1).trim())
    from = i + 1
  }
  if (text.slice(from).replace(COMMENT, '').trim() !== '')
    throw new Error(`cannot be read: ${text.slice(from, from + 80)}`)
  return found
}

/** `A`, `type A` or `A as B` of a list of imports or exports: its name, the name here, and the text. */
function namesIn(list) {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [name, alias = name] = item.replace(/^type /, '').split(/\s+as\s+/)
      return [name, alias, item]
    })
}

const DECLARATION =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:interface|type|class|const|let|function|namespace|enum) ([\w$]+)/
const LIST = /^(import|export) (?:type )?\{([\s\S]*)\}(?: from ['"]([^'"]+)['"])?;?$/

/** What one statement is: a list of imports or exports, a declaration, or (`export {}`, `import * as z`) something else. */
function statement(text) {
  const code = text.replace(COMMENT, '').trim()
  const list = LIST.exec(code)
  if (list !== null) return { text, kind: list[1], names: namesIn(list[2]), from: list[3] }
  const namespace = /^import (?:type )?(?:\* as )?([\w$]+) from ['"]([^'"]+)['"];?$/.exec(code)
  if (namespace !== null) return { text, kind: 'import', names: [['*', namespace[1]]], from: namespace[2] }
  const [, name] = DECLARATION.exec(code) ?? (code.startsWith('export default ') ? [code, 'default'] : [])
  if (name === undefined) throw new Error(`no declaration: ${code.slice(0, 80)}`)
  const imports = [...code.matchAll(/import\(['"]([^'"]+)['"]\)\.([\w$]+)/g)]
  return {
    text,
    kind: 'declaration',
    name,
    words: new Set(bare(code).match(/[\w$]+/g)),
    imports: imports.map(([, from, imported]) => ({ from, imported })),
  }
}

/** Declarations below a folder, read when first asked for. */
export class Declarations {
  #folder
  #files = new Map()
  /** By file, the statements and imported names that were reached. */
  #reached = new Map()
  /** The packages that reached statements import from. */
  packages = new Set()

  constructor(folder) {
    this.#folder = folder
  }

  #statements(file) {
    const known = this.#files.get(file)
    if (known !== undefined) return known
    const text = readFileSync(join(this.#folder, file), 'utf8').replace(/\n\/\/# sourceMappingURL.*/, '')
    const read = statementsOf(text).map(statement)
    this.#files.set(file, read)
    return read
  }

  #keep(file, kept) {
    const all = this.#reached.get(file) ?? new Set()
    this.#reached.set(file, all)
    if (all.has(kept)) return false
    all.add(kept)
    return true
  }

  /** Reaches what `name` is in the module that `file` imports as `from`. */
  #follow(file, from, name) {
    if (!from.startsWith('.')) {
      if (!from.startsWith('node:')) this.packages.add(from)
      return
    }
    this.#reach(join(dirname(file), from).replace(/\.[jt]s$/, '.d.ts'), name)
  }

  #reach(file, name) {
    for (const one of this.#statements(file)) {
      if (one.kind === 'declaration') {
        if (one.name === name) this.#reachStatement(file, one)
        continue
      }
      for (const [original, alias] of one.names) {
        if (alias !== name || !this.#keep(file, `${one.kind} ${alias}`)) continue
        if (one.from === undefined) this.#reach(file, original)
        else this.#follow(file, one.from, original)
      }
    }
  }

  #reachStatement(file, one) {
    if (!this.#keep(file, one)) return
    for (const word of one.words) this.#reach(file, word)
    for (const { from, imported } of one.imports) this.#follow(file, from, imported)
  }

  /** Reaches all that a module exports. */
  enter(file) {
    this.#keep(file, file)
    for (const one of this.#statements(file)) {
      if (one.kind === 'export') for (const [, alias] of one.names) this.#reach(file, alias)
      if (one.kind === 'declaration' && one.text.replace(COMMENT, '').trim().startsWith('export '))
        this.#reachStatement(file, one)
    }
  }

  /** The files that were reached, each with its reached statements. */
  texts() {
    return new Map([...this.#reached].map(([file, kept]) => [file, this.#textOf(file, kept)]))
  }

  #textOf(file, kept) {
    const lines = this.#statements(file).flatMap((one) => {
      if (one.kind === 'declaration') return kept.has(one) ? [one.text] : []
      const names = one.names.filter(([, alias]) => kept.has(`${one.kind} ${alias}`))
      if (names.length === 0) return []
      if (names.length === one.names.length) return [one.text]
      const head = /^(?:import|export)(?: type)? \{/.exec(one.text.replace(COMMENT, '').trim())?.[0]
      const source = one.from === undefined ? '' : ` from '${one.from}'`
      return [`${head} ${names.map(([, , item]) => item).join(', ')} }${source};`]
    })
    return `${lines.join('\n')}\nexport {};\n`
  }

  /** The declarations of a name that a module exports: several when it is overloaded. */
  declarationsOf(file, name) {
    return this.#statements(file).flatMap((one) => {
      if (one.kind === 'declaration') return one.name === name ? [{ file, text: one.text }] : []
      const [original] = one.names.find(([, alias]) => alias === name) ?? []
      // A list without a source names declarations of the file itself.
      if (original === undefined || one.from === undefined) return []
      return this.declarationsOf(join(dirname(file), one.from).replace(/\.[jt]s$/, '.d.ts'), original)
    })
  }

  /** The names that a module exports by lists, in their order. */
  exportsOf(file) {
    return this.#statements(file).flatMap((one) =>
      one.kind === 'export' ? one.names.map(([, alias]) => alias) : [],
    )
  }
}
