/** Fenced blocks of a Markdown file and the comment above each, which states how the block is tested. */

/** How a block is run. */
export interface RunDirective {
  readonly kind: 'run'
  /** `js` is a module for Node.js, `sh` a script for bash. */
  readonly how: 'js' | 'sh'
  /** The block continues the one before it in the file: both are one program. */
  readonly continues: boolean
  /** Options of `createNode` for the node that answers at `http://127.0.0.1:4444`. */
  readonly node: object
  /** Options of `serve` for it. */
  readonly serve: object
  /** Flags of a `tandem start` process that takes the place of the node in the test's own process. */
  readonly command: readonly string[] | undefined
  /** Deploys the example contract first and makes a call to it fail: `$SHOP` and `$HASH`. */
  readonly shop: boolean
  /** Programs that may be missing. */
  readonly needs: readonly string[]
  /** JSON-RPC errors in the output are meant. */
  readonly errors: boolean
}

/** The comment above a block. */
export type Directive =
  | RunDirective
  /** The block is a file in the folder of the runs below it. */
  | { readonly kind: 'file'; readonly name: string }
  /** The block is what the run above it has printed, or its `tandem start`. */
  | { readonly kind: 'expect'; readonly where: 'stdout' | 'terminal' }
  | { readonly kind: 'not run'; readonly reason: string }

/** A fenced block. */
export interface Block {
  /** Line of the opening fence, counted from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /** `undefined` where there is no comment, which is a fault. */
  readonly directive: Directive | undefined
}

/** Throws on a comment that is not a directive, so that a misspelt one is not ignored. */
function parseRun(how: string, options: readonly string[]): RunDirective {
  if (how !== 'js' && how !== 'sh') throw new Error(`there is no way to run "${how}"`)
  const values = new Map(options.map((option) => splitOnce(option)))
  const known = ['continues', 'node', 'serve', 'command', 'shop', 'needs', 'errors']
  for (const name of values.keys()) if (!known.includes(name)) throw new Error(`there is no option "${name}"`)
  const words = (name: string) => values.get(name)?.split(/\s+/)
  return {
    kind: 'run',
    how,
    continues: values.has('continues'),
    node: JSON.parse(values.get('node') ?? '{}'),
    serve: JSON.parse(values.get('serve') ?? '{}'),
    command: words('command'),
    shop: values.has('shop'),
    needs: words('needs') ?? [],
    errors: values.has('errors'),
  }
}

/** `name: value` to both; a name alone has the value ''. */
function splitOnce(text: string): [string, string] {
  const colon = text.indexOf(':')
  return colon < 0 ? [text.trim(), ''] : [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
}

/** The directive of a line, `undefined` for a line that is no comment. */
function parseDirective(line: string): Directive | undefined {
  const text = /^\s*<!--\s*(.*?)\s*-->\s*$/.exec(line)?.[1]
  if (text === undefined) return undefined
  const [name, value] = splitOnce(text)
  if (name === 'not run') {
    if (value === '') throw new Error('a block that is not run needs a reason')
    return { kind: 'not run', reason: value }
  }
  if (name === 'file') return { kind: 'file', name: value }
  if (name === 'expect' && (value === 'stdout' || value === 'terminal'))
    return { kind: 'expect', where: value }
  if (name !== 'run') throw new Error(`there is no directive "${text}"`)
  const [how = '', ...options] = value.split(/\s*;\s*/)
  return parseRun(how, options)
}

/** All fenced blocks of a text, in order. Throws on a directive that cannot be read, naming its line. */
export function readBlocks(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', fence, language = ''] = /^(\s*)(`{3,})(\S*)/.exec(lines[at] ?? '') ?? []
    if (fence === undefined) continue
    const end = lines.findIndex((line, i) => i > at && line.trim() === fence)
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`)
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length))
    try {
      const directive = parseDirective(lines[at - 1] ?? '')
      blocks.push({ line: at + 1, language, code: code.join('\n'), directive })
    } catch (error) {
      throw new Error(`line ${at}: ${(error as Error).message}`)
    }
    at = end
  }
  return blocks
}

/** One program of a file: blocks that continue one another, files for it, and what it is expected to print. */
export interface Recipe {
  readonly line: number
  readonly directive: RunDirective
  readonly code: string
  readonly files: ReadonlyMap<string, string>
  readonly expected: readonly { readonly where: 'stdout' | 'terminal'; readonly text: string }[]
}

/** Joins the blocks of a file to programs. */
export function recipesOf(blocks: readonly Block[]): Recipe[] {
  const files = new Map<string, string>()
  const recipes: (Recipe & { code: string; expected: { where: 'stdout' | 'terminal'; text: string }[] })[] =
    []
  for (const { line, code, directive } of blocks) {
    if (directive === undefined || directive.kind === 'not run') continue
    const last = recipes.at(-1)
    if (directive.kind === 'file') files.set(directive.name, code)
    else if (directive.kind === 'expect') {
      if (last === undefined) throw new Error(`line ${line}: nothing is run above this output`)
      last.expected.push({ where: directive.where, text: code })
    } else if (directive.continues) {
      if (last?.directive.how !== directive.how) throw new Error(`line ${line}: nothing above to go on from`)
      last.code += `\n${code}`
    } else recipes.push({ line, directive, code, files: new Map(files), expected: [] })
  }
  return recipes
}
