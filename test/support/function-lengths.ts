/** The number of lines of each function in a source file. */
import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

/** A function, by the name that it has or is given; of one without, `(anonymous)`. */
export interface FunctionLength {
  readonly name: string
  readonly line: number
  readonly lines: number
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function nameOf(node: unknown): string | undefined {
  return isRecord(node) && typeof node.name === 'string' ? node.name : undefined
}

/** The functions of a TypeScript file, nested ones included. */
export function functionLengths(path: string): FunctionLength[] {
  const text = readFileSync(path, 'utf8')
  const starts = [...text.matchAll(/\n/g)].map(({ index }) => index)
  const lineAt = (offset: number): number => starts.filter((start) => start < offset).length + 1
  const found: FunctionLength[] = []

  function walk(node: unknown, given: string | undefined): void {
    if (Array.isArray(node)) for (const each of node) walk(each, given)
    else if (isRecord(node)) {
      if (FUNCTIONS.has(String(node.type))) {
        const [line, last] = [lineAt(Number(node.start)), lineAt(Number(node.end))]
        found.push({ name: nameOf(node.id) ?? given ?? '(anonymous)', line, lines: last - line + 1 })
      }
      const named = nameOf(node.key) ?? (node.type === 'VariableDeclarator' ? nameOf(node.id) : undefined)
      for (const member of Object.values(node)) walk(member, named ?? given)
    }
  }
  walk(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }).body, undefined)
  return found
}
