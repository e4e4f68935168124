/** `tandem methods`: the table of JSON-RPC methods, the same as in docs/methods/README.md. */
import type { Command } from 'commander'
import { NodeError } from '../errors.ts'
import type { AnyMethod } from '../rpc/method.ts'
import { namesOf } from '../rpc/method-names.ts'
import { METHODS } from '../rpc/methods/index.ts'
import { isMethodOrNamespace } from '../rpc/profiles.ts'
import type { Writers } from './start.ts'
import { columnLines } from './terminal-text.ts'

/** One row of the table; a parameter that may be left out ends in `?`. */
interface MethodRow {
  /** Its own name first, then its aliases. */
  readonly names: readonly string[]
  readonly params: readonly string[]
  readonly summary: string
}

/** The row of a method. */
function methodRow(method: AnyMethod): MethodRow {
  return {
    names: namesOf(method),
    params: method.params.map(({ name, parameter }) => (parameter.absent === undefined ? name : `${name}?`)),
    summary: method.summary,
  }
}

/** Characters of the columns of names and parameters, at most. */
const WIDEST = [42, 44]

/** Each alias has a line of its own. */
function methodLines(rows: readonly MethodRow[]): string[] {
  const cells = rows.flatMap(({ names, params, summary }) =>
    names.map((name, i) => [name, params.join(', '), i === 0 ? summary : `Alias of ${names[0]}.`]),
  )
  return columnLines(cells, WIDEST)
}

/** The rows of the methods that have one of these names or namespaces; of all without any. Throws `invalid-options`. */
function rowsOf(wanted: readonly string[]): MethodRow[] {
  for (const name of wanted) {
    if (!isMethodOrNamespace(name, METHODS)) {
      throw new NodeError('invalid-options', `There is no method or namespace "${name}".`)
    }
  }
  const isWanted = (method: AnyMethod) =>
    wanted.length === 0 || wanted.some((name) => isMethodOrNamespace(name, [method]))
  return METHODS.filter(isWanted).map(methodRow)
}

/** Fills in the command. Its action throws `invalid-options`. */
export function fillMethodsCommand(command: Command, { output }: Writers): void {
  command
    .argument('[names...]', 'namespaces or methods to list; all unless given')
    .option('--json', 'print JSON')
    .action((names: string[], { json }: { json?: true }) => {
      const rows = rowsOf(names)
      for (const line of json ? [JSON.stringify(rows)] : methodLines(rows)) output.write(line)
    })
}
