/** Results that a block states in comments, made into checks; `…` stands for any text. */

/** Comments that are a JavaScript literal state the value of their line. */
const LITERAL = /^(?:'[^']*'|-?\d+n?|true|false|null|undefined|\[.*\]|\{.*\})$/

/** JavaScript with each stated result checked. Throws on a statement whose result cannot be taken. */
export function checkedJavaScript(code: string): string {
  const lines = code.split('\n').map((line, i) => {
    const [, statement = '', stated] = /^(.*?\S)\s+\/\/ (.*)$/.exec(line) ?? []
    if (stated === undefined || !LITERAL.test(stated)) return line
    // Without semicolons it would go on from the line above, and only the check would part them.
    if (/^\s*[([`]/.test(statement)) throw new Error(`a statement begins with a bracket: ${statement}`)
    const declared = /^\s*(?:const|let) (\w+) = /.exec(statement)?.[1]
    if (declared !== undefined) return `${statement}; __check(${declared}, ${stated}, ${i + 1})`
    const printed = /^\s*console\.log\((.*)\)$/.exec(statement)?.[1]
    return `__check(${printed ?? statement}, ${stated}, ${i + 1})`
  })
  return [`import { check as __check } from './recipe-check.mjs'`, ...lines].join('\n')
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A bash script that ends at the first command that fails, and with each `# → output` checked. */
export function checkedShell(code: string): string {
  const lines = code.split('\n').map((line) => {
    const [, command, stated] = /^(.*?\S)\s+# → (.*)$/.exec(line) ?? []
    if (command === undefined || stated === undefined) return line
    const pattern = stated.split('…').map(quoted).join('*')
    return `__out=$(${command}); echo "$__out"; [[ "$__out" == ${pattern} ]] || { echo ${quoted(`expected: ${stated}`)} >&2; exit 1; }`
  })
  return ['set -euo pipefail', ...lines].join('\n')
}

/** A pattern for printed lines: `…` within a line is any text, a line of `…` alone any lines. */
export function outputPattern(text: string): RegExp {
  const literal = (part: string) => part.replace(/[.*+?^$(){}|[\]\\]/g, '\\$&')
  const lines = text.split('\n').map((line) => {
    if (line.trim() === '…') return '[\\s\\S]*?'
    return `${line.trimEnd().split('…').map(literal).join('[^\\n]*?')}[ ]*`
  })
  return new RegExp(`^${lines.join('\\n')}$`, 'm')
}
